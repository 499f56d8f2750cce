"""The connection that a client has at a time, to whichever server speaks."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

from ..errors import VivavoceError
from .faults import ConnectionLost
from .link import Link
from .servers import Patience, Servers, Tries

__all__ = ["Connector", "Secret"]

Secret = str | Callable[[], Awaitable[str]]
"""A key or a token, or what gives a fresh one for each connection."""


class Connector:
    """Opens connections, keeps the one that works, and tries again as long as `patience` allows.

    `key` goes into the `Authorization` header. `token`, a short-lived one from POST /v1/tokens, goes where browsers put
    theirs. Neither is ever part of an address.
    """

    def __init__(self, servers: Servers, patience: Patience, key: Secret | None, token: Secret | None) -> None:
        self._servers = servers
        self._patience = patience
        self._key = key
        self._token = token
        self._link: Link | None = None

    async def link(self, tries: Tries, stop: asyncio.Event) -> Link | None:
        """A connection that is open; None once `stop` is set. Raises what was wrong when it is given up."""
        while not stop.is_set():
            now_s = self._now_s()
            link = self._link
            if link is not None and link.alive and self._servers.is_free(link.url, now_s):
                return link
            url, wait_s = self._servers.next(now_s)
            if wait_s:
                await _wait(stop, wait_s)
            elif link is not None and link.alive and link.url == url:
                return link
            else:
                await self.close()
                await self._open(url, tries)
        return None

    def failed(self, link: Link, fault: VivavoceError) -> None:
        """An utterance was not spoken over that connection; it is kept only if it was not the connection's fault."""
        self._servers.failed(link.url, fault, self._now_s())
        if isinstance(fault, ConnectionLost) or not link.alive:
            link.abandon()
            self._link = None

    def worked(self, link: Link) -> None:
        """Sound came over that connection."""
        self._servers.worked(link.url)

    async def close(self) -> None:
        """Close the connection, if there is one."""
        link, self._link = self._link, None
        if link is not None:
            await link.close()

    async def _open(self, url: str, tries: Tries) -> None:
        try:
            key, token = await _tell(self._key), await _tell(self._token)
            headers = {} if key is None else {"Authorization": f"Bearer {key}"}
            secrets = [] if token is None else [f"vivavoce.token.{token}"]
            self._link = await Link.open(url, secrets, headers, self._patience)
        except VivavoceError as fault:
            self._servers.failed(url, fault, self._now_s())
            tries.failed(fault, self._now_s())

    def _now_s(self) -> float:
        return asyncio.get_running_loop().time()


async def _tell(secret: Secret | None) -> str | None:
    return secret if secret is None or isinstance(secret, str) else await secret()


async def _wait(stop: asyncio.Event, wait_s: float) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(wait_s):
            await stop.wait()
