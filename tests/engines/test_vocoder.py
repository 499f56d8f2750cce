import itertools
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vivavoce.engines.vocoder import BINS, HOP, NoisePool, Vocoder, _rfft


def spectra(frames: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    five = random.standard_normal((frames, 5 * BINS), dtype=np.float32)
    pitch = np.where(random.random(frames) < 0.3, 0, 180 + 40 * random.standard_normal(frames)).astype(np.float32)
    noise = random.standard_normal((frames, 2 * BINS), dtype=np.float32).view(np.complex64)
    return five, pitch, noise


def in_pieces(five: np.ndarray, pitch: np.ndarray, noise: np.ndarray, cuts: list[int]) -> np.ndarray:
    drawn = iter(noise)
    vocoder = Vocoder(pitch, lambda frames: np.stack([next(drawn) for _ in range(frames)]))
    edges = [0, *sorted(cuts), len(pitch)]
    return np.concatenate([vocoder.push(five[a:b]) for a, b in itertools.pairwise(edges) if b > a])


@settings(max_examples=25, deadline=None)
@given(st.integers(3, 90), st.data())
def test_pieces_joined_are_the_whole(frames: int, data: st.DataObject) -> None:
    five, pitch, noise = spectra(frames, frames)
    cuts = data.draw(st.lists(st.integers(1, frames - 1), max_size=8, unique=True))
    whole = in_pieces(five, pitch, noise, [])
    assert len(whole) == frames * HOP
    np.testing.assert_allclose(in_pieces(five, pitch, noise, cuts), whole, atol=2e-5)


@pytest.mark.parametrize("frames", [3, 4, 7, 64, 250])
def test_equals_the_reference_that_works_on_the_whole(frames: int) -> None:
    dsp = pytest.importorskip("hibari.dsp")
    five, pitch, noise = spectra(frames, 11 + frames)

    class Drawn:
        def standard_normal(self, shape: tuple[int, int], dtype: type) -> np.ndarray:
            assert shape == (BINS, 2 * frames)
            return np.ascontiguousarray(noise.T).view(np.float32)

    parts = [np.ascontiguousarray(five[:, i * BINS : (i + 1) * BINS].T) for i in range(5)]
    expected = dsp.synth(*parts, pitch, Drawn())
    np.testing.assert_allclose(in_pieces(five, pitch, noise, [frames // 2]), expected, atol=2e-4)


def test_sound_lags_two_frames_until_the_end() -> None:
    five, pitch, noise = spectra(30, 1)
    drawn = iter(noise)
    vocoder = Vocoder(pitch, lambda frames: np.stack([next(drawn) for _ in range(frames)]))
    assert [len(vocoder.push(five[a:b])) // HOP for a, b in ((0, 1), (1, 10), (10, 29), (29, 30))] == [0, 8, 19, 3]


def test_noise_is_white_and_the_same_for_a_seed() -> None:
    noise = NoisePool(3)(2000)
    assert noise.shape == (2000, BINS)
    assert abs(noise.real.std() - 1) < 0.02
    assert abs(noise.mean()) < 0.02
    np.testing.assert_array_equal(noise, NoisePool(3)(2000))
    assert not np.array_equal(noise, NoisePool(4)(2000))


def test_single_precision_from_spectrum_to_sound_without_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy", None)
    monkeypatch.setitem(sys.modules, "scipy.fft", None)
    five, pitch, noise = spectra(200, 5)
    vocoder = Vocoder(pitch, lambda frames: noise[:frames])
    harmonics = vocoder._harmonics(0, 200)
    assert harmonics.dtype == np.complex64
    assert harmonics.shape == (200, BINS)
    frames = np.random.default_rng(1).standard_normal((200, 1200), dtype=np.float32)
    np.testing.assert_allclose(_rfft(frames), np.fft.rfft(frames.astype(np.float64), axis=1), atol=1e-3)
    assert Vocoder(pitch, lambda frames: noise[:frames]).push(five).dtype == np.float32
