from collections.abc import Iterator

import numpy as np
import pytest

from vivavoce.engines.base import Chunk, Phrase, WordTime
from vivavoce.engines.tempo import synthesize_at
from vivavoce.errors import OutOfRange


class Steady:
    """Speaks one second at 24 kHz for each word, at whatever speed it is asked for."""

    name = "steady"
    rate_hz = 24_000
    word_times = "exact"

    def __init__(self, native_speed: bool) -> None:
        self.native_speed = native_speed
        self.asked: list[float] = []

    def synthesize(self, phrase: Phrase, voice: str, speed: float, cancelled: object) -> Iterator[Chunk]:
        self.asked.append(speed)
        for index in range(len(phrase.text.split())):
            length_ms = 1000 / speed
            tone = 0.3 * np.sin(np.arange(round(24 * length_ms)) / 20)
            yield Chunk(
                tone.astype(np.float32),
                (WordTime(2 * index, 2 * index + 1, index * length_ms, (index + 1) * length_ms),),
            )


def speak(engine: Steady, speed: float) -> tuple[np.ndarray, list[WordTime]]:
    chunks = list(synthesize_at(engine, Phrase("a b c"), "v", speed, lambda: False))
    return np.concatenate([chunk.samples for chunk in chunks]), [word for chunk in chunks for word in chunk.words]


@pytest.mark.parametrize("speed", [0.25, 0.4, 0.5, 0.8, 1.0, 1.5, 2.0, 4.0])
@pytest.mark.parametrize("native", [True, False])
def test_sound_and_word_times_keep_the_pace(native: bool, speed: float) -> None:
    engine = Steady(native)
    samples, words = speak(engine, speed)
    assert len(samples) == pytest.approx(3 * 24_000 / speed, abs=3)
    assert [word.end_ms for word in words] == pytest.approx([1000 / speed, 2000 / speed, 3000 / speed])
    assert 0.5 <= engine.asked[0] <= 1.5


def test_an_engine_without_a_pace_of_its_own_is_asked_for_its_natural_one() -> None:
    engine = Steady(native_speed=False)
    speak(engine, 1.3)
    assert engine.asked == [1.0]


@pytest.mark.parametrize("speed", [0.0, 0.2, 4.1, -1.0])
def test_other_speeds_are_out_of_range(speed: float) -> None:
    with pytest.raises(OutOfRange):
        speak(Steady(True), speed)


def test_nothing_follows_a_cancel() -> None:
    asked = iter([True] * 9)
    chunks = synthesize_at(Steady(True), Phrase("a"), "v", 3.0, lambda: next(asked))
    assert len(list(chunks)) == 1
