"""One client's connection, with bounds on the head of a request."""

from __future__ import annotations

import asyncio
import re
import socket
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

__all__ = ["Connection"]

_H2C_OFFER = re.compile(rb"^Upgrade(?=:[ \t]*h2c\b)", re.IGNORECASE | re.MULTILINE)


class Connection(HttpToolsProtocol):
    """uvicorn's connection, which waits no longer than `head_timeout_s` for the head of a request.

    A head over `head_limit_bytes` is answered with 400. An offer to go on in HTTP/2 is ignored, as RFC 9110 allows:
    the parser would lose the body of the request that makes it (Java's own client does, unless told otherwise). What is
    written leaves at once: asyncio sees to that only for sockets that name their protocol, and a reply's body would wait
    40 ms for the acknowledgement of its head.
    """

    head_timeout_s = 30.0
    head_limit_bytes = 65_536

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._in_head = True
        self._head_bytes = 0
        self._head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the first head."""
        super().connection_made(transport)
        link = transport.get_extra_info("socket")
        if link is not None and link.family in (socket.AF_INET, socket.AF_INET6):
            link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._wait_for_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take in a piece of a request."""
        if self._in_head:
            head, end, rest = data.partition(b"\r\n\r\n")
            data = _H2C_OFFER.sub(b"Ignored", head) + end + rest
            self._head_bytes += len(head)
        super().data_received(data)
        if self._in_head and self._head_bytes > self.head_limit_bytes and not self.transport.is_closing():
            self.send_400_response("The head of the request is too large.")

    def on_message_begin(self) -> None:
        """The first byte of a request is here."""
        super().on_message_begin()
        if self._head_timer is None:
            self._wait_for_head()

    def on_headers_complete(self) -> None:
        """The head is here."""
        self._in_head = False
        self._stop_waiting()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """The request is here; what follows is another head."""
        super().on_message_complete()
        self._in_head = True
        self._head_bytes = 0

    def _wait_for_head(self) -> None:
        self._head_timer = self.loop.call_later(self.head_timeout_s, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None
