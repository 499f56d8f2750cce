import errno
import os
from dataclasses import replace
from pathlib import Path

import pytest

from vivavoce.errors import ModelUnavailable
from vivavoce.models import Model, Store
from vivavoce.models.hub import Hub, HubError

CONTENT = os.urandom(200_000)


def fetch(url: str, into: Path) -> list[int]:
    moved: list[int] = []
    Hub().fetch(url, into, moved.append)
    return moved


def test_a_file_arrives_whole(hub, tmp_path: Path) -> None:
    hub.files["/a"] = CONTENT
    moved = fetch(hub.address + "/a", tmp_path / "a.part")
    assert (tmp_path / "a.part").read_bytes() == CONTENT
    assert sum(moved) == len(CONTENT)


@pytest.mark.parametrize("first", [1, 70_000, 199_999])
def test_a_download_that_broke_off_goes_on_where_it_was(hub, tmp_path: Path, first: int) -> None:
    hub.files["/a"] = CONTENT
    hub.break_after = first
    with pytest.raises(HubError):
        fetch(hub.address + "/a", tmp_path / "a.part")
    assert (tmp_path / "a.part").stat().st_size == first
    hub.break_after = None
    moved = fetch(hub.address + "/a", tmp_path / "a.part")
    assert hub.asked[-1] == ("/a", f"bytes={first}-")
    assert (tmp_path / "a.part").read_bytes() == CONTENT
    assert sum(moved) == len(CONTENT)


def test_a_hub_without_ranges_starts_anew(hub, tmp_path: Path) -> None:
    hub.files["/a"], hub.ranges = CONTENT, False
    (tmp_path / "a.part").write_bytes(b"old beginning")
    fetch(hub.address + "/a", tmp_path / "a.part")
    assert (tmp_path / "a.part").read_bytes() == CONTENT


def test_a_file_that_is_all_here_already_is_not_an_error(hub, tmp_path: Path) -> None:
    hub.files["/a"] = CONTENT
    (tmp_path / "a.part").write_bytes(CONTENT)
    fetch(hub.address + "/a", tmp_path / "a.part")
    assert (tmp_path / "a.part").read_bytes() == CONTENT


def test_a_missing_file_tells_the_status(hub, tmp_path: Path) -> None:
    with pytest.raises(HubError, match="404"):
        fetch(hub.address + "/none", tmp_path / "a.part")


def test_a_hub_that_does_not_answer_is_asked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    silent, attempts = Hub(), []

    def refuse(*arguments: object) -> None:
        import httpx

        attempts.append(1)
        raise httpx.ConnectTimeout("no answer")

    monkeypatch.setattr(Hub, "_stream", staticmethod(refuse))
    for _ in range(3):
        with pytest.raises(HubError, match="did not answer"):
            silent.fetch("http://hub.invalid/a", tmp_path / "a", lambda _: None)
    assert len(attempts) == 1


def test_the_hub_comes_before_the_registry(hub, tmp_path: Path, model: Model, registry) -> None:
    half = {"/w": registry.parts["made-up-1"] + registry.parts["made-up-2"]}
    hub.files.update(half)
    on_hub = replace(model, files=(replace(model.files[0], hub=hub.address + "/w"), model.files[1]))
    reports = Store(tmp_path, {model.name: on_hub}).pull("made-up")
    assert reports[0].source == hub.address + "/w"
    assert registry.asked == [["made-up-js"]]
    assert not list(tmp_path.rglob("*.part"))


def test_a_hub_with_another_file_gives_way_to_the_registry(hub, tmp_path: Path, model: Model, registry) -> None:
    hub.files["/w"] = b"a newer export of the same weights"
    on_hub = replace(model, files=(replace(model.files[0], hub=hub.address + "/w"), model.files[1]))
    reports = Store(tmp_path, {model.name: on_hub}).pull("made-up")
    assert reports[0].state == "ok"
    assert reports[0].source.startswith("pip:")
    assert not list(tmp_path.rglob("*.part"))


def test_a_pull_that_broke_off_goes_on_with_the_next(hub, tmp_path: Path, model: Model, registry) -> None:
    hub.files["/w"] = registry.parts["made-up-1"] + registry.parts["made-up-2"]
    only_hub = replace(model, files=(replace(model.files[0], hub=hub.address + "/w", parts=()),))
    store = Store(tmp_path, {model.name: only_hub})
    hub.break_after = 100_000
    with pytest.raises(ModelUnavailable):
        store.pull("made-up")
    hub.break_after = None
    assert store.pull("made-up")[0].state == "ok"
    assert hub.asked[-1] == ("/w", "bytes=100000-")


def test_a_disk_that_fills_up_in_mid_download_leaves_no_half_file(
    hub, tmp_path: Path, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.files["/w"] = CONTENT
    original = Path.open

    class Full:
        def __enter__(self) -> "Full":
            return self

        def __exit__(self, *_: object) -> None: ...

        def write(self, block: bytes) -> None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def opened(self: Path, mode: str = "r", *arguments: object, **named: object) -> object:
        if self.suffix == ".part" and "b" in mode:
            original(self, mode).write(b"half")
            return Full()
        return original(self, mode, *arguments, **named)

    monkeypatch.setattr(Path, "open", opened)
    on_hub = replace(model, files=(replace(model.files[0], hub=hub.address + "/w"),))
    with pytest.raises(ModelUnavailable, match="is full"):
        Store(tmp_path, {model.name: on_hub}).pull("made-up")
    assert not list(tmp_path.rglob("*.part"))
