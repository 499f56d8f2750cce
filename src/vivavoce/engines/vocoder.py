"""hibari's vocoder, run in pieces: the spectrum of each frame becomes sound as soon as the next frames are known.

The signal is `exp(lh) · e^{iπ tanh(theta)} · STFT(pulses) + exp(ln) · noise + exp(lr) · e^{i phi}`, turned back with
one inverse STFT (window 1200, hop 300, 24 kHz). Between pieces only the overlap, the phase of the pulse train and its
last samples are kept, so the pieces joined equal one run over everything.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from .base import Samples

__all__ = ["BINS", "HOP", "Noise", "NoisePool", "Vocoder"]

RATE_HZ = 24_000
WINDOW, HOP = 1200, 300
BINS = WINDOW // 2 + 1
_OVERLAP = WINDOW // HOP
_VOICED_HZ = 40.0
_HIGHEST_HARMONIC_HZ = 11_000.0
_LOUDEST_LOG = 7.0
_ROWS = 60
# numpy's types only know its FFT in double precision.
_fft: Any = np.fft

_HANN = (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(WINDOW) / WINDOW)).astype(np.float32)
_ANALYSIS = _HANN / np.float32(WINDOW / 4)
_SQUARED = (_HANN * _HANN).reshape(_OVERLAP, HOP)
# Sample j of a frame lies at (j + 0.5) / HOP - 0.5 between the frame's middle and its neighbour's.
_TOWARDS = ((np.arange(HOP) + 0.5) / HOP - 0.5).astype(np.float32)

Complex = npt.NDArray[np.complex64]
Noise = Callable[[int], Complex]


class NoisePool:
    """White noise for `n` frames as complex64 `[n, 601]`, drawn from a small stock of frames.

    Drawing a frame's index costs a twentieth of drawing its 1,202 numbers. Deterministic for a seed.
    """

    _frames = 512
    _stock: Complex | None = None

    def __init__(self, seed: int) -> None:
        if NoisePool._stock is None:
            shape = (self._frames, 2 * BINS)
            NoisePool._stock = np.random.default_rng(7).standard_normal(shape, dtype=np.float32).view(np.complex64)
        self._random = np.random.default_rng(seed)

    def __call__(self, frames: int) -> Complex:
        """The noise of the next `frames` frames."""
        assert NoisePool._stock is not None  # noqa: S101 - set in __init__
        return NoisePool._stock[self._random.integers(0, self._frames, frames)]


class Vocoder:
    """Turns the spectra of one phrase into samples, a piece at a time.

    `f0_hz` is the pitch of every frame of the phrase (float32 `[F]`, F ≥ 3); `noise` gives white noise.
    """

    def __init__(self, f0_hz: npt.NDArray[np.float32], noise: Noise) -> None:
        self.frames = len(f0_hz)
        self._f0 = np.pad(f0_hz, 1, mode="edge")
        self._noise = noise
        self._done = 0
        self._pulsed = 0
        self._cycles = 0.0
        self._pulses = np.zeros(0, np.float32)
        self._overlap = np.zeros((_OVERLAP - 1, HOP), np.float32)

    def push(self, spectra: npt.NDArray[np.float32]) -> Samples:
        """Sound of the next frames.

        `spectra` is `[n, 5 · 601]`: log magnitude and phase of the harmonics, log magnitude of the noise, log magnitude
        and phase of the rest. Sound lags two frames behind until the last frame is pushed.
        """
        first, last = self._done, self._done + len(spectra)
        lh, theta, ln, lr, phi = (spectra[:, i * BINS : (i + 1) * BINS] for i in range(5))
        spectrum = self._harmonics(first, last)
        spectrum *= _polar(lh, np.float32(np.pi) * np.tanh(theta))
        noise = self._noise(last - first)
        spectrum += noise * _loud(ln)
        spectrum += _polar(lr, phi)
        self._done = last
        return self._overlap_add(spectrum, first, last)

    def _harmonics(self, first: int, last: int) -> Complex:
        self._extend_pulses(min(last + 2, self.frames))
        needed = (last - first - 1) * HOP + WINDOW
        frames = np.lib.stride_tricks.sliding_window_view(self._pulses[:needed], WINDOW)[::HOP] * _ANALYSIS
        self._pulses = self._pulses[(last - first) * HOP :]
        return _rfft(frames)

    def _extend_pulses(self, upto: int) -> None:
        half = WINDOW // 2
        parts = [self._pulses, self._pulse_train(self._pulsed, upto)] if upto > self._pulsed else [self._pulses]
        if self._pulsed == 0:
            parts[0] = parts[1][1 : half + 1][::-1]
        if upto == self.frames and self._pulsed < upto:
            end = np.concatenate(parts)[-half - 1 : -1]
            parts.append(end[::-1])
        self._pulses = np.concatenate(parts)
        self._pulsed = upto

    def _pulse_train(self, first: int, last: int) -> Samples:
        """Every harmonic below the limit at unit amplitude: a ratio of two sines instead of their sum."""
        near = self._f0[first : last + 2]
        before, here, after = near[:-2, None], near[1:-1, None], near[2:, None]
        half = HOP // 2
        curve = np.empty((last - first, HOP), np.float32)
        curve[:, :half] = here + (here - before) * _TOWARDS[:half]
        curve[:, half:] = here + (after - here) * _TOWARDS[half:]
        pitch = curve.reshape(-1)
        voiced = pitch > _VOICED_HZ
        np.maximum(pitch, _VOICED_HZ, out=pitch)
        cycles = np.cumsum(pitch, dtype=np.float64)
        cycles += self._cycles
        self._cycles = float(cycles[-1]) % RATE_HZ
        cycles *= 1.0 / RATE_HZ
        angle = (np.modf(cycles)[0] * (2 * np.pi)).astype(np.float32)
        order = np.floor(_HIGHEST_HARMONIC_HZ / pitch) + np.float32(0.5)
        below = 2 * np.sin(angle * np.float32(0.5))
        flat = np.abs(below) <= 2e-3
        below[flat] = 1
        train = np.sin(order * angle) / below
        train[flat] = order[flat]
        train -= np.float32(0.5)
        train[~voiced] = 0
        result: Samples = train
        return result

    def _overlap_add(self, spectrum: Complex, first: int, last: int) -> Samples:
        count = last - first
        frames: Samples = _fft.irfft(spectrum, n=WINDOW, axis=1)
        frames *= _HANN
        blocks = frames.reshape(count, _OVERLAP, HOP)
        sums = np.zeros((count + _OVERLAP - 1, HOP), np.float32)
        sums[: _OVERLAP - 1] = self._overlap
        for shift in range(_OVERLAP):
            sums[shift : shift + count] += blocks[:, shift]
        self._overlap = sums[count:].copy()
        # Block i of the sums is output block first + i - 2; the last one needs frames that do not exist.
        ready = sums[: count + 2] if last == self.frames else sums[:count]
        begin = max(0, 2 - first)
        ready = ready[begin:]
        ready *= self._gain(first + begin, len(ready))
        return ready.reshape(-1)

    def _gain(self, block: int, count: int) -> npt.NDArray[np.float32]:
        """One over the summed squared windows; less than four windows overlap at the ends of a phrase."""
        weight = np.zeros((count, HOP), np.float32)
        for shift in range(_OVERLAP):
            first = max(block - shift, 0) - (block - shift)
            last = min(block + count - 1 - shift, self.frames - 1) - (block - shift) + 1
            weight[first:last] += _SQUARED[shift]
        gain: Samples = np.reciprocal(np.maximum(weight, np.float32(1e-11)))
        return gain


def _rfft(frames: Samples) -> Complex:
    # numpy takes four times as long for many rows at once as for a few at a time.
    spectrum = np.empty((len(frames), BINS), np.complex64)
    for row in range(0, len(frames), _ROWS):
        _fft.rfft(frames[row : row + _ROWS], axis=1, out=spectrum[row : row + _ROWS])
    return spectrum


def _loud(log_magnitude: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    return np.exp(np.minimum(log_magnitude, np.float32(_LOUDEST_LOG)))


def _polar(log_magnitude: npt.NDArray[np.float32], angle: npt.NDArray[np.float32]) -> Complex:
    result = np.empty(angle.shape, np.complex64)
    magnitude = _loud(log_magnitude)
    np.multiply(np.cos(angle), magnitude, out=result.real)
    np.multiply(np.sin(angle), magnitude, out=result.imag)
    return result
