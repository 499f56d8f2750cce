"""The utterances of one connection: those that run, and those that ran."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ..errors import BadMessage, FramingRequired, NoUtterance, TextEnded, TooManyUtterances, UtteranceRunning
from .ask import Ask
from .surrogates import Surrogates

__all__ = ["MAX_UTTERANCES", "Live", "Running"]

MAX_UTTERANCES = 8
_REMEMBERED = 64


@dataclass(slots=True)
class Live:
    """An utterance that was accepted and has not ended."""

    ask: Ask
    text_open: bool
    characters: int = 0
    halves: Surrogates = field(default_factory=Surrogates)
    token: str = ""
    sent_bytes: int = 0


class Running:
    """Finds the utterance that a message means, and says whether another may begin."""

    def __init__(self) -> None:
        self._live: dict[int, Live] = {}
        self._by_id: dict[str, Live] = {}
        # Ended utterances by id, and whether their text was complete: what crosses their end is no mistake.
        self._ended: dict[str, bool] = {}

    def __iter__(self) -> Iterator[Live]:
        return iter(tuple(self._live.values()))

    def get(self, generation: int) -> Live | None:
        """The utterance of that generation, until it has ended."""
        return self._live.get(generation)

    def add(self, live: Live) -> None:
        """Begin."""
        self._live[live.ask.generation] = self._by_id[live.ask.request_id] = live
        self._ended.pop(live.ask.request_id, None)

    def remove(self, generation: int) -> Live | None:
        """End; None where it has ended before."""
        live = self._live.pop(generation, None)
        if live is None:
            return None
        del self._by_id[live.ask.request_id]
        self._ended[live.ask.request_id] = not live.text_open
        if len(self._ended) > _REMEMBERED:
            del self._ended[next(iter(self._ended))]
        return live

    def check_room(self, wanted: str | None, framing: str) -> None:
        """Whether an utterance of that id may begin. Raises UtteranceRunning, FramingRequired, TooManyUtterances."""
        if not self._live:
            return
        if wanted is None or wanted in self._by_id:
            raise UtteranceRunning("An utterance of that id is being spoken; wait for its `done`, or cancel it.")
        if framing != "header" or any(live.ask.framing != "header" for live in self._live.values()):
            message = 'Only utterances that all have framing: "header" may be spoken at once.'
            raise FramingRequired(message, param="framing")
        if len(self._live) >= MAX_UTTERANCES:
            raise TooManyUtterances(f"One connection speaks at most {MAX_UTTERANCES} utterances at once.")

    def find(self, request_id: str | None) -> Live | None:
        """The utterance that is meant; None for one that has ended. Raises NoUtterance, BadMessage."""
        if request_id is not None:
            if (live := self._by_id.get(request_id)) is not None:
                return live
            if request_id in self._ended:
                return None
            raise NoUtterance("No utterance of that id is running.", param="request_id")
        if len(self._live) > 1:
            raise BadMessage("Several utterances are running; request_id has to name one.", param="request_id")
        if self._live:
            return next(iter(self._live.values()))
        if self._ended:
            return None
        raise NoUtterance("No utterance is running.")

    def writing(self, request_id: str | None) -> Live | None:
        """The utterance that text is meant for; None for one that ended while its text was still being written.

        Raises what `find` does, and TextEnded.
        """
        live = self.find(request_id)
        if live is None:
            if self._ended[request_id or next(reversed(self._ended))]:
                raise TextEnded("The text of that utterance is complete, and it has been spoken.")
            return None
        if not live.text_open:
            raise TextEnded("The text of that utterance is complete.")
        return live
