"""Speech in an inference response, whatever datatype it came in. Pure."""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..audio import Samples, finite
from ..engines.base import WordTime
from ..errors import PredictorFailed
from .sound import SoundReader, checked_rate
from .v2_stream import words_from
from .v2_wire import InferResponse, Tensor, Wanted, WireError

__all__ = ["Speech", "outputs_to_ask_for", "speech_in"]

_FULL_SCALE = {"INT8": 128.0, "INT16": 32_768.0, "INT32": 2_147_483_648.0}
_FLOATS = ("FP32", "FP64", "FP16", "BF16")
_RATE_NAMES = ("sample_rate", "sampling_rate", "sr")
_MAX_CHANNELS = 8
_MAX_DATA_URL_HEAD = 128
_TO_PLUS_SLASH = bytes.maketrans(b"-_", b"+/")


@dataclass(frozen=True, slots=True)
class Speech:
    """What a response held; `words` is None where it told none, `dropped_bytes` belonged to no whole sample.

    `numbers` become samples as they are asked for: the beginning is heard before the end has been looked at.
    """

    numbers: npt.NDArray[Any]
    rate_hz: int
    words: tuple[WordTime, ...] | None
    dropped_bytes: int = 0
    scale: float = 1.0

    @property
    def frames(self) -> int:
        """Its length."""
        return self.numbers.size

    def samples(self, start: int = 0, end: int | None = None) -> Samples:
        """The frames from `start` to `end`."""
        part = self.numbers.reshape(-1)[start:end]
        if self.scale == 1.0:
            return finite(part)
        scaled: Samples = np.multiply(part, np.float32(1.0 / self.scale), dtype=np.float32)
        return scaled


def outputs_to_ask_for(described: object) -> tuple[Wanted, ...]:
    """Of the outputs in a model's metadata: the sound in binary, and what is said about it as JSON, ahead of the sound.

    Empty, which asks for all, where the model names no `audio`.
    """
    entries = described if isinstance(described, list) else []
    names = [entry.get("name") for entry in entries if isinstance(entry, dict)]
    if "audio" not in names:
        return ()
    return (Wanted("audio", True), *(Wanted(name, False) for name in (*_RATE_NAMES, "words") if name in names))


def speech_in(response: InferResponse, rate_hz: int) -> Speech:
    """Read a response: INT16 and other integers, floats, bytes of PCM or WAV, plain or base64.

    `rate_hz` counts where the response says none. Raises PredictorFailed where there is no speech in it.
    """
    rate_hz = _rate_in(response) or rate_hz
    audio = response.output("audio") or _first_sound(response)
    words = _words_in(response)
    try:
        if isinstance(audio.data, tuple) or audio.datatype == "UINT8":
            return _read(audio, rate_hz, words)
        numbers, scale = _mixed_down(audio)
        return Speech(numbers, rate_hz, words, scale=scale)
    except WireError as error:
        raise PredictorFailed(f"The predictor's reply is not of the V2 protocol: {error}.") from None


def _read(audio: Tensor, rate_hz: int, words: tuple[WordTime, ...] | None) -> Speech:
    """Sound as bytes: PCM or WAV, as it is or in base64."""
    elements = tuple(map(_unarmoured, audio.data)) if isinstance(audio.data, tuple) else (audio.packed(),)
    reader = SoundReader(rate_hz)
    samples = np.concatenate([*map(reader.feed, elements), reader.finish()])
    return Speech(samples, reader.rate_hz, words, reader.dropped_bytes)


def _mixed_down(audio: Tensor) -> tuple[npt.NDArray[Any], float]:
    """The numbers of one channel, and the one that is full scale."""
    numbers = audio.numbers()
    scale = 1.0 if audio.datatype in _FLOATS else _FULL_SCALE.get(audio.datatype)
    if scale is None:
        raise PredictorFailed(f"The predictor sent its audio as {audio.datatype}, which is no sound.")
    channels = [axis for axis, extent in enumerate(numbers.shape) if 1 < extent <= _MAX_CHANNELS]
    if len(channels) == 1 and numbers.size > numbers.shape[channels[0]]:
        numbers = numbers.mean(axis=channels[0], dtype=np.float64)
    return numbers, scale


def _first_sound(response: InferResponse) -> Tensor:
    """The output that must be the sound where none is called audio: numbers before what may be a text."""
    others = [tensor for tensor in response.outputs if tensor.name not in (*_RATE_NAMES, "words")]
    for datatypes in ((*_FULL_SCALE, *_FLOATS, "UINT8"), ("BYTES",)):
        for tensor in others:
            if tensor.datatype in datatypes:
                return tensor
    raise PredictorFailed("The predictor's reply has no audio.")


def _rate_in(response: InferResponse) -> int | None:
    """The sample rate, from an output or a parameter. Raises PredictorFailed where it cannot be one."""
    for name in _RATE_NAMES:
        tensor = response.output(name)
        if tensor is not None:
            if isinstance(tensor.data, tuple) or tensor.data.size != 1:
                raise PredictorFailed("The predictor's sample rate is not one number.")
            return _whole_rate(tensor.data.flat[0].item())
        if name in response.parameters:
            return _whole_rate(response.parameters[name])
    return None


def _whole_rate(told: object) -> int:
    return checked_rate(int(told) if isinstance(told, float) and told.is_integer() else told)


def _words_in(response: InferResponse) -> tuple[WordTime, ...] | None:
    """The words, from an output or a parameter with JSON in it; None where there is none."""
    tensor = response.output("words")
    told: object = response.parameters.get("words")
    if tensor is not None and isinstance(tensor.data, tuple):
        told = b"".join(tensor.data)
    if not isinstance(told, str | bytes) or not told:
        return None
    try:
        return words_from(json.loads(told))
    except (ValueError, RecursionError):
        raise PredictorFailed("The predictor's words are not JSON.") from None


def _unarmoured(element: bytes) -> bytes:
    """The bytes inside base64, wrapped to lines, for URLs and in a data URL too; bytes that are no text as they are."""
    head, comma, rest = element[:_MAX_DATA_URL_HEAD].partition(b";base64,")
    armour = element[len(head) + len(comma) :] if rest and head.startswith(b"data:") else element
    try:
        return base64.b64decode(armour.translate(_TO_PLUS_SLASH, b" \t\r\n"), validate=True)
    except (ValueError, binascii.Error):
        if element.isascii() and element.decode("ascii").isprintable():
            raise PredictorFailed("The predictor sent text where sound was expected.") from None
        return element
