"""A WebSocket client that costs next to nothing: the load generator shares its cores with what it measures."""

from __future__ import annotations

import asyncio
import base64
import os
import struct
from collections.abc import Callable

__all__ = ["Socket"]


class Socket(asyncio.Protocol):
    """Speaks RFC 6455 as far as a server that never fragments needs it. Calls back with what arrives.

    `on_text` gets each text frame, `on_sound` each binary one's payload, `on_close` the close code (1006 without one).
    """

    def __init__(self, port: int, path: str, protocol: str) -> None:
        self.on_text: Callable[[bytes], None] = lambda data: None
        self.on_sound: Callable[[memoryview], None] = lambda data: None
        self.on_close: Callable[[int], None] = lambda code: None
        self._request = (
            f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}\r\nSec-WebSocket-Version: 13\r\n"
            f"Sec-WebSocket-Protocol: {protocol}\r\n\r\n"
        ).encode()
        self._buffer = bytearray()
        self._transport: asyncio.Transport | None = None
        self._code = 1006
        self._open: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    @classmethod
    async def open(cls, port: int, path: str = "/ws/synthesize", protocol: str = "vivavoce.v1") -> Socket:
        """Connect to a port of this machine. Raises OSError where no WebSocket opens there."""
        loop = asyncio.get_running_loop()
        _, socket = await loop.create_connection(lambda: cls(port, path, protocol), "127.0.0.1", port)
        await socket._open
        return socket

    @property
    def transport(self) -> asyncio.Transport:
        """What lies below."""
        if self._transport is None:
            raise ConnectionError("not connected")
        return self._transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport  # type: ignore[assignment]
        self.transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if not self._open.done():
            head, found, rest = bytes(self._buffer).partition(b"\r\n\r\n")
            if not found:
                return
            if b" 101 " not in head.split(b"\r\n")[0]:
                self._open.set_exception(ConnectionError(head.decode("latin-1")))
                return
            self._buffer = bytearray(rest)
            self._open.set_result(None)
        self._frames()

    def connection_lost(self, error: Exception | None) -> None:
        if not self._open.done():
            self._open.set_exception(ConnectionError("hung up during the handshake"))
        self.on_close(self._code)

    def send(self, text: str) -> None:
        """Send a text frame."""
        self._send(0x81, text.encode())

    def close(self) -> None:
        """Hang up."""
        self.transport.abort()

    def _send(self, kind: int, data: bytes) -> None:
        if len(data) < 126:
            head = struct.pack("!BB", kind, 0x80 | len(data))
        elif len(data) < 65_536:
            head = struct.pack("!BBH", kind, 0x80 | 126, len(data))
        else:
            head = struct.pack("!BBQ", kind, 0x80 | 127, len(data))
        self.transport.write(head + b"\0\0\0\0" + data)  # a mask of zeros is a mask

    def _frames(self) -> None:
        buffer, at = self._buffer, 0
        with memoryview(buffer) as view:
            while len(buffer) - at >= 2:
                kind, length, head = buffer[at] & 0x0F, buffer[at + 1] & 0x7F, 2
                if length == 126:
                    if len(buffer) - at < 4:
                        break
                    length, head = struct.unpack_from("!H", buffer, at + 2)[0], 4
                elif length == 127:
                    if len(buffer) - at < 10:
                        break
                    length, head = struct.unpack_from("!Q", buffer, at + 2)[0], 10
                if len(buffer) - at - head < length:
                    break
                payload = view[at + head : at + head + length]
                at += head + length
                self._take(kind, payload)
        del buffer[:at]

    def _take(self, kind: int, payload: memoryview) -> None:
        if kind == 2:
            self.on_sound(payload)
        elif kind == 1:
            self.on_text(bytes(payload))
        elif kind == 9:
            self._send(0x8A, bytes(payload))
        elif kind == 8:
            self._code = struct.unpack_from("!H", payload)[0] if len(payload) >= 2 else 1005
            self.transport.close()
        payload.release()
