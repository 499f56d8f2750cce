"""One utterance, over as many connections as it takes."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncGenerator
from contextlib import suppress
from dataclasses import replace

from ..errors import BadToken, EmptyInput, VivavoceError
from .connector import Connector
from .cursor import Cursor
from .events import Audio, Done, Event, Resumed, Started, Words
from .faults import ConnectionLost
from .leg import Leg
from .link import Link
from .progress import Progress
from .servers import Tries
from .wire import Order
from .writer import Text, Writer

__all__ = ["Speech"]

_REPORT_EVERY_MS = 500.0


class Speech:
    """Speaks a text and goes on when a connection, a server or a predictor is lost. Made within a running loop."""

    def __init__(
        self,
        name: str,
        text: Text,
        order: Order,
        connector: Connector,
        tries: Tries,
        *,
        word_timestamps: bool = False,
        report_playback: bool = False,
        paced: bool = True,
    ) -> None:
        self._name = name
        self._order = order
        self._connector = connector
        self._tries = tries
        self._tells_words = word_timestamps
        self._reports = report_playback
        self._paced = paced
        self._progress = Progress(order.sample_rate)
        self._writer = Writer(text, self._progress)
        self._cursor = Cursor()
        self._cancelled = asyncio.Event()
        self._route: tuple[Link, Leg] | None = None
        self._legs = 0
        self._token: str | None = None
        self._reason: str | None = None
        self._started = self._over = self._left = False
        self._stepping = asyncio.Lock()
        self._resumes = 0
        self._reported_ms = 0.0

    async def events(self) -> AsyncGenerator[Event]:
        """What there is to tell, up to Done. Raises the server's error once it is no use to try again.

        Closing it (`aclose`) cancels the utterance.
        """
        try:
            while not self._over:
                self._writer.check()
                async with self._stepping:
                    events = await self._step()
                for event in events:
                    if isinstance(event, Done) or not self._cancelled.is_set():
                        yield event
            if self._left:
                for event in self._end("cancelled"):
                    yield event
        finally:
            await self.leave()

    async def cancel(self) -> None:
        """Stop: nothing but Done follows."""
        self._cancelled.set()
        if self._route is not None:
            link, leg = self._route
            with suppress(VivavoceError):
                await link.send(leg.cancel())

    async def played(self, cursor_ms: float) -> None:
        """The listener has heard so much of the whole utterance."""
        self._cursor.report(cursor_ms, self._now_ms())
        await self._report()

    async def leave(self) -> None:
        """End now, whoever is listening, and leave the connection to others; does nothing after an end."""
        await self._writer.close()
        if self._over:
            return
        self._over = self._left = True
        if not self._cancelled.is_set():
            await self.cancel()
        if self._route is not None:
            self._route[0].interrupt()
        async with self._stepping:
            self._route = None

    async def _step(self) -> list[Event]:
        """One frame further, or one connection."""
        try:
            if self._route is None:
                link = await self._connector.link(self._tries, self._cancelled)
                if link is None:
                    return self._end("cancelled")
                await self._begin(link)
            return await self._receive()
        except VivavoceError as fault:
            return self._recover(fault)

    async def _begin(self, link: Link) -> None:
        self._legs += 1
        name = self._name if self._legs == 1 else f"{self._name}.{self._legs}"
        leg = Leg(name, self._progress, self._order, self._token)
        self._route = link, leg
        with suppress(ConnectionLost):  # what the server said before it closed is still to be read
            await self._writer.start(link, leg)

    async def _receive(self) -> list[Event]:
        if self._route is None:
            return []
        link, leg = self._route
        data = await link.receive(leg.told)
        if data is None:
            return []
        told = leg.receive(data, self._cursor.ahead(self._now_ms()) if self._paced else math.inf)
        events = [event for each in told if (event := self._passed_on(each)) is not None]
        if leg.done is not None:
            self._over = True
            whole = leg.done if not self._resumes else replace(leg.done, ttfa_ms=None, perceived_ttfa_ms=None, rtf=None)
            events.append(replace(whole, resumes=self._resumes))
        elif not self._paced:
            if self._cursor.given_ms - self._reported_ms >= _REPORT_EVERY_MS:
                self._cursor.report(self._cursor.given_ms, self._now_ms())
                self._reported_ms = self._cursor.given_ms
                await self._report()
        elif self._reports and self._now_ms() - self._reported_ms >= _REPORT_EVERY_MS:
            self._reported_ms = self._now_ms()
            await self._report()
        return events

    def _passed_on(self, event: Event) -> Event | None:
        """What the caller hears of an event."""
        match event:
            case Started():
                if self._started:
                    self._resumes += 1
                    leg_offset = self._route[1].offset if self._route else 0
                    return Resumed(leg_offset, self._progress.leg_ms, self._reason or "", self._resumes)
                self._started = True
            case Words():
                return event if self._tells_words else None
            case Audio():
                self._cursor.give(len(event.pcm) / 2 * 1000 / self._order.sample_rate, self._now_ms())
                self._tries.progressed()
                self._writer.heard()
                if self._route is not None:
                    self._connector.worked(self._route[0])
        return event

    def _recover(self, fault: VivavoceError) -> list[Event]:
        """Make ready to go on. Raises the fault once it is no use."""
        self._writer.stop()
        progress = self._progress
        if self._route is not None:
            link, leg = self._route
            self._route = None
            self._token = leg.token
            progress.cut()
            if self._cancelled.is_set():
                link.abandon()
                return self._end("cancelled")
            if progress.given_bytes and (progress.said or isinstance(fault, EmptyInput)):
                return self._end("ok")  # nothing that can be heard is missing
            if isinstance(fault, BadToken) and leg.is_resumed:
                self._token = None  # another server's secret: there the rest is a text of its own
                return []
            self._connector.failed(link, fault)
            self._tries.failed(fault, self._now_ms() / 1000)
            self._reason = fault.code
            return []
        raise fault

    def _end(self, outcome: str) -> list[Event]:
        self._over = True
        progress = self._progress
        return [Done(outcome, progress.audio_ms, progress.given_bytes, self._resumes)]

    async def _report(self) -> None:
        if self._route is not None and self._route[1].started:
            link, leg = self._route
            with suppress(VivavoceError):
                await link.send(leg.played(self._cursor.heard(self._now_ms())))

    def _now_ms(self) -> float:
        return asyncio.get_running_loop().time() * 1000
