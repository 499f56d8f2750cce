"""Files that are whole or not there at all."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from ..errors import ModelUnavailable

__all__ = ["data_home", "free_space_checked", "locked", "reporting_full_disk", "sha256_of"]

_BLOCK_BYTES = 1 << 20


def data_home() -> Path:
    """Where this user's models are kept: `VIVAVOCE_HOME`, else the platform's data directory."""
    chosen = os.environ.get("VIVAVOCE_HOME")
    if chosen:
        return Path(chosen).expanduser()
    from platformdirs import user_data_dir

    return Path(user_data_dir("vivavoce", appauthor=False))


def sha256_of(path: Path, moved: Callable[[int], None] = lambda _: None) -> str:
    """Compute a file's SHA-256 in lower-case hex; `moved` hears of every block read, in bytes."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK_BYTES):
            digest.update(block)
            moved(len(block))
    return digest.hexdigest()


@contextlib.contextmanager
def reporting_full_disk(folder: Path) -> Iterator[None]:
    """Turn "no space left" into a ModelUnavailable that says where, and "not allowed" too."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise ModelUnavailable(f"The disk that holds {folder} is full; free some space and try again.") from error
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise ModelUnavailable(f"{folder} cannot be written; set VIVAVOCE_HOME to a folder that can.") from error
        raise


def free_space_checked(folder: Path, needed_bytes: int) -> None:
    """Raise ModelUnavailable when the disk clearly lacks room for `needed_bytes`."""
    free = shutil.disk_usage(folder).free
    if free < needed_bytes:
        raise ModelUnavailable(
            f"The disk that holds {folder} has {free / 1e6:.0f} MB left and {needed_bytes / 1e6:.0f} MB are needed."
        )


@contextlib.contextmanager
def locked(path: Path, waiting: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Hold a lock file, so that two processes never pull one model at once; `waiting` is called if another holds it.

    The lock goes with the process that holds it, however it ends.
    """
    with path.open("a+b") as file:
        if sys.platform == "win32":
            import msvcrt

            waiting()
            msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
        else:
            import fcntl

            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                waiting()
                fcntl.flock(file, fcntl.LOCK_EX)
        yield
