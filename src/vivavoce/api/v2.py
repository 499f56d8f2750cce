"""/v2: the Open Inference Protocol, as KServe's and Triton's clients speak it.

Source: github.com/kserve/open-inference-protocol and Triton's extensions for binary tensors, generate, the model
repository, statistics and model configuration.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from starlette.requests import ClientDisconnect

from ..errors import BadRequest, Busy, EmptyInput, Forbidden, InternalError, VivavoceError
from ..predictors.v2_wire import HEADER_LENGTH, InferRequest
from ..speech import Timeline
from ..speech.admission import Caller
from ..text import speak
from .body import parse_object
from .services import Services, caller_of
from .v2_about import model_config, model_metadata, model_stats, repository_entry, server_metadata
from .v2_body import read_body, refuse_foreign_page
from .v2_door import V2Door, door_of
from .v2_order import TEXT_NAMES, V2Order, order_of_fields, order_of_infer
from .v2_reply import DOOR, Errand, GenerateReply, InferReply, StreamReply
from .v2_speech import utterance_of

__all__ = ["router"]

_Understood = tuple[V2Order, str, Callable[[Errand], Response]]
"""An order, the request's id, and what makes its reply."""

router = APIRouter(prefix="/v2", tags=["v2"])

# A name may have slashes, so a path with a version has to be tried first: the lowest decorator is.
_MODEL = "/models/{model:path}"
_VERSIONED = "/models/{model:path}/versions/{version}"


@router.get("")
@router.get("/", include_in_schema=False)
async def server(_request: Request) -> Response:
    """The server and its extensions."""
    return JSONResponse(server_metadata())


@router.get("/health/live")
@router.head("/health/live", include_in_schema=False)
async def live(_request: Request) -> Response:
    """200 while the process answers at all."""
    return JSONResponse({"live": True})


@router.get("/health/ready")
@router.head("/health/ready", include_in_schema=False)
async def ready(request: Request) -> Response:
    """200 where a request would be served; the headers tell slots and streams."""
    door = door_of(request)
    if not door.ready:
        return JSONResponse({"error": "Server is not ready."}, status_code=503, headers=door.headers())
    return JSONResponse({"ready": True, "live": True}, headers=door.headers())


@router.get("/models")
async def models(request: Request) -> Response:
    """The names of the models: one."""
    return JSONResponse({"models": [door_of(request).name]})


@router.get("/models/stats")
async def all_stats(request: Request) -> Response:
    """What all models, that is the one, have done."""
    door = door_of(request)
    return JSONResponse(model_stats(door.name, door.tally))


@router.get(_MODEL + "/ready")
@router.get(_VERSIONED + "/ready")
async def model_ready(request: Request, model: str, version: str | None = None) -> Response:
    """200 where a request to the model would be served."""
    door = door_of(request)
    door.check(model, version)
    if not door.ready:
        error = {"error": f"Model with name {door.name} is not ready."}
        return JSONResponse(error, status_code=503, headers=door.headers())
    return JSONResponse({"name": door.name, "ready": True}, headers=door.headers())


@router.get(_MODEL + "/config")
@router.get(_VERSIONED + "/config")
async def config(request: Request, model: str, version: str | None = None) -> Response:
    """The model's tensors in the words of Triton's configuration."""
    door = door_of(request)
    door.check(model, version)
    return JSONResponse(model_config(door.name))


@router.get(_MODEL + "/stats")
@router.get(_VERSIONED + "/stats")
async def stats(request: Request, model: str, version: str | None = None) -> Response:
    """What the model has done since the server started."""
    door = door_of(request)
    door.check(model, version)
    return JSONResponse(model_stats(door.name, door.tally))


@router.get(_MODEL)
@router.get(_VERSIONED)
async def metadata(request: Request, model: str, version: str | None = None) -> Response:
    """The model's tensors, voices and languages."""
    door = door_of(request)
    door.check(model, version)
    return JSONResponse(_metadata(door), headers=door.headers())


@router.post(_MODEL + "/infer")
@router.post(_VERSIONED + "/infer")
async def infer(request: Request, model: str, version: str | None = None) -> Response:
    """Speak a text tensor; audio comes back as a tensor, in JSON or in binary."""

    def understand(body: bytes, max_characters: int) -> _Understood:
        asked = InferRequest.decode(body, request.headers.get(HEADER_LENGTH))
        return order_of_infer(asked, max_characters), asked.id, lambda errand: InferReply(errand, asked)

    return await _speak(request, model, version, understand)


@router.post(_MODEL + "/generate")
@router.post(_VERSIONED + "/generate")
async def generate(request: Request, model: str, version: str | None = None) -> Response:
    """Speak `text_input`; one JSON object comes back, its audio in base64."""
    return await _speak(request, model, version, partial(_generation, GenerateReply))


