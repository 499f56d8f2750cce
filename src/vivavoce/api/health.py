"""Whether the server is well, what it counts, and where one can begin."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from .. import __version__
from .errors import body_of
from .services import services_of

__all__ = ["router"]

router = APIRouter()


@router.get("/health")
@router.head("/health", include_in_schema=False)
async def health(request: Request) -> Response:
    """200 once speech has come out, 503 before; the body says why."""
    services = services_of(request)
    if services.spoken:
        return JSONResponse({"status": "healthy"})
    if services.fault is None:
        return JSONResponse({"status": "starting"}, status_code=503)
    return JSONResponse({"status": "unhealthy", "error": body_of(services.fault)}, status_code=503)


@router.get("/ready")
@router.head("/ready", include_in_schema=False)
async def ready(request: Request) -> Response:
    """200 where the next utterance would be taken, 503 while starting, draining or full."""
    services = services_of(request)
    status = "ready"
    if not services.spoken:
        status = "starting"
    elif services.turns.draining:
        status = "draining"
    elif services.turns.full:
        status = "full"
    return JSONResponse({"status": status}, status_code=200 if status == "ready" else 503)


@router.get("/metrics")
async def metrics(request: Request) -> Response:
    """Everything that is counted, in Prometheus' text format."""
    counters = services_of(request).metrics
    return Response(counters.render(), headers={"Content-Type": counters.content_type})


@router.get("/v1")
@router.get("/v1/", include_in_schema=False)
@router.head("/v1", include_in_schema=False)
@router.head("/v1/", include_in_schema=False)
async def begin() -> dict[str, Any]:
    """What is here; clients that warm up their connection ask for it."""
    return {
        "object": "vivavoce",
        "version": __version__,
        "endpoints": ["/v1/audio/speech", "/v1/audio/voices", "/v1/models", "/v1/text/explain"],
    }
