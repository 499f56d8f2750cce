"""espeak-ng: a robot's voice, but one that reads more than a hundred languages."""

from __future__ import annotations

import struct
import subprocess
import threading
from collections.abc import Callable, Iterator

import numpy as np

from ..errors import PredictorFailed, UnknownVoice, VoiceNotInstalled
from . import espeak_program
from .base import Chunk, Phrase, Samples, Voice
from .espeak_languages import KNOWN, SAME
from .estimate import estimated_words

__all__ = ["Espeak"]

_PREFIX = "espeak/"
_RATE_HZ = 22_050
_WORDS_PER_MINUTE, _SLOWEST, _FASTEST = 175, 80, 450
_POLL_S = 0.02
_DEADLINE_POLLS = 1500
_FIRST_OF_LANGUAGE = ("en-us", "fr-fr")


class Espeak:
    """The voices `espeak/de`, `espeak/sw`, … of the espeak-ng program, 22.05 kHz; one short process for each phrase."""

    name = "espeak-ng"
    rate_hz = _RATE_HZ
    native_speed = True
    word_times = "estimated"

    def __init__(self) -> None:
        self._asking = threading.Lock()
        self._found: tuple[str, tuple[Voice, ...]] | None = None
        self._unasked = tuple(_voice(code, "") for code in sorted(KNOWN, key=_rank))

    def voices(self) -> tuple[Voice, ...]:
        """Every voice of the program that is here, or those that it usually has."""
        return self.ready_voices() or self._unasked

    def ready_voices(self) -> tuple[Voice, ...]:
        """The voices that can be spoken now; none without the program."""
        program = espeak_program.program()
        if program is None:
            return ()
        with self._asking:
            if self._found is None or self._found[0] != program:
                self._found = (program, tuple(_listed(program)))
            return self._found[1]

    def hint(self, voice: str) -> str:
        """How to make a voice ready."""
        return espeak_program.HOW_TO_INSTALL

    def speaks(self, voice: str, language: str) -> bool:
        """Whether that voice reads text in that language; a voice of a region reads all of its language."""
        if not voice.startswith(_PREFIX):
            return False
        own, wanted = voice.removeprefix(_PREFIX).split("-")[0], language.lower().split("-")[0]
        return own == SAME.get(wanted, wanted)

    def load(self, voice: str) -> None:
        """Check that the voice can be spoken. Raises UnknownVoice, VoiceNotInstalled."""
        if espeak_program.program() is None:
            raise VoiceNotInstalled(espeak_program.HOW_TO_INSTALL, param="voice")
        if all(known.name != voice for known in self.ready_voices()):
            raise UnknownVoice(f"espeak-ng has no voice {voice!r}.", param="voice")

    def synthesize(self, phrase: Phrase, voice: str, speed: float, cancelled: Callable[[], bool]) -> Iterator[Chunk]:
        """Speak one phrase; the program is killed within 20 ms of `cancelled` turning true."""
        self.load(voice)
        if not any(character.isalnum() for character in phrase.text):
            return
        sound = _spoken(phrase.text, voice.removeprefix(_PREFIX), speed, cancelled)
        if sound is None:
            return
        samples = _samples(sound)
        if len(samples):
            yield Chunk(samples, estimated_words(phrase.text, samples, self.rate_hz))


def _spoken(text: str, code: str, speed: float, cancelled: Callable[[], bool]) -> bytes | None:
    """Run the program; None when it was cancelled. Double brackets would be read as phonemes, so they are taken out."""
    program = espeak_program.program() or "espeak-ng"
    pace = max(_SLOWEST, min(_FASTEST, round(_WORDS_PER_MINUTE * speed)))
    command = [program, "--stdin", "--stdout", "-z", "-b", "1", "-s", str(pace), "-v", code]
    written = " ".join(text.split()).replace("[[", " ").replace("]]", " ").encode("utf-8", "ignore")
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            return _collected(process, written, cancelled)
        finally:
            process.kill()


def _collected(process: subprocess.Popen[bytes], written: bytes, cancelled: Callable[[], bool]) -> bytes | None:
    pending: bytes | None = written
    for _ in range(_DEADLINE_POLLS):
        if cancelled():
            return None
        try:
            sound, complaint = process.communicate(pending, timeout=_POLL_S)
        except subprocess.TimeoutExpired:
            pending = None
            continue
        if process.returncode or not sound:
            said = complaint.decode("utf-8", "replace").strip().splitlines()
            raise PredictorFailed(f"espeak-ng failed: {said[-1] if said else f'exit code {process.returncode}'}")
        return sound
    raise PredictorFailed("espeak-ng did not finish in time.")


def _samples(wav: bytes) -> Samples:
    """Samples of a WAV file whose lengths are placeholders, as a program writes them to a pipe."""
    at, rate_hz = 12, 0
    while at + 8 <= len(wav):
        kind, size = wav[at : at + 4], struct.unpack_from("<I", wav, at + 4)[0]
        if kind == b"fmt " and at + 16 <= len(wav):
            rate_hz = struct.unpack_from("<I", wav, at + 12)[0]
        if kind == b"data":
            body = wav[at + 8 : at + 8 + size]
            if rate_hz != _RATE_HZ:
                raise PredictorFailed(f"espeak-ng spoke at {rate_hz} Hz, not at {_RATE_HZ}.")
            return np.frombuffer(body[: len(body) // 2 * 2], "<i2").astype(np.float32) / np.float32(32768)
        at += 8 + size + size % 2
    raise PredictorFailed("espeak-ng wrote no WAV file.")


def _listed(program: str) -> Iterator[Voice]:
    done = subprocess.run([program, "--voices"], capture_output=True, timeout=20, check=False)
    lines = [line.split() for line in done.stdout.decode("utf-8", "replace").splitlines()[1:]]
    named = {fields[1].lower(): fields[3] for fields in reversed(lines) if len(fields) >= 5}
    for code in sorted(named, key=_rank):
        yield _voice(code, named[code].replace("_", " "))


def _rank(code: str) -> tuple[str, bool, bool, str]:
    """Order languages by name, each with its plain or usual voice first."""
    base = code.split("-")[0]
    return base, code not in _FIRST_OF_LANGUAGE, code != base, code


def _voice(code: str, description: str) -> Voice:
    base, *rest = code.split("-")
    tag = "-".join([base, *(part.upper() if len(part) == 2 else part for part in rest)])
    return Voice(_PREFIX + code, tag, "male", description or f"espeak-ng's {tag}")
