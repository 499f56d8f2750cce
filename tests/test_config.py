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
    assert (settings.host, settings.port, settings.loopback, settings.keys()) == ("127.0.0.1", 8000, True, ())


def test_every_field_is_a_variable(monkeypatch):
    for name, value in {"PORT": "8123", "API_KEYS": " a , b,, ", "CACHE_MB": "1.5", "LOG_FORMAT": "JSON"}.items():
        monkeypatch.setenv(f"VIVAVOCE_{name}", value)
    settings = Settings.load()
    assert (settings.port, settings.keys(), settings.cache_mb, settings.log_format) == (8123, (b"a", b"b"), 1.5, "json")


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


def test_a_key_file_is_read(tmp_path):
    file = tmp_path / "keys"
    file.write_text("# ours\nfirst\n\n  second \n", encoding="utf-8")
    assert Settings.load(api_keys="zero", api_keys_file=file).keys() == (b"zero", b"first", b"second")


@pytest.mark.parametrize("content", [None, b"", b"# nothing\n\n", b"\xff\xfe"])
def test_a_key_file_without_keys_is_refused(tmp_path, content):
    file = tmp_path / "keys"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(ConfigError, match="VIVAVOCE_API_KEYS_FILE"):
        Settings.load(api_keys_file=file).keys()


@pytest.mark.parametrize("key", ["schlüssel", "клюв", "bell\x07", "emoji🔑"])
def test_a_key_that_not_every_client_can_send_is_refused(key, tmp_path):
    with pytest.raises(ConfigError, match="ASCII"):
        Settings(api_keys=key).keys()
    listed = tmp_path / "keys"
    listed.write_text(f"good\n{key}\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="ASCII"):
        Settings(api_keys_file=listed).keys()
