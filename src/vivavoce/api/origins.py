"""Whose pages may open a socket here."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlsplit

from starlette.datastructures import Headers

__all__ = ["Origins"]

_DEFAULT_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}


class Origins:
    """The server's own origin, and those that are `listed`: `scheme://host[:port]`, or `*` for every one.

    Browsers let any page open a WebSocket anywhere, and name the page in `Origin`; other clients send none, and need no
    leave.
    """

    def __init__(self, listed: Iterable[str]) -> None:
        self.listed = tuple(origin.strip().rstrip("/").lower() for origin in listed)

    def allow(self, headers: Headers) -> bool:
        """Whether the page that sends these headers may."""
        origin = headers.get("origin")
        if origin is None or "*" in self.listed:
            return True
        origin = origin.strip().lower()
        return origin in self.listed or _is_own(origin, headers.get("host", ""))


def _is_own(origin: str, host: str) -> bool:
    """Whether the page came from this host; the scheme is that of whatever ends TLS in front, so only ports count."""
    try:
        page = urlsplit(origin)
        default = _DEFAULT_PORTS[page.scheme]
        here = urlsplit(f"//{host.lower()}")
        return page.hostname is not None and (page.hostname, page.port or default) == (
            here.hostname,
            here.port or default,
        )
    except (KeyError, ValueError):
        return False
