import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vivavoce.audio import Trimmer, from_pcm16, silence

RATE = 24_000


def run(trimmer, pieces):
    out = [trimmer.feed(piece) for piece in pieces]
    return np.concatenate([*out, trimmer.flush()])


@pytest.mark.parametrize("sizes", [[10**9], [1], [480], [7, 1200, 33], [24_000]])
@pytest.mark.parametrize("rate_hz", [8_000, 22_050, 24_000])
def test_silence_around_speech_goes_and_the_margins_stay(voice, pieces_of, sizes, rate_hz) -> None:
    speech = voice(300, rate_hz)
    sound = np.concatenate((silence(400, rate_hz), speech, silence(700, rate_hz)))
    trimmer = Trimmer(rate_hz, keep_lead_ms=25, keep_tail_ms=60)
    heard = run(trimmer, pieces_of(sound, sizes))
    assert trimmer.lead_cut_ms == pytest.approx(375, abs=6)
    assert trimmer.tail_cut_ms == pytest.approx(640, abs=6)
    begin = trimmer.lead_cut_frames
    assert np.array_equal(heard, sound[begin : begin + heard.size])
    assert begin + heard.size + trimmer.tail_cut_frames == sound.size
    onset = np.flatnonzero(heard)[0]
    assert np.array_equal(heard[onset : onset + speech.size], speech)


def test_cutting_does_not_depend_on_the_pieces(voice, pieces_of) -> None:
    sound = np.concatenate(
        (silence(111, RATE), voice(200, RATE), silence(333, RATE), voice(90, RATE), silence(50, RATE))
    )
    wanted = run(Trimmer(RATE), [sound])
    for sizes in ([1], [120], [119, 121], [5000, 3]):
        assert np.array_equal(run(Trimmer(RATE), pieces_of(sound, sizes)), wanted)


def test_a_pause_inside_is_kept(voice) -> None:
    sound = np.concatenate((voice(200, RATE), silence(900, RATE), voice(200, RATE)))
    assert np.array_equal(run(Trimmer(RATE), [sound]), sound)


def test_sound_leaves_at_once_and_only_silence_waits(voice) -> None:
    trimmer = Trimmer(RATE, keep_tail_ms=60)
    speech = voice(500, RATE)
    assert trimmer.feed(speech).size >= speech.size - RATE // 200
    tail = trimmer.feed(silence(1000, RATE))
    assert tail.size <= RATE * 0.066
    assert trimmer.feed(silence(1000, RATE)).size == 0
    back = trimmer.feed(speech)
    assert back.size >= speech.size + 1.9 * RATE


@pytest.mark.parametrize("value", [-32768, 32767])
def test_full_scale_samples_are_loud_not_overflowed(value: int) -> None:
    click = np.full(240, value, dtype="<i2").tobytes()
    sound = from_pcm16(b"\0\0" * 4800 + click + b"\0\0" * 4800)
    heard = run(Trimmer(RATE, keep_lead_ms=10, keep_tail_ms=10), [sound])
    assert np.count_nonzero(heard) == 240
    assert heard.size < 240 + 2 * 400


@pytest.mark.parametrize("noise_db", [-70.0, -62.0])
def test_noise_under_the_threshold_is_silence(voice, noise_db) -> None:
    noise = np.random.default_rng(3).normal(0, 10 ** (noise_db / 20), RATE // 2).astype(np.float32)
    trimmer = Trimmer(RATE)
    heard = run(trimmer, [np.concatenate((noise, voice(300, RATE, level=0.9), noise))])
    assert trimmer.lead_cut_ms > 400
    assert heard.size < RATE * 0.45


@pytest.mark.parametrize("soft_db", [-50.0, -45.0])
def test_soft_consonants_at_both_ends_are_kept(voice, soft_db) -> None:
    hiss = np.random.default_rng(5).normal(0, 10 ** (soft_db / 20), RATE // 12).astype(np.float32)
    word = np.concatenate((hiss, voice(200, RATE), hiss))
    heard = run(Trimmer(RATE), [np.concatenate((silence(200, RATE), word, silence(200, RATE)))])
    begin = np.flatnonzero(heard)[0]
    assert np.array_equal(heard[begin : begin + word.size], word)


def test_a_quiet_voice_keeps_its_soft_ends(voice) -> None:
    fading = voice(400, RATE, level=0.01) * np.linspace(1, 0.05, int(RATE * 0.4), dtype=np.float32)
    loud_rule = Trimmer(RATE, keep_tail_ms=0)
    heard = run(loud_rule, [np.concatenate((fading, silence(300, RATE)))])
    assert heard.size > 0.93 * fading.size


@pytest.mark.parametrize("frames", [0, 1, 119, 120, 50_000])
def test_only_silence_gives_nothing(frames: int) -> None:
    trimmer = Trimmer(RATE)
    assert run(trimmer, [np.zeros(frames, dtype=np.float32)]).size == 0
    assert not trimmer.started
    assert trimmer.lead_cut_frames == frames


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 900), st.sampled_from([0.0, 1e-5, 1e-3, 0.01, 0.3, 1.0])), max_size=20),
    st.integers(1, 700),
    st.integers(0, 50),
    st.integers(0, 50),
)
def test_trimming_gives_one_contiguous_piece_and_never_enlarges(runs, size, keep_lead_ms, keep_tail_ms) -> None:
    parts = [np.full(frames, level, dtype=np.float32) for frames, level in runs]
    sound = np.concatenate([*parts, np.zeros(0, dtype=np.float32)])
    sound = sound * np.where(np.arange(sound.size) % 2, -1, 1).astype(np.float32)
    trimmer = Trimmer(8_000, keep_lead_ms, keep_tail_ms)
    heard = run(trimmer, [sound[start : start + size] for start in range(0, sound.size, size)])
    begin = trimmer.lead_cut_frames
    assert begin + heard.size + trimmer.tail_cut_frames == sound.size
    assert np.array_equal(heard, sound[begin : begin + heard.size])
    assert not (np.abs(sound[:begin]) > 0.01).any()
    assert not (np.abs(sound[begin + heard.size :]) > 0.01).any()
