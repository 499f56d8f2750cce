import numpy as np
import pytest

from vivavoce.engines.joins import faded, join_pause_ms, quiet_edges

RATE_HZ = 24_000


def padded(head_ms: float, tail_ms: float) -> np.ndarray:
    voice = 0.2 * np.random.default_rng(0).standard_normal(RATE_HZ // 2)
    return np.concatenate([np.zeros(int(24 * head_ms)), voice, np.zeros(int(24 * tail_ms))]).astype(np.float32)


def test_silence_beyond_what_is_wanted_is_cut() -> None:
    samples = padded(300, 450)
    first, last = quiet_edges(samples, RATE_HZ, head_ms=100, tail_ms=100)
    assert first == pytest.approx(24 * 200, abs=300)
    assert len(samples) - last == pytest.approx(24 * 350, abs=300)
    assert first % 300 == last % 300 == 0


def test_less_silence_than_wanted_is_kept_and_none_added() -> None:
    samples = padded(50, 75)
    assert quiet_edges(samples, RATE_HZ, head_ms=200, tail_ms=200) == (0, len(samples))


def test_outer_ends_are_left_alone() -> None:
    samples = padded(300, 450)
    assert quiet_edges(samples, RATE_HZ, head_ms=None, tail_ms=None) == (0, len(samples))


def test_no_voice_is_left_alone() -> None:
    samples = np.zeros(9_000, np.float32)
    assert quiet_edges(samples, RATE_HZ, head_ms=10, tail_ms=10) == (0, 9_000)


def test_a_cut_makes_no_step() -> None:
    samples = faded(np.full(1_000, 0.5, np.float32), head=True, tail=True)
    assert np.abs(np.diff(samples)).max() < 0.01
    assert samples[0] == samples[-1] == 0
    assert faded(np.ones(10, np.float32), head=False, tail=False).min() == 1


def test_longer_marks_make_longer_pauses_and_speed_shortens_them() -> None:
    assert join_pause_ms("a,", 1) < join_pause_ms("a;", 1) < join_pause_ms("a.", 1)
    assert join_pause_ms("a, ", 2) == join_pause_ms("a,", 1) / 2
    assert join_pause_ms("a", 1) < 60
