"""Whether the server is well, and where one can begin."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from .. import __version__
from .errors import body_of
from .services import Services, services_of

__all__ = ["readiness", "router"]

router = APIRouter()

_ENDPOINTS = (
    "/v1/audio/speech",
    "/v1/audio/voices",
    "/v1/languages",
    "/v1/models",
    "/v1/text/explain",
    "/v1/tokens",
    "/v1/voices/design",
    "/v2",
    "/ws/synthesize",
)


@router.get("/health")
@router.head("/health", include_in_schema=False)
async def health(request: Request) -> Response:
    """200 once speech has come out, 503 before; the body says why.

    A server whose predictors are elsewhere is healthy without them: it is not ready, and restarting it helps nobody.
    """
    services = services_of(request)
    if services.spoken or services.source.elsewhere is not None:
        return JSONResponse({"status": "healthy"})
    if services.fault is None:
        return JSONResponse({"status": "starting"}, status_code=503)
    return JSONResponse({"status": "unhealthy", "error": body_of(services.fault)}, status_code=503)


@router.get("/ready")
@router.head("/ready", include_in_schema=False)
async def ready(request: Request) -> Response:
    """200 where the next utterance would be taken, 503 otherwise; the body says why."""
    status = readiness(services_of(request))
    return JSONResponse({"status": status}, status_code=200 if status == "ready" else 503)


def readiness(services: Services) -> str:
    """`ready`, or why the next utterance would not be taken: `starting`, `draining`, `no_predictor`, `full`."""
    if services.admission.draining:
        return "draining"
    if not services.source.ready:
        return "no_predictor"
    if not services.spoken:
        return "starting"
    return "full" if services.admission.full else "ready"


@router.get("/v1")
@router.get("/v1/", include_in_schema=False)
@router.head("/v1", include_in_schema=False)
@router.head("/v1/", include_in_schema=False)
async def begin() -> dict[str, Any]:
    """What is here; clients that warm up their connection ask for it."""
    return {
        "object": "vivavoce",
        "version": __version__,
        "endpoints": list(_ENDPOINTS),
    }
