"""GET /v1/models."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request

from ..engines.catalog import ModelEntry
from ..errors import UnknownModel
from .services import services_of

__all__ = ["router"]

router = APIRouter()

# OpenAI's field for when a model was made; nobody here knows, and clients want a number.
_CREATED_UNIX_S = 1_764_547_200


@router.get("/v1/models")
async def list_models(request: Request) -> dict[str, Any]:
    """Every name that the field `model` of a request may carry."""
    entries = services_of(request).catalog.models()
    return {"object": "list", "data": [_shown(entry) for entry in entries]}


@router.get("/v1/models/{model:path}")
async def retrieve_model(request: Request, model: str) -> dict[str, Any]:
    """One of them. Raises UnknownModel."""
    for entry in services_of(request).catalog.models():
        if entry.name == model:
            return _shown(entry)
    raise UnknownModel("No model has that name; /v1/models lists those there are.", param="model")


def _shown(entry: ModelEntry) -> dict[str, Any]:
    return {
        "id": entry.name,
        "object": "model",
        "created": _CREATED_UNIX_S,
        "owned_by": entry.engine or "vivavoce",
        "voices": entry.voices,
        "ready": entry.ready,
    }
