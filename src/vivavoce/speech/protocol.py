"""The conversation of one WebSocket: what each frame means, and what may be said when. No sockets, no clock."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping

from ..audio import FRAME_BYTES
from ..errors import BadMessage, BadRequest, Busy, EmptyInput, InputTooLarge, NoUtterance, VivavoceError
from . import replies
from .actions import Action, Begin, Close, EndText, FeedText, FlushText, MovePlayed, Send, Stop
from .ask import Ask, ask_of, framing_of, resumed_ask
from .events import Outcome, SegmentEnd, SegmentStart, Timeline, Word
from .messages import (
    Cancel,
    End,
    Flush,
    Message,
    NotJson,
    Ping,
    Played,
    Resume,
    Synthesize,
    decode,
    parse,
    request_id_in,
)
from .messages import Text as TextMessage
from .resume import Resumed
from .running import MAX_UTTERANCES, Live, Running
from .waiting import Place

__all__ = ["MAX_BAD_MESSAGES", "MAX_UTTERANCES", "SUBPROTOCOL", "Conversation"]

SUBPROTOCOL = "vivavoce.v1"
MAX_BAD_MESSAGES = 20
AUDIO_FRAME_BYTES = 65_536

_HEADER = struct.Struct("<IIQ")


class Conversation:
    """What one connection means by its frames, and which frames tell it what becomes of its utterances.

    `receive` takes a frame and gives the actions to carry out, in order. The heart's reports (`queued`, `started`,
    `segment`, `words`, `audio`, `segment_ended`, `failed`, `refused`, `ended`) give the frames to send, in order; for an
    utterance that has ended they give none, so that nothing of it can follow its `done`. No method ever raises for what
    a client sends.

    `read_token` gives what a resume token stands for, or raises BadToken.
    """

    def __init__(self, read_token: Callable[[str], Resumed], *, max_characters: int) -> None:
        self._read_token = read_token
        self._max_characters = max_characters
        self._running = Running()
        self._generations = 0
        self._bad_messages = 0
        self.closed = False

    @property
    def running(self) -> Mapping[int, Ask]:
        """What was accepted and has not ended, by generation."""
        return {live.ask.generation: live.ask for live in self._running}

    # What the client says.

    def receive(self, frame: str | bytes) -> list[Action]:
        """What a frame asks to be done. After a Close nothing is asked any more."""
        if self.closed:
            return []
        if isinstance(frame, bytes):
            fault = BadMessage("Binary frames go from the server to the client only.")
            return [Send(replies.error(fault)), self._close(1003, "binary frame")]
        fields: object = None
        try:
            fields = decode(frame)
            return self._act(parse(fields))
        except NotJson as fault:
            return [Send(replies.error(fault)), self._close(fault.close_code, "not JSON")]
        except BadRequest as fault:
            return self._complain(fault, request_id_in(fields))
        except InputTooLarge as fault:
            return [
                Send(replies.error(fault, request_id_in(fields))),
                self._close(fault.close_code, "the text is over the limit"),
            ]

    def _act(self, message: Message) -> list[Action]:
        match message:
            case Synthesize():
                return self._synthesize(message)
            case Resume():
                return self._resume(message)
            case TextMessage():
                return self._text(message)
            case Flush():
                live = self._running.writing(message.request_id)
                return [] if live is None else [FlushText(live.ask.generation)]
            case End():
                return self._end(message)
            case Cancel():
                return self._cancel(message)
            case Played():
                live = self._running.find(message.request_id)
                return [] if live is None else [MovePlayed(live.ask.generation, message.ms)]
            case Ping():
                return [Send(replies.pong(message.id))]

    def _synthesize(self, message: Synthesize) -> list[Action]:
        identity = self._admissible(message.request_id, message.framing or "raw")
        streamed = message.text is None or bool(message.stream)
        if message.text is None and message.stream is False:
            raise BadMessage("text is missing; without it, more has to follow.", param="text")
        return self._begin(ask_of(message, identity, self._generations + 1), message.text or "", streamed)

    def _resume(self, message: Resume) -> list[Action]:
        resumed = self._read_token(message.token)
        identity = self._admissible(message.request_id or resumed.request_id, framing_of(resumed))
        streamed = message.text is None if message.stream is None else message.stream
        ask = resumed_ask(message, resumed, identity, self._generations + 1)
        return self._begin(ask, message.text or "", streamed)

    def _begin(self, ask: Ask, text: str, streamed: bool) -> list[Action]:
        live = Live(ask, streamed)
        text = self._counted(live, text)
        if not streamed and not text.strip() and ask.resumed is None:
            raise EmptyInput("There is nothing to say in the text.", param="text")
        self._generations += 1
        self._bad_messages = 0
        live.ask = ask = ask.saying(text, streamed)
        self._running.add(live)
        return [Send(replies.simple("accepted", ask.request_id)), Begin(ask)]

    def _admissible(self, wanted: str | None, framing: str) -> str:
        """The id of a new utterance, if one may begin now."""
        if wanted is not None and not wanted.isprintable():
            raise BadMessage("request_id: only printable characters, please.", param="request_id")
        self._running.check_room(wanted, framing)
        return wanted or f"u{self._generations + 1}"

    def _text(self, message: TextMessage) -> list[Action]:
        live = self._running.writing(message.request_id)
        if live is None:
            return []
        try:
            text = self._counted(live, message.text)
        except InputTooLarge as fault:
            return [Stop(live.ask.generation, fault), self._close(fault.close_code, "the text is over the limit")]
        return [FeedText(live.ask.generation, text)] if text else []

    def _end(self, message: End) -> list[Action]:
        live = self._running.writing(message.request_id)
        if live is None:
            return []
        live.text_open = False
        actions: list[Action] = []
        if left := live.halves.flush():
            actions.append(FeedText(live.ask.generation, left))
        return [*actions, EndText(live.ask.generation)]

    def _cancel(self, message: Cancel) -> list[Action]:
        try:
            live = self._running.find(message.request_id)
        except NoUtterance as fault:
            return self._complain(fault, None)
        if live is None:
            # It has its `done`. An error without its id answers, and is no mistake of the client's.
            return [Send(replies.error(NoUtterance("That utterance has ended already.", param="request_id")))]
        return [Stop(live.ask.generation)]

    def _counted(self, live: Live, text: str) -> str:
        """The text as whole characters, if it is within the limit. Raises InputTooLarge."""
        live.characters += len(text)
        if live.characters > self._max_characters:
            message = f"The text is longer than {self._max_characters} characters, which is the limit."
            raise InputTooLarge(message, param="text")
        return live.halves.feed(text) if live.text_open else live.halves.feed(text) + live.halves.flush()

    def _complain(self, fault: VivavoceError, request_id: str | None) -> list[Action]:
        self._bad_messages += 1
        actions: list[Action] = [Send(replies.error(fault, request_id))]
        if self._bad_messages > MAX_BAD_MESSAGES:
            actions.append(self._close(4400, "too many bad messages"))
        return actions

    def _close(self, code: int, reason: str) -> Close:
        self.closed = True
        return Close(code, reason)

    # What the heart reports.

    def queued(self, generation: int, place: Place) -> list[str]:
        """It waits for its turn, there."""
        live = self._running.get(generation)
        return [] if live is None or live.token else [replies.queued(live.ask.request_id, place)]

    def started(self, generation: int, rate_hz: int, token: str) -> list[str]:
        """It has its turn; its audio will be at that rate, and the token takes it up elsewhere."""
        live = self._running.get(generation)
        if live is None or live.token:
            return []
        live.token = token
        return [replies.start(live.ask.request_id, generation, rate_hz, live.ask.format, token)]

    def segment(self, generation: int, event: SegmentStart) -> list[str]:
        """A segment begins."""
        live = self._running.get(generation)
        return [] if live is None else [replies.segment(live.ask.request_id, event)]

    def words(self, generation: int, told: Iterable[Word]) -> list[str]:
        """Words are known; nothing for a client that did not ask for them."""
        live = self._running.get(generation)
        told = tuple(told)
        if live is None or not told or not live.ask.word_timestamps:
            return []
        return [replies.words(live.ask.request_id, told)]

    def audio(self, generation: int, data: bytes) -> list[bytes]:
        """Encoded sound, in frames of at most 64 KiB; those of pcm hold whole samples."""
        live = self._running.get(generation)
        if live is None or not data:
            return []
        headed = live.ask.framing == "header"
        step = AUDIO_FRAME_BYTES - _HEADER.size if headed else AUDIO_FRAME_BYTES
        unit = FRAME_BYTES if live.ask.format == "pcm" else 1
        frames = []
        for start in range(0, len(data), step):
            piece = data[start : start + step]
            if headed:
                piece = _HEADER.pack(generation, 0, live.sent_bytes // unit) + piece
            frames.append(piece)
            live.sent_bytes += min(step, len(data) - start)
        return frames

    def segment_ended(self, generation: int, event: SegmentEnd) -> list[str]:
        """A segment is spoken."""
        live = self._running.get(generation)
        return [] if live is None else [replies.segment_end(live.ask.request_id, event)]

    def failed(self, generation: int, fault: VivavoceError) -> list[str]:
        """It broke; `ended` has to follow."""
        live = self._running.get(generation)
        return [] if live is None else [replies.error(fault, live.ask.request_id)]

    def refused(self, generation: int, refusal: Busy, queue_depth: int) -> list[str]:
        """It was not taken; `ended` has to follow."""
        live = self._running.get(generation)
        return [] if live is None else [replies.busy(live.ask.request_id, refusal, queue_depth)]

    def ended(self, generation: int, outcome: Outcome, timeline: Timeline, heard_ms: float) -> list[str]:
        """It is over; nothing of it follows."""
        live = self._running.remove(generation)
        if live is None:
            return []
        sent = live.sent_bytes
        return [replies.done(live.ask.request_id, outcome, timeline, heard_ms=heard_ms, sent_bytes=sent)]

    def going_away(self, retry_after_ms: float) -> list[str]:
        """The server leaves, and takes no frame any more.

        What is unfinished is given to the client to take up elsewhere: it has no `done` here.
        """
        unfinished = [live for live in self._running if live.token]
        for live in unfinished:
            self._running.remove(live.ask.generation)
        self.closed = True
        return [replies.going_away(retry_after_ms, [(live.ask.request_id, live.token) for live in unfinished])]
