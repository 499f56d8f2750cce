import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vivavoce.audio import Leveler, silence

RATE = 24_000


def level_db(samples) -> float:
    return float(10 * np.log10(np.square(samples, dtype=np.float64).mean()))


def speak(leveler, segments, size=2_400):
    out = []
    for segment in segments:
        leveler.start_segment()
        out.append(
            np.concatenate([leveler.feed(segment[start : start + size]) for start in range(0, segment.size, size)])
        )
    return out


def test_the_first_segment_is_untouched(voice) -> None:
    speech = voice(1_000, RATE)
    assert np.array_equal(speak(Leveler(RATE), [speech])[0], speech)


@pytest.mark.parametrize("difference_db", [-12.0, -6.0, -3.0, 3.0, 6.0, 12.0])
@pytest.mark.parametrize("size", [480, 2_400, 10**6])
def test_a_jump_is_narrowed_by_at_most_three_decibels(voice, difference_db, size) -> None:
    first = voice(2_000, RATE)
    second = voice(3_000, RATE) * np.float32(10 ** (difference_db / 20))
    leveler = Leveler(RATE)
    out = speak(leveler, [first, second], size)
    gain_db = level_db(out[1]) - level_db(second)
    assert abs(gain_db) <= 3.0 + 1e-3
    assert np.sign(gain_db) == -np.sign(difference_db)
    assert abs(gain_db) > (0.8 if abs(difference_db) == 3.0 else 1.8)
    assert abs(leveler.gain_db) > (1.3 if abs(difference_db) == 3.0 else 2.99)


def test_equal_segments_stay_as_they_are(voice) -> None:
    segments = [voice(700, RATE, seed=seed) for seed in range(4)]
    for out, segment in zip(speak(Leveler(RATE), segments), segments, strict=True):
        assert abs(level_db(out) - level_db(segment)) < 0.2


def test_pauses_inside_do_not_make_a_segment_quiet(voice) -> None:
    speech = voice(1_000, RATE)
    slow = np.concatenate((silence(500, RATE), speech, silence(1_500, RATE), speech))
    out = speak(Leveler(RATE), [speech, slow])[1]
    assert abs(level_db(out) - level_db(slow)) < 0.2


def test_the_gain_slides_without_a_step(voice) -> None:
    tone = (0.3 * np.sin(2 * np.pi * 200 * np.arange(2 * RATE) / RATE)).astype(np.float32)
    out = speak(Leveler(RATE), [tone, tone * np.float32(0.5)], 480)[1]
    assert np.abs(np.diff(out)).max() < 1.05 * np.abs(np.diff(tone * np.float32(0.5 * 10 ** (3 / 20)))).max()


@pytest.mark.parametrize("difference_db", [-9.0, 9.0])
def test_while_it_speaks_the_gain_moves_at_most_four_decibels_a_second(voice, difference_db) -> None:
    leveler = Leveler(RATE)
    speak(leveler, [voice(2_000, RATE)])
    leveler.start_segment()
    segment = voice(1_500, RATE) * np.float32(10 ** (difference_db / 20))
    leveler.feed(segment[:480])
    gains = [leveler.gain_db]
    for start in range(480, segment.size, 480):
        leveler.feed(segment[start : start + 480])
        gains.append(leveler.gain_db)
    assert np.abs(np.diff(gains)).max() <= 4.0 * 480 / RATE + 1e-9
    assert abs(gains[-1]) > 2.0 > 0.5 > abs(gains[0])


def test_silent_segments_change_nothing(voice) -> None:
    speech = voice(500, RATE)
    quiet = silence(500, RATE)
    out = speak(Leveler(RATE), [quiet, speech, quiet, speech])
    assert not out[0].any()
    assert not out[2].any()
    assert np.array_equal(out[1], speech)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 3_000), st.sampled_from([0.0, 0.01, 0.1, 0.9])), max_size=6),
    st.integers(1, 900),
    st.integers(0, 5),
)
def test_lengths_never_change_and_gains_are_bounded(runs, size, seed) -> None:
    noise = np.random.default_rng(seed)
    leveler = Leveler(8_000)
    for frames, level in runs:
        segment = noise.normal(0, level + 1e-9, frames).astype(np.float32)
        leveler.start_segment()
        parts = [leveler.feed(segment[start : start + size]) for start in range(0, frames, size)]
        out = np.concatenate([*parts, silence(0, 8_000)])
        assert out.size == frames
        assert (np.abs(out) <= np.abs(segment) * 10 ** (3.001 / 20)).all()
        assert (np.abs(out) >= np.abs(segment) * 10 ** (-3.001 / 20)).all()
