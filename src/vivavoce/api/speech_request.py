"""What a client may ask of POST /v1/audio/speech."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictFloat, StrictInt, StrictStr, ValidationError

from ..audio import RATES_HZ
from ..engines.design import parse_design
from ..errors import BadRequest, EmptyInput, InputTooLarge, OutOfRange, UnsupportedFormat

__all__ = ["Delivery", "SpeechOrder", "SpeechRequest", "parse_order"]

Delivery = Literal["whole", "chunked", "sse"]
Format = Literal["mp3", "opus", "aac", "flac", "wav", "pcm"]


class VoiceId(BaseModel):
    """OpenAI's other way to name a voice."""

    id: StrictStr


class SpeechRequest(BaseModel):
    """OpenAI's fields, then the extensions; what is not known is ignored."""

    model_config = ConfigDict(extra="ignore")

    model: StrictStr | None = Field(default=None, description="Which model speaks; `tts-1` and the like are taken too.")
    input: StrictStr = Field(description="The text, plain or with light markup.")
    voice: StrictStr | VoiceId | None = Field(default=None, description="A name from /v1/audio/voices, or an alias.")
    instructions: StrictStr | None = Field(
        default=None,
        description="A voice's design in OmniVoice's vocabulary; other instructions are accepted and ignored.",
    )
    response_format: Format = "mp3"
    speed: StrictFloat = Field(default=1.0, ge=0.25, le=4.0)
    stream_format: Literal["audio", "sse"] = "audio"
    stream: StrictBool | None = Field(
        default=None, description="true: chunked as it is made; false: whole; absent: chunked, except for wav."
    )
    sample_rate: StrictInt = Field(default=24_000, description="8000, 16000, 22050, 24000, 44100 or 48000 Hz.")
    language: StrictStr | None = Field(default=None, description="A BCP 47 tag; absent: the voice's own.")
    lang_code: StrictStr | None = Field(default=None, description="Like `language`; Kokoro's letters are taken too.")
    word_timestamps: StrictBool = False


@dataclass(frozen=True, slots=True)
class SpeechOrder:
    """A request that makes sense: nothing in it is out of range, though the voice may still be unknown."""

    text: str
    voice: str | None
    model: str | None
    language: str | None
    instruct: str
    speed: float
    format: Format
    rate_hz: int
    delivery: Delivery
    word_timestamps: bool


def parse_order(body: dict[str, Any], max_input_chars: int) -> SpeechOrder:
    """Check a body. Raises BadRequest and its kin, InputTooLarge, each with the field at fault as `param`."""
    try:
        request = SpeechRequest.model_validate(body)
    except ValidationError as error:
        raise _fault(error) from None
    if len(request.input) > max_input_chars:
        message = f"The input has {len(request.input)} characters; the limit is {max_input_chars}."
        raise InputTooLarge(message, param="input")
    if not request.input.strip():
        raise EmptyInput("The input is empty.", param="input")
    if request.sample_rate not in RATES_HZ:
        known = ", ".join(str(rate) for rate in RATES_HZ)
        raise UnsupportedFormat(f"sample_rate must be one of {known} Hz.", param="sample_rate")
    return SpeechOrder(
        text=request.input,
        voice=(request.voice.id if isinstance(request.voice, VoiceId) else request.voice) or None,
        model=request.model or None,
        language=_language(request),
        instruct=_design(request.instructions),
        speed=request.speed,
        format=request.response_format,
        rate_hz=request.sample_rate,
        delivery=_delivery(request),
        word_timestamps=request.word_timestamps,
    )


def _design(instructions: str | None) -> str:
    """What of OpenAI's free instructions is a voice's design; moods and the like are nobody's error."""
    try:
        return parse_design(instructions or "").instruct
    except BadRequest:
        return ""


def _delivery(request: SpeechRequest) -> Delivery:
    """A wav with exact lengths, and word times in a header, are known only once all is spoken."""
    if request.stream_format == "sse":
        return "sse"
    if request.stream is None:
        return "whole" if request.response_format == "wav" or request.word_timestamps else "chunked"
    return "chunked" if request.stream else "whole"


def _language(request: SpeechRequest) -> str | None:
    return next((tag for tag in (request.language, request.lang_code) if tag and tag.strip()), None)


def _fault(error: ValidationError) -> BadRequest:
    """The first fault, without what the user wrote."""
    fault = error.errors(include_url=False, include_input=False)[0]
    field = str(fault["loc"][0]) if fault["loc"] else None
    if fault["type"] == "missing" and len(fault["loc"]) == 1:
        return BadRequest(f"{field} is missing.", param=field)
    message = f"{field}: {fault['msg']}."
    if fault["type"] == "literal_error" and field == "response_format":
        return UnsupportedFormat(message, param=field)
    if fault["type"] in ("greater_than_equal", "less_than_equal", "finite_number"):
        return OutOfRange(message, param=field)
    return BadRequest(message, param=field)
