"""Sends a WebSocket's frames: one writer for all its utterances."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from starlette.websockets import WebSocket, WebSocketDisconnect

from .presence import ClientGone

__all__ = ["Outlet", "Stalled"]

_UNREAD_ANSWERS = 1_000
_CLOSE_TIMEOUT_S = 1.0
# Answers wait so many turns of the loop: the work that was asked for goes out first, and they leave together.
_TURNS_FOR_WORK = 2
# Servers differ in how they say that nothing can be sent any more.
_LOST = (WebSocketDisconnect, RuntimeError, OSError)


class Stalled(Exception):
    """The client reads nothing."""


@dataclass(slots=True)
class _Parcel:
    """Frames that leave one after the other; `sent` is told when the last has."""

    frames: Sequence[str | bytes]
    sent: asyncio.Future[None] | None


class Outlet:
    """The sending half of one connection: frames leave in the order in which they were handed over.

    An utterance hands its frames to `send` and waits until they have left, so that no more is made than the client
    reads. Answers are handed to `post`, which never waits. What a task handed over that was cancelled since, and has
    not left, never leaves.

    `run` does the sending, until it is cancelled or nothing can be sent any more. It then says so to `on_lost`, once:
    Stalled when a frame has waited `stall_timeout_s` for the client to read, or a thousand answers lie unread;
    ClientGone when the client has left. `on_sent` is called whenever a frame has left.
    """

    def __init__(
        self,
        websocket: WebSocket,
        stall_timeout_s: float,
        *,
        on_lost: Callable[[Exception], None],
        on_sent: Callable[[], None],
    ) -> None:
        self._websocket = websocket
        self._stall_timeout_s = stall_timeout_s
        self._on_lost = on_lost
        self._on_sent = on_sent
        self._parcels: deque[_Parcel] = deque()
        self._filled = asyncio.Event()
        self._emptied = asyncio.Event()
        self._emptied.set()
        self._unread = 0
        self._over = self._writing = False
        self._loop = asyncio.get_running_loop()
        self._writing_since_s: float | None = None
        self._watch: asyncio.TimerHandle | None = None

    def post(self, frames: Sequence[str | bytes]) -> None:
        """Hand over answers; they are dropped once nothing can be sent any more."""
        if not frames or self._over:
            return
        self._unread += 1
        self._put(_Parcel(frames, None))
        if self._unread > _UNREAD_ANSWERS:
            self._lose(Stalled())

    async def send(self, frames: Sequence[str | bytes]) -> None:
        """Hand over frames and return once they have left. Raises ClientGone where they cannot."""
        if not frames:
            return
        if self._over:
            raise ClientGone
        if self._writing or self._parcels:
            sent: asyncio.Future[None] = self._loop.create_future()
            self._put(_Parcel(frames, sent))
            await sent
        else:
            await self._send_at_once(frames)

    async def run(self) -> None:
        """Send whatever is handed over."""
        try:
            while not self._over:
                await self._filled.wait()
                for _ in range(_TURNS_FOR_WORK):
                    await asyncio.sleep(0)
                self._filled.clear()
                if self._writing:
                    continue  # whoever writes rings again
                self._writing = True
                while self._parcels:
                    await self._deliver(self._parcels.popleft())
                self._writing = False
                self._emptied.set()
        except ClientGone as error:
            self._lose(error)
        finally:
            self._end()

    async def flush(self, timeout_s: float) -> None:
        """Return once all has left, or the time is over."""
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await self._emptied.wait()

    async def close(self, code: int, reason: str) -> None:
        """Close the connection; `run` must have ended."""
        with suppress(*_LOST, TimeoutError):
            async with asyncio.timeout(_CLOSE_TIMEOUT_S):
                await self._websocket.close(code, reason)

    async def _send_at_once(self, frames: Sequence[str | bytes]) -> None:
        """Send on the spot, where nothing else waits to leave: handing over takes time that a first sound feels."""
        self._writing = True
        self._emptied.clear()
        try:
            for frame in frames:
                await self._write(frame)
                self._on_sent()
        except ClientGone as error:
            self._lose(error)
            raise
        finally:
            self._writing = False
            if self._parcels:
                self._filled.set()
            else:
                self._emptied.set()

    def _put(self, parcel: _Parcel) -> None:
        self._parcels.append(parcel)
        self._emptied.clear()
        self._filled.set()

    async def _deliver(self, parcel: _Parcel) -> None:
        if parcel.sent is None:
            self._unread -= 1
        try:
            for frame in parcel.frames:
                if parcel.sent is not None and parcel.sent.done():
                    return
                await self._write(frame)
                self._on_sent()
            if parcel.sent is not None and not parcel.sent.done():
                parcel.sent.set_result(None)
        except BaseException:
            _give_up(parcel)
            raise

    async def _write(self, frame: str | bytes) -> None:
        kind = "text" if isinstance(frame, str) else "bytes"
        self._writing_since_s = self._loop.time()
        if self._watch is None:
            self._look()
        try:
            await self._websocket.send({"type": "websocket.send", kind: frame})
        except _LOST:
            raise ClientGone from None
        finally:
            self._writing_since_s = None

    def _look(self) -> None:
        """Whether the frame that is being sent has waited too long; one timer serves all of them."""
        self._watch = None
        if self._writing_since_s is None or self._over:
            return
        left_s = self._writing_since_s + self._stall_timeout_s - self._loop.time()
        if left_s > 0:
            self._watch = self._loop.call_later(left_s, self._look)
        else:
            self._lose(Stalled())

    def _lose(self, error: Exception) -> None:
        if not self._over:
            self._end()
            self._on_lost(error)

    def _end(self) -> None:
        """Nothing leaves any more; whoever waits for that learns it."""
        self._over = True
        self._emptied.set()
        if self._watch is not None:
            self._watch.cancel()
        while self._parcels:
            _give_up(self._parcels.popleft())


def _give_up(parcel: _Parcel) -> None:
    if parcel.sent is not None and not parcel.sent.done():
        parcel.sent.set_exception(ClientGone())
        parcel.sent.exception()  # whoever waited may have left
