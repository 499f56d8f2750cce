"""The page at /, and its files."""

from __future__ import annotations

import mimetypes
from pathlib import Path

from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["WEB", "Page"]

WEB = Path(__file__).parent.parent / "web"

_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; media-src 'self' blob:; img-src 'self' data:; worker-src 'self' blob:; object-src 'none'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    # Asked for anew each time, and answered with 304 where nothing changed.
    "Cache-Control": "no-cache",
}

# A machine's own table can lack these, or have them wrong.
for _extension, _kind in {".js": "text/javascript", ".mjs": "text/javascript", ".wasm": "application/wasm"}.items():
    mimetypes.add_type(_kind, _extension)


class Page:
    """Serves the page's files for GET and HEAD; raises HTTPException 404 for everything else."""

    def __init__(self, folder: Path = WEB) -> None:
        self._files: ASGIApp = StaticFiles(directory=folder, html=True)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["method"] not in ("GET", "HEAD") or scope["path"].startswith(("/v1/", "/v2/")):
            raise HTTPException(404)
        # Ranges of small files help nobody, and have cost other servers a denial of service.
        headers = [(name, value) for name, value in scope["headers"] if name not in (b"range", b"if-range")]

        async def secured(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        await self._files({**scope, "headers": headers}, receive, secured)
