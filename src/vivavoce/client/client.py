"""A client that speaks texts through any of several servers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing
from types import TracebackType
from typing import Self

from .connector import Connector, Secret
from .events import Event
from .servers import Patience, Servers, Tries
from .speech import Speech
from .wire import Order
from .writer import Text

__all__ = ["Client", "connect"]


def connect(
    url: str | Iterable[str],
    *,
    key: Secret | None = None,
    token: Secret | None = None,
    patience: Patience | None = None,
) -> Client:
    """A client of the server at `url` (`ws://host:8000`, `https://host`, …), or of any of several, the first preferred.

    Use it with `async with`, which connects. `key` is an API key, `token` a short-lived one; either may be an async
    function that gives a fresh one for each connection. Raises ConfigError where an address is none.
    """
    return Client(url, key=key, token=token, patience=patience or Patience())


class Client:
    """One connection, kept for one utterance after the other, and replaced when it is lost.

    Speaks one utterance at a time: another text takes the place of the one before. For several at once, use several
    clients; and one event loop for each.
    """

    def __init__(
        self, url: str | Iterable[str], *, key: Secret | None, token: Secret | None, patience: Patience
    ) -> None:
        self._patience = patience
        self._connector = Connector(Servers(url, patience), patience, key, token)
        self._speech: Speech | None = None
        self._count = 0

    async def __aenter__(self) -> Self:
        """Connect. Raises ConnectionLost, Unauthorized, Forbidden, UnknownModel where nothing there speaks vivavoce."""
        await self._connector.link(Tries(self._patience), asyncio.Event())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the connection; an utterance that is being spoken ends."""
        await self._end()
        await self._connector.close()

    async def speak(
        self,
        text: Text,
        *,
        voice: str | None = None,
        language: str | None = None,
        model: str | None = None,
        instruct: str | None = None,
        speed: float | None = None,
        sample_rate: int = 24_000,
        word_timestamps: bool = False,
        lead_ms: float | None = None,
        report_playback: bool = False,
        paced: bool = True,
    ) -> AsyncGenerator[Event]:
        """Speak a text, whole or while it is still arriving (a piece that is None: speak now what is held back).

        Yields Queued, Started, and for each segment Segment, Words (with `word_timestamps`), Audio and SegmentEnded; at
        last Done. None leaves a choice to the server. `lead_ms` is how far ahead of the listener sound is made. With
        `report_playback` the server is told how much is heard, as far as the clock can know; a player that knows better
        calls `played`. Without `paced` nobody listens yet, as for a file: sound comes as fast as it is made.

        When a connection, a server or a predictor is lost, or the server is busy, it tries again, elsewhere if it can,
        and the voice goes on with the first word that was not received: Resumed. Leaving the loop cancels the
        utterance at the latest when the generator is closed.

        Raises the server's error (of vivavoce.errors) where trying again is no use, Busy with `retry_after_s` and
        ConnectionLost after as many tries as Patience says; and what the text's own source raises.
        """
        order = Order(
            voice=voice,
            language=language,
            model=model,
            instruct=instruct,
            speed=speed,
            sample_rate=sample_rate,
            lead_ms=lead_ms,
        )
        self._count += 1
        await self._end()
        speech = self._speech = Speech(
            f"say-{self._count}",
            text,
            order,
            self._connector,
            Tries(self._patience),
            word_timestamps=word_timestamps,
            report_playback=report_playback,
            paced=paced,
        )
        try:
            async with aclosing(speech.events()) as events:
                async for event in events:
                    yield event
        finally:
            if self._speech is speech:
                self._speech = None

    async def cancel(self) -> None:
        """Stop what is being spoken, if anything is: of its events only Done follows."""
        if self._speech is not None:
            await self._speech.cancel()

    async def played(self, ms: float) -> None:
        """Tell the server that the listener has heard so much of the utterance that is being spoken."""
        if self._speech is not None:
            await self._speech.played(ms)

    async def _end(self) -> None:
        speech, self._speech = self._speech, None
        if speech is not None:
            await speech.leave()
