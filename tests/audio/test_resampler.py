import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vivavoce.audio import RATES_HZ, Resampler
from vivavoce.errors import OutOfRange

PAIRS = list(itertools.product(RATES_HZ, RATES_HZ))


def run(resampler, samples, size):
    out = [resampler.feed(samples[start : start + size]) for start in range(0, samples.size, size)]
    return np.concatenate([*out, resampler.flush()])


@settings(max_examples=120, deadline=None)
@given(st.sampled_from(PAIRS), st.integers(0, 9_000), st.integers(1, 4_000))
def test_length_is_exact(pair, frames, size) -> None:
    from_hz, to_hz = pair
    out = run(Resampler(from_hz, to_hz), np.ones(frames, dtype=np.float32), size)
    assert out.size == (2 * frames * to_hz + from_hz) // (2 * from_hz)
    assert out.dtype == np.float32


@pytest.mark.parametrize(("from_hz", "to_hz"), PAIRS)
def test_a_tone_stays_the_same_tone_at_the_same_time(from_hz, to_hz) -> None:
    def tone(rate_hz, seconds):
        at = np.arange(round(rate_hz * seconds)) / rate_hz
        return (0.5 * np.sin(2 * np.pi * 440 * at) * np.sin(np.pi * at / seconds)).astype(np.float32)

    out = run(Resampler(from_hz, to_hz), tone(from_hz, 1.0), from_hz // 50)
    assert np.abs(out - tone(to_hz, 1.0)).max() < 2e-3


def test_equal_rates_pass_bit_for_bit() -> None:
    samples = np.random.default_rng(1).normal(size=999).astype(np.float32)
    resampler = Resampler(22_050, 22_050)
    assert resampler.identity
    assert np.array_equal(run(resampler, samples, 100), samples)


def test_what_lies_over_the_new_band_is_removed_not_mirrored() -> None:
    high = np.sin(2 * np.pi * 7_000 * np.arange(24_000) / 24_000).astype(np.float32)
    out = run(Resampler(24_000, 8_000), high, 480)
    assert np.abs(out[200:-200]).max() < 1e-3


def test_a_second_stream_starts_afresh() -> None:
    resampler = Resampler(24_000, 48_000)
    samples = np.random.default_rng(2).normal(size=1_000).astype(np.float32)
    assert np.array_equal(run(resampler, samples, 77), run(resampler, samples, 77))
    assert resampler.flush().size == 0


def test_sound_flows_before_the_end() -> None:
    resampler = Resampler(24_000, 48_000)
    assert resampler.feed(np.ones(24_000, dtype=np.float32)).size > 0.9 * 48_000


@pytest.mark.parametrize("from_hz", [1_000, 6_000, 11_025, 96_000, 192_000, 768_000])
def test_recordings_of_any_rate_come_in(from_hz) -> None:
    at = np.arange(from_hz // 2) / from_hz
    tone = (0.5 * np.sin(2 * np.pi * 200 * at) * np.sin(2 * np.pi * at)).astype(np.float32)
    out = run(Resampler(from_hz, 16_000), tone, from_hz // 50)
    out_at = np.arange(out.size) / 16_000
    assert abs(out.size - 8_000) <= 1
    assert np.abs(out - 0.5 * np.sin(2 * np.pi * 200 * out_at) * np.sin(2 * np.pi * out_at)).max() < 5e-3


@pytest.mark.parametrize("from_hz", [0, -1, 999, 768_001])
def test_no_recording_has_such_a_rate(from_hz) -> None:
    with pytest.raises(OutOfRange):
        Resampler(from_hz, 16_000)


@pytest.mark.parametrize("rate_hz", [0, -24_000, 7_999, 48_001, 10**9])
def test_impossible_rates_are_refused(rate_hz) -> None:
    with pytest.raises(OutOfRange) as refused:
        Resampler(24_000, rate_hz)
    assert refused.value.param == "sample_rate"
