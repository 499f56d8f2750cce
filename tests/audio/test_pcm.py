import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vivavoce.audio import FrameAligner, finite, frames_in, from_pcm16, silence, to_pcm16


@given(st.binary(max_size=4000).map(lambda data: data[: len(data) // 2 * 2]))
def test_bytes_in_are_bytes_out(pcm: bytes) -> None:
    assert to_pcm16(from_pcm16(pcm)) == pcm


@given(st.lists(st.floats(width=32, allow_nan=True, allow_infinity=True), max_size=200))
def test_any_float_becomes_one_whole_frame(values: list[float]) -> None:
    pcm = to_pcm16(np.array(values, dtype=np.float32))
    assert len(pcm) == 2 * len(values)
    back = from_pcm16(pcm)
    for value, heard in zip(values, back, strict=True):
        wanted = 0.0 if np.isnan(value) else float(np.clip(value, -1, 32767 / 32768))
        assert abs(wanted - heard) <= 0.5001 / 32768


def test_full_scale_is_clipped_and_never_wraps() -> None:
    assert np.frombuffer(to_pcm16(np.array([1.0, 1.5, -1.0, -7.0])), dtype="<i2").tolist() == [
        32767,
        32767,
        -32768,
        -32768,
    ]


def test_finite_flattens_and_mends() -> None:
    mended = finite([[0.5, float("nan")], [float("inf"), float("-inf")]])
    assert mended.tolist() == [0.5, 0.0, 1.0, -1.0]
    assert mended.dtype == np.float32


def test_half_a_sample_is_refused() -> None:
    with pytest.raises(ValueError, match="whole"):
        from_pcm16(b"\0\0\0")


@pytest.mark.parametrize(
    ("duration_ms", "rate_hz", "frames"),
    [(0, 24_000, 0), (-3, 24_000, 0), (20, 22_050, 441), (0.02, 24_000, 0), (0.03, 24_000, 1), (1000, 11_025, 11_025)],
)
def test_silence_is_whole_frames(duration_ms: float, rate_hz: int, frames: int) -> None:
    quiet = silence(duration_ms, rate_hz)
    assert quiet.size == frames == frames_in(duration_ms, rate_hz)
    assert not quiet.any()
    assert quiet.dtype == np.float32


@given(st.binary(max_size=3000), st.lists(st.integers(1, 700), min_size=1, max_size=30), st.sampled_from([1, 2, 4, 6]))
def test_pipecat_4952_any_cut_gives_whole_frames(data: bytes, cuts: list[int], frame_bytes: int) -> None:
    aligner = FrameAligner(frame_bytes)
    heard, start, turn = b"", 0, 0
    while start < len(data):
        size = cuts[turn % len(cuts)]
        part = aligner.feed(data[start : start + size])
        assert len(part) % frame_bytes == 0
        heard += part
        start, turn = start + size, turn + 1
    dropped = aligner.flush()
    assert heard == data[: len(data) - len(data) % frame_bytes]
    assert dropped == aligner.dropped_bytes == len(data) % frame_bytes


@pytest.mark.parametrize("cuts", [[1], [1, 3, 4063, 1697], [999, 2, 5], [4097], [7, 0, 7]])
def test_openai_agents_1824_odd_cuts_keep_the_sound(cuts: list[int]) -> None:
    pcm = to_pcm16(np.sin(np.arange(9000) / 9).astype(np.float32)) + b"\x7f"
    aligner, heard, start, turn = FrameAligner(), b"", 0, 0
    while start < len(pcm):
        size = cuts[turn % len(cuts)]
        part = aligner.feed(memoryview(pcm)[start : start + size])
        from_pcm16(part)
        heard += part
        start, turn = start + size, turn + 1
    assert heard == pcm[:-1]
    assert aligner.dropped_bytes == 0
    assert aligner.flush() == 1
    assert aligner.flush() == 0
    assert aligner.dropped_bytes == 1


def test_after_a_dropped_byte_the_next_stream_is_aligned() -> None:
    aligner = FrameAligner()
    aligner.feed(b"abc")
    aligner.flush()
    assert aligner.feed(b"defg") == b"defg"
