"""`vivavoce serve` hands the server exactly what was asked for."""

import pytest

from vivavoce.errors import ConfigError


@pytest.fixture
def served(monkeypatch):
    """The settings that the server was started with."""
    for name in ("PORT", "VIVAVOCE_PORT", "VIVAVOCE_HOST"):
        monkeypatch.delenv(name, raising=False)
    seen = []

    def serve(settings, role):
        assert role == "serve"
        seen.append(settings)

    monkeypatch.setattr("vivavoce.api.serve", serve)
    return seen


def test_defaults(vivavoce, served):
    assert vivavoce("serve").returncode == 0
    assert (served[0].host, served[0].port) == ("127.0.0.1", 8000)


@pytest.mark.parametrize(
    "environment, arguments, port",
    [
        ({"PORT": "8123"}, [], 8123),
        ({"PORT": "8123", "VIVAVOCE_PORT": "8124"}, [], 8124),
        ({"PORT": "8123", "VIVAVOCE_PORT": "8124"}, ["--port", "8125"], 8125),
    ],
)
def test_the_port_is_told_by_option_before_variable(vivavoce, served, monkeypatch, environment, arguments, port):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert vivavoce("serve", *arguments).returncode == 0
    assert served[0].port == port


def test_every_option_reaches_the_settings(vivavoce, served, tmp_path):
    keys, words = tmp_path / "keys", tmp_path / "words.toml"
    done = vivavoce(
        *("serve", "--host", "0.0.0.0", "--api-keys-file", str(keys), "--allow-open", "--voice", "nova"),
        *(
            "--lexicon",
            str(words),
            "--cache-mb",
            "12.5",
            "--slots",
            "3",
            "--log-level",
            "debug",
            "--log-format",
            "json",
        ),
    )
    assert done.returncode == 0, done.stderr
    told = served[0].model_dump()
    assert {
        "host": "0.0.0.0",
        "api_keys_file": keys,
        "allow_open": True,
        "default_voice": "nova",
        "lexicon": words,
        "cache_mb": 12.5,
        "slots": 3,
        "log_level": "debug",
        "log_format": "json",
    }.items() <= told.items()


@pytest.mark.parametrize("arguments", [["--port", "70000"], ["--port", "x"], ["--log-level", "loud"], ["--slots", "0"]])
def test_a_setting_that_cannot_work_is_exit_code_2(vivavoce, served, arguments):
    done = vivavoce("serve", *arguments)
    assert done.returncode == 2
    assert b"Traceback" not in done.stderr
    assert served == []


def test_a_refusal_of_the_server_is_one_line(vivavoce, monkeypatch, one_line):
    def refuse(settings, role):
        raise ConfigError("the port is taken")

    monkeypatch.setattr("vivavoce.api.serve", refuse)
    done = vivavoce("serve")
    assert done.returncode == 2
    assert one_line(done.stderr) == "vivavoce: the port is taken"
