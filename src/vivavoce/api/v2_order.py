"""What a V2 request asks to be spoken, from its tensors and parameters. Pure."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..audio import MAX_RATE_HZ, MIN_RATE_HZ, format_named
from ..engines.base import Ipa
from ..errors import BadRequest, EmptyInput, InputTooLarge, OutOfRange
from ..predictors.v2_wire import InferRequest, Tensor, WireError

__all__ = ["INPUTS", "OUTPUTS", "TEXT_NAMES", "V2Order", "order_of_fields", "order_of_infer"]

TEXT_NAMES = ("text", "text_input", "input")
INPUTS = ("voice", "language", "instructions", "speed")
"""Inputs that a request may have besides its text; each may be a parameter instead."""
OUTPUTS = ("audio", "sample_rate", "words")

MAX_PHRASE_CHARACTERS = 5_000
_MIN_SPEED, _MAX_SPEED = 0.25, 4.0
_TENSOR_DATATYPES = ("INT16", "FP32", "UINT8", "BYTES")


@dataclass(frozen=True, slots=True)
class V2Order:
    """A request that makes sense: nothing in it is out of range, though the voice may still be unknown.

    `normalized` text is one phrase, spoken as it stands; other text goes through the text front end. Without `rate_hz`
    it is the voice's own. `datatype` is that of the `audio` output: INT16 or FP32 samples, UINT8 bytes of a file, or
    BYTES with the base64 of either.
    """

    text: str
    voice: str | None = None
    model: str | None = None
    language: str | None = None
    instruct: str = ""
    speed: float = 1.0
    rate_hz: int | None = None
    format: str = "pcm"
    datatype: str = "INT16"
    normalized: bool = False
    ipa: tuple[Ipa, ...] = ()


def order_of_infer(request: InferRequest, max_characters: int) -> V2Order:
    """What an inference request asks for. Raises BadRequest and its kin, InputTooLarge."""
    fields: dict[str, Any] = dict(request.parameters)
    texts: tuple[str, ...] | None = None
    for tensor in request.inputs:
        if tensor.name in TEXT_NAMES and texts is None:
            texts = _texts(tensor)
        elif tensor.name in INPUTS:
            fields[tensor.name] = _single(tensor)
        else:
            known = ", ".join(("text", *INPUTS))
            raise BadRequest(f"Unexpected input {tensor.name!r}; this model takes {known}.", param="inputs")
    if texts is None:
        raise BadRequest("The input 'text' is missing.", param="inputs")
    for wanted in request.outputs:
        if wanted.name not in OUTPUTS:
            known = ", ".join(OUTPUTS)
            raise BadRequest(f"Unexpected output {wanted.name[:80]!r}; this model gives {known}.", param="outputs")
    if fields.get("normalized") is True and len(texts) != 1:
        raise BadRequest("A normalized text is exactly one phrase.", param="inputs")
    return order_of_fields("\n".join(texts), fields, max_characters)


def order_of_fields(text: str, fields: Mapping[str, Any], max_characters: int) -> V2Order:
    """What a text and its parameters ask for; parameters that are not known are ignored.

    Raises BadRequest and its kin, InputTooLarge.
    """
    normalized = _flag(fields, "normalized")
    limit = min(max_characters, MAX_PHRASE_CHARACTERS) if normalized else max_characters
    if len(text) > limit:
        raise InputTooLarge(f"The text has {len(text)} characters; the limit is {limit}.", param="text")
    if not text.strip():
        raise EmptyInput("The text is empty.", param="text")
    sound = format_named((_word(fields, "response_format") or "pcm").lower())
    return V2Order(
        text=text,
        voice=_word(fields, "voice") or None,
        model=_word(fields, "model") or None,
        language=_word(fields, "language") or None,
        instruct=_word(fields, "instruct") or _word(fields, "instructions"),
        speed=_speed(fields.get("speed")),
        rate_hz=_rate_hz(fields.get("sample_rate")),
        format=sound.name,
        datatype=_datatype(_word(fields, "audio_datatype"), sound.name == "pcm"),
        normalized=normalized,
        ipa=_ipa(_word(fields, "ipa"), len(text)) if normalized else (),
    )


def _texts(tensor: Tensor) -> tuple[str, ...]:
    try:
        return tensor.texts()
    except WireError as error:
        raise BadRequest(f"Invalid inference request: {error}.", param=tensor.name) from None


def _single(tensor: Tensor) -> str | float:
    if len(tensor.data) != 1:
        raise BadRequest(f"The input {tensor.name!r} must have one element.", param=tensor.name)
    if isinstance(tensor.data, tuple):
        return _texts(tensor)[0]
    value: str | float = tensor.data[0].item()
    return value


def _word(fields: Mapping[str, Any], name: str) -> str:
    value = fields.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise BadRequest(f"{name} must be a string.", param=name)
    return value.strip()


def _flag(fields: Mapping[str, Any], name: str) -> bool:
    value = fields.get(name, False)
    if not isinstance(value, bool):
        raise BadRequest(f"{name} must be true or false.", param=name)
    return value


def _speed(value: object) -> float:
    if value is None:
        return 1.0
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadRequest("speed must be a number.", param="speed")
    if not _MIN_SPEED <= value <= _MAX_SPEED:
        raise OutOfRange(f"speed must lie between {_MIN_SPEED} and {_MAX_SPEED}.", param="speed")
    return float(value)


def _rate_hz(value: object) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value % 1:
        raise BadRequest("sample_rate must be a whole number of Hz.", param="sample_rate")
    if not MIN_RATE_HZ <= value <= MAX_RATE_HZ:
        raise OutOfRange(f"sample_rate must lie between {MIN_RATE_HZ} and {MAX_RATE_HZ} Hz.", param="sample_rate")
    return int(value)


def _datatype(wanted: str, is_pcm: bool) -> str:
    datatype = wanted.upper() or ("INT16" if is_pcm else "UINT8")
    if datatype not in _TENSOR_DATATYPES:
        raise BadRequest(f"audio_datatype must be one of {', '.join(_TENSOR_DATATYPES)}.", param="audio_datatype")
    if not is_pcm and datatype in ("INT16", "FP32"):
        raise BadRequest("INT16 and FP32 hold samples; files travel as UINT8 or BYTES.", param="audio_datatype")
    return datatype


def _ipa(value: str, length: int) -> tuple[Ipa, ...]:
    """Pronunciations, `[[start, end, symbols], …]` as JSON, in order and apart from each other."""
    if not value:
        return ()
    try:
        entries = json.loads(value)
    except (ValueError, RecursionError):
        entries = None
    found: list[Ipa] = []
    for entry in entries if isinstance(entries, list) else [None]:
        match entry:
            case [int() as start, int() as end, str() as symbols] if _after(found) <= start < end <= length:
                found.append(Ipa(start, end, symbols))
            case _:
                raise BadRequest("ipa must be [[start, end, symbols], …] within the text, in order.", param="ipa")
    return tuple(found)


def _after(found: list[Ipa]) -> int:
    return found[-1].end if found else 0
