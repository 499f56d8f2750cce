"""hibari: one English voice that speaks more than a hundred times faster than real time on one core.

The model file is cut in two where its decoder begins. The first half reads the whole phrase (durations, pitch, melody);
the second only looks at its neighbourhood, so it and the vocoder run in pieces and the first sound leaves early.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import ModelCorrupt, UnknownVoice, VoiceNotInstalled
from ..models import MODELS
from .align import WordAligner
from .base import Chunk, Phrase, Voice
from .clauses import with_next
from .english import HOW_TO_INSTALL, EnglishReader, package_assets
from .graph import cut
from .joins import Clause, joined
from .reading import Reading, word_times
from .rests import Plan, with_rests
from .session import open_session
from .vocoder import HOP, NoisePool, Vocoder

__all__ = ["Hibari"]

_VOICE = Voice("heart", "en-US", "female", "American English, warm and clear")
_FEATURES, _SPECTRA, _DURATIONS, _F0 = "/Concat_43_output_0", "/head/Add_output_0", "/Clip_output_0", "f0"
_AGAIN = "Install it again with: pip install --force-reinstall hibari-tts==0.2.1"
_SYMBOLS_MAX = 400
_FRAME_MS = 1000 * HOP / 24_000
_FRAMES_PER_STEP = 2
# The decoder sees 27 frames to each side; beyond 10 what it sees changes less than its int8 arithmetic does.
_HALO = 10
# Frames of a piece: the first is heard early, the rest are cheap in bulk and still stop within a few ms.
_FIRST, _BULK = 16, 400
# Sound lags two frames behind the spectra; a word's last sound fades into a pause within 25 frames.
_LAG, _WORD_TAIL = 2, 25

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class _Model:
    planner: Any
    decoder: Any
    ids: dict[str, int]


class Hibari:
    """The voice `heart`, American English, 24 kHz. One model serves all threads.

    `threads` is how many cores one phrase may use; one is best for throughput and hardly slower for a single caller.
    """

    name = "hibari"
    rate_hz = 24_000
    native_speed = True
    word_times = "exact"

    def __init__(self, *, threads: int = 1, assets: Path | None = None) -> None:
        self._threads = threads
        self._assets = assets
        self._reader = EnglishReader.shared()
        self._model: _Model | None = None
        self._loading = threading.Lock()

    def voices(self) -> tuple[Voice, ...]:
        """Every voice that could be spoken once its files are here."""
        return (_VOICE,)

    def ready_voices(self) -> tuple[Voice, ...]:
        """The voices that can be spoken now."""
        folder = self._assets or package_assets()
        return (_VOICE,) if folder is not None and (folder / "hibari.onnx").is_file() else ()

    def hint(self, voice: str) -> str:
        """How to make the voice ready."""
        return HOW_TO_INSTALL

    def speaks(self, voice: str, language: str) -> bool:
        """Whether that voice reads text in that language: English of any region."""
        return voice == _VOICE.name and language.lower().split("-")[0] == "en"

    def load(self, voice: str) -> None:
        """Make the voice ready; safe to call again. Raises UnknownVoice, VoiceNotInstalled, ModelCorrupt."""
        if voice != _VOICE.name:
            raise UnknownVoice(f"hibari has no voice {voice!r}; it has {_VOICE.name!r}.", param="voice")
        with self._loading:
            if self._model is None:
                # Two slow things at once: dictionaries are parsed here, weights are laid out in the other thread.
                with ThreadPoolExecutor(1, thread_name_prefix="vivavoce-load") as beside:
                    opening = beside.submit(self._open)
                    self._reader.load()
                    self._model = opening.result()

    def _open(self) -> _Model:
        folder = self._assets or package_assets()
        if folder is None:
            raise VoiceNotInstalled(HOW_TO_INSTALL)
        try:
            raw = (folder / "hibari.onnx").read_bytes()
            ids = json.loads((folder / "vocab.json").read_text(encoding="utf-8"))
        except FileNotFoundError as error:
            raise VoiceNotInstalled(f"The hibari package has lost its model. {_AGAIN}") from error
        except ValueError as error:
            raise ModelCorrupt(f"hibari's vocab.json cannot be read. {_AGAIN}") from error
        if hashlib.sha256(raw).hexdigest() != MODELS["hibari"].file("hibari.onnx").sha256:
            raise ModelCorrupt(f"hibari's model file is damaged. {_AGAIN}")
        planner = cut(raw, [], [_FEATURES, _F0, _DURATIONS])
        decoder = cut(raw, [(_FEATURES, 3)], [_SPECTRA])
        return _Model(
            open_session(planner, self._threads, "hibari"), open_session(decoder, self._threads, "hibari"), ids
        )

    def synthesize(self, phrase: Phrase, voice: str, speed: float, cancelled: Callable[[], bool]) -> Iterator[Chunk]:
        """Speak one phrase; `cancelled` is asked between steps, and a true answer ends the iteration early."""
        self.load(voice)
        model = self._model
        assert model is not None  # noqa: S101 - load() sets it or raises
        reading = self._reader.read(phrase).keep(model.ids)
        if reading.silent:
            return
        pieces = list(with_next(reading.pieces(_SYMBOLS_MAX)))
        if len(pieces) == 1:
            yield from self._speak(model, pieces[0][0], speed, cancelled)
        else:
            yield from joined(self._clauses(model, pieces, speed, cancelled), self.rate_hz, speed)

    def _clauses(
        self,
        model: _Model,
        pieces: Iterable[tuple[Reading, Reading | None]],
        speed: float,
        cancelled: Callable[[], bool],
    ) -> Iterator[Clause]:
        """The parts of a sentence that is too long for the model, each made whole to be joined to the next."""
        for piece, following in pieces:
            chunks = list(self._speak(model, piece, speed, cancelled))
            if cancelled():
                return
            samples = np.concatenate([chunk.samples for chunk in chunks])
            words = tuple(word for chunk in chunks for word in chunk.words)
            yield Clause(samples, words, piece.symbols, following is None)

    def _speak(self, model: _Model, reading: Reading, speed: float, cancelled: Callable[[], bool]) -> Iterator[Chunk]:
        ids = np.array([[0, *(model.ids[symbol] for symbol in reading.symbols), 0]], np.int64)
        features, f0, durations = model.planner.run(
            [_FEATURES, _F0, _DURATIONS], {"ids": ids, "speed": np.array([speed], np.float32)}
        )
        plan = Plan(features, f0[0], np.rint(durations).astype(np.int64).reshape(-1))
        plan = with_rests(plan, reading.symbols, speed, _FRAMES_PER_STEP * _FRAME_MS)
        ends = np.cumsum(plan.steps) * _FRAMES_PER_STEP
        aligner = WordAligner(word_times(reading, (ends * _FRAME_MS).tolist()), self.rate_hz)
        vocoder = Vocoder(plan.f0_hz, NoisePool(zlib.crc32(reading.symbols.encode())))
        word_ends = [int(ends[word.last]) for word in reading.words]
        for first, last in _pieces(int(ends[0]), word_ends, vocoder.frames):
            if cancelled():
                return
            samples = np.clip(vocoder.push(_decode(model, plan.features, first, last)), -1, 1)
            is_last = last == vocoder.frames
            yield Chunk(samples, aligner.follow(samples, last=is_last), is_last=is_last)


def _decode(model: _Model, features: Floats, first: int, last: int) -> Floats:
    """Spectra `[last - first, 5 · 601]` of those frames."""
    left, right = max(0, first - _HALO), min(features.shape[2], last + _HALO)
    window = np.ascontiguousarray(features[:, :, left:right])
    spectra: Floats = model.decoder.run([_SPECTRA], {_FEATURES: window})[0][0, first - left : last - left]
    return spectra


def _pieces(lead: int, word_ends: Sequence[int], frames: int) -> Iterator[tuple[int, int]]:
    """Cut `frames` into `[first, last)`; the first piece reaches past the `lead` frames of silence into the voice.

    A piece ends with a word if one ends soon, so that a word's closing pause and its sound leave together.
    """
    sizes = itertools.chain([lead + _FIRST], itertools.repeat(_BULK))
    first = 0
    for size in sizes:
        last = first + size
        last = next((end + _LAG for end in word_ends if 0 <= end + _LAG - last < _WORD_TAIL), last)
        if frames - last < _FIRST:
            last = frames
        yield first, last
        if last == frames:
            return
        first = last
