"""Requests and responses of the Open Inference Protocol V2, both directions, JSON and binary. Pure.

The V2 door reads requests and writes responses with it, the V2 predictor the other way round.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from ..errors import BadRequest, PredictorFailed
from .v2_tensors import DATATYPES, Parameter, Tensor, WireError, parameters_of, shape_of

__all__ = [
    "BINARY_EXTENSION",
    "BINARY_SIZE",
    "HEADER_LENGTH",
    "STREAM_EXTENSION",
    "Body",
    "InferRequest",
    "InferResponse",
    "Tensor",
    "Wanted",
    "WireError",
    "described",
    "header_bytes_in",
    "split_body",
    "tensors_in",
    "text_in",
]

HEADER_LENGTH = "Inference-Header-Content-Length"
"""The header that says how many bytes of a binary body are JSON."""
BINARY_EXTENSION = "binary_tensor_data"
"""In a server's `extensions`: it takes and gives binary tensors."""
STREAM_EXTENSION = "vivavoce_stream"
"""In a server's `extensions`: `generate_stream` gives audio while it is made (see v2_stream.py)."""

RAW_INPUT = "text"
_MAX_DIGITS = 18
_MAX_TENSORS = 64
BINARY_SIZE = "binary_data_size"
"""A tensor's parameter: how many of the bytes behind the JSON are its."""


@dataclass(frozen=True, slots=True)
class Body:
    """A body to send: its bytes, and how many of them are JSON where tensors follow (None: all of them)."""

    content: bytes
    header_bytes: int | None = None

    @property
    def headers(self) -> dict[str, str]:
        """The headers that describe it."""
        if self.header_bytes is None:
            return {"Content-Type": "application/json"}
        return {"Content-Type": "application/octet-stream", HEADER_LENGTH: str(self.header_bytes)}


@dataclass(frozen=True, slots=True)
class Wanted:
    """An output that a request asks for; `binary` is None where the request as a whole decides."""

    name: str
    binary: bool | None = None


@dataclass(frozen=True, slots=True)
class InferRequest:
    """What a client asks a model. Without `outputs` it wants all of them."""

    inputs: tuple[Tensor, ...]
    id: str = ""
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    outputs: tuple[Wanted, ...] = ()

    def input(self, name: str) -> Tensor | None:
        """The input of that name, where there is one."""
        return next((tensor for tensor in self.inputs if tensor.name == name), None)

    def wants(self, name: str) -> bool:
        """Whether that output is asked for."""
        return not self.outputs or any(wanted.name == name for wanted in self.outputs)

    def wants_binary(self, name: str) -> bool:
        """Whether that output is to come in binary."""
        for wanted in self.outputs:
            if wanted.name == name and wanted.binary is not None:
                return wanted.binary
        return self.parameters.get("binary_data_output") is True

    def encode(self, *, binary: bool = True) -> Body:
        """The body to send, its inputs in binary or as JSON. Raises WireError for what JSON cannot hold."""
        head: dict[str, Any] = {"id": self.id} if self.id else {}
        if self.parameters:
            head["parameters"] = dict(self.parameters)
        if self.outputs:
            head["outputs"] = [_wanted_json(wanted) for wanted in self.outputs]
        return _encode(head, "inputs", self.inputs, lambda _: binary)

    @classmethod
    def decode(cls, body: bytes | memoryview, header_length: str | None = None) -> InferRequest:
        """Read a body; `header_length` is the header of that name. Raises BadRequest.

        A header length of 0 is Triton's raw request: the whole body is the text, and the outputs come in binary.
        """
        try:
            if header_length is not None and header_length.strip() == "0":
                text = Tensor(RAW_INPUT, "BYTES", (1,), (bytes(body),))
                return cls((text,), parameters={"binary_data_output": True})
            head, payload = split_body(body, header_length)
            return cls(
                inputs=tensors_in(head.get("inputs"), "inputs", payload),
                id=text_in(head, "id"),
                parameters=_checked(parameters_of(head.get("parameters"), "request"), "binary_data_output"),
                outputs=_wanted(head.get("outputs")),
            )
        except WireError as error:
            raise BadRequest(f"Invalid inference request: {error}.") from None


