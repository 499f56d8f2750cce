"""What a voice needs on this machine, whether it is there, and what to do where it is not."""

from __future__ import annotations

import asyncio
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from ..errors import PlaybackFailed
from .machine import package_version
from .speakers import who_plays

__all__ = ["Check", "all_checks"]

PROGRAM_TIMEOUT_S = 5


@dataclass(frozen=True, slots=True)
class Check:
    """One finding. `good` is None for what is missing and can be done without; `advice` is empty where all is well."""

    kind: str
    name: str
    good: bool | None
    found: str
    advice: str = ""

    def facts(self) -> dict[str, Any]:
        """The finding as plain data."""
        return asdict(self)


def all_checks() -> list[Check]:
    """Every finding, from the ground up."""
    return [_python(), *_packages(), _espeak(), _player(), *_models(), *_engines()]


def _python() -> Check:
    version = sys.version_info
    good = (3, 11) <= version[:2] <= (3, 13)
    return Check("python", "Python", good, platform.python_version(), "" if good else "use Python 3.11, 3.12 or 3.13")


def _packages() -> Iterator[Check]:
    needed = {
        "numpy": "pip install --force-reinstall vivavoce",
        "av": "pip install --force-reinstall vivavoce",
        "soxr": "pip install --force-reinstall vivavoce",
        "onnxruntime": "pip install 'vivavoce[tts]'",
        "hibari-tts": "pip install 'vivavoce[tts]'",
    }
    for name, cure in needed.items():
        version = package_version(name)
        yield Check("package", name, bool(version), version or "not installed", "" if version else cure)


def _espeak() -> Check:
    path = shutil.which("espeak-ng")
    if path is None:
        cure = "more than 100 other languages come with it: apt install espeak-ng, or brew install espeak-ng"
        return Check("program", "program espeak-ng", None, "not installed", cure)
    return Check("program", "program espeak-ng", True, _first_line([path, "--version"]) or path)


def _player() -> Check:
    try:
        return Check("player", "speakers", True, f"sound can be played, through {asyncio.run(who_plays())}")
    except PlaybackFailed as failed:
        why = failed.message.removesuffix(". Write a file instead: -o speech.wav")
    except TimeoutError:
        why = "the player does not end"
    bring = "apt install libportaudio2" if "PortAudio library" in why else "pip install 'vivavoce[play]'"
    cure = f"to hear `say` without -o: {bring}, or apt install pulseaudio-utils"
    return Check("player", "speakers", None, why, cure)


def _first_line(command: list[str]) -> str:
    try:
        shown = subprocess.run(command, capture_output=True, timeout=PROGRAM_TIMEOUT_S, check=False, text=True)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return shown.stdout.strip().partition("\n")[0].partition("  ")[0]


def _models() -> Iterator[Check]:
    from ..models import Store

    for state in Store().list():
        name = state.model.name
        found = {"ready": "here", "partial": "only part of it is here", "missing": "not here"}[state.state]
        cure = "" if state.state == "ready" else f"vivavoce models pull {name} ({state.model.purpose})"
        yield Check("model", f"model {name}", True if state.state == "ready" else None, found, cure)


def _engines() -> Iterator[Check]:
    from ..engines.catalog import default_catalog

    catalog = default_catalog()
    hints = {entry.engine: entry.hint for entry in catalog.voices() if entry.hint}
    for engine in catalog.engines:
        ready, known = len(engine.ready_voices()), len(engine.voices())
        found = f"{ready} of {known} voices can be spoken"
        # hibari is the default: without it `vivavoce say` has no voice of its own.
        missing = False if engine.name == catalog.engines[0].name else None
        yield Check("engine", f"engine {engine.name}", True if ready else missing, found, hints.get(engine.name, ""))
