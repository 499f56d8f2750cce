"""One utterance, or the rest of one, on one connection. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import InternalError, VivavoceError
from .events import Done, Event, Queued, Segment, SegmentEnded, Started, Word
from .faults import ConnectionLost
from .progress import Progress
from .wire import Order, fault_in, frame, message_in, number, sound_in

__all__ = ["PIECE_CHARACTERS", "Leg"]

PIECE_CHARACTERS = 8_000


class Leg:
    """Asks for what is left of a text, and makes events of what comes back.

    `token` is the resume token of the leg before, if there is one; without it the rest is a text of its own, as it is
    for any server. Frames of other utterances, and late ones of earlier ones, are passed over.
    """

    def __init__(self, request_id: str, progress: Progress, order: Order, token: str | None) -> None:
        self.request_id = request_id
        self.token = token
        self.started = False
        self.done: Done | None = None
        self._progress = progress
        self.is_resumed = token is not None
        self._order = order
        rest = progress.rest
        self.offset = self._sent_to = rest.offset
        self._opening = rest.opening
        self._pause = {"before": rest.before, "silence_ms": rest.silence_ms} if rest.before else {}
        self._end_sent = False
        self._generation: int | None = None
        self._accepted = False
        self._fault: VivavoceError | None = None
        self._told: VivavoceError | None = None
        self._text_from = rest.offset - len(rest.opening)
        progress.begin(0 if self.is_resumed else self._text_from)

    # What to send.

    def opening(self) -> str:
        """The first frame, with as much of the text as fits."""
        text = self._opening + self._take()
        more = not self._progress.ended or self._sent_to < self._progress.written
        self._end_sent = not more
        if self.is_resumed:
            place = {"offset": self._text_from, **self._pause}
            return self._frame("resume", token=self.token, text=text, stream=more, **place)
        return self._frame("synthesize", text=text, stream=more, **self._order.fields())

    def more(self) -> str | None:
        """The next frame of text, or the end of it, if there is one by now."""
        if self._end_sent:
            return None
        if text := self._take():
            return self._frame("text", text=text)
        if self._progress.ended:
            self._end_sent = True
            return self._frame("end")
        return None

    def flush(self) -> str:
        """Asks that what is held back of the text be spoken."""
        return self._frame("flush")

    def cancel(self) -> str:
        """Asks for an end."""
        return self._frame("cancel")

    def played(self, cursor_ms: float) -> str:
        """Tells how much of the utterance has been heard."""
        return self._frame("played", ms=round(max(0.0, cursor_ms - self._progress.leg_ms), 1))

    def _take(self) -> str:
        text = self._progress.text_from(self._sent_to)[:PIECE_CHARACTERS]
        self._sent_to += len(text)
        return text

    def _frame(self, kind: str, **fields: Any) -> str:
        return frame(kind, request_id=self.request_id, **fields)

    # What comes back.

    @property
    def told(self) -> VivavoceError | None:
        """What the server said last that was wrong, with the connection or with this utterance."""
        return self._fault or self._told

    def receive(self, data: str | bytes, ahead_ms: float) -> list[Event]:
        """What a frame tells. Raises the error that ends this leg."""
        if isinstance(data, bytes):
            return self._sound(data, ahead_ms)
        message = message_in(data)
        kind, owner = message.get("type"), message.get("request_id")
        if kind == "going_away":
            raise self._leaving(message)
        if kind == "error" and owner is None:
            self._told = fault_in(message)
        return self._mine(kind, message) if owner == self.request_id else []

    def _mine(self, kind: Any, message: dict[str, Any]) -> list[Event]:
        match kind:
            case "accepted":
                self._accepted = True
            case "queued":
                return [_queued(message)]
            case "start":
                return self._start(message)
            case "segment":
                return self._progress.segment(_segment(message))
            case "words":
                return self._progress.words(_words(message))
            case "segment_end":
                return self._progress.segment_ended(_segment_end(message))
            case "busy" | "error":
                self._fault = fault_in(message)
                if not self._accepted:
                    raise self._fault
            case "done":
                return self._end(message)
        return []

    def _start(self, message: dict[str, Any]) -> list[Event]:
        generation, rate_hz = message.get("generation"), message.get("sample_rate")
        if rate_hz != self._progress.rate_hz or not isinstance(generation, int):
            raise ConnectionLost("The server speaks at another rate than was asked for.")
        self._generation = generation
        token = message.get("resume_token")
        self.token = token if isinstance(token, str) else None
        self.started = True
        return [Started(self.request_id, self._progress.rate_hz)]

    def _sound(self, data: bytes, ahead_ms: float) -> list[Event]:
        sound = sound_in(data)
        if sound is None or sound.generation != self._generation:
            return []
        known = self._progress.leg_bytes
        if sound.offset * 2 > known:
            raise ConnectionLost("A part of the sound is missing.")
        return self._progress.sound(sound.pcm[known - sound.offset * 2 :], ahead_ms)

    def _end(self, message: dict[str, Any]) -> list[Event]:
        outcome = message.get("outcome")
        if outcome not in ("ok", "cancelled"):
            raise self._fault or _broken(outcome)
        if outcome == "cancelled":
            self.done = self._done(message, "cancelled")
            return []
        if self._progress.leg_bytes < (number(message, "bytes") or 0):
            raise ConnectionLost("A part of the sound is missing.")
        events = self._progress.finish()
        self.done = self._done(message, "ok")
        return events

    def _done(self, message: dict[str, Any], outcome: str) -> Done:
        moments = message.get("timeline")
        heard_ms = number(message, "heard_ms")
        return Done(
            outcome,
            audio_ms=self._progress.audio_ms,
            audio_bytes=self._progress.given_bytes,
            ttfa_ms=number(message, "ttfa_ms"),
            perceived_ttfa_ms=number(message, "perceived_ttfa_ms"),
            rtf=number(message, "rtf"),
            heard_ms=None if heard_ms is None else heard_ms + self._progress.leg_ms,
            underruns=int(number(message, "underruns") or 0),
            retries=int(number(message, "retries") or 0),
            timeline={name: number(moments, name) for name in moments} if isinstance(moments, dict) else {},
        )

    def _leaving(self, message: dict[str, Any]) -> VivavoceError:
        for entry in message.get("resume") or ():
            if isinstance(entry, Mapping) and entry.get("request_id") == self.request_id:
                self.token = entry.get("token") or self.token
        wait_ms = number(message, "retry_after_ms")
        return ConnectionLost("The server is going away.", retry_after_s=None if wait_ms is None else wait_ms / 1000)


def _broken(outcome: Any) -> VivavoceError:
    if outcome == "client_gone":
        return ConnectionLost("The server took this client for gone.")
    return InternalError(f"The server ended the utterance: {outcome}.")


def _queued(message: dict[str, Any]) -> Queued:
    position = int(number(message, "position") or 0)
    return Queued(position, number(message, "expected_ms"), number(message, "budget_ms"))


def _segment(message: dict[str, Any]) -> Segment:
    return Segment(
        int(number(message, "index") or 0),
        int(number(message, "start") or 0),
        int(number(message, "end") or 0),
        str(message.get("text", "")),
        str(message.get("spoken", "")),
    )


def _segment_end(message: dict[str, Any]) -> SegmentEnded:
    places = {name: str(message.get(name) or "") for name in ("endpoint", "tier", "node", "model")}
    return SegmentEnded(
        int(number(message, "index") or 0),
        number(message, "audio_ms") or 0.0,
        number(message, "synthesis_ms") or 0.0,
        number(message, "rtf"),
        number(message, "waited_ms") or 0.0,
        **places,
    )


def _words(message: dict[str, Any]) -> list[Word]:
    told = message.get("words")
    return [
        Word(
            str(word.get("word", "")),
            int(number(word, "start") or 0),
            int(number(word, "end") or 0),
            number(word, "start_ms") or 0.0,
            number(word, "end_ms") or 0.0,
            word.get("exact") is True,
        )
        for word in (told if isinstance(told, list) else ())
        if isinstance(word, dict)
    ]
