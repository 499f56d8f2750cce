"""Requests to predictors over HTTP: a fresh connection for each unless they are kept alive."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from ..errors import PredictorFailed
from ..spans import carried_headers
from .addresses import Addresses, Place
from .ahead import Ahead
from .exchange import Exchange, Lost
from .faults import BrokenOff, Unreachable, fault_of
from .patience import Patience
from .unpacking import Unpacker

__all__ = ["MAX_BODY_BYTES", "MAX_STREAM_BYTES", "Reply", "Upstream"]

MAX_BODY_BYTES = 64 * 1024 * 1024
"""More than any phrase sounds, numbers written out; a whole reply beyond it is a fault."""
MAX_STREAM_BYTES = 16 * 1024 * 1024
"""Five minutes of sound; a stream beyond it is a fault."""
_MAX_ERROR_BYTES = 65_536
_IDLE_S = 30.0
_MAX_IDLE = 64
_LAST_BYTES_S = 0.05


class Reply:
    """A reply whose body is still coming."""

    def __init__(self, exchange: Exchange, patience: Patience, *, is_kept: bool) -> None:
        self._exchange = exchange
        self._patience = patience
        self._is_kept = is_kept
        self._size = 0
        self._plain = exchange.headers.get("Content-Encoding", "").strip().lower() in ("", "identity")
        self._unpacker: Unpacker | None = None
        self.status = exchange.status
        self.headers: Mapping[str, str] = exchange.headers
        self.content_type = exchange.headers.get("Content-Type", "").partition(";")[0].strip().lower()

    @property
    def is_whole(self) -> bool:
        """Whether its length was known before it began: nothing is gained by reading it in pieces."""
        return self._exchange.content_length is not None

    @property
    def tells_its_end(self) -> bool:
        """Whether a lost connection cannot be taken for the end of the body."""
        return self._exchange.tells_its_end

    async def some(self, limit_bytes: int = MAX_STREAM_BYTES) -> bytes:
        """The next bytes, as they come and unpacked; b"" at the end.

        Raises BrokenOff, OutOfPatience, and PredictorFailed once all of them are over the limit.
        """
        data = await self._raw() if self._plain else await self._unpacked(limit_bytes)
        self._size += len(data)
        if self._size > limit_bytes:
            raise PredictorFailed(f"The predictor's reply is longer than {limit_bytes} bytes.")
        return data

    async def _raw(self) -> bytes:
        if (data := self._exchange.ready()) is not None:
            self._patience.moved()
            return data
        try:
            return await self._patience.wait(self._exchange.some())
        except Lost:
            raise BrokenOff("The connection to the predictor was lost while it was speaking.") from None

    async def _unpacked(self, limit_bytes: int) -> bytes:
        if self._unpacker is None:
            self._unpacker = Unpacker(self.headers["Content-Encoding"])
        while packed := await self._raw():
            if data := self._unpacker.feed(packed, limit_bytes):
                return data
        self._unpacker.finish()
        return b""

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
    token. `authority` says whose certificates are trusted, instead of the machine's own choice. Everything runs in one
    event loop, from the first request to `aclose`.
    """

    def __init__(
        self,
        *,
        key: str | None = None,
        connect_timeout_s: float = 1.0,
        keep_alive: bool = False,
        authority: Path | None = None,
    ) -> None:
        self._headers = {"User-Agent": "vivavoce", "Accept": "*/*", "Accept-Encoding": "identity"}
        self._headers["Connection"] = "keep-alive" if keep_alive else "close"
        if key:
            self._headers["Authorization"] = f"Bearer {key}"
        self._connect_timeout_s = connect_timeout_s
        self._keep_alive = keep_alive
        self._addresses = Addresses(authority)
        self._ahead = Ahead(self._addresses, connect_timeout_s)
        self._idle: dict[tuple[str, int, bool], list[tuple[Exchange, float]]] = {}

    def request(
        self,
        method: str,
        url: str,
        patience: Patience,
        *,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Request:
        """Send a request, give its reply once that has begun; leaving the context closes the connection at once.

        Raises Unreachable, BrokenOff, OutOfPatience, and what `fault_of` makes of a status that is not 200.
        """
        return Request(self, method, Place.of(url), patience, body, headers or {})

    def any_reply(
        self,
        method: str,
        url: str,
        patience: Patience,
        *,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Request:
        """As `request`, and whatever the status is, it is no error."""
        return Request(self, method, Place.of(url), patience, body, headers or {}, is_any_welcome=True)

    async def get(self, url: str, limit_s: float) -> bytes:
        """The body behind a URL. Raises as `request` does."""
        async with self.request("GET", url, Patience(limit_s)) as reply:
            return await reply.whole()

    async def aclose(self) -> None:
        """Close every connection that is kept, or open for what was to come."""
        self._ahead.close()
        for kept in self._idle.values():
            for exchange, _ in kept:
                exchange.close()
        self._idle.clear()

    async def _answered(self, place: Place, request: bytes, patience: Patience, *, is_work: bool) -> Exchange:
        """A connection on which the reply begins. On a kept one that was closed meanwhile, it is sent once more."""
        if self._keep_alive:
            kept = self._kept(place)
            if kept is not None:
                with suppress(BrokenOff):
                    return await _asked(kept, request, patience)
        elif is_work:
            ready = self._ahead.take(place)
            self._ahead.asked(place)
            if ready is not None:
                return await _asked(ready, request, patience)
        try:
            async with asyncio.timeout(self._connect_timeout_s) as bound:
                exchange = await patience.wait(self._addresses.connect(place, request))
        except OSError as error:
            raise Unreachable("No connection to the predictor came about.", is_silent=bound.expired()) from error
        return await _asked(exchange, b"", patience)

    def _kept(self, place: Place) -> Exchange | None:
        """A connection from an earlier request, where one is open still."""
        kept, now_s = self._idle.get(place.door, []), asyncio.get_running_loop().time()
        while kept:
            exchange, until_s = kept.pop()
            if exchange.is_reusable and now_s < until_s:
                return exchange
            exchange.close()
        return None

    def _let_go(self, place: Place, exchange: Exchange) -> None:
        if not self._keep_alive or not exchange.is_reusable:
            exchange.close()
            return
        now_s = asyncio.get_running_loop().time()
        self._idle.setdefault(place.door, []).append((exchange, now_s + _IDLE_S))
        for door, kept in list(self._idle.items()):
            while kept and (kept[0][1] <= now_s or len(kept) > _MAX_IDLE):
                kept.pop(0)[0].close()
            if not kept:
                del self._idle[door]


class Request:
    """One request, sent when its block is entered; when that is left the connection closes, or is kept for another."""

    __slots__ = ("_body", "_exchange", "_headers", "_is_any_welcome", "_method", "_patience", "_place", "_upstream")

    def __init__(
        self,
        upstream: Upstream,
        method: str,
        place: Place,
        patience: Patience,
        body: bytes | None,
        headers: Mapping[str, str],
        *,
        is_any_welcome: bool = False,
    ) -> None:
        self._upstream = upstream
        self._method = method
        self._place = place
        self._patience = patience
        self._body = body
        self._headers = headers
        self._is_any_welcome = is_any_welcome

    async def __aenter__(self) -> Reply:
        """The reply, once it has begun."""
        upstream, body, patience = self._upstream, self._body, self._patience
        headers = {**upstream._headers, **carried_headers(), **self._headers}
        request = _written(self._method, self._place, headers, body)
        self._exchange = await upstream._answered(self._place, request, patience, is_work=body is not None)
        reply = Reply(self._exchange, patience, is_kept=upstream._keep_alive)
        if reply.status == 200 or self._is_any_welcome:
            return reply
        try:
            raise fault_of(reply.status, await _excerpt(reply), reply.headers)
        finally:
            upstream._let_go(self._place, self._exchange)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Give it up, if it is not over."""
        self._upstream._let_go(self._place, self._exchange)


async def _asked(exchange: Exchange, request: bytes, patience: Patience) -> Exchange:
    """Send the request, if it was not sent yet, and wait until the reply begins. Raises BrokenOff, OutOfPatience."""
    try:
        if request:
            exchange.send(request)
        await patience.wait(exchange.head())
    except Lost:
        raise BrokenOff("The connection to the predictor was lost before it answered.") from None
    except BaseException:
        exchange.close()
        raise
    return exchange


def _written(method: str, place: Place, headers: Mapping[str, str], body: bytes | None) -> bytes:
    """A request as it goes over the wire."""
    lines = [f"{method} {place.path} HTTP/1.1", f"Host: {place.authority}"]
    lines += [f"{name}: {_one_line(value)}" for name, value in headers.items()]
    if body is not None:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode("latin-1", "replace") + (body or b"")


def _one_line(value: str) -> str:
    return value.replace("\r", " ").replace("\n", " ")


async def _excerpt(reply: Reply) -> bytes:
    """What an error's body says, as far as it comes."""
    try:
        return await reply.whole(_MAX_ERROR_BYTES)
    except PredictorFailed:
        return b""
