"""`vivavoce models` shows what is here, brings it, checks it and lets it go."""

import hashlib
import json

import pytest

from vivavoce import models
from vivavoce.models import Model, ModelFile, Part, Progress

CONTENT = b"weights of a small model"


class FakeHub:
    """A hub that has everything, or nothing."""

    def __init__(self, answers=True):
        self.answers, self.asked = answers, []

    def fetch(self, url, into, moved):
        from vivavoce.models.hub import HubError

        self.asked.append(url)
        if not self.answers:
            raise HubError("hub.example did not answer")
        into.write_bytes(CONTENT)
        moved(len(CONTENT))


def small(name, sha256=None):
    file = ModelFile("net.onnx", len(CONTENT), sha256, hub=f"https://hub.example/{name}")
    return Model(name, "to be tested", "MIT", "this test", (file,))


@pytest.fixture
def hub(monkeypatch, tmp_path):
    """A store with two small models and one that is part of a package."""
    monkeypatch.setenv("VIVAVOCE_HOME", str(tmp_path))
    known = hashlib.sha256(CONTENT).hexdigest()
    bundled = ModelFile(
        "in.onnx", 1, None, parts=(Part("pip", "no-such-package", "1.0", "no_such/in.onnx"),), bundled=True
    )
    every = {
        "sure": small("sure", known),
        "fresh": small("fresh"),
        "built-in": Model("built-in", "to be tested", "MIT", "a package", (bundled,)),
    }
    fake = FakeHub()
    kept = models.Store
    monkeypatch.setattr(models, "Store", lambda: kept(models=every, hub=fake))
    return fake


def listed(vivavoce):
    return {model["name"]: model for model in json.loads(vivavoce("models", "list", "--json").stdout)}


def test_list_tells_state_size_licence_source_and_checksum(vivavoce, hub):
    told = listed(vivavoce)
    assert told["sure"]["state"] == "missing"
    assert (told["sure"]["licence"], told["sure"]["source"]) == ("MIT", "this test")
    assert told["sure"]["size_bytes"] == len(CONTENT)
    assert told["sure"]["files"][0]["sha256"] == hashlib.sha256(CONTENT).hexdigest()
    shown = vivavoce("models", "list").stdout.decode()
    assert all(word in shown for word in ("sure", "fresh", "missing", "MIT", "this test"))


def test_pull_verify_remove(vivavoce, hub, tmp_path):
    done = vivavoce("models", "pull", "sure", "FRESH", "sure")
    assert done.returncode == 0, done.stderr
    assert hub.asked == ["https://hub.example/sure", "https://hub.example/fresh"]
    # A checksum that nobody knew is recorded and shown.
    assert f"sha256 {hashlib.sha256(CONTENT).hexdigest()}, recorded now" in done.stdout.decode()
    assert done.stdout.decode().count("recorded now") == 1
    assert listed(vivavoce)["sure"]["state"] == "ready"

    checked = vivavoce("models", "verify", "--json")
    assert checked.returncode == 0
    assert {name: files[0]["state"] for name, files in json.loads(checked.stdout).items()} == {
        "sure": "ok",
        "fresh": "ok",
    }
    for name in ("sure", "fresh"):
        next(tmp_path.rglob(f"{name}/net.onnx")).write_bytes(CONTENT[::-1])
    damaged = vivavoce("models", "verify", "sure")
    assert damaged.returncode == 1
    assert "net.onnx is damaged" in damaged.stdout.decode()

    assert vivavoce("models", "pull", "--force", "--json", "sure").returncode == 0
    assert vivavoce("models", "verify", "sure").returncode == 0
    assert b"freed" in vivavoce("models", "remove", "sure").stdout
    assert listed(vivavoce)["sure"]["state"] == "missing"
    assert b"was not here" in vivavoce("models", "remove", "sure").stdout


def test_pull_is_not_repeated_for_what_is_here(vivavoce, hub):
    for _ in range(2):
        assert vivavoce("models", "pull", "sure").returncode == 0
    assert len(hub.asked) == 1


def test_no_source_is_exit_code_4_with_the_reason(vivavoce, hub, one_line):
    hub.answers = False
    done = vivavoce("models", "pull", "sure")
    assert done.returncode == 4
    assert "hub.example did not answer" in done.stderr.decode().splitlines()[-1]


@pytest.mark.parametrize("command", ["pull", "verify", "remove"])
def test_a_model_that_does_not_exist_stops_before_anything_is_done(vivavoce, hub, command, one_line):
    done = vivavoce("models", command, "sure", "nonesuch")
    assert done.returncode == 2
    assert "nonesuch" in one_line(done.stderr)
    assert hub.asked == []


@pytest.mark.parametrize("command", ["pull", "remove"])
def test_no_name_is_wrong_usage_that_lists_them(vivavoce, hub, command):
    done = vivavoce("models", command)
    assert done.returncode == 2
    assert b"sure, fresh, built-in" in done.stderr


def test_what_is_part_of_a_package_names_the_package(vivavoce, hub, one_line):
    done = vivavoce("models", "remove", "built-in")
    assert done.returncode == 4
    assert "pip uninstall no-such-package" in one_line(done.stderr)


def test_progress_in_a_log_is_a_line_for_each_large_step(capsys):
    from vivavoce.cli.pulling import progress_shown

    with progress_shown() as told:
        for done in range(0, 90_000_001, 10_000_000):
            told(Progress("kokoro", "downloading kokoro.onnx", done, 90_000_000))
        told(Progress("kokoro", "downloading a voice", 0, 500_000))
        told(Progress("kokoro", "fetching with npm"))
    assert capsys.readouterr().err.splitlines() == ["kokoro: downloading kokoro.onnx", "kokoro: fetching with npm"]
