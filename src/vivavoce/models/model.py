"""What is known about a model before it is on this machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Model", "ModelFile", "Part"]


@dataclass(frozen=True, slots=True)
class Part:
    """A file inside a published package, pinned to one version; `path` is where it lies in the package."""

    client: Literal["pip", "npm"]
    package: str
    version: str
    path: str


@dataclass(frozen=True, slots=True)
class ModelFile:
    """One file of a model: what it must be, and where it can come from.

    `sha256` is None where it is not known yet: the first download records it. `hub` is the address on the model's
    official hub. `parts` joined in order give the file. A file that is `bundled` stays in the installed package.
    """

    name: str
    size_bytes: int
    sha256: str | None
    hub: str | None = None
    parts: tuple[Part, ...] = ()
    bundled: bool = False


@dataclass(frozen=True, slots=True)
class Model:
    """A model by its name: what it is for, its licence and its files. `source` says who made it."""

    name: str
    purpose: str
    licence: str
    source: str
    files: tuple[ModelFile, ...]

    @property
    def size_bytes(self) -> int:
        """All files together."""
        return sum(file.size_bytes for file in self.files)

    def file(self, name: str) -> ModelFile:
        """Return the file of that name; raises KeyError."""
        for file in self.files:
            if file.name == name:
                return file
        raise KeyError(name)
