"""The models that benches need beyond hibari, pulled once by the product's own store."""

from __future__ import annotations

from pathlib import Path

from vivavoce.models import Store
from whisper import Whisper

__all__ = ["kokoro_files", "whisper_base"]


def whisper_base() -> Whisper:
    """Whisper base, pulled if it is not here."""
    store = Store()
    store.pull("whisper-base")
    return Whisper(store.require("whisper-base", "model.bin").parent)


def kokoro_files(voice: str) -> tuple[Path, Path]:
    """Kokoro's graph and a voice's styles, pulled if they are not here."""
    store = Store()
    store.pull("kokoro")
    return store.require("kokoro", "kokoro.onnx"), store.require("kokoro", f"voices/{voice}.bin")
