"""One WebSocket from its handshake to its end."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress

from starlette.websockets import WebSocket

from ..errors import Busy
from ..speech.actions import Action, Begin, Close, EndText, FeedText, FlushText, MovePlayed, Send, Stop
from ..speech.admission import Caller
from ..speech.ask import Ask
from ..speech.protocol import Conversation
from .services import Services
from .ws_outlet import Outlet, Stalled
from .ws_speech import WsSpeech

__all__ = ["Session"]

logger = logging.getLogger("vivavoce.api")

IDLE_TIMEOUT_S = 600.0
_MAX_RATE_LIMITED = 20
_FLUSH_TIMEOUT_S = 5.0
_BREATH_EVERY = 32


class Session:
    """Moves frames between one client and the heart, and owns the tasks of its utterances.

    What one utterance meets with never touches another. Whatever ends the connection, `run` returns when all its
    utterances have ended and freed what they held.
    """

    def __init__(self, websocket: WebSocket, services: Services, caller: Caller) -> None:
        settings = services.settings
        self._websocket = websocket
        self._services = services
        self._caller = caller
        self._conversation = Conversation(
            lambda token: services.resume_tokens.read(token, caller.name), max_characters=settings.max_input_chars
        )
        self._outlet = Outlet(websocket, settings.stall_timeout_s, on_lost=self._lost, on_sent=self._touch)
        self._speeches: dict[int, WsSpeech] = {}
        self._loop = asyncio.get_running_loop()
        self._touched_s = self._loop.time()
        self._ending = asyncio.timeout(None)
        self._reading = False
        self._farewell: tuple[int, str] | None = None
        self._gone = self._deaf = False
        self._rate_limited = 0

    @property
    def busy(self) -> bool:
        """Whether an utterance is running."""
        return any(not speech.ended for speech in self._speeches.values())

    def leave(self, retry_after_ms: float) -> None:
        """Tell the client where to go on with what is unfinished, and close with 1012."""
        if self._farewell is not None:
            return
        refusal = Busy("The server is restarting.", reason="draining", retry_after_s=retry_after_ms / 1000)
        for speech in tuple(self._speeches.values()):
            if not speech.begun:
                speech.refuse(refusal)
        self._outlet.post(self._conversation.going_away(retry_after_ms))
        self._end(1012, "the server is restarting")

    async def run(self) -> None:
        """Serve the connection, which has been accepted, until it ends."""
        writer = asyncio.create_task(self._outlet.run())
        self._watch = self._loop.call_later(IDLE_TIMEOUT_S, self._look)
        try:
            with self._services.connections.entered(self), suppress(TimeoutError):
                async with self._ending:
                    self._reading = True
                    await self._read()
        except Exception:
            logger.exception("a connection broke off")
            self._farewell = 1011, "internal error"
        finally:
            self._reading = False
            self._watch.cancel()
            await self._wind_up(writer)

    async def _read(self) -> None:
        frames = 0
        while self._farewell is None:
            message = await self._websocket.receive()
            if message["type"] == "websocket.disconnect":
                self._gone = True
                return
            self._touch()
            text = message.get("text")
            for action in self._conversation.receive(text if text is not None else message.get("bytes") or b""):
                self._act(action)
            frames += 1
            if frames % _BREATH_EVERY == 0:
                await asyncio.sleep(0)  # frames that lie ready are read without a pause in which others could run

    def _act(self, action: Action) -> None:
        match action:
            case Send():
                self._outlet.post([action.frame])
            case Begin():
                self._begin(action.ask)
            case Close():
                self._end(action.code, action.reason)
            case _:
                if (speech := self._speeches.get(action.generation)) is not None:
                    _tell(speech, action)

    def _begin(self, ask: Ask) -> None:
        speech = WsSpeech(self._services, self._caller, self._conversation, self._outlet, ask)
        self._speeches[ask.generation] = speech
        speech.begin(on_over=lambda: self._over(ask.generation))

    def _over(self, generation: int) -> None:
        """An utterance has ended and freed what it held."""
        speech = self._speeches.pop(generation)
        self._rate_limited = self._rate_limited + 1 if speech.rate_limited else 0
        if self._rate_limited > _MAX_RATE_LIMITED:
            self._end(4429, "the key's limit is reached again and again")
        self._services.connections.rested(self)

    def _touch(self) -> None:
        self._touched_s = self._loop.time()

    def _look(self) -> None:
        """Whether anything has happened of late."""
        left_s = self._touched_s + IDLE_TIMEOUT_S - self._loop.time()
        if left_s > 0:
            self._watch = self._loop.call_later(left_s, self._look)
        else:
            self._end(4408, "nothing was said for too long")

    def _lost(self, error: Exception) -> None:
        self._deaf = True
        if isinstance(error, Stalled):
            self._end(4408, "the client reads nothing")
        else:
            self._gone = True
            self._end(1006, "")

    def _end(self, code: int, reason: str) -> None:
        """Stop reading, and close with that code; the first to say so decides."""
        if self._farewell is None:
            self._farewell = code, reason
            if self._reading:
                self._ending.reschedule(self._loop.time())

    async def _wind_up(self, writer: asyncio.Task[None]) -> None:
        speeches = tuple(self._speeches.values())
        for speech in speeches:
            speech.end("client_gone" if self._gone or self._deaf else "cancelled")
        if not self._gone:
            await self._outlet.flush(_FLUSH_TIMEOUT_S)
        writer.cancel()
        await asyncio.wait([writer])
        if not self._gone:
            await self._outlet.close(*self._farewell or (1000, ""))
        for speech in speeches:
            await speech.over()


def _tell(speech: WsSpeech, action: FeedText | FlushText | EndText | MovePlayed | Stop) -> None:
    match action:
        case FeedText():
            speech.feed(action.text)
        case FlushText():
            speech.flush()
        case EndText():
            speech.end_text()
        case MovePlayed():
            speech.played(action.cursor_ms)
        case Stop():
            if action.fault is None:
                speech.end("cancelled")
            else:
                speech.fail(action.fault)
