import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vivavoce.audio import Joiner

RATE = 24_000


def steepest(samples) -> float:
    return float(np.abs(np.diff(samples, prepend=0.0, append=0.0)).max())


def joined(segments, pause_ms, sizes, pieces_of):
    joiner, out = Joiner(RATE), []
    for segment in segments:
        out += [joiner.feed(piece) for piece in pieces_of(segment, sizes)]
        out.append(joiner.pause(pause_ms) if pause_ms else joiner.end())
    return np.concatenate(out)


@pytest.mark.parametrize("pause_ms", [0, 120])
@pytest.mark.parametrize("sizes", [[10**9], [1], [50, 7], [480]])
def test_chatterbox_tts_api_11_no_jump_at_seams(pieces_of, pause_ms, sizes) -> None:
    # Segments cut at their loudest, the second of the other sign: a jump of 1.8 without fades.
    wave = 0.9 * np.cos(2 * np.pi * 100 * np.arange(4_801) / RATE).astype(np.float32)
    segments = [wave, -wave, wave]
    out = joined(segments, pause_ms, sizes, pieces_of)
    inside = float(np.abs(np.diff(wave)).max())
    assert steepest(np.concatenate(segments)) > 0.89
    assert steepest(out) < 2.5 * inside < 0.07
    assert out.size == 3 * wave.size + 3 * round(pause_ms * RATE / 1000)


def test_the_middle_of_a_segment_is_untouched(voice, pieces_of) -> None:
    speech = voice(300, RATE)
    out = joined([speech], 0, [333], pieces_of)
    assert np.array_equal(out[72:-72], speech[72:-72])
    assert out[0] == 0.0
    assert out[-1] == 0.0


@settings(max_examples=80, deadline=None)
@given(st.lists(st.integers(0, 400), max_size=8), st.integers(1, 200), st.sampled_from([0, 3, 50]))
def test_frames_in_are_frames_out_and_every_seam_is_at_zero(lengths, size, pause_ms) -> None:
    joiner, total = Joiner(RATE), 0
    for length in lengths:
        segment = np.ones(length, dtype=np.float32)
        parts = [joiner.feed(segment[start : start + size]) for start in range(0, length, size)]
        out = np.concatenate([*parts, joiner.pause(pause_ms)])
        assert out.size == length + pause_ms * RATE // 1000
        if length:
            assert out[0] == 0.0
            assert out[length - 1] == 0.0
            assert not out[length:].any()
        total += out.size
    assert total == sum(lengths) + len(lengths) * (pause_ms * RATE // 1000)
    assert joiner.end().size == 0


def test_input_is_not_written_to() -> None:
    segment = np.ones(1000, dtype=np.float32)
    joiner = Joiner(RATE)
    joiner.feed(segment)
    joiner.end()
    assert (segment == 1.0).all()


def test_no_fade_passes_through() -> None:
    joiner = Joiner(RATE, fade_ms=0)
    assert joiner.feed(np.ones(10, dtype=np.float32)).tolist() == [1.0] * 10
    assert joiner.end().size == 0
