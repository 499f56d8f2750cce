"""The parts in the order speech passes them: trim, level, join, limit, resample."""

import numpy as np
import pytest

from vivavoce.audio import Joiner, Leveler, Limiter, Resampler, Trimmer, encoder_for, silence

RATE = 24_000


def speak(segments, pause_ms, to_hz=RATE, size=1_200):
    joiner, leveler, limiter, resampler = Joiner(RATE), Leveler(RATE), Limiter(RATE), Resampler(RATE, to_hz)
    out = []
    for number, segment in enumerate(segments):
        trimmer = Trimmer(RATE, keep_lead_ms=10, keep_tail_ms=20)
        leveler.start_segment()
        pieces = [trimmer.feed(segment[start : start + size]) for start in range(0, segment.size, size)]
        pieces.append(trimmer.flush())
        out += [resampler.feed(limiter.feed(joiner.feed(leveler.feed(piece)))) for piece in pieces]
        seam = joiner.end() if number == len(segments) - 1 else joiner.pause(pause_ms)
        out.append(resampler.feed(limiter.feed(seam)))
    out += [resampler.feed(limiter.flush()), resampler.flush()]
    return np.concatenate(out)


def longest_silence_ms(samples, rate_hz) -> float:
    loud = np.flatnonzero(np.abs(samples) > 0.005)
    return float(np.diff(loud).max() * 1000 / rate_hz)


@pytest.mark.parametrize("pause_ms", [0, 90, 250])
@pytest.mark.parametrize("around_ms", [(0, 0), (300, 500), (40, 900), (500, 15)])
@pytest.mark.parametrize("to_hz", [24_000, 8_000, 44_100])
def test_kokoro_onnx_11_no_silence_longer_than_the_pause(voice, pause_ms, around_ms, to_hz) -> None:
    lead_ms, tail_ms = around_ms
    segments = [
        np.concatenate((silence(lead_ms, RATE), voice(duration_ms, RATE), silence(tail_ms, RATE)))
        for duration_ms in (400, 250, 700)
    ]
    out = speak(segments, pause_ms, to_hz)
    margins_ms = 10 + 20 + 15
    assert pause_ms * 0.95 <= longest_silence_ms(out, to_hz) <= pause_ms + margins_ms
    assert 1_350 + 2 * pause_ms <= out.size * 1000 / to_hz + 1 <= 1_350 + 2 * pause_ms + 3 * margins_ms


@pytest.mark.parametrize("size", [1, 97, 2_400, 10**6])
def test_the_size_of_the_pieces_is_not_heard(voice, size) -> None:
    segments = [np.concatenate((silence(60, RATE), voice(300, RATE), silence(90, RATE))) for _ in range(3)]
    assert np.allclose(speak(segments, 50, size=size), speak(segments, 50), atol=0.03)
    assert speak(segments, 50, size=size).size == speak(segments, 50).size


def test_loud_and_soft_segments_neither_clip_nor_jump(voice) -> None:
    segments = [voice(800, RATE) * np.float32(gain) for gain in (1.0, 5.0, 0.4, 1.0)]
    out = speak(segments, 100)
    assert np.abs(out).max() <= 10 ** (-1 / 20) + 1e-4
    assert np.abs(np.diff(out)).max() <= 1.3 * np.abs(np.diff(segments[1].clip(-0.9, 0.9))).max()
    pcm = np.frombuffer(encoder_for("pcm", RATE, streamed=True).encode(out), dtype="<i2")
    assert pcm.max() < 32_767
    assert pcm.min() > -32_768


def test_silent_segments_add_only_their_pauses(voice) -> None:
    speech = voice(300, RATE)
    assert speak([silence(500, RATE), speech], 40).size == RATE * 40 // 1000 + speech.size
