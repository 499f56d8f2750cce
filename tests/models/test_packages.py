import io
import stat
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from vivavoce.models import MODELS, Part, packages
from vivavoce.models.packages import PackageError, download

WHEEL_PART = Part("pip", "made-up-data", "1.2", "made_up_data/part.bin")
NPM_PART = Part("npm", "made-up-js", "3.0", "voices/ann.bin")


def wheel(path: Path, **files: bytes) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name.replace("__", "/").replace("_bin", ".bin"), content)


def tarball(path: Path, name: str, content: bytes) -> None:
    with tarfile.open(path, "w:gz") as archive:
        info = tarfile.TarInfo(name)
        info.size = len(content)
        archive.addfile(info, io.BytesIO(content))


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Commands that would have run; each leaves what its client would leave."""
    ran: list[list[str]] = []

    def run(command: list[str], folder: Path, grown: object) -> None:
        ran.append(command)
        if "pack" in command:
            tarball(folder / "made-up-js-3.0.tgz", "package/voices/ann.bin", b"ann")
        elif "--target" in command:
            (folder / "made_up_data").mkdir()
            (folder / "made_up_data" / "part.bin").write_bytes(b"part")
        else:
            wheel(folder / "made_up_data-1.2-py3-none-any.whl", made_up_data__part_bin=b"part")

    monkeypatch.setattr(packages, "_run", run)
    return ran


def only(monkeypatch: pytest.MonkeyPatch, *, own_pip: bool, **programs: str) -> None:
    found = packages.find_spec
    monkeypatch.setattr(packages, "find_spec", lambda name: found("json") if name == "pip" and own_pip else None)
    monkeypatch.setattr(packages.shutil, "which", programs.get)


def test_pip_of_this_environment_comes_first(commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, own_pip=True, pip="/bin/pip", uv="/bin/uv")
    got = download([WHEEL_PART], tmp_path, lambda _: None)
    assert got[WHEEL_PART].read_bytes() == b"part"
    assert commands[0][:4] == [sys.executable, "-m", "pip", "download"]
    assert commands[0][-1] == "made-up-data==1.2"
    assert "--no-deps" in commands[0]


@pytest.mark.parametrize("programs", [{"pip": "/bin/pip"}, {"pip3": "/bin/pip3"}, {"uv": "/bin/uv"}])
def test_where_there_is_no_pip_another_client_does(
    commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, programs: dict[str, str]
) -> None:
    only(monkeypatch, own_pip=False, **programs)
    assert download([WHEEL_PART], tmp_path, lambda _: None)[WHEEL_PART].read_bytes() == b"part"
    assert commands[0][0] in programs.values()


def test_npm_packs_what_it_is_asked_for(commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, own_pip=True, npm="/bin/npm")
    got = download([WHEEL_PART, NPM_PART], tmp_path, lambda _: None)
    assert got[NPM_PART].read_bytes() == b"ann"
    assert commands[0] == ["/bin/npm", "pack", "--silent", "made-up-js@3.0"]


def test_without_any_client_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, own_pip=False)
    with pytest.raises(PackageError, match="ensurepip"):
        download([WHEEL_PART], tmp_path, lambda _: None)
    with pytest.raises(PackageError, match=r"apt install npm.*brew install node"):
        download([NPM_PART], tmp_path, lambda _: None)


def program(folder: Path, script: str) -> list[str]:
    path = folder / "client"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return [str(path)]


def test_a_client_that_fails_is_quoted_by_its_last_lines(tmp_path: Path) -> None:
    command = program(tmp_path, "for i in 1 2 3 4 5; do echo line $i >&2; done; exit 3")
    with pytest.raises(PackageError, match="client: line 3 line 4 line 5"):
        packages._run(command, tmp_path, lambda _: None)


def test_a_client_on_a_full_disk_says_so(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No space left"):
        packages._run(program(tmp_path, "echo 'ERROR: No space left on device' >&2; exit 1"), tmp_path, lambda _: None)


def test_growth_is_told_while_a_client_works(tmp_path: Path) -> None:
    sizes: list[int] = []
    packages._run(program(tmp_path, 'head -c 5000 /dev/zero > "$TMPDIR/scratch"; sleep 0.5'), tmp_path, sizes.append)
    assert len(sizes) >= 2
    assert sizes[-1] > 5000


def test_an_archive_without_the_file_is_told(tmp_path: Path) -> None:
    wheel(tmp_path / "made_up_data-1.2-py3-none-any.whl", other_bin=b"")
    with pytest.raises(PackageError, match=r"lacks made_up_data/part\.bin"):
        packages._unpack([WHEEL_PART], tmp_path)
    tarball(tmp_path / "made-up-js-3.0.tgz", "package/other.bin", b"")
    with pytest.raises(PackageError, match=r"lacks voices/ann\.bin"):
        packages._unpack([NPM_PART], tmp_path)
    with pytest.raises(PackageError, match="was not downloaded"):
        packages._unpack([Part("npm", "gone", "1", "x")], tmp_path)


@pytest.mark.parametrize("content", [b"", b"no archive"])
def test_a_broken_archive_is_told(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "made_up_data-1.2-py3-none-any.whl").write_bytes(content)
    with pytest.raises(PackageError):
        packages._unpack([WHEEL_PART], tmp_path)


def test_the_registry_of_models_is_complete() -> None:
    for model in MODELS.values():
        assert model.licence
        assert len({file.name for file in model.files}) == len(model.files)
        for file in model.files:
            assert len(file.sha256) == 64
            assert file.size_bytes > 0
            assert file.parts
            assert ".." not in file.name
            assert not file.name.startswith("/")
    assert MODELS["kokoro"].size_bytes == sum(file.size_bytes for file in MODELS["kokoro"].files)
