"""Settings from the environment."""

from __future__ import annotations

import pytest

from vivavoce.config import Settings
from vivavoce.errors import ConfigError


@pytest.fixture(autouse=True)
def _clean(monkeypatch):
    import os

    for name in list(os.environ):
        if name.startswith("VIVAVOCE_"):
            monkeypatch.delenv(name)


def test_nothing_needs_to_be_set():
    settings = Settings.load()
    assert (settings.host, settings.port, settings.loopback, settings.guarded) == ("127.0.0.1", 8000, True, False)


def test_every_field_is_a_variable(monkeypatch):
    for name, value in {"PORT": "8123", "API_KEYS": " a , b,, ", "CACHE_MB": "1.5", "LOG_FORMAT": "JSON"}.items():
        monkeypatch.setenv(f"VIVAVOCE_{name}", value)
    settings = Settings.load()
    assert (settings.port, settings.cache_mb, settings.log_format) == (8123, 1.5, "json")
    assert [key.get_secret_value() for key in settings.api_keys] == ["a", "b"]
    assert settings.guarded


def test_arguments_win_over_the_environment(monkeypatch):
    monkeypatch.setenv("VIVAVOCE_PORT", "8123")
    assert Settings.load(port=9000).port == 9000


def test_an_empty_variable_is_not_set(monkeypatch):
    monkeypatch.setenv("VIVAVOCE_PORT", "")
    assert Settings.load().port == 8000


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PORT", "80800"),
        ("PORT", "http"),
        ("CACHE_MB", "-1"),
        ("LOG_LEVEL", "loud"),
        ("SLOTS", "0"),
        ("ALLOW_OPEN", "x"),
    ],
)
def test_a_wrong_value_is_a_config_error_that_names_the_variable(monkeypatch, name, value):
    monkeypatch.setenv(f"VIVAVOCE_{name}", value)
    with pytest.raises(ConfigError, match=f"VIVAVOCE_{name}"):
        Settings.load()


def test_keys_never_show():
    settings = Settings.load(api_keys="top-secret")
    assert "top-secret" not in repr(settings)
    assert "top-secret" not in settings.model_dump_json()


@pytest.mark.parametrize(
    ("variable", "value"), [("STREAMS_PER_GPU", "x"), ("QUEUE_MAX_DEPTH", "-1"), ("VIVAVOCE_QUEUE_LIMIT", "-1")]
)
def test_a_wrong_value_is_told_under_the_name_that_it_was_given(monkeypatch, variable, value):
    monkeypatch.setenv(variable, value)
    with pytest.raises(ConfigError) as caught:
        Settings.load()
    assert caught.value.message.startswith(f"{variable}: ")


@pytest.mark.parametrize("origins", ["notaurl", "https://app.example.com/page", "https://a.example, b.example"])
def test_what_is_no_origin_is_refused(origins):
    with pytest.raises(ConfigError, match="CORS_ORIGINS"):
        Settings.load(cors_origins=origins)


def test_origins_are_schemes_with_hosts():
    told = "https://app.example.com, http://localhost:3000, chrome-extension://abcdef"
    assert len(Settings.load(cors_origins=told).cors_origins) == 3
