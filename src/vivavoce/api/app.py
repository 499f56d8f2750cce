"""The server, put together."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from types import ModuleType

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware

from .. import __version__
from ..clock import Clock, MonotonicClock
from ..config import Settings
from ..engines.casting import Casting
from ..engines.catalog import Catalog
from ..predictors.base import Predictor
from ..traces import TraceContext
from . import explain, health, languages, models, speech, stats, synthesize_ws, tokens, v2, voices
from .admin import admin_port_of
from .auth import Auth
from .edge import Edge
from .errors import handle_errors
from .limits import BodyLimit
from .no_socket import NoSocket
from .origins import Origins
from .page import Page
from .services import build_services
from .sources import Role, Source, embedded_source, source_of
from .v2_door import V2Door

__all__ = ["create_app"]

_EXPOSED = ["X-Request-Id", "X-Sample-Rate", "X-Word-Timestamps", "X-Word-Timestamps-Omitted", "Retry-After"]


def create_app(
    settings: Settings | None = None,
    role: Role = "serve",
    *,
    catalog: Casting | None = None,
    predictor: Predictor | None = None,
    clock: Clock | None = None,
    on_ready: Callable[[], None] | None = None,
) -> FastAPI:
    """Build the server; `on_ready` is called when it can be heard.

    With embedded voices it speaks once by itself when it starts; `catalog` and `predictor` replace them. An adapter has
    the V2 door alone, and only the whole product and a gateway have the page. Raises ConfigError.
    """
    settings = settings or Settings.load()
    clock = clock or MonotonicClock()
    if predictor is not None and catalog is not None:
        source = Source(predictor, catalog, settings.default_voice)
    elif isinstance(catalog, Catalog):
        source = embedded_source(settings, catalog)
    else:
        source = source_of(role, settings, clock)
    services = build_services(settings, source=source, clock=clock, on_ready=on_ready)
    app = FastAPI(
        title="vivavoce",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=_lifespan,
    )
    app.state.services = services
    app.state.v2 = V2Door(services, draining=lambda: services.admission.draining, healthy=lambda: source.ready)
    for part in _doors(role):
        app.include_router(part.router)
    if admin_port_of(settings) is None:
        app.include_router(stats.router)
    # Whatever no route answers; a mount would answer wrong methods of routes too.
    otherwise = Page() if role in ("serve", "gateway") else app.router.default
    there_is = "" if role == "adapter" else "/ws/synthesize"
    app.router.default = NoSocket(app.router, otherwise, there_is=there_is)
    handle_errors(app)
    app.add_middleware(BodyLimit, limit_bytes=settings.max_body_bytes)
    origins = Origins(settings.cors_origins)
    app.add_middleware(Auth, keyring=services.keyring, origins=origins)
    if origins.listed:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=origins.listed,
            allow_methods=["GET", "POST"],
            allow_headers=["*"],
            expose_headers=_EXPOSED,
        )
    if services.traces is not None:
        app.add_middleware(TraceContext)
    app.add_middleware(Edge)
    return app


def _doors(role: Role) -> tuple[ModuleType, ...]:
    if role == "adapter":
        return (health, v2)
    return (speech, synthesize_ws, tokens, voices, languages, models, explain, health, v2)


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    services = app.state.services
    tasks = [asyncio.create_task(work) for work in (services.become_ready(), services.stats.run())]
    try:
        yield
    finally:
        services.refuse_new_work()
        services.stats.close()
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        await services.close()
