"""GET /v1/audio/voices."""

from __future__ import annotations

from typing import Any, Literal

from fastapi import APIRouter, Request

from ..engines.catalog import VoiceEntry
from .services import services_of

__all__ = ["router"]

router = APIRouter()

Shape = Literal["1", "2"]


@router.get("/v1/audio/voices")
async def list_voices(request: Request, shape: Shape = "2", legacy: bool = False, all: bool = False) -> dict[str, Any]:
    """The voices that can be spoken now, then their other names; `all` adds those that are not installed.

    Shape 2 has objects with `id` and `name`, as Open WebUI and Kokoro-FastAPI from 0.3 want them. Shape 1 (or
    `legacy=true`) has bare names, as older clients and vLLM-Omni's want them. A shape never changes.
    """
    entries = [entry for entry in services_of(request).catalog.voices() if entry.ready or all]
    named = [(entry.name, entry) for entry in entries] + [
        (alias, entry) for entry in entries for alias in entry.aliases
    ]
    if legacy or shape == "1":
        return {"voices": [name for name, _ in named]}
    return {"object": "list", "shape": 2, "voices": [_shown(entry, name) for name, entry in named]}


def _shown(entry: VoiceEntry, name: str) -> dict[str, Any]:
    return {
        "id": name,
        "name": name,
        "object": "audio.voice",
        "alias_of": None if name == entry.name else entry.name,
        "engine": entry.engine,
        "language": entry.language,
        "gender": entry.gender,
        "description": entry.description,
        "ready": entry.ready,
        "hint": entry.hint,
    }
