"""The operator's own port: numbers and health, away from the public one."""

from __future__ import annotations

from fastapi import FastAPI

from .. import __version__
from ..config import Settings
from . import health, stats
from .edge import Edge
from .errors import handle_errors
from .no_socket import NoSocket
from .services import Services

__all__ = ["admin_port_of", "create_admin_app"]

DEFAULT_PORT = 9_090


def admin_port_of(settings: Settings) -> int | None:
    """The port that numbers are served on; None where they are served with everything else.

    Beyond loopback the public port never shows them: it answers 404.
    """
    if settings.admin_port is not None:
        return settings.admin_port
    return None if settings.loopback else DEFAULT_PORT


def create_admin_app(services: Services) -> FastAPI:
    """What is served there: /metrics, /stats, /stats/stream, /health, /ready. It has no lifespan of its own."""
    app = FastAPI(
        title="vivavoce admin",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
    )
    app.state.services = services
    for part in (stats, health):
        app.include_router(part.router)
    app.router.default = NoSocket(app.router, app.router.default)
    handle_errors(app)
    app.add_middleware(Edge)
    return app
