"""Engines that are loaded once, and helpers to look at what they say."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import pytest

from vivavoce.engines.base import Chunk, Phrase, Samples, WordTime
from vivavoce.engines.hibari import Hibari
from vivavoce.engines.kokoro import Kokoro
from vivavoce.errors import VoiceNotInstalled

Speak = Callable[..., tuple[Samples, tuple[WordTime, ...]]]


@pytest.fixture(scope="session")
def hibari() -> Hibari:
    pytest.importorskip("hibari")
    engine = Hibari()
    engine.load("heart")
    return engine


@pytest.fixture(scope="session")
def kokoro() -> Kokoro:
    engine = Kokoro()
    try:
        engine.load("af_heart")
    except VoiceNotInstalled as error:
        pytest.skip(error.message)
    return engine


@pytest.fixture
def joined() -> Callable[[Iterable[Chunk]], tuple[Samples, tuple[WordTime, ...]]]:
    """All samples and all words of some chunks."""

    def join(chunks: Iterable[Chunk]) -> tuple[Samples, tuple[WordTime, ...]]:
        kept = list(chunks)
        samples = np.concatenate([np.zeros(0, np.float32), *(chunk.samples for chunk in kept)])
        return samples, tuple(word for chunk in kept for word in chunk.words)

    return join


@pytest.fixture
def pauses() -> Callable[..., list[tuple[float, float]]]:
    """Stretches of at least `shortest_ms` that are 40 dB below the loudest 10 ms, in ms."""

    def find(samples: Samples, rate_hz: int, shortest_ms: float = 100) -> list[tuple[float, float]]:
        size = rate_hz // 100
        count = len(samples) // size
        level = np.sqrt((samples[: count * size].reshape(count, size).astype(np.float64) ** 2).mean(1))
        quiet = np.concatenate([[False], level < 0.01 * level.max(), [False]])
        edges = np.flatnonzero(quiet[1:] != quiet[:-1])
        return [
            (a * 10.0, b * 10.0) for a, b in zip(edges[::2], edges[1::2], strict=True) if (b - a) * 10 >= shortest_ms
        ]

    return find


@pytest.fixture
def say(joined: Callable[..., tuple[Samples, tuple[WordTime, ...]]]) -> Speak:
    """Speak a text from beginning to end."""

    def speak(engine: object, text: str, voice: str, speed: float = 1.0, language: str = "en") -> object:
        return joined(engine.synthesize(Phrase(text, language), voice, speed, lambda: False))

    return speak
