"""The one protocol of every place where speech is made."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Protocol

from ..engines.base import Chunk, Phrase

__all__ = ["Job", "Predictor"]


@dataclass(frozen=True, slots=True)
class Job:
    """One phrase to be made into speech; hashable, so that it can key a cache. `speed` 1.0 is the voice's own pace."""

    phrase: Phrase
    voice: str
    speed: float = 1.0


class Predictor(Protocol):
    """Turns a job into chunks of float32 PCM.

    Closing the generator (`aclose`) cancels the work within one engine step and frees what it held.
    """

    @property
    def slots(self) -> int:
        """How many jobs are made at the same time."""
        ...

    def rate_hz(self, voice: str) -> int:
        """The sample rate of that voice's chunks."""
        ...

    def synthesize(self, job: Job) -> AsyncGenerator[Chunk]:
        """Speak the job. Raises PredictorFailed, VoiceNotInstalled, UnknownVoice."""
        ...
