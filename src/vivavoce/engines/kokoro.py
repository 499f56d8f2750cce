"""Kokoro-82M: many voices in seven languages, six times faster than real time on two cores.

The model only speaks whole phrases, so a sentence is cut at its clauses: the first leaves while the rest is made.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ..errors import ModelCorrupt, UnknownVoice, VoiceNotInstalled
from ..models import Store
from . import espeak_program, interrupt
from .align import WordAligner
from .base import Chunk, Phrase, Samples, Voice
from .clauses import Pace, early_pieces, with_next
from .english import HOW_TO_INSTALL, EnglishReader, package_assets
from .foreign import ForeignReader
from .graph import with_output
from .joins import Clause, joined, quiet_edges
from .kokoro_voices import ESPEAK_VOICES, VOICES
from .reading import Reading, word_times
from .session import open_session

__all__ = ["Kokoro"]

_DURATIONS = "/encoder/Clip_output_0"
# The model takes 510 symbols, but rushes long before that, and each costs 1.5 MB while it is spoken.
_SYMBOLS_MAX = 250
_FRAME_MS = 25.0
_STYLE_SHAPE = (510, 1, 256)

Styles = npt.NDArray[np.float32]


class _Reader(Protocol):
    def read(self, phrase: Phrase) -> Reading: ...


@dataclass(frozen=True, slots=True)
class _Model:
    session: Any
    ids: dict[str, int]


@dataclass(frozen=True, slots=True)
class _Speech:
    samples: Samples
    ends_ms: list[float]
    work_s: float = 0.0


class Kokoro:
    """Kokoro's voices at 24 kHz; one model serves all threads.

    `threads` is how many cores one clause may use; two halve the wait of a single caller. English is read by hibari's
    rules, the other languages by espeak-ng where that program is here.
    """

    name = "kokoro"
    rate_hz = 24_000
    native_speed = True
    word_times = "exact"

    def __init__(self, *, threads: int = 2, store: Store | None = None) -> None:
        self._threads = threads
        self._store = store or Store()
        self._model: _Model | None = None
        self._styles: dict[str, Styles] = {}
        self._loading = threading.Lock()
        self._pace = Pace()

    def voices(self) -> tuple[Voice, ...]:
        """Every voice that could be spoken once its files are here."""
        return VOICES

    def ready_voices(self) -> tuple[Voice, ...]:
        """The voices that can be spoken now: their files are here, and espeak-ng where their language needs it."""
        if not self._store.has("kokoro", "kokoro.onnx") or package_assets() is None:
            return ()
        espeak = espeak_program.program() is not None
        return tuple(v for v in VOICES if (espeak or _is_english(v)) and self._store.has("kokoro", _file(v.name)))

    def hint(self, voice: str) -> str:
        """How to make a voice ready."""
        here = self._store.has("kokoro", "kokoro.onnx") and self._store.has("kokoro", _file(voice))
        return espeak_program.HOW_TO_INSTALL if here else "Get it with: vivavoce models pull kokoro"

    def note(self, wanted: str) -> str:
        """Why a language or a voice of Kokoro is left out, or nothing."""
        if wanted.split("-")[0] in ("ja", "zh") or wanted[:3] in ("jf_", "jm_", "zf_", "zm_"):
            return "Kokoro's Japanese and Chinese voices are left out: no reader for them is good enough here."
        return ""

    def speaks(self, voice: str, language: str) -> bool:
        """Whether that voice reads text in that language, of any region."""
        base = language.lower().split("-")[0]
        return any(known.name == voice and known.language.split("-")[0] == base for known in VOICES)

    def load(self, voice: str) -> None:
        """Make the voice ready; safe to call again. Raises UnknownVoice, VoiceNotInstalled, ModelCorrupt."""
        language = next((known.language for known in VOICES if known.name == voice), None)
        if language is None:
            raise UnknownVoice(f"Kokoro has no voice {voice!r}.", param="voice")
        with self._loading:
            if voice not in self._styles:
                self._styles[voice] = _read_styles(self._store.require("kokoro", _file(voice)))
            if self._model is None:
                self._model = self._open()
        if language.startswith("en"):
            EnglishReader.shared(british=language == "en-GB").load()
        elif espeak_program.program() is None:
            raise VoiceNotInstalled(espeak_program.HOW_TO_INSTALL, param="voice")

    def _open(self) -> _Model:
        assets = package_assets()
        if assets is None:
            raise VoiceNotInstalled(HOW_TO_INSTALL)
        ids = json.loads((assets / "vocab.json").read_text(encoding="utf-8"))
        graph = with_output(self._store.require("kokoro", "kokoro.onnx").read_bytes(), _DURATIONS)
        return _Model(open_session(graph, self._threads, "kokoro"), ids)

    def synthesize(self, phrase: Phrase, voice: str, speed: float, cancelled: Callable[[], bool]) -> Iterator[Chunk]:
        """Speak one phrase; `cancelled` is asked between steps and every 20 ms of a long one."""
        self.load(voice)
        model = self._model
        assert model is not None  # noqa: S101 - load() sets it or raises
        reading = _reader(voice).read(phrase).keep(model.ids)
        if reading.silent:
            return
        yield from joined(self._clauses(model, reading, voice, speed, cancelled), self.rate_hz, speed)

    def _clauses(
        self, model: _Model, reading: Reading, voice: str, speed: float, cancelled: Callable[[], bool]
    ) -> Iterator[Clause]:
        hold_s = 0.0
        is_first = True
        for piece, following in with_next(early_pieces(reading, self._pace, _SYMBOLS_MAX)):
            speech = None if cancelled() else self._speak(model, piece, voice, speed, cancelled)
            if speech is None:
                return
            aligner = WordAligner(word_times(piece, speech.ends_ms), self.rate_hz)
            words = aligner.follow(speech.samples, last=True)
            if is_first and following is not None:
                first, last = quiet_edges(speech.samples, self.rate_hz, head_ms=0, tail_ms=0)
                sound_s = (last - first) / self.rate_hz
                sizes = (len(piece.symbols), len(following.symbols), len(reading.symbols))
                hold_s = self._pace.hold_s(speech.work_s, sound_s, *sizes)
            yield Clause(speech.samples, words, piece.symbols, following is None, hold_s * 1000)
            is_first, hold_s = False, 0.0

    def _speak(
        self, model: _Model, reading: Reading, voice: str, speed: float, cancelled: Callable[[], bool]
    ) -> _Speech | None:
        began = time.perf_counter()
        ids = [model.ids[symbol] for symbol in reading.symbols]
        feeds = {
            "tokens": np.array([[0, *ids, 0]], np.int64),
            "style": self._styles[voice][len(ids)],
            "speed": np.array([speed], np.float32),
        }
        made = interrupt.run(model.session, ["audio", _DURATIONS], feeds, cancelled)
        if made is None:
            return None
        samples, durations = made
        ends_ms = (np.cumsum(np.rint(durations)) * _FRAME_MS).tolist()
        work_s = time.perf_counter() - began
        self._pace.learn(len(ids), work_s, len(samples) / self.rate_hz)
        return _Speech(_within_scale(samples), ends_ms, work_s)


def _reader(voice: str) -> _Reader:
    language = next(known.language for known in VOICES if known.name == voice)
    if language.startswith("en"):
        return EnglishReader.shared(british=language == "en-GB")
    return ForeignReader(ESPEAK_VOICES[language])


def _within_scale(samples: Samples) -> Samples:
    """The samples, quieter where the model went beyond full scale."""
    peak = float(np.abs(samples).max(initial=0.0))
    return samples if peak <= 1 else samples / np.float32(peak)


def _read_styles(path: Path) -> Styles:
    styles = np.fromfile(path, dtype="<f4")
    if styles.size != np.prod(_STYLE_SHAPE):
        raise ModelCorrupt(f"The voice file {path.name} is damaged; get it with: vivavoce models pull --force kokoro")
    return styles.reshape(_STYLE_SHAPE)


def _file(voice: str) -> str:
    return f"voices/{voice}.bin"


def _is_english(voice: Voice) -> bool:
    return voice.language.startswith("en")
