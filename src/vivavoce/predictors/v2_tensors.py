"""Tensors of the Open Inference Protocol V2, as JSON and in the binary tensor extension. Pure.

Source: github.com/kserve/open-inference-protocol (inference_rest.md) and Triton's extension_binary_data.md.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["DATATYPES", "Parameter", "Tensor", "WireError", "parameters_of"]

Parameter = str | int | float | bool
Numbers = npt.NDArray[Any]

BYTES, BF16, FP16, BOOL = "BYTES", "BF16", "FP16", "BOOL"
_NUMPY: Mapping[str, str] = {
    "BOOL": "?",
    "UINT8": "u1",
    "UINT16": "<u2",
    "UINT32": "<u4",
    "UINT64": "<u8",
    "INT8": "i1",
    "INT16": "<i2",
    "INT32": "<i4",
    "INT64": "<i8",
    "FP16": "<f2",
    "FP32": "<f4",
    "FP64": "<f8",
}
DATATYPES: tuple[str, ...] = (*_NUMPY, BF16, BYTES)
"""Every datatype of the protocol."""

_MAX_DIMENSIONS = 16
_MAX_EXTENT = 2**40
_LENGTH = struct.Struct("<I")
_SURROGATES = re.compile("[\ud800-\udfff]")


class WireError(ValueError):
    """The bytes are not what the protocol asks for; the message says where, and quotes no user's text."""


@dataclass(frozen=True, slots=True)
class Tensor:
    """A named tensor, row-major. `data` is a flat array of numbers (float32 for BF16), or one `bytes` per element.

    Its element count is always the product of `shape`.
    """

    name: str
    datatype: str
    shape: tuple[int, ...]
    data: Numbers | tuple[bytes, ...]
    parameters: Mapping[str, Parameter] = field(default_factory=dict)

    @classmethod
    def of_texts(cls, name: str, *texts: str) -> Tensor:
        """A BYTES tensor of shape [n] with the texts in UTF-8; lone surrogates become U+FFFD."""
        return cls(name, BYTES, (len(texts),), tuple(_utf8(text) for text in texts))

    @classmethod
    def of_numbers(cls, name: str, numbers: Numbers) -> Tensor:
        """A tensor with the array's own shape and datatype. Raises WireError for a dtype the protocol lacks."""
        wanted = np.dtype(numbers.dtype).newbyteorder("<")
        for datatype, code in _NUMPY.items():
            if np.dtype(code) == wanted:
                return cls(name, datatype, numbers.shape, numbers.ravel())
        raise WireError(f"no datatype of the protocol holds {numbers.dtype}")

    def texts(self) -> tuple[str, ...]:
        """The elements as texts. Raises WireError where they are numbers or not UTF-8."""
        if not isinstance(self.data, tuple):
            raise WireError(f"tensor {self.name!r} must have datatype BYTES, not {self.datatype}")
        try:
            return tuple(element.decode("utf-8") for element in self.data)
        except UnicodeDecodeError:
            raise WireError(f"tensor {self.name!r} is not valid UTF-8") from None

    def numbers(self) -> Numbers:
        """The elements as an array of the tensor's shape. Raises WireError where they are BYTES."""
        if isinstance(self.data, tuple):
            raise WireError(f"tensor {self.name!r} must hold numbers, not BYTES")
        return self.data.reshape(self.shape)

    def packed(self) -> bytes:
        """The payload that the binary extension appends to the JSON."""
        if isinstance(self.data, tuple):
            return b"".join(part for element in self.data for part in (_LENGTH.pack(len(element)), element))
        if self.datatype == BF16:
            return (np.ascontiguousarray(self.data, "<f4").view("<u4") >> 16).astype("<u2").tobytes()
        return np.ascontiguousarray(self.data, _NUMPY[self.datatype]).tobytes()

    def listed(self) -> list[Any]:
        """The elements for JSON, flat. Raises WireError for bytes that are not UTF-8 and for 16-bit floats."""
        if isinstance(self.data, tuple):
            return list(self.texts())
        _refuse_half_floats(self.name, self.datatype)
        listed: list[Any] = self.data.tolist()
        return listed

    @classmethod
    def unpacked(
        cls, name: str, datatype: str, shape: tuple[int, ...], payload: memoryview, parameters: Mapping[str, Parameter]
    ) -> Tensor:
        """Read a binary payload, without copying numbers. Raises WireError."""
        count = _count(shape)
        if datatype == BYTES:
            elements = tuple(_elements(name, payload, count))
            return cls(name, datatype, shape, elements, parameters)
        item_bytes = 2 if datatype == BF16 else np.dtype(_NUMPY[datatype]).itemsize
        if len(payload) != count * item_bytes:
            raise WireError(
                f"tensor {name!r}: binary_data_size is {len(payload)}, its shape takes {count * item_bytes}"
            )
        if datatype == BF16:
            halves = np.frombuffer(payload, "<u2").astype("<u4") << 16
            return cls(name, datatype, shape, halves.view("<f4"), parameters)
        if datatype == BOOL:
            return cls(name, datatype, shape, np.frombuffer(payload, "u1") != 0, parameters)
        return cls(name, datatype, shape, np.frombuffer(payload, _NUMPY[datatype]), parameters)

    @classmethod
    def from_list(
        cls, name: str, datatype: str, shape: tuple[int, ...], listed: object, parameters: Mapping[str, Parameter]
    ) -> Tensor:
        """Read JSON data, flat or nested. Raises WireError."""
        flat = _flat(name, listed)
        if len(flat) != _count(shape):
            raise WireError(f"tensor {name!r}: {len(flat)} elements, its shape takes {_count(shape)}")
        kinds = set(map(type, flat))
        if datatype == BYTES:
            if kinds - {str}:
                raise WireError(f"tensor {name!r}: BYTES elements are strings in JSON")
            return cls(name, datatype, shape, tuple(_utf8(text) for text in flat), parameters)
        _refuse_half_floats(name, datatype)
        return cls(name, datatype, shape, _numbers(name, datatype, flat, kinds), parameters)


