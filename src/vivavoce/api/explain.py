"""POST /v1/text/explain: what would be said for a text, and why."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictStr, ValidationError

from ..errors import BadRequest, InputTooLarge
from ..text.explain import explanation
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
    return await asyncio.to_thread(
        explanation, asked.input, asked.language, services.lexicon, name_emoji=asked.name_emoji
    )
