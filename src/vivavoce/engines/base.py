"""What every embedded engine promises."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

__all__ = ["Chunk", "Engine", "Ipa", "Origin", "Phrase", "Samples", "Voice", "WordTime"]

Samples = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Voice:
    """A voice that an engine has: `name` is unique over all engines, `language` a BCP 47 tag such as `en-US`."""

    name: str
    language: str
    gender: str = ""
    description: str = ""


@dataclass(frozen=True, slots=True)
class Ipa:
    """A pronunciation for the characters `[start, end)` of a phrase."""

    start: int
    end: int
    symbols: str


@dataclass(frozen=True, slots=True)
class Phrase:
    """Normalized words for an engine, at most one sentence; hashable, so that it can key a cache."""

    text: str
    language: str = "en"
    ipa: tuple[Ipa, ...] = ()


@dataclass(frozen=True, slots=True)
class WordTime:
    """When the characters `[start, end)` of the phrase are heard, in ms from the phrase's first sample.

    `exact` is false where the engine does not know and the time was estimated.
    """

    start: int
    end: int
    start_ms: float
    end_ms: float
    exact: bool = True


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a chunk was made: the predictor's address, its tier (`floor`, `burst`), its node and its model.

    `attempt` is 1, or more where the job had failed before, there or elsewhere, and is being made again.
    """

    endpoint: str = ""
    tier: str = ""
    node: str = ""
    model: str = ""
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of speech: mono float32 samples in [-1, 1] at the engine's rate, and words whose times are now known.

    Words arrive in order, each once, no later than the chunk in which the word ends. A listener who gets the chunk
    `hold_ms` after it was made, while the next one is being made, will not run dry before that comes. After a chunk that
    `is_last` nothing follows; an engine that cannot tell leaves it false.
    """

    samples: Samples
    words: tuple[WordTime, ...] = ()
    hold_ms: float = 0.0
    rate_hz: int = 0
    """The samples' rate where it is known only now; 0 means the predictor's `rate_hz(voice)`."""
    origin: Origin | None = None
    """Told by predictors elsewhere, in the first chunk of a job and whenever it changes."""
    is_last: bool = False


class Engine(Protocol):
    """A model in this process. Loading happens in `load`, work in `synthesize`; both block and run in threads."""

    name: str
    rate_hz: int
    native_speed: bool
    word_times: str  # "exact", "estimated"

    def voices(self) -> tuple[Voice, ...]:
        """Every voice that could be spoken once its files are here."""
        ...

    def ready_voices(self) -> tuple[Voice, ...]:
        """The voices that can be spoken now."""
        ...

    def speaks(self, voice: str, language: str) -> bool:
        """Whether that voice reads text in that language (a BCP 47 tag; the region may be left out)."""
        ...

    def load(self, voice: str) -> None:
        """Make the voice ready; safe to call again. Raises VoiceNotInstalled, ModelCorrupt."""
        ...

    def synthesize(self, phrase: Phrase, voice: str, speed: float, cancelled: Callable[[], bool]) -> Iterator[Chunk]:
        """Speak one phrase; `cancelled` is asked between steps, and a true answer ends the iteration early."""
        ...