def parameters_of(value: object, where: str) -> dict[str, Parameter]:
    """The `parameters` of a request, a response or a tensor; None is none. Raises WireError."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise WireError(f"{where}: parameters must be an object")
    for name, inner in value.items():
        if not isinstance(inner, str | int | float | bool) and inner is not None:
            raise WireError(f"{where}: parameter {name[:64]!r} must be a string, a number or a boolean")
    return {name: inner for name, inner in value.items() if inner is not None}


def shape_of(value: object, name: str) -> tuple[int, ...]:
    """A tensor's shape. Raises WireError where it is no list of small counts."""
    if not isinstance(value, list) or len(value) > _MAX_DIMENSIONS:
        raise WireError(f"tensor {name!r}: shape must be a list of at most {_MAX_DIMENSIONS} integers")
    for extent in value:
        if type(extent) is not int or not 0 <= extent <= _MAX_EXTENT:
            raise WireError(f"tensor {name!r}: shape must hold integers from 0 to {_MAX_EXTENT}")
    return tuple(value)


def _count(shape: tuple[int, ...]) -> int:
    count = 1
    for extent in shape:
        count *= extent
    return count


def _utf8(text: str) -> bytes:
    return _SURROGATES.sub("\ufffd", text).encode("utf-8")


def _elements(name: str, payload: memoryview, count: int) -> list[bytes]:
    """The elements of a packed BYTES tensor; never more than the payload has room for."""
    elements: list[bytes] = []
    at = 0
    while at < len(payload) and len(elements) < count:
        if len(payload) - at < _LENGTH.size:
            raise WireError(f"tensor {name!r}: an element's length is cut short")
        (length,) = _LENGTH.unpack_from(payload, at)
        at += _LENGTH.size
        if length > len(payload) - at:
            raise WireError(f"tensor {name!r}: an element is longer than what is left")
        elements.append(bytes(payload[at : at + length]))
        at += length
    if at != len(payload) or len(elements) != count:
        raise WireError(f"tensor {name!r}: binary_data_size is {len(payload)}, its elements and shape say otherwise")
    return elements


def _flat(name: str, listed: object) -> list[Any]:
    if not isinstance(listed, list):
        raise WireError(f"tensor {name!r}: data must be a list")
    flat: list[Any] = listed
    for _ in range(_MAX_DIMENSIONS):
        nested = sum(isinstance(inner, list) for inner in flat)
        if not nested:
            return flat
        if nested != len(flat):
            raise WireError(f"tensor {name!r}: data mixes lists and values")
        flat = [value for inner in flat for value in inner]
    raise WireError(f"tensor {name!r}: data is nested too deeply")


def _numbers(name: str, datatype: str, flat: Sequence[Any], kinds: set[type]) -> Numbers:
    dtype = np.dtype(_NUMPY[datatype])
    if not flat:
        return np.empty(0, dtype)
    by_kind: dict[str, set[type]] = {"b": {bool}, "f": {int, float}}
    allowed = by_kind.get(dtype.kind, {int})
    if kinds - allowed:
        raise WireError(f"tensor {name!r}: data does not fit {datatype}")
    try:
        with np.errstate(over="ignore"):
            numbers = np.array(flat, dtype)
    except OverflowError:
        raise WireError(f"tensor {name!r}: a value is out of {datatype}'s range") from None
    if dtype.kind == "f" and not np.isfinite(numbers).all():
        raise WireError(f"tensor {name!r}: a value is out of {datatype}'s range")
    return numbers


def _refuse_half_floats(name: str, datatype: str) -> None:
    if datatype in (FP16, BF16):
        raise WireError(f"tensor {name!r}: {datatype} travels in binary only")
