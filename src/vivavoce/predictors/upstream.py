"""Requests to predictors over HTTP: a fresh connection for each unless they are kept alive."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from functools import partial
from types import SimpleNamespace

import aiohttp
from yarl import URL

from ..errors import PredictorFailed
from ..spans import carried_headers
from .faults import BrokenOff, Unreachable, fault_of
from .patience import Patience

__all__ = ["MAX_BODY_BYTES", "MAX_STREAM_BYTES", "Reply", "Upstream"]

MAX_BODY_BYTES = 64 * 1024 * 1024
"""More than any phrase sounds, numbers written out; a whole reply beyond it is a fault."""
MAX_STREAM_BYTES = 16 * 1024 * 1024
"""Five minutes of sound; a stream beyond it is a fault."""
_MAX_ERROR_BYTES = 65_536
_KNOWN_ADDRESS_S = 5
_IDLE_S = 30.0
_LAST_BYTES_S = 0.05
_HEADERS = {"User-Agent": "vivavoce", "Accept-Encoding": "identity"}


class Reply:
    """A reply whose status is 200 and whose body is still coming."""

    def __init__(self, response: aiohttp.ClientResponse, patience: Patience, *, is_kept: bool) -> None:
        self._response = response
        self._patience = patience
        self._is_kept = is_kept
        self._size = 0
        self.headers: Mapping[str, str] = response.headers
        self.content_type = response.content_type if "Content-Type" in response.headers else ""

    @property
    def is_whole(self) -> bool:
        """Whether its length was known before it began: nothing is gained by reading it in pieces."""
        return self._response.content_length is not None

    @property
    def tells_its_end(self) -> bool:
        """Whether a lost connection cannot be taken for the end of the body."""
        return self.is_whole or self._response.headers.get("Transfer-Encoding", "").lower() == "chunked"

    async def some(self, limit_bytes: int = MAX_STREAM_BYTES) -> bytes:
        """The next bytes, as they come; b"" at the end.

        Raises BrokenOff, OutOfPatience, and PredictorFailed once all of them are over the limit.
        """
        with _lost("while it was speaking"):
            data = await self._patience.wait(self._response.content.readany())
        self._size += len(data)
        if self._size > limit_bytes:
            raise PredictorFailed(f"The predictor's reply is longer than {limit_bytes} bytes.")
        return data

    async def whole(self, limit_bytes: int = MAX_BODY_BYTES) -> bytes:
        """The rest of the body. Raises as `some` does."""
        pieces = []
        while piece := await self.some(limit_bytes):
            pieces.append(piece)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    async def end(self) -> None:
        """Read what follows the last event, where the connection is to be kept; a server that lingers loses it."""
        if self._is_kept:
            with suppress(PredictorFailed, TimeoutError):
                async with asyncio.timeout(_LAST_BYTES_S):
                    await self.whole()


class Upstream:
    """The connections to a pool's predictors.

    Each request has one of its own, unless `keep_alive`; docs/why/connections.md says why. `key` is sent as a bearer
    token. Everything runs in one event loop, from the first request to `aclose`.
    """

    def __init__(self, *, key: str | None = None, connect_timeout_s: float = 1.0, keep_alive: bool = False) -> None:
        self._headers = _HEADERS | ({"Authorization": f"Bearer {key}"} if key else {})
        self._connect_timeout_s = connect_timeout_s
        self._keep_alive = keep_alive
        self._session: aiohttp.ClientSession | None = None

    @asynccontextmanager
    async def request(
        self,
        method: str,
        url: URL,
        patience: Patience,
        *,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> AsyncIterator[Reply]:
        """Send a request, give its reply once that has begun; leaving the context closes the connection at once.

        Raises Unreachable, BrokenOff, OutOfPatience, and what `fault_of` makes of a status that is not 200.
        """
        response = await self._sent(method, url, patience, body, headers)
        try:
            reply = Reply(response, patience, is_kept=self._keep_alive)
            if response.status != 200:
                raise fault_of(response.status, await _excerpt(reply), response.headers.get("Retry-After"))
            yield reply
        finally:
            response.close()

    async def get(self, url: URL, limit_s: float) -> bytes:
        """The body behind a URL. Raises as `request` does."""
        async with self.request("GET", url, Patience(limit_s)) as reply:
            return await reply.whole()

    async def aclose(self) -> None:
        """Close every connection."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def _sent(
        self, method: str, url: URL, patience: Patience, body: bytes | None, headers: Mapping[str, str] | None
    ) -> aiohttp.ClientResponse:
        """The response to a request. On a kept connection that was closed meanwhile, it is sent once more."""
        used: list[str] = []
        headers = {**carried_headers(), **(headers or {})}
        asked = partial(self._ready().request, method, url, data=body, headers=headers, allow_redirects=False)
        try:
            with _lost("before it answered"):
                return await patience.wait(asked(trace_request_ctx=used))
        except BrokenOff:
            if not used:
                raise
        with _lost("before it answered"):
            return await patience.wait(asked(trace_request_ctx=[]))

    def _ready(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(
                    limit=0,
                    ttl_dns_cache=_KNOWN_ADDRESS_S,
                    **({"keepalive_timeout": _IDLE_S} if self._keep_alive else {"force_close": True}),
                ),
                cookie_jar=aiohttp.DummyCookieJar(),
                headers=self._headers,
                timeout=aiohttp.ClientTimeout(total=None, connect=self._connect_timeout_s),
                trace_configs=[_reuse()] if self._keep_alive else None,
            )
        return self._session


class _Connection(SimpleNamespace):
    """What becomes known about a request's connection: whether it had been used before."""

    def __init__(self, trace_request_ctx: list[str]) -> None:
        super().__init__(notes=trace_request_ctx)


async def _note_reuse(session: object, connection: SimpleNamespace, params: object) -> None:
    connection.notes.append("reused")


def _reuse() -> aiohttp.TraceConfig:
    trace = aiohttp.TraceConfig(_Connection)
    trace.on_connection_reuseconn.append(_note_reuse)
    return trace


class _lost:
    """Turns the library's errors into ours; `when` goes into the message."""

    __slots__ = ("_when",)

    def __init__(self, when: str) -> None:
        self._when = when

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None or not isinstance(error, aiohttp.ClientError | OSError):
            return
        if isinstance(error, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError):
            is_silent = isinstance(error, aiohttp.ConnectionTimeoutError)
            raise Unreachable("No connection to the predictor came about.", is_silent=is_silent) from error
        raise BrokenOff(f"The connection to the predictor was lost {self._when}.") from error


async def _excerpt(reply: Reply) -> bytes:
    """What an error's body says, as far as it comes."""
    try:
        return await reply.whole(_MAX_ERROR_BYTES)
    except PredictorFailed:
        return b""
