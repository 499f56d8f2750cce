import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vivavoce.audio import TimeStretch
from vivavoce.errors import OutOfRange

RATE = 24_000
SPEEDS = [0.25, 0.4, 0.5, 0.8, 1.25, 1.5, 2.0, 2.7, 3.0, 4.0]


def run(stretch, samples, size):
    out = [stretch.feed(samples[start : start + size]) for start in range(0, samples.size, size)]
    return np.concatenate([*out, stretch.flush()])


@settings(max_examples=80, deadline=None)
@given(
    st.one_of(st.sampled_from(SPEEDS), st.floats(0.25, 4.0)),
    st.integers(0, 12_000),
    st.integers(100, 5_000),
    st.sampled_from([8_000, 22_050, 48_000]),
)
def test_length_is_exact(speed, frames, size, rate_hz) -> None:
    out = run(TimeStretch(rate_hz, speed), np.full(frames, 0.1, dtype=np.float32), size)
    assert out.size == math.floor(frames / speed + 0.5)
    assert out.dtype == np.float32


@pytest.mark.parametrize("speed", SPEEDS)
def test_pitch_stays_and_the_sound_is_all_there(speed) -> None:
    tone = (0.5 * np.sin(2 * np.pi * 220 * np.arange(3 * RATE) / RATE)).astype(np.float32)
    out = run(TimeStretch(RATE, speed), tone, 480)
    spectrum = np.abs(np.fft.rfft(out * np.hanning(out.size)))
    assert np.argmax(spectrum) * RATE / out.size == pytest.approx(220, abs=3)
    windows = np.sqrt(np.square(out[: out.size // 480 * 480].reshape(-1, 480)).mean(axis=1))
    assert windows[2:-4].min() > 0.2
    assert np.abs(out).max() < 0.52


@pytest.mark.parametrize("speed", SPEEDS)
def test_words_keep_their_place(speed) -> None:
    # Three beeps; each must sit where its time, divided by the speed, says.
    sound = np.zeros(3 * RATE, dtype=np.float32)
    beep = (0.5 * np.sin(2 * np.pi * 300 * np.arange(RATE // 4) / RATE)).astype(np.float32)
    for start_s in (0.3, 1.2, 2.4):
        sound[int(start_s * RATE) :][: beep.size] = beep
    out = run(TimeStretch(RATE, speed), sound, 1_000)
    loud = np.sqrt(np.convolve(np.square(out), np.full(240, 1 / 240), mode="same")) > 0.1
    starts = np.flatnonzero(np.diff(loud.astype(int)) == 1) / RATE
    groups = starts[np.concatenate(([True], np.diff(starts) > 0.1 / speed))]
    assert groups == pytest.approx(np.array([0.3, 1.2, 2.4]) / speed, abs=max(0.06, 0.04 / speed))


@pytest.mark.parametrize("speed", [0.3, 1.3, 3.5])
def test_sound_flows_before_the_end(speed) -> None:
    stretch = TimeStretch(RATE, speed)
    got = sum(stretch.feed(np.full(480, 0.1, dtype=np.float32)).size for _ in range(100))
    assert got > 0.65 * 48_000 / speed


def test_speed_one_passes_bit_for_bit(voice) -> None:
    speech = voice(100, RATE)
    stretch = TimeStretch(RATE, 1.0)
    assert stretch.identity
    assert np.array_equal(run(stretch, speech, 100), speech)


def test_a_second_stream_starts_afresh(voice) -> None:
    speech = voice(400, RATE)
    stretch = TimeStretch(RATE, 1.4)
    assert np.array_equal(run(stretch, speech, 480), run(stretch, speech, 480))


@pytest.mark.parametrize("speed", [0.0, 0.249, 4.01, -1.0, float("inf"), float("nan")])
def test_impossible_speeds_are_refused(speed) -> None:
    with pytest.raises(OutOfRange) as refused:
        TimeStretch(RATE, speed)
    assert refused.value.param == "speed"
