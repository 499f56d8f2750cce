"""One text spoken from the terminal by a server."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterator
from contextlib import aclosing, contextmanager
from dataclasses import asdict, dataclass, field
from time import perf_counter
from typing import Any

from ..audio import from_pcm16
from ..client import Audio, Done, Event, Segment, SegmentEnded, Word, Words, connect
from ..errors import BadRequest
from .formats import format_for
from .output import print_json
from .pipes import text_from
from .sinks import Sink, sink_for
from .speaking import Order, Progress, end_on_signals

__all__ = ["speak_remotely"]

_NOTE_AFTER_S = 1.5


async def speak_remotely(order: Order) -> None:
    """Let `order.server` speak it. Raises VivavoceError, OSError."""
    if order.lexicon is not None or order.name_emoji:
        raise BadRequest("--lexicon and --name-emoji are not for a server, which has its own settings.")
    audio_format = format_for(order.output, order.audio_format)
    sink = sink_for(order.output, audio_format, order.rate_hz)
    end_on_signals(sink.silence)
    report = _Report()
    servers = [server for part in (order.server or "").split(",") if (server := part.strip())]
    with _waiting_note(servers) as answered:
        await _speak(order, servers, sink, report, answered)
    if order.as_json:
        print_json(report.facts(order, audio_format))


async def _speak(order: Order, servers: list[str], sink: Sink, report: _Report, answered: Callable[[], None]) -> None:
    async with sink, connect(servers, key=order.api_key) as client:
        events = client.speak(
            order.source if isinstance(order.source, str) else text_from(order.source),
            voice=order.voice,
            language=order.language,
            speed=order.speed,
            sample_rate=order.rate_hz,
            word_timestamps=order.as_json,
            paced=order.output is None,
        )
        with Progress() as progress:
            async with aclosing(events):
                async for event in events:
                    answered()
                    report.take(event)
                    if isinstance(event, Audio):
                        await sink.write(from_pcm16(event.pcm))
                        progress.show(report.audio_ms, report.ttfa_ms)


@contextmanager
def _waiting_note(servers: list[str]) -> Iterator[Callable[[], None]]:
    """Say whom one waits for where nobody answers for a while; what is given is to be called with every answer."""

    def note() -> None:
        print(f"vivavoce: waiting for an answer of {', '.join(servers)}", file=sys.stderr, flush=True)

    timer = asyncio.get_running_loop().call_later(_NOTE_AFTER_S, note)
    try:
        yield timer.cancel
    finally:
        timer.cancel()


@dataclass(slots=True)
class _Report:
    """What `--json` tells; spans in code points of the text, times in ms."""

    began_s: float = field(default_factory=perf_counter)
    ttfa_ms: float | None = None
    audio_ms: float = 0.0
    synthesis_ms: float = 0.0
    resumes: int = 0
    model: str | None = None
    segments: dict[int, dict[str, Any]] = field(default_factory=dict)
    words: list[Word] = field(default_factory=list)

    def take(self, event: Event) -> None:
        """Note what an event tells."""
        match event:
            case Segment(index, start, end, text, spoken):
                self.segments[index] = {"index": index, "text": text, "start": start, "end": end, "spoken": spoken}
            case SegmentEnded(index, audio_ms, synthesis_ms):
                self.segments[index] |= {"audio_ms": audio_ms, "synthesis_ms": synthesis_ms}
                self.synthesis_ms += synthesis_ms
                self.model = event.model or self.model
            case Words(words):
                self.words.extend(words)
            case Audio(_, start_ms):
                self.audio_ms = start_ms
                if self.ttfa_ms is None:
                    self.ttfa_ms = (perf_counter() - self.began_s) * 1000
            case Done():
                self.audio_ms, self.resumes = event.audio_ms, event.resumes

    def facts(self, order: Order, audio_format: str) -> dict[str, Any]:
        """The whole utterance."""
        return {
            "output": order.output,
            "format": audio_format if order.output else None,
            "rate_hz": order.rate_hz,
            "server": order.server,
            "model": self.model,
            "voice": order.voice,
            "language": order.language,
            "audio_ms": round(self.audio_ms, 3),
            "synthesis_ms": round(self.synthesis_ms, 3),
            "ttfa_ms": None if self.ttfa_ms is None else round(self.ttfa_ms, 3),
            "rtf": round(self.synthesis_ms / self.audio_ms, 5) if self.audio_ms else None,
            "resumes": self.resumes,
            "segments": list(self.segments.values()),
            "words": [
                {**asdict(word), "start_ms": round(word.start_ms, 3), "end_ms": round(word.end_ms, 3)}
                for word in self.words
            ],
        }