@dataclass(frozen=True, slots=True)
class InferResponse:
    """What a model answers."""

    model_name: str
    outputs: tuple[Tensor, ...]
    model_version: str = ""
    id: str = ""
    parameters: Mapping[str, Parameter] = field(default_factory=dict)

    def output(self, name: str) -> Tensor | None:
        """The output of that name, where there is one."""
        return next((tensor for tensor in self.outputs if tensor.name == name), None)

    def encode(self, is_binary: Callable[[str], bool] = lambda _: False) -> Body:
        """The body to send; `is_binary` says for each output's name how it goes. Raises WireError."""
        head: dict[str, Any] = {"model_name": self.model_name}
        if self.model_version:
            head["model_version"] = self.model_version
        if self.id:
            head["id"] = self.id
        if self.parameters:
            head["parameters"] = dict(self.parameters)
        return _encode(head, "outputs", self.outputs, is_binary)

    @classmethod
    def decode(cls, body: bytes | memoryview, header_length: str | None = None) -> InferResponse:
        """Read a body; `header_length` is the header of that name. Raises PredictorFailed."""
        try:
            head, payload = split_body(body, header_length)
            if isinstance(fault := head.get("error"), str) and "outputs" not in head:
                raise PredictorFailed(f"The predictor answered with an error: {fault[:500]}")
            return cls(
                model_name=text_in(head, "model_name"),
                outputs=tensors_in(head.get("outputs"), "outputs", payload),
                model_version=text_in(head, "model_version"),
                id=text_in(head, "id"),
                parameters=parameters_of(head.get("parameters"), "response"),
            )
        except WireError as error:
            raise PredictorFailed(f"The predictor's reply is not of the V2 protocol: {error}.") from None


def _encode(head: dict[str, Any], key: str, tensors: tuple[Tensor, ...], is_binary: Callable[[str], bool]) -> Body:
    entries, payloads = [], []
    for tensor in tensors:
        entry: dict[str, Any] = {"name": tensor.name, "shape": list(tensor.shape), "datatype": tensor.datatype}
        parameters = dict(tensor.parameters)
        parameters.pop(BINARY_SIZE, None)
        if is_binary(tensor.name):
            payloads.append(tensor.packed())
            parameters[BINARY_SIZE] = len(payloads[-1])
        else:
            entry["data"] = tensor.listed()
        if parameters:
            entry["parameters"] = parameters
        entries.append(entry)
    try:
        content = _ENCODER.encode({**head, key: entries}).encode("ascii")
    except ValueError:
        raise WireError("JSON has no way to write a number that is not finite") from None
    if not payloads:
        return Body(content)
    return Body(b"".join((content, *payloads)), len(content))


def header_bytes_in(header_length: str | None) -> int | None:
    """How many bytes of a body are JSON, by its header of that name; None where that is no count."""
    told = (header_length or "").strip()
    return int(told) if told.isascii() and told.isdigit() and len(told) <= _MAX_DIGITS else None


