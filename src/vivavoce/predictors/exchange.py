"""One connection to a predictor: an HTTP/1.1 request goes out, its reply comes in while it is being sent.

The bytes are read by llhttp (httptools), as in the server; this is what connects it to the event loop. A client library
takes three times as long to open a connection, and a gateway opens one for each phrase.
"""

from __future__ import annotations

import asyncio
import select
from collections import deque
from collections.abc import Iterator, Mapping
from typing import cast

import httptools

__all__ = ["Exchange", "Headers", "Lost"]

_MAX_HEAD_BYTES = 65_536
_MAX_BUFFERED_BYTES = 262_144
_NO_BODY = (204, 304)


class Lost(Exception):
    """The connection broke, or what came over it is not HTTP."""


class Headers(Mapping[str, str]):
    """Headers by name, in any case; of several with one name, the first."""

    __slots__ = ("_values",)

    def __init__(self) -> None:
        self._values: dict[str, str] = {}

    def add(self, name: bytes, value: bytes) -> None:
        """Take in one more."""
        self._values.setdefault(name.decode("latin-1").lower(), value.decode("latin-1").strip())

    def __getitem__(self, name: str) -> str:
        return self._values[name.lower()]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


class Exchange(asyncio.Protocol):
    """A connection. `send` begins a request, `head` waits for the reply's head, `some` for pieces of its body.

    The first request may be given at once: it leaves in the moment in which the connection is there. At most 256 kB lie
    unread: then the other side has to wait. `close` drops everything at once.
    """

    def __init__(self, request: bytes = b"") -> None:
        self._request = request
        self._transport: asyncio.Transport | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._is_lost = False
        self._is_paused = False
        self._begin()
        self._may_follow = not request

    def _begin(self) -> None:
        self._parser = httptools.HttpResponseParser(self)
        self.status = 0
        self.headers = Headers()
        self._head_bytes = 0
        self._is_head_over = False
        self._is_over = False
        self._may_follow = False
        self._pieces: deque[bytes] = deque()
        self._buffered_bytes = 0

    @property
    def content_length(self) -> int | None:
        """The body's length, where the head tells it."""
        told = self.headers.get("Content-Length", "")
        return int(told) if told.isdecimal() else None

    @property
    def tells_its_end(self) -> bool:
        """Whether a lost connection cannot be taken for the end of the body."""
        return "content-length" in self.headers or "transfer-encoding" in self.headers

    @property
    def is_reusable(self) -> bool:
        """Whether another request may follow on this connection."""
        return (
            self._may_follow and not self._is_lost and self._transport is not None and not self._transport.is_closing()
        )

    @property
    def has_news(self) -> bool:
        """Whether something lies at the socket that the event loop has not seen: the other side's farewell, mostly."""
        sock = None if self._transport is None else self._transport.get_extra_info("socket")
        return sock is None or _is_readable(sock.fileno())

    def send(self, request: bytes) -> None:
        """Begin a request, after the reply to the last one is over."""
        if self._transport is None or self._is_lost:
            raise Lost
        if self._is_over:
            self._begin()
        self._may_follow = False
        self._transport.write(request)

    async def head(self) -> None:
        """Wait until `status` and `headers` are known. Raises Lost."""
        while not self._is_head_over:
            await self._more()

    def ready(self) -> bytes | None:
        """What has come of the body since; b"" at its end, None where more has to be waited for."""
        if not self._pieces:
            return b"" if self._is_over else None
        data = self._pieces.popleft() if len(self._pieces) == 1 else b"".join(self._pieces)
        self._pieces.clear()
        self._buffered_bytes = 0
        self._read_on()
        return data

    async def some(self) -> bytes:
        """As `ready`, as soon as there is something. Raises Lost."""
        while (data := self.ready()) is None:
            await self._more()
        return data

    def close(self) -> None:
        """Close the connection at once; the other side notices."""
        if self._transport is not None:
            self._transport.abort()

    async def _more(self) -> None:
        if self._is_lost:
            raise Lost
        self._waiter = asyncio.get_running_loop().create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _lose(self) -> None:
        self._is_lost = True
        self.close()
        self._wake()

    def _hold(self) -> None:
        if not self._is_paused and self._transport is not None and not self._transport.is_closing():
            self._is_paused = True
            self._transport.pause_reading()

    def _read_on(self) -> None:
        if self._is_paused and self._transport is not None and not self._transport.is_closing():
            self._transport.resume_reading()
        self._is_paused = False

    # What the event loop calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The connection is open."""
        self._transport = cast(asyncio.Transport, transport)
        if self._request:
            self._transport.write(self._request)
            self._request = b""

    def data_received(self, data: bytes) -> None:
        """More of the reply has come."""
        if self._is_over:
            self._lose()
            return
        if not self._is_head_over:
            self._head_bytes += len(data)
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            self._lose()
            return
        if not self._is_head_over and self._head_bytes > _MAX_HEAD_BYTES:
            self._lose()
            return
        if self._buffered_bytes > _MAX_BUFFERED_BYTES:
            self._hold()
        self._wake()

    def eof_received(self) -> bool:
        """Nothing more will come; the connection closes."""
        return False

    def connection_lost(self, error: Exception | None) -> None:
        """The connection is closed; a body without a length ends with it."""
        if self._is_head_over and not self._is_over and not self.tells_its_end and error is None:
            self._is_over = True
        self._is_lost = True
        self._wake()

    # What the parser calls.

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header is read."""
        if not self._is_head_over:
            self.headers.add(name, value)

    def on_headers_complete(self) -> None:
        """The head is over, unless it was one of those before the head."""
        if self._is_head_over:
            return
        self.status = self._parser.get_status_code()
        if 100 <= self.status < 200:
            self.headers = Headers()
            return
        self._is_head_over = True
        self._is_over = self.status in _NO_BODY

    def on_body(self, piece: bytes) -> None:
        """A piece of the body is read."""
        if self._is_over:
            return
        self._pieces.append(piece)
        self._buffered_bytes += len(piece)

    def on_message_complete(self) -> None:
        """The body is over."""
        if self._is_head_over:
            self._is_over = True
            self._may_follow = self._parser.should_keep_alive()


def _is_readable(descriptor: int) -> bool:
    """Whether a read would not wait; `select` itself knows no descriptors beyond 1,023 where there is `poll`."""
    if not hasattr(select, "poll"):
        return bool(select.select([descriptor], [], [], 0)[0])
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(0))
