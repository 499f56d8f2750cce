"""Short-lived stand-ins for a key, for pages that must not know it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable

from ..speech.seal import Seal

__all__ = ["BrowserTokens"]

# By it people, and programs that look for leaked secrets, know what it is.
PREFIX = "vvt_"


class BrowserTokens:
    """Makes and reads tokens that say for which key they stand and until when, signed with the server's secret."""

    def __init__(self, secret: bytes, now_s: Callable[[], float] = time.time) -> None:
        self._seal = Seal(secret, "vivavoce browser token 1")
        self._now_s = now_s

    def mint(self, handle: str, ttl_s: float) -> tuple[str, float]:
        """A token for the key with that handle, and when it ends, in seconds since 1970."""
        ends_s = self._now_s() + ttl_s
        return PREFIX + self._seal.close(json.dumps([handle, ends_s], separators=(",", ":")).encode()), ends_s

    def read(self, token: str) -> str | None:
        """The handle of the token's key; None where it is forged, over, or no token at all."""
        note = self._seal.open(token.removeprefix(PREFIX)) if token.startswith(PREFIX) else None
        if note is None:
            return None
        handle, ends_s = json.loads(note)
        return str(handle) if self._now_s() < ends_s else None
