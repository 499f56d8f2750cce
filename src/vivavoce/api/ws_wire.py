"""uvicorn's WebSocket, with bounds on what a client may cost that does not read, and close codes that arrive."""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame

if TYPE_CHECKING:
    from uvicorn._types import ASGISendEvent

__all__ = ["WebSocketWire"]


class WebSocketWire(WebSocketsSansIOProtocol):
    """One client's socket, from the handshake on.

    - What lies unread in the system is bounded (`send_buffer_bytes`), and a client that does not read gets no pongs, so
      that it cannot pile them up.
    - A close is sent even to a client that reads nothing. After it the server reads on for `linger_s`, so that the close
      code is not lost to a client that is still sending; then the connection is cut, whatever lies unsent.
    - A client that does not answer a ping in time counts as gone: 4408.
    - Text that is not UTF-8 is closed with 1007 and is no error in the log.
    - Neither is a handshake that the app refuses with a reply of its own.
    """

    send_buffer_bytes = 262_144
    linger_s = 5.0
    _deaf = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        super().connection_made(transport)
        if (raw := transport.get_extra_info("socket")) is not None and raw.family in (socket.AF_INET, socket.AF_INET6):
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, self.send_buffer_bytes)

    def data_received(self, data: bytes) -> None:
        """Take in a piece of what the client sends; once that makes no sense any more it is dropped."""
        if not self._deaf:
            super().data_received(data)

    def send_receive_event_to_app(self) -> None:
        """Pass on a whole message."""
        if self.curr_msg_data_type == "text" and not self.close_sent and not _is_utf8(b"".join(self.frames)):
            self.frames = []
            self._close(1007, "invalid UTF-8")
            return
        super().send_receive_event_to_app()

    def handle_ping(self) -> None:
        """Answer, if the client reads."""
        if self.writable.is_set():
            super().handle_ping()
        else:
            self.conn.data_to_send()

    def handle_close(self, event: Frame) -> None:
        """The client says goodbye, or answers ours."""
        super().handle_close(event)
        self._linger()

    def handle_parser_exception(self) -> None:
        """Close with the code that the parser chose; nothing that follows can be understood."""
        self._deaf = True
        self._say_closed()
        if self.transport.can_write_eof() and not self.transport.is_closing():
            self.transport.write_eof()

    def keepalive_timeout(self) -> None:
        """Give up a client that has not answered a ping."""
        self.pong_timer = None
        self._close(4408, "no answer to a ping")

    def shutdown(self) -> None:
        """Close with 1012, because the server stops."""
        if self.handshake_complete:
            self._close(1012, "the server is stopping")
        else:
            super().shutdown()

    async def send(self, message: ASGISendEvent) -> None:
        """Send what the app says; its close does not wait for a client that reads nothing."""
        closing = message["type"] == "websocket.close"
        if closing:
            self.writable.set()
        await super().send(message)
        if closing and self.close_sent:
            self._linger()
        if message["type"] == "websocket.http.response.body" and self.close_sent:
            self.handshake_complete = True

    def _close(self, code: int, reason: str) -> None:
        if not self.close_sent and not self.transport.is_closing():
            self.conn.send_close(code, reason)
            self._say_closed()

    def _say_closed(self) -> None:
        """Tell the client and the app that it is over."""
        self.stop_keepalive()
        close = self.conn.close_sent
        code, reason = (1006, "") if close is None else (close.code, close.reason)
        self.queue.put_nowait({"type": "websocket.disconnect", "code": code, "reason": reason})
        self.transport.write(b"".join(self.conn.data_to_send()))
        self.close_sent = True
        self.writable.set()
        self._linger()

    def _linger(self) -> None:
        """Cut the connection, if the client does not end it soon."""
        if self.disconnected:
            return
        if self.close_timer is not None:
            self.close_timer.cancel()
        self.close_timer = self.loop.call_later(self.linger_s, self.transport.abort)
        if self.read_paused and not self.transport.is_closing():
            self.read_paused = False
            self.transport.resume_reading()


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
