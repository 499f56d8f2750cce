"""What was seen on disk: the checksum of every file, and the state of the file it was taken from."""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

__all__ = ["Entry", "Manifest"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One file as it was when its checksum was computed. `recorded` means that nothing told what it had to be."""

    sha256: str
    size_bytes: int
    mtime_ns: int
    source: str
    recorded: bool = False


class Manifest:
    """The entries of one model, kept beside its files in `manifest.json`."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "manifest.json"
        self.entries: dict[str, Entry] = {}
        try:
            kept = json.loads(self._path.read_text(encoding="utf-8"))
            self.entries = {name: Entry(**entry) for name, entry in kept.items()}
        except (OSError, ValueError, TypeError, AttributeError):
            self.entries = {}

    def trusts(self, name: str, path: Path) -> bool:
        """Whether the file is, by size and time, the one whose checksum is on record."""
        entry = self.entries.get(name)
        try:
            state = path.stat()
        except OSError:
            return False
        return entry is not None and (entry.size_bytes, entry.mtime_ns) == (state.st_size, state.st_mtime_ns)

    def record(self, name: str, path: Path, sha256: str, source: str, *, recorded: bool) -> None:
        """Remember a file whose checksum was just computed, and write the manifest."""
        state = path.stat()
        self.entries[name] = Entry(sha256, state.st_size, state.st_mtime_ns, source, recorded)
        self._write()

    def forget(self, name: str) -> None:
        """Drop a file from the record."""
        if self.entries.pop(name, None) is not None:
            self._write()

    def _write(self) -> None:
        written = json.dumps({name: asdict(entry) for name, entry in sorted(self.entries.items())}, indent=1)
        # Two processes may write at once: each writes a file of its own, and the last one stays.
        handle, temporary = tempfile.mkstemp(prefix=".manifest-", dir=self._path.parent)
        try:
            with open(handle, "w", encoding="utf-8") as file:
                file.write(written + "\n")
            os.replace(temporary, self._path)
        except BaseException:
            os.unlink(temporary)
            raise
