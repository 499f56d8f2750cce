"""The ruler for pauses, on tones and silence that are known to the sample."""

import numpy as np
import pytest

from pauses import pauses

RATE_HZ = 24_000


def sound(*parts: tuple[str, int]) -> np.ndarray:
    """Tones and near silence, each with its length in ms."""
    pieces = []
    for kind, length_ms in parts:
        time = np.arange(RATE_HZ * length_ms // 1000) / RATE_HZ
        pieces.append((0.3 if kind == "tone" else 0.0005) * np.sin(2 * np.pi * 200 * time))
    return np.concatenate(pieces).astype(np.float32)


def test_finds_the_silence_between_two_words() -> None:
    samples = sound(("silence", 300), ("tone", 400), ("silence", 250), ("tone", 400), ("silence", 300))
    [pause] = pauses(samples, RATE_HZ, [(300, 700), (950, 1350)])
    assert pause.start_ms == pytest.approx(700, abs=25)
    assert pause.end_ms == pytest.approx(950, abs=25)
    assert pause.overlap_ms == 0
    assert pause.between_words


def test_sees_a_word_that_claims_a_silence() -> None:
    samples = sound(("tone", 400), ("silence", 300), ("tone", 400))
    [pause] = pauses(samples, RATE_HZ, [(0, 600), (700, 1100)])
    assert pause.overlap_ms == pytest.approx(200, abs=25)
    assert not pause.between_words


def test_a_word_that_swallows_the_whole_silence_is_seen() -> None:
    samples = sound(("tone", 400), ("silence", 300), ("tone", 400))
    [pause] = pauses(samples, RATE_HZ, [(0, 1100)])
    assert pause.overlap_ms == pause.length_ms


@pytest.mark.parametrize("length_ms", [20, 60, 90])
def test_short_closures_are_no_pauses(length_ms: int) -> None:
    assert pauses(sound(("tone", 400), ("silence", length_ms), ("tone", 400)), RATE_HZ, [(0, 900)]) == []


def test_silence_at_either_end_is_no_pause() -> None:
    assert pauses(sound(("silence", 500), ("tone", 400), ("silence", 500)), RATE_HZ, [(500, 900)]) == []


@pytest.mark.parametrize("samples", [np.zeros(0, np.float32), np.zeros(100, np.float32), np.zeros(48_000, np.float32)])
def test_nothing_and_pure_silence_hold_no_pause(samples: np.ndarray) -> None:
    assert pauses(samples, RATE_HZ, []) == []
