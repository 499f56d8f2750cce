"""How far an utterance has come: what was written, what was received, and where to go on. Pure."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from .events import Audio, Event, Segment, SegmentEnded, Word, Words
from .openings import Openings

__all__ = ["Progress", "Rest"]

HOLD_ABOVE_MS = 250.0
HELD_BYTES = 2_000_000
# Of the text that was heard so much is kept, to tell what pause the next leg begins with.
BEFORE_CHARACTERS = 100
# Word times are told to a tenth of a millisecond, so they may be off by half of that.
_SLACK_MS = 0.06
# What may follow a word, or what was said, without being said itself.
_TAIL = re.compile(r"[.,;:!?…‥。．、，；：！？؟،؛।॥)\]}»”’\"'—–]*\s*")


@dataclass(frozen=True, slots=True)
class Rest:
    """What is still to be said: the text from the code point `offset` of the whole on, as far as it is written.

    `opening` are the tags that are open there; they were written before it, so they are never longer than `offset`.
    `before` is the end of what was said, and `silence_ms` how much of the pause behind it was passed on.
    """

    offset: int
    text: str
    opening: str = ""
    before: str = ""
    silence_ms: float = 0.0


class Progress:
    """Keeps the account of one utterance over as many connections ("legs") as it takes.

    Text goes in with `write` and `end`; what a leg brings goes in with `segment`, `words`, `sound`, `segment_ended` and
    `finish`, which give the events to pass on, with spans, times and indexes of the whole utterance. After a `cut`,
    `rest` is what the next leg has to say, and `begin` starts it.

    Whatever the moment of a cut: the words that are passed on are those of the whole text, each once. Sound is passed
    on up to the end of a whole word, and what is held back of a word that was cut never sounds, as the next leg says
    that word anew. Only for a listener who would run dry (less than `HOLD_ABOVE_MS` ahead) sound is passed on as it
    comes; a word that is cut then is heard again from its start.

    Keeps no word and, but for its last characters, no text that it needs no more.
    """

    def __init__(self, rate_hz: int) -> None:
        self.rate_hz = rate_hz
        self.written = 0
        self.ended = False
        self.given_bytes = 0
        self._text: deque[tuple[int, str]] = deque()
        self._held = bytearray()
        self._coming: deque[Word] = deque()
        self._pending: Segment | None = None
        self._segments = 0
        self._segment_end = 0
        self._told_to = 0
        self._whole_to = 0
        self._whole_ms = 0.0
        self._behind_word = False
        self._before = ""
        self._openings = Openings()
        self._read_to = 0
        self._leg_bytes = self._leg_offset = self._leg_segments = self._leg_from = 0

    # Text.

    def write(self, piece: str) -> None:
        """More of the text."""
        if piece:
            self._text.append((self.written, piece))
            self.written += len(piece)

    def end(self) -> None:
        """The text is complete."""
        self.ended = True

    def text_from(self, offset: int) -> str:
        """The text from there on, where that lies in `rest`."""
        return "".join(piece[max(0, offset - start) :] for start, piece in self._text)

    @property
    def unheard(self) -> int:
        """How many code points are written and not heard yet."""
        return self.written - self._whole_to

    @property
    def rest(self) -> Rest:
        """What was not heard yet; right behind a `cut`, from where the next leg has to go on."""
        silence_ms = max(0.0, self.audio_ms - self._whole_ms)
        return Rest(
            self._whole_to, self.text_from(self._whole_to), self._openings.tags, self._before, round(silence_ms, 1)
        )

    @property
    def said(self) -> bool:
        """Whether nothing is left to say of a complete text."""
        return self.ended and not self.rest.text.strip()

    # Legs.

    def begin(self, offset: int = 0) -> None:
        """A leg starts; the spans that it brings are to be shifted by `offset`."""
        self._leg_offset = offset
        self._leg_bytes = self.given_bytes
        self._leg_segments = self._segments
        self._leg_from = self._whole_to

    def cut(self) -> None:
        """The leg is over before its end: what it brought and was not passed on is as if it had never come."""
        self._pass(self._next_place())
        self._read(self.text_from(self._read_to)[: self._whole_to - self._read_to])
        self._held.clear()
        self._coming.clear()
        self._pending = None

    @property
    def leg_ms(self) -> float:
        """Where in the utterance the leg's own time begins."""
        return self._ms(self._leg_bytes)

    @property
    def leg_bytes(self) -> int:
        """How much sound the leg has brought."""
        return self.given_bytes - self._leg_bytes + len(self._held)

    @property
    def audio_ms(self) -> float:
        """How much sound was passed on."""
        return self._ms(self.given_bytes)

    # What a leg brings.

    def segment(self, segment: Segment) -> list[Event]:
        """A segment is heard next; whatever was before it has come whole."""
        events = self._release(everything=True)
        start, end = segment.start + self._leg_offset, segment.end + self._leg_offset
        again = max(0, self._leg_from - start)  # tags that were opened again
        self._pending = replace(
            segment,
            index=self._leg_segments + segment.index,
            start=start + again,
            end=end,
            text=segment.text[again:],
        )
        self._segment_end = self._pending.end
        return events

    def words(self, told: Iterable[Word]) -> list[Event]:
        """Words of the leg, with its own spans and times."""
        shift, base_ms = self._leg_offset, self.leg_ms
        for word in told:
            if word.end + shift > self._whole_to:
                self._coming.append(
                    replace(
                        word,
                        start=word.start + shift,
                        end=word.end + shift,
                        start_ms=word.start_ms + base_ms,
                        end_ms=word.end_ms + base_ms,
                    )
                )
        return self._release()

    def sound(self, pcm: bytes, ahead_ms: float) -> list[Event]:
        """Sound of the leg, for a listener who has `ahead_ms` still to hear."""
        self._held += pcm
        return self._release(everything=ahead_ms < HOLD_ABOVE_MS or len(self._held) > HELD_BYTES)

    def segment_ended(self, end: SegmentEnded) -> list[Event]:
        """A segment of the leg has come whole."""
        events = self._release(everything=True)
        if self._pending is not None:  # a segment without a sound
            events.append(self._start_segment(self._pending))
        events += self._settle(lambda word: word.end <= self._segment_end)
        self._pass(self._segment_end)
        self._whole_ms = self.audio_ms
        return [*events, replace(end, index=self._leg_segments + end.index)]

    def finish(self) -> list[Event]:
        """The leg has said all there was."""
        events = self._release(everything=True) + self._settle(lambda _: True)
        self._pass(self.written)
        return events

    def _release(self, everything: bool = False) -> list[Event]:
        """Pass on what may be passed on by now: the words first that begin in it."""
        received_ms = self._ms(self.given_bytes + len(self._held))
        until_ms = received_ms if everything else self._boundary_ms(received_ms)
        wanted = self._bytes(until_ms) - self.given_bytes
        pcm = bytes(self._held[: max(0, wanted)])
        until_ms = self._ms(self.given_bytes + len(pcm))
        events: list[Event] = []
        if pcm and self._pending is not None:
            events.append(self._start_segment(self._pending))
        events += self._tell(lambda word: word.start_ms < until_ms - _SLACK_MS or word.end_ms <= until_ms + _SLACK_MS)
        if pcm:
            events.append(Audio(pcm, self.audio_ms))
            del self._held[: len(pcm)]
            self.given_bytes += len(pcm)
        return events + self._settle(lambda word: word.end_ms <= until_ms + _SLACK_MS)

    def _boundary_ms(self, received_ms: float) -> float:
        """Up to where whole words have come."""
        whole_ms = self._whole_ms
        for word in self._coming:
            if word.end_ms > received_ms + _SLACK_MS:
                return min(received_ms, word.start_ms)
            whole_ms = max(whole_ms, word.end_ms)
        return min(received_ms, whole_ms)

    def _tell(self, which: Callable[[Word], bool]) -> list[Event]:
        """The words from the first that was not passed on up to the last in a row that are of those."""
        fresh = []
        for word in self._coming:
            if word.start < self._told_to:
                continue
            if not which(word):
                break
            fresh.append(word)
            self._told_to = word.end
        return [Words(tuple(fresh))] if fresh else []

    def _settle(self, whole: Callable[[Word], bool]) -> list[Event]:
        """Those words were heard whole; gives those of them that were not passed on yet."""
        events = self._tell(whole)
        while self._coming and whole(self._coming[0]):
            word = self._coming.popleft()
            if word.end > self._whole_to:
                self._pass(word.end)
                self._behind_word = True
            self._whole_ms = max(self._whole_ms, word.end_ms)
        return events

    def _start_segment(self, segment: Segment) -> Segment:
        self._pending = None
        self._segments = segment.index + 1
        return segment

    def _next_place(self) -> int:
        """The first word that was not passed on whole; where no more words are known, behind the last that was."""
        if self._coming:
            return max(self._whole_to, self._coming[0].start)
        if not self._behind_word:
            return self._whole_to
        tail = _TAIL.match(self.rest.text)
        return self._whole_to + (len(tail[0]) if tail else 0)

    def _pass(self, place: int) -> None:
        """Nothing before that place has to be said again."""
        self._whole_to = max(self._whole_to, place)
        self._behind_word = False
        while self._text and self._text[0][0] + len(self._text[0][1]) <= self._whole_to:
            start, piece = self._text.popleft()
            self._read(piece[max(0, self._read_to - start) :])

    def _read(self, text: str) -> None:
        self._openings.feed(text)
        self._before = (self._before + text)[-BEFORE_CHARACTERS:]
        self._read_to += len(text)

    def _ms(self, pcm_bytes: int) -> float:
        return pcm_bytes / 2 * 1000 / self.rate_hz

    def _bytes(self, at_ms: float) -> int:
        return round(at_ms * self.rate_hz / 1000) * 2
