"""The one protocol of every place where speech is made."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from typing import Protocol

from ..engines.base import Chunk, Phrase

__all__ = ["Around", "Deadline", "Job", "Predictor"]

Deadline = Callable[[], float]
"""When, in ms of the server's clock, the job's listener runs dry; asked again whenever a slot is given away."""


@dataclass(frozen=True, slots=True)
class Job:
    """One phrase to be made into speech; hashable, so that it can key a cache. `speed` 1.0 is the voice's own pace.

    `instruct` designs the voice where the predictor can do that (OmniVoice's closed vocabulary); others ignore it.
    """

    phrase: Phrase
    voice: str
    speed: float = 1.0
    instruct: str = ""


class Predictor(Protocol):
    """Turns a job into chunks of float32 PCM.

    Closing the generator (`aclose`) cancels the work within one engine step and frees what it held.
    """

    @property
    def slots(self) -> int:
        """How many jobs are made at the same time, now; 0 where none can be made."""
        ...

    def streams(self, voice: str) -> int:
        """How many utterances in that voice can be kept ahead of their listeners at the same time, now."""
        ...

    def rate_hz(self, voice: str) -> int:
        """The sample rate of that voice's chunks, where they do not say it themselves."""
        ...

    def synthesize(self, job: Job, deadline: Deadline | None = None) -> AsyncGenerator[Chunk]:
        """Speak the job. Raises PredictorFailed, Busy, VoiceNotInstalled, UnknownVoice.

        Where jobs wait for a slot, the one with the earliest deadline runs first; without one it is due at once.
        """
        ...


class Around:
    """What stands before another predictor and has its slots, its streams and its rates."""

    def __init__(self, inner: Predictor) -> None:
        self._inner = inner

    @property
    def slots(self) -> int:
        """As many as the inner predictor has."""
        return self._inner.slots

    def streams(self, voice: str) -> int:
        """As many as the inner predictor keeps up with."""
        return self._inner.streams(voice)

    def rate_hz(self, voice: str) -> int:
        """The sample rate of that voice's chunks."""
        return self._inner.rate_hz(voice)
