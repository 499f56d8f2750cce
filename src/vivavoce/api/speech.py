"""POST /v1/audio/speech, OpenAI's contract and the common extensions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, cast

from fastapi import APIRouter, Request, Response
from fastapi.routing import APIRoute
from starlette.requests import ClientDisconnect

from ..errors import EmptyInput, InternalError, VivavoceError
from ..speech import Timeline
from ..text import Lexicon, speak
from .body import read_object
from .services import Services, caller_of, services_of
from .speech_reply import DOOR, SpeechReply
from .speech_request import SpeechRequest, parse_order

__all__ = ["router"]


class _Direct(APIRoute):
    """Hands the request on as it is: FastAPI's dependencies and models would take a part of the time to first sound."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        return cast(Callable[[Request], Coroutine[Any, Any, Response]], self.endpoint)


router = APIRouter(route_class=_Direct)


@router.post(
    "/v1/audio/speech",
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": SpeechRequest.model_json_schema()}},
        }
    },
)
async def create_speech(request: Request) -> Response:
    """Speak a text. Every request is counted once, with its outcome, also one that is refused."""
    services = services_of(request)
    timeline = Timeline(services.clock.now_ms())
    outcome, code = "error", InternalError.code
    try:
        reply = await _understand(request, services, timeline)
    except ClientDisconnect:
        outcome, code = "client_gone", ""
        raise
    except asyncio.CancelledError:
        outcome, code = "cancelled", ""
        raise
    except VivavoceError as error:
        code = error.code
        raise
    else:
        outcome = ""
    finally:
        if outcome:
            services.metrics.ended(DOOR, outcome, timeline, code)
    return reply


async def _understand(request: Request, services: Services, timeline: Timeline) -> SpeechReply:
    """What the request asks for, as a reply that will count itself. Raises what is wrong with the request."""
    body = await read_object(request, services.settings.body_timeout_s)
    order = parse_order(body, services.settings.max_input_chars)
    utterance = services.utterance(
        voice=order.voice,
        model=order.model,
        language=order.language,
        instruct=order.instruct,
        speed=order.speed,
        rate_hz=order.rate_hz,
    )
    if _nothing_to_say(order.text, utterance.language, services.lexicon):
        raise EmptyInput("There is nothing to say in the input.", param="input")
    services.metrics.characters.labels(DOOR).inc(len(order.text))
    return SpeechReply(services, order, utterance, caller_of(request), timeline)


def _nothing_to_say(text: str, language: str, lexicon: Lexicon | None) -> bool:
    """Whether a text without any letter or digit has no sign that is spoken either, such as a percent sign."""
    return not any(character.isalnum() for character in text) and speak(text, language, lexicon).silent