def split_body(body: bytes | memoryview, header_length: str | None) -> tuple[dict[str, Any], memoryview]:
    """The JSON object, and what lies behind it. Raises WireError."""
    view = memoryview(body)
    header_bytes: int | None = len(view)
    if header_length is not None:
        header_bytes = header_bytes_in(header_length)
        if header_bytes is None or header_bytes > len(view):
            raise WireError(f"{HEADER_LENGTH} must be a byte count of at most the body's {len(view)}")
    try:
        head = _DECODER.decode(bytes(view[:header_bytes]).decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise WireError("the JSON is not valid UTF-8") from None
    except json.JSONDecodeError as error:
        raise WireError(f"not JSON: {error.msg} (line {error.lineno}, column {error.colno})") from None
    except RecursionError:
        raise WireError("the JSON is nested too deeply") from None
    except ValueError as error:
        raise (error if isinstance(error, WireError) else WireError("the JSON has a number that is too long")) from None
    if not isinstance(head, dict):
        raise WireError("the JSON must be an object")
    return head, view[header_bytes:]


def tensors_in(entries: object, key: str, payload: memoryview) -> tuple[Tensor, ...]:
    """The tensors of a list, those in binary from the payload behind the JSON. Raises WireError."""
    if not isinstance(entries, list) or len(entries) > _MAX_TENSORS:
        raise WireError(f"{key} must be a list of at most {_MAX_TENSORS} tensors")
    tensors: dict[str, Tensor] = {}
    at = 0
    for entry in entries:
        name, datatype, shape, parameters = described(entry, key)
        if name in tensors:
            raise WireError(f"{key} holds {name!r} twice")
        size = parameters.get(BINARY_SIZE)
        if size is None:
            tensors[name] = Tensor.from_list(name, datatype, shape, entry.get("data"), parameters)
            continue
        if type(size) is not int or not 0 <= size <= len(payload) - at:
            raise WireError(
                f"tensor {name!r}: {BINARY_SIZE} must be a byte count of at most the {len(payload) - at} left"
            )
        if entry.get("data") is not None:
            raise WireError(f"tensor {name!r} has both data and {BINARY_SIZE}")
        tensors[name] = Tensor.unpacked(name, datatype, shape, payload[at : at + size], parameters)
        at += size
    if at != len(payload):
        raise WireError(f"{len(payload) - at} bytes of the body belong to no tensor")
    return tuple(tensors.values())


def described(entry: object, key: str) -> tuple[str, str, tuple[int, ...], dict[str, Parameter]]:
    """A tensor's name, datatype, shape and parameters; `key` names the list it stands in. Raises WireError."""
    if not isinstance(entry, dict):
        raise WireError(f"every one of {key} must be an object")
    name = entry.get("name")
    if not isinstance(name, str) or not 0 < len(name) <= 128 or not name.isprintable():
        raise WireError(f"every one of {key} needs a name of 1 to 128 printable characters")
    datatype = entry.get("datatype")
    if datatype not in DATATYPES:
        raise WireError(f"tensor {name!r}: datatype must be one of {', '.join(DATATYPES)}")
    return (
        name,
        datatype,
        shape_of(entry.get("shape"), name),
        parameters_of(entry.get("parameters"), f"tensor {name!r}"),
    )


def _wanted(entries: object) -> tuple[Wanted, ...]:
    if entries is None:
        return ()
    if not isinstance(entries, list) or len(entries) > _MAX_TENSORS:
        raise WireError(f"outputs must be a list of at most {_MAX_TENSORS}")
    wanted = []
    for entry in entries:
        name = entry.get("name") if isinstance(entry, dict) else None
        if not isinstance(name, str):
            raise WireError("every one of outputs needs a name")
        binary = _checked(parameters_of(entry.get("parameters"), f"output {name[:64]!r}"), "binary_data")
        told = binary.get("binary_data")
        wanted.append(Wanted(name, told if isinstance(told, bool) else None))
    return tuple(wanted)


def _wanted_json(wanted: Wanted) -> dict[str, Any]:
    if wanted.binary is None:
        return {"name": wanted.name}
    return {"name": wanted.name, "parameters": {"binary_data": wanted.binary}}


def _checked(parameters: dict[str, Parameter], flag: str) -> dict[str, Parameter]:
    """The parameters, whose `flag` is a boolean if it is there at all."""
    if not isinstance(parameters.get(flag, False), bool):
        raise WireError(f"parameter {flag!r} must be a boolean")
    return parameters


def text_in(head: Mapping[str, Any], key: str) -> str:
    """A string of the JSON object, "" where it is not there. Raises WireError for anything else."""
    value = head.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise WireError(f"{key} must be a string")
    return value


def _not_a_number(name: str) -> NoReturn:
    raise WireError(f"{name} is not a JSON number")


_ENCODER = json.JSONEncoder(separators=(",", ":"), allow_nan=False)
_DECODER = json.JSONDecoder(parse_constant=_not_a_number)