@router.post(_MODEL + "/generate_stream")
@router.post(_VERSIONED + "/generate_stream")
async def generate_stream(request: Request, model: str, version: str | None = None) -> Response:
    """Speak `text_input`; Server-Sent Events bring audio and words while they are made."""
    return await _speak(request, model, version, partial(_generation, StreamReply))


@router.post("/repository/index")
async def index(request: Request) -> Response:
    """The models there are and whether they are ready; `{"ready": true}` leaves out those that are not."""
    door = door_of(request)
    body = await _body(request, door.services)
    only_ready = bool(body.strip()) and parse_object(body).get("ready") is True
    entry = repository_entry(door.name, ready=door.ready, reason="" if door.ready else "not ready")
    return JSONResponse([] if only_ready and not door.ready else [entry])


@router.post("/repository/models/{model:path}/load")
async def load(request: Request, model: str) -> Response:
    """Serve the model again after an unload."""
    return _switch(request, model, loaded=True)


@router.post("/repository/models/{model:path}/unload")
async def unload(request: Request, model: str) -> Response:
    """Refuse requests, and be not ready, until the model is loaded again; its memory is kept."""
    return _switch(request, model, loaded=False)


def _switch(request: Request, model: str, *, loaded: bool) -> Response:
    refuse_foreign_page(request)
    if request.scope.get("state", {}).get("by_token"):
        raise Forbidden("A browser's token cannot load or unload a model.")
    door = door_of(request)
    door.check(model)
    door.loaded = loaded
    return JSONResponse({"name": door.name, "load" if loaded else "unload": True})


async def _speak(
    request: Request, model: str, version: str | None, understand: Callable[[bytes, int], _Understood]
) -> Response:
    """A reply that speaks and counts itself. What is refused here is counted here, and holds no slot."""
    door, caller = door_of(request), caller_of(request)
    services = door.services
    door.check_callable(model, version)
    async with _counted(services) as timeline:
        body = await _body(request, services)
        seat = door.take(caller)
        try:
            order, identity, reply = understand(body, services.settings.max_input_chars)
            utterance = utterance_of(services, order)
            _accept(services, caller, order, utterance.language, timeline)
            return reply(Errand(door, order, utterance, seat, timeline, identity))
        except BaseException:
            seat.release()
            raise


def _generation(kind: type[GenerateReply] | type[StreamReply], body: bytes, max_characters: int) -> _Understood:
    """The order in a body of `generate`: parameters may stand under `parameters` or beside the text."""
    fields = parse_object(body)
    text = next((fields[name] for name in ("text_input", *TEXT_NAMES) if name in fields), None)
    if not isinstance(text, str):
        raise BadRequest("text_input must be a string.", param="text_input")
    parameters = fields.get("parameters", {})
    if not isinstance(parameters, dict):
        raise BadRequest("parameters must be an object.", param="parameters")
    order = order_of_fields(text, {**fields, **parameters}, max_characters)
    if kind is StreamReply and order.format != "pcm":
        raise BadRequest("generate_stream gives pcm only.", param="response_format")
    identity = fields.get("id")
    return order, identity if isinstance(identity, str) else "", kind


def _accept(services: Services, caller: Caller, order: V2Order, language: str, timeline: Timeline) -> None:
    """Note that the order is taken. Raises EmptyInput where nothing in it can be said, RateLimited."""
    bare = not order.normalized and not any(character.isalnum() for character in order.text)
    if bare and speak(order.text, language, services.lexicon).silent:
        raise EmptyInput("There is nothing to say in the text.", param="text")
    services.admission.spend(caller, len(order.text))
    timeline.admitted_ms = services.clock.now_ms()
    services.metrics.characters.labels(DOOR).inc(len(order.text))


async def _body(request: Request, services: Services) -> bytes:
    settings = services.settings
    return await read_body(request, settings.body_timeout_s, settings.max_body_bytes)


@asynccontextmanager
async def _counted(services: Services) -> AsyncIterator[Timeline]:
    """A timeline for one request; one that is refused in the block is counted once, another counts itself."""
    timeline = Timeline(services.clock.now_ms())
    try:
        yield timeline
    except ClientDisconnect:
        services.metrics.ended(DOOR, "client_gone", timeline)
        raise
    except asyncio.CancelledError:
        services.metrics.ended(DOOR, "cancelled", timeline)
        raise
    except Busy as error:
        services.metrics.ended(DOOR, "shed", timeline, error.code, error.reason)
        raise
    except Exception as error:
        code = error.code if isinstance(error, VivavoceError) else InternalError.code
        services.metrics.ended(DOOR, "error", timeline, code)
        raise


def _metadata(door: V2Door) -> dict[str, Any]:
    catalog = door.services.catalog
    voices = (voice for voice in catalog.voices() if voice.ready)
    return model_metadata(door.name, voices, catalog.languages(), design=catalog.designs)
