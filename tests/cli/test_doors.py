"""`vivavoce gateway`, `engine` and `adapter` hand the server exactly what was asked for, and their role."""

import pytest

from vivavoce.errors import ConfigError

VARIABLES = ("PORT", "VIVAVOCE_PORT", "VIVAVOCE_HOST", "PREDICTOR_URL", "ENGINE_URL", "MODEL_NAME", "STREAMS_PER_GPU")


@pytest.fixture
def served(monkeypatch):
    """The roles and the settings that servers were started with."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    seen = []
    monkeypatch.setattr("vivavoce.api.serve", lambda settings, role: seen.append((role, settings)))
    return seen


@pytest.mark.parametrize("role, port", [("gateway", 8000), ("engine", 8080), ("adapter", 8080)])
def test_defaults(vivavoce, served, role, port):
    assert vivavoce(role).returncode == 0
    ((told, settings),) = served
    assert (told, settings.host, settings.port, settings.model_name) == (role, "127.0.0.1", port, "tts")
    assert "default_voice" not in settings.model_fields_set


@pytest.mark.parametrize("role", ["gateway", "engine", "adapter"])
def test_the_port_is_told_by_option_before_variable(vivavoce, served, monkeypatch, role):
    monkeypatch.setenv("PORT", "9001")
    vivavoce(role)
    vivavoce(role, "-p", "9002")
    assert [settings.port for _, settings in served] == [9001, 9002]


COMMON = {"host": "0.0.0.0", "port": 9000, "allow_open": True, "log_level": "debug", "log_format": "json"}
OPTIONS = {
    "gateway": {
        "predictor_url": ("http://one:8080", "http://two:8080"),
        "burst_url": ("dns://burst:8080",),
        "model_name": "omni",
        "warm_capacity": 12,
        "default_voice": "hanna",
    },
    "engine": {"model_name": "omni", "slots": 3, "tier": "burst", "default_voice": "nova", "cache_mb": 4.0},
    "adapter": {
        "engine_url": "http://127.0.0.1:8000",
        "engine_model": "k2-fsa/OmniVoice",
        "model_name": "omni",
        "slots": 4,
        "tier": "floor",
        "default_voice": "hanna",
    },
}
SPELLED = {"warm_capacity": "capacity", "default_voice": "voice"}


def arguments_for(settings):
    for name, value in settings.items():
        yield f"--{SPELLED.get(name, name).replace('_', '-')}"
        if value is not True:
            yield ",".join(value) if isinstance(value, tuple) else str(value)


@pytest.mark.parametrize("role", OPTIONS)
def test_every_option_reaches_the_settings(vivavoce, served, tmp_path, role):
    wanted = {**COMMON, "api_keys_file": tmp_path / "keys", **OPTIONS[role]}
    done = vivavoce(role, *arguments_for(wanted))
    assert done.returncode == 0, done.stderr
    ((told, settings),) = served
    assert told == role
    assert wanted.items() <= settings.model_dump().items()


def test_manifests_of_other_gateways_keep_their_variables(vivavoce, served, monkeypatch):
    for name, value in {"MODEL_NAME": "omnivoice", "STREAMS_PER_GPU": "2", "PREDICTOR_URL": "http://lb"}.items():
        monkeypatch.setenv(name, value)
    vivavoce("gateway")
    _, settings = served[0]
    assert (settings.model_name, settings.slots, settings.predictor_url) == ("omnivoice", 2, ("http://lb",))


@pytest.mark.parametrize("role", OPTIONS)
@pytest.mark.parametrize("arguments", [["--port", "70000"], ["--log-level", "loud"]])
def test_a_setting_that_cannot_work_is_exit_code_2(vivavoce, served, role, arguments):
    done = vivavoce(role, *arguments)
    assert done.returncode == 2
    assert b"Traceback" not in done.stderr
    assert served == []


@pytest.mark.parametrize("role", OPTIONS)
def test_a_refusal_of_the_server_is_one_line(vivavoce, monkeypatch, one_line, role):
    def refuse(settings, role):
        raise ConfigError("the port is taken")

    monkeypatch.setattr("vivavoce.api.serve", refuse)
    done = vivavoce(role)
    assert done.returncode == 2
    assert one_line(done.stderr) == "vivavoce: the port is taken"


@pytest.mark.parametrize("role, option", [("gateway", "PREDICTOR_URL"), ("adapter", "--engine-url")])
def test_without_anybody_behind_it_a_front_does_not_start(vivavoce, monkeypatch, one_line, role, option):
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(
        "vivavoce.api.server.configure_logs", lambda level, kind: None
    )  # this stderr ends with the test
    done = vivavoce(role, "--port", "0")
    assert done.returncode == 2
    assert option in one_line(done.stderr)
