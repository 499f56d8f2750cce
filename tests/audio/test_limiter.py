import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vivavoce.audio import Limiter

RATE = 24_000
CEILING = 10 ** (-1 / 20)


def run(limiter, samples, size):
    out = [limiter.feed(samples[start : start + size]) for start in range(0, samples.size, size)]
    return np.concatenate([*out, limiter.flush()])


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 500), st.sampled_from([0.0, 0.1, 0.8, 0.95, 1.5, 9.0])), min_size=1, max_size=12),
    st.integers(1, 3_000),
    st.integers(0, 9),
)
def test_nothing_ever_passes_the_ceiling_and_nothing_is_lost(runs, size, seed) -> None:
    noise = np.random.default_rng(seed)
    samples = np.concatenate([noise.uniform(-level, level, frames) for frames, level in runs]).astype(np.float32)
    out = run(Limiter(RATE), samples, size)
    assert out.size == samples.size
    assert np.abs(out).max() <= CEILING + 1e-6
    assert (out * samples >= 0).all()


@pytest.mark.parametrize("size", [1, 95, 96, 97, 480, 10**6])
def test_sound_under_the_ceiling_is_untouched(voice, size) -> None:
    speech = voice(200, RATE, level=0.5)
    assert np.array_equal(run(Limiter(RATE), speech, size), speech)


@pytest.mark.parametrize("size", [1, 50, 480, 10**6])
def test_a_loud_voice_keeps_its_wave(voice, size) -> None:
    speech = voice(1_000, RATE, level=0.4) * 4
    out = run(Limiter(RATE), speech, size)
    assert np.abs(speech).max() > 1.3
    clipped = np.clip(speech, -CEILING, CEILING)

    def strange(sound) -> float:
        """How much of the sound is not the voice at any one gain, per 10 ms."""
        rest = 0.0
        for start in range(0, speech.size, 240):
            part, source = sound[start : start + 240], speech[start : start + 240]
            gain = float(part @ source) / max(1e-9, float(source @ source))
            rest += float(np.square(part - gain * source).sum())
        return rest / float(np.square(sound).sum())

    assert strange(out) < 0.2 * strange(clipped)
    assert strange(out) < 0.002


def test_pieces_do_not_matter(voice) -> None:
    speech = voice(2_500, RATE, level=0.5) * np.linspace(0.1, 5, RATE * 5 // 2, dtype=np.float32)
    whole = run(Limiter(RATE), speech, 10**9)
    for size in (37, 480, 24_000):
        assert np.allclose(run(Limiter(RATE), speech, size), whole, atol=1e-5)


def test_at_most_five_milliseconds_wait() -> None:
    limiter = Limiter(RATE)
    for level in (0.2, 3.0, 0.2):
        fed = np.full(2_400, level, dtype=np.float32)
        assert limiter.feed(fed).size >= 2_400 - RATE * 0.005


def test_after_a_peak_the_gain_comes_back_bit_for_bit(voice) -> None:
    quiet = voice(2_000, RATE, level=0.3)
    out = run(Limiter(RATE), np.concatenate((np.full(100, 2.0, dtype=np.float32), quiet)), 480)
    assert np.array_equal(out[-RATE // 2 :], quiet[-RATE // 2 :])


def test_broken_samples_are_silence() -> None:
    samples = np.array([0.5, np.nan, np.inf, -np.inf, 0.5], dtype=np.float32)
    out = run(Limiter(RATE), samples, 2)
    assert np.isfinite(out).all()
    assert np.abs(out).max() <= CEILING + 1e-6
