"""An engine without a door: called in this process, in this thread, with the words the door would give it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from vivavoce.engines.base import Engine, Phrase
from vivavoce.text import speak

__all__ = ["EngineAlone", "Spoken", "hibari_package", "time_call"]


@dataclass(frozen=True, slots=True)
class Spoken:
    """One sentence from an engine: time to its first samples, to its last, and how long it sounds."""

    first_ms: float
    whole_ms: float
    audio_ms: float


class EngineAlone:
    """One voice of one engine, warm."""

    def __init__(self, engine: Engine, voice: str) -> None:
        self._engine = engine
        self._voice = voice
        engine.load(voice)
        for text in ("Good morning.", "The kettle is on the stove, and the tea is ready."):
            self.speak(text)

    def speak(self, text: str) -> Spoken:
        """Speak a sentence to its end."""
        phrase = Phrase(speak(text).text)
        samples, first_ms = 0, 0.0
        started = time.perf_counter()
        for chunk in self._engine.synthesize(phrase, self._voice, 1.0, lambda: False):
            if not samples and len(chunk.samples):
                first_ms = (time.perf_counter() - started) * 1000
            samples += len(chunk.samples)
        whole_ms = (time.perf_counter() - started) * 1000
        return Spoken(first_ms, whole_ms, samples / self._engine.rate_hz * 1000)


def hibari_package(threads: int = 1) -> Callable[[str], Spoken]:
    """hibari as its authors ship it: a sentence in one go, nothing before the end."""
    from hibari import Hibari

    model = Hibari(threads=threads)
    model("Good morning.")

    def run(text: str) -> Spoken:
        started = time.perf_counter()
        audio = model(text)
        whole_ms = (time.perf_counter() - started) * 1000
        return Spoken(whole_ms, whole_ms, len(audio) / model.sample_rate * 1000)

    return run


def time_call(call: Callable[[], object]) -> float:
    """How long a call takes, in ms."""
    started = time.perf_counter()
    call()
    return (time.perf_counter() - started) * 1000
