"""One WebSocket to one server."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Self

from websockets.asyncio.client import ClientConnection
from websockets.asyncio.client import connect as open_socket
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus, NegotiationError
from websockets.typing import Subprotocol

from ..errors import UnknownModel, VivavoceError
from .faults import ConnectionLost, close_fault, status_fault
from .servers import Patience
from .wire import SUBPROTOCOL, frame

__all__ = ["Link"]

# Frames that lie unread before the server is made to wait.
_UNREAD_FRAMES = 64
_FRAME_BYTES = 1_048_576
_CLOSE_TIMEOUT_S = 1.0
# No frame that a server sends is empty.
_NOTHING = ""


class Link:
    """Sends and receives frames; whatever breaks it is raised as one of vivavoce's errors."""

    def __init__(self, url: str, socket: ClientConnection, patience: Patience) -> None:
        self.url = url
        self._socket = socket
        self._patience = patience
        self._lost: VivavoceError | None = None
        self._waiting: asyncio.Timeout | None = None
        self._interrupted = False

    @classmethod
    async def open(cls, url: str, secrets: Sequence[str], headers: dict[str, str], patience: Patience) -> Self:
        """Connect; `secrets` are offered as subprotocols.

        Raises ConnectionLost, Busy, Unauthorized, Forbidden, and UnknownModel where nothing there speaks vivavoce.
        """
        try:
            socket = await open_socket(
                url,
                subprotocols=[Subprotocol(name) for name in (SUBPROTOCOL, *secrets)],
                additional_headers=headers,
                compression=None,
                open_timeout=patience.connect_s,
                close_timeout=_CLOSE_TIMEOUT_S,
                # `receive` asks by itself, and only while nothing lies unread: a slow reader is no dead server.
                ping_timeout=None,
                max_size=_FRAME_BYTES,
                max_queue=_UNREAD_FRAMES,
            )
        except InvalidStatus as error:
            raise status_fault(error.response.status_code, error.response.headers.get("Retry-After")) from None
        except NegotiationError:
            raise _other_protocol(url) from None
        except (InvalidHandshake, OSError, TimeoutError) as error:
            raise ConnectionLost(f"{url} could not be reached: {str(error) or 'it does not answer'}.") from None
        if socket.subprotocol != SUBPROTOCOL:
            await socket.close()
            raise _other_protocol(url)
        return cls(url, socket, patience)

    @property
    def alive(self) -> bool:
        """Whether nothing has shown yet that it is broken."""
        return self._lost is None and self._socket.close_code is None

    async def send(self, message: str) -> None:
        """Send a frame. Raises ConnectionLost; why it broke, `receive` tells."""
        try:
            async with asyncio.timeout(self._patience.connect_s):
                await self._socket.send(message)
        except TimeoutError:
            self.abandon()
            raise ConnectionLost("The server takes nothing any more.") from None
        except ConnectionClosed:
            raise ConnectionLost("The connection is closed.") from None

    async def receive(self, told: VivavoceError | None = None) -> str | bytes | None:
        """The next frame, or None after an `interrupt`. A server that says nothing for too long, though asked, is lost.

        Raises what broke the connection: `told`, the server's own last word, where it fits.
        """
        try:
            received = await self._within(self._patience.quiet_s)
            if received != _NOTHING:
                return received
            with suppress(ConnectionLost):
                await self.send(frame("ping"))
            received = await self._within(self._patience.silent_s)
        except ConnectionClosed as closed:
            raise self._why(closed, told) from None
        if received == _NOTHING:
            self.abandon()
            raise ConnectionLost("The server has fallen silent.")
        return received

    def interrupt(self) -> None:
        """Make a `receive` that waits now return at once."""
        if self._waiting is not None:
            self._interrupted = True
            self._waiting.reschedule(0)

    async def _within(self, timeout_s: float) -> str | bytes | None:
        """A frame, None after an interrupt, or nothing by then."""
        self._interrupted = False
        try:
            async with asyncio.timeout(timeout_s) as self._waiting:
                return await self._socket.recv()
        except TimeoutError:
            return None if self._interrupted else _NOTHING
        finally:
            self._waiting = None

    def abandon(self) -> None:
        """Give it up at once, without a word."""
        self._lost = self._lost or ConnectionLost("The connection was given up.")
        self._socket.transport.abort()

    async def close(self) -> None:
        """Say goodbye."""
        if self._lost is None:
            await self._socket.close()

    def _why(self, closed: ConnectionClosed, told: VivavoceError | None) -> VivavoceError:
        if self._lost is None:
            code = None if closed.rcvd is None else closed.rcvd.code
            self._lost = close_fault(code, "" if closed.rcvd is None else closed.rcvd.reason, told)
        return self._lost


def _other_protocol(url: str) -> VivavoceError:
    return UnknownModel(f"{url} does not speak {SUBPROTOCOL}.")
