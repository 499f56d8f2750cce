"""POST /v1/text/explain: what would be said for a text, and why."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictStr, ValidationError

from ..errors import BadRequest, InputTooLarge
from ..text import Lexicon, Part
from ..text.explain import explain
from .body import read_object
from .services import services_of

__all__ = ["router"]

router = APIRouter()


class ExplainRequest(BaseModel):
    """A text and its language."""

    model_config = ConfigDict(extra="ignore")

    input: StrictStr
    language: StrictStr = Field(default="en", min_length=1)
    name_emoji: StrictBool = False


@router.post(
    "/v1/text/explain",
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": ExplainRequest.model_json_schema()}},
        }
    },
)
async def explain_text(request: Request) -> dict[str, Any]:
    """The segments of a text with their places, and for each part of them the words and the rule that chose them."""
    services = services_of(request)
    body = await read_object(request, services.settings.body_timeout_s)
    try:
        asked = ExplainRequest.model_validate(body)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        raise BadRequest(f"{fault['loc'][0]}: {fault['msg']}.", param=str(fault["loc"][0])) from None
    if len(asked.input) > services.settings.max_input_chars:
        raise InputTooLarge(f"The limit is {services.settings.max_input_chars} characters.", param="input")
    return await asyncio.to_thread(_explain, asked, services.lexicon)


def _explain(asked: ExplainRequest, lexicon: Lexicon | None) -> dict[str, Any]:
    told = explain(asked.input, asked.language, lexicon, name_emoji=asked.name_emoji)
    segments = [
        {
            "start": one.segment.start,
            "end": one.segment.end,
            "text": one.segment.text,
            "spoken": one.spoken.text,
            "parts": [_part(asked.input, part) for part in one.spoken.parts],
        }
        for one in told
    ]
    return {"object": "text.explanation", "language": asked.language, "segments": segments}


def _part(text: str, part: Part) -> dict[str, Any]:
    """A part with its place in the whole text; what is not set is left out."""
    shown: dict[str, Any] = {
        "start": part.start,
        "end": part.end,
        "source": text[part.start : part.end],
        "words": part.words,
        "rule": part.rule,
    }
    optional = {"pause_ms": part.pause_ms, "ipa": part.ipa, "language": part.language, "voice": part.voice}
    shown |= {name: value for name, value in optional.items() if value}
    if part.rate != 1.0:
        shown["rate"] = part.rate
    return shown
