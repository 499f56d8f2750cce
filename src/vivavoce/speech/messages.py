"""What a client may say over the WebSocket: JSON objects, each checked, none trusted."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PlainValidator, ValidationError
from pydantic_core import PydanticCustomError, from_json

from ..audio import MAX_SPEED, MIN_SPEED
from ..errors import BadMessage, BadRequest, OutOfRange, UnsupportedFormat

__all__ = [
    "MAX_LEAD_MS",
    "MIN_LEAD_MS",
    "Cancel",
    "End",
    "Flush",
    "Framing",
    "Message",
    "NotJson",
    "Ping",
    "Played",
    "Resume",
    "Synthesize",
    "Text",
    "decode",
    "parse",
    "request_id_in",
]

Framing = Literal["raw", "header"]
FormatName = Literal["pcm", "mp3", "opus", "aac", "flac", "wav"]

MIN_LEAD_MS, MAX_LEAD_MS = 200.0, 15_000.0
_ID_CHARACTERS = 128
_NAME_CHARACTERS = 128
_INSTRUCT_CHARACTERS = 1_000
_TOKEN_CHARACTERS = 16_384
_SHOWN_CHARACTERS = 40


class NotJson(BadMessage):
    """The frame is no JSON at all: whoever sent it speaks another protocol."""


def _text(value: object) -> str:
    """Any string, also one that was cut between the halves of a surrogate pair, as JavaScript cuts."""
    if isinstance(value, str):
        return value
    raise PydanticCustomError("string_type", "Input should be a valid string")


AnyText = Annotated[str, PlainValidator(_text)]
RequestId = Annotated[str, Field(min_length=1, max_length=_ID_CHARACTERS)]
Name = Annotated[str, Field(max_length=_NAME_CHARACTERS)]


class _Message(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore", frozen=True, allow_inf_nan=False)

    request_id: RequestId | None = None


class Synthesize(_Message):
    """Speak a text. Without `text`, or with `stream`, more of it follows until `end`. None is the server's choice."""

    text: AnyText | None = None
    stream: bool | None = None
    language: Name | None = None
    voice: Name | None = None
    model: Name | None = None
    instruct: Annotated[str, Field(max_length=_INSTRUCT_CHARACTERS)] | None = None
    speed: Annotated[float, Field(ge=MIN_SPEED, le=MAX_SPEED)] | None = None
    sample_rate: int | None = None
    format: FormatName | None = None
    word_timestamps: bool | None = None
    framing: Framing | None = None
    lead_ms: Annotated[float, Field(ge=MIN_LEAD_MS, le=MAX_LEAD_MS)] | None = None


class Resume(_Message):
    """Go on with the utterance of a token; `offset` code points of its text lie before `text`.

    `before` are the last of these, and `silence_ms` is how much of the pause behind them came through.
    """

    token: Annotated[str, Field(min_length=1, max_length=_TOKEN_CHARACTERS)]
    text: AnyText | None = None
    offset: Annotated[int, Field(ge=0, le=2**53)] = 0
    before: AnyText | None = None
    silence_ms: Annotated[float, Field(ge=0)] | None = None
    stream: bool | None = None


class Text(_Message):
    """More of a text."""

    text: AnyText


class Flush(_Message):
    """Speak what is held back."""


class End(_Message):
    """The text is complete."""


class Cancel(_Message):
    """Stop."""


class Played(_Message):
    """So much of the utterance has been heard."""

    ms: Annotated[float, Field(ge=0)]


class Ping(BaseModel):
    """Answer me."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True, allow_inf_nan=False)

    id: Annotated[str, Field(max_length=_ID_CHARACTERS)] | int | float | None = None


Message = Synthesize | Resume | Text | Flush | End | Cancel | Played | Ping

_MODELS: Mapping[str, type[Message]] = {
    "synthesize": Synthesize,
    "resume": Resume,
    "text": Text,
    "flush": Flush,
    "end": End,
    "cancel": Cancel,
    "played": Played,
    "ping": Ping,
}


def parse(fields: Any) -> Message:
    """The message that a decoded frame is. Raises BadRequest or its kin, with the field at fault as `param`."""
    if not isinstance(fields, dict):
        raise BadMessage("A message is a JSON object.")
    kind = fields.get("type")
    model = _MODELS.get(kind) if isinstance(kind, str) else None
    if model is None:
        raise BadMessage(f"There is no message of that type; known are {', '.join(_MODELS)}.", param="type")
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        raise _fault(error) from None


def decode(frame: str) -> Any:
    """The JSON in a text frame. Raises NotJson."""
    try:
        return from_json(frame, allow_inf_nan=False)
    except (TypeError, ValueError):
        pass
    try:
        # Takes halves of surrogate pairs, which the faster parser does not.
        return json.loads(frame.removeprefix("\ufeff"), parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise NotJson("The frame is not JSON.") from None


def request_id_in(fields: Any) -> str | None:
    """The id that a decoded frame carries, where it could be one; so that even a refusal can name it."""
    named = fields.get("request_id") if isinstance(fields, dict) else None
    if isinstance(named, str) and 0 < len(named) <= _ID_CHARACTERS and named.isprintable():
        return named
    return None


def _no_constant(name: str) -> None:
    raise ValueError(name)


def _fault(error: ValidationError) -> BadRequest:
    """The first fault, without what the user wrote."""
    fault = error.errors(include_url=False, include_input=False, include_context=False)[0]
    param = str(fault["loc"][0]) if fault["loc"] else None
    if fault["type"] == "missing":
        return BadMessage(f"{param} is missing.", param=param)
    message = f"{param}: {fault['msg']}."
    if param == "format" and fault["type"] == "literal_error":
        return UnsupportedFormat(message, param=param)
    if fault["type"] in ("greater_than_equal", "less_than_equal", "finite_number"):
        return OutOfRange(message, param=param)
    return BadMessage(message, param=param)
