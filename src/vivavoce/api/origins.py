"""Whose pages may do something here."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlsplit

from starlette.datastructures import Headers

__all__ = ["Origins", "is_form"]

# What a page can send anywhere without asking first; it cannot send JSON so.
_FORMS = ("", "text/plain", "multipart/form-data", "application/x-www-form-urlencoded")
_DEFAULT_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}


class Origins:
    """The server's own origin, and those that are `listed`: `scheme://host[:port]`, or `*` for every one.

    Browsers let any page open a WebSocket and send a form anywhere, and name the page in `Origin`; other clients send
    none, and need no leave.
    """

    def __init__(self, listed: Iterable[str]) -> None:
        self.listed = tuple(origin.strip().rstrip("/").lower() for origin in listed)

    def allow(self, headers: Headers) -> bool:
        """Whether the page that sends these headers may."""
        origin = headers.get("origin")
        if origin is None or "*" in self.listed:
            return True
        origin = origin.strip().lower()
        # A browser's own word holds behind proxies that change the host, too, and no page can set it.
        is_own = headers.get("sec-fetch-site") == "same-origin" or _is_own(origin, headers.get("host", ""))
        return is_own or origin in self.listed


def is_form(headers: Headers) -> bool:
    """Whether a page could have sent this body to another site without asking it."""
    return headers.get("content-type", "").partition(";")[0].strip().lower() in _FORMS


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
