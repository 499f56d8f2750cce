"""Whose an utterance is, and how much of a key's allowance is left."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field

from ..clock import Clock
from ..errors import RateLimited

__all__ = ["Caller", "Quota"]

WINDOW_S = 60


@dataclass(frozen=True, slots=True)
class Caller:
    """The holder of a key, and what the key allows; None: no limit. `name` is "" where the server asks for no keys."""

    name: str = ""
    streams: int | None = None
    """Utterances at the same time, those that wait for their turn included."""
    characters_per_minute: int | None = None


@dataclass(slots=True)
class _Spent:
    """Characters of one key, by the second in which they were spent."""

    seconds: deque[list[int]] = field(default_factory=deque)
    total: int = 0

    def forget(self, before: int) -> None:
        while self.seconds and self.seconds[0][0] < before:
            self.total -= self.seconds.popleft()[1]


class Quota:
    """Counts the characters of every key: no 60 s, wherever they begin, hold more than the key's limit.

    A key takes no more memory than its last minute, however small the pieces are that it spends.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._spent: dict[str, _Spent] = {}

    def spend(self, caller: Caller, characters: int) -> None:
        """Take characters off the caller's allowance, all or none. Raises RateLimited, with the time to wait."""
        limit = caller.characters_per_minute
        if limit is None or characters <= 0:
            return
        now = self._now_s()
        spent = self._spent.setdefault(caller.name, _Spent())
        # A second counts until the last of its moments is a minute old.
        spent.forget(before=math.floor(now) - WINDOW_S)
        if spent.total + characters > limit:
            raise self._refusal(spent, limit, characters, now)
        second = math.floor(now)
        if not spent.seconds or spent.seconds[-1][0] != second:
            spent.seconds.append([second, 0])
        spent.seconds[-1][1] += characters
        spent.total += characters

    def give_back(self, caller: Caller, characters: int) -> None:
        """Undo a `spend` of this minute whose text was never spoken."""
        spent = self._spent.get(caller.name)
        if spent is None or caller.characters_per_minute is None:
            return
        for second in reversed(spent.seconds):
            back = min(characters, second[1])
            second[1] -= back
            spent.total -= back
            characters -= back

    def _refusal(self, spent: _Spent, limit: int, characters: int, now_s: float) -> RateLimited:
        if characters > limit:
            message = f"This key may speak {limit} characters a minute; send a text of {characters} in pieces."
            return RateLimited(message, retry_after_s=float(WINDOW_S))
        excess, free_at = spent.total + characters - limit, now_s
        for second, count in spent.seconds:
            if excess <= 0:
                break
            excess -= count
            free_at = second + WINDOW_S + 1
        message = f"This key may speak {limit} characters a minute, and has; try again later."
        return RateLimited(message, retry_after_s=max(free_at - now_s, 0.0))

    def _now_s(self) -> float:
        return self._clock.now_ms() / 1000
