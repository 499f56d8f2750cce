"""One text spoken from the terminal: from what was asked for to its last sample."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ..clock import MonotonicClock
from ..speech import Audio, Event, SegmentEnd, SegmentStart, Timeline, Utterance, Word, speak_utterance
from ..text import Lexicon
from .casting import Role, cast
from .formats import format_for
from .output import print_json
from .pipes import text_from
from .sinks import sink_for

__all__ = ["Order", "Progress", "end_on_signals", "speak_now"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What the command line asked for; `source` is a text, or the descriptor that it arrives on."""

    source: str | int
    output: str | None = None
    audio_format: str | None = None
    voice: str | None = None
    language: str | None = None
    speed: float = 1.0
    lexicon: Path | None = None
    rate_hz: int = 24_000
    name_emoji: bool = False
    as_json: bool = False
    server: str | None = None
    """Addresses of servers that speak instead of this process, comma-separated."""
    api_key: str | None = None


def speak_now(order: Order) -> None:
    """Speak it, and return when it is heard or written. Raises VivavoceError, OSError, KeyboardInterrupt."""
    if order.server:
        from .remote import speak_remotely

        asyncio.run(speak_remotely(order))
    else:
        asyncio.run(_speak(order))


async def _speak(order: Order) -> None:
    audio_format = format_for(order.output, order.audio_format)
    lexicon = Lexicon.load(order.lexicon) if order.lexicon else None
    report = _Report()
    sink = sink_for(order.output, audio_format, order.rate_hz)
    end_on_signals(sink.silence)
    async with sink, cast(order.voice, order.language) as role:
        utterance = Utterance(
            voice=role.voice,
            language=role.language,
            speed=order.speed,
            rate_hz=order.rate_hz,
            lexicon=lexicon,
            name_emoji=order.name_emoji,
        )
        source = order.source if isinstance(order.source, str) else text_from(order.source)
        timeline = Timeline(MonotonicClock().now_ms())
        events = speak_utterance(source, utterance, role.predictor, timeline=timeline, resolve=role.catalog.cast)
        with Progress() as progress:
            async with aclosing(events):
                async for event in events:
                    if order.as_json:
                        report.take(event)
                    if isinstance(event, Audio):
                        await sink.write(event.samples)
                        progress.show(timeline.audio_ms, timeline.ttfa_ms)
    if order.as_json:
        print_json(report.facts(order, audio_format, role, timeline))


def end_on_signals(silence: Callable[[], None]) -> None:
    """On Ctrl-C, SIGTERM and a closed terminal be silent at once, then end with nothing half done left behind.

    A second Ctrl-C does not wait for anything.
    """
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None  # noqa: S101 - this runs in one

    def end(number: int) -> None:
        loop.remove_signal_handler(number)
        silence()
        task.cancel()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            loop.add_signal_handler(number, end, number)


class Progress:
    """One line on standard error that follows the speech, only where a person watches."""

    def __init__(self) -> None:
        self._watched = sys.stderr.isatty()
        self._shown = False

    def __enter__(self) -> Progress:
        return self

    def show(self, audio_ms: float, first_ms: float | None) -> None:
        """Say how far it is, and how long the first sound took."""
        if self._watched:
            told = f", first sound after {first_ms:.0f} ms" if first_ms is not None else ""
            print(f"\r{audio_ms / 1000:.1f} s of speech{told}", end="", file=sys.stderr, flush=True)
            self._shown = True

    def __exit__(self, *_: object) -> None:
        if self._shown:
            print(file=sys.stderr)


@dataclass(slots=True)
class _Report:
    """What `--json` tells; filled only when it was asked for."""

    segments: list[dict[str, Any]] = field(default_factory=list)
    words: list[Word] = field(default_factory=list)

    def take(self, event: Event) -> None:
        """Note what an event tells."""
        match event:
            case SegmentStart(index, segment, spoken):
                told = {"index": index, "text": segment.text, "start": segment.start, "end": segment.end}
                self.segments.append({**told, "spoken": spoken.text})
            case SegmentEnd(index, audio_ms, synthesis_ms):
                self.segments[index] |= {"audio_ms": round(audio_ms, 3), "synthesis_ms": round(synthesis_ms, 3)}
            case Audio(words=words):
                self.words.extend(words)

    def facts(self, order: Order, audio_format: str, role: Role, timeline: Timeline) -> dict[str, Any]:
        """The whole utterance, times in ms, spans in code points of the text."""
        return {
            "output": order.output,
            "format": audio_format if order.output else None,
            "rate_hz": order.rate_hz,
            "engine": role.selection.engine.name,
            "voice": role.voice,
            "language": role.language,
            "audio_ms": round(timeline.audio_ms, 3),
            "synthesis_ms": round(timeline.synthesis_ms, 3),
            "ttfa_ms": _rounded(timeline.ttfa_ms),
            "rtf": _rounded(timeline.rtf, 5),
            "segments": self.segments,
            "words": [
                {**asdict(word), "start_ms": _rounded(word.start_ms), "end_ms": _rounded(word.end_ms)}
                for word in self.words
            ],
        }


def _rounded(value: float | None, digits: int = 3) -> float | None:
    return None if value is None else round(value, digits)
