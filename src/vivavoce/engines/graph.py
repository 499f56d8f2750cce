"""Cutting a model out of a larger ONNX file, without the onnx package.

An ONNX file is a protobuf message: fields with a number, a length and bytes. Whole nodes and weights are kept or left
out; none is rewritten. Field numbers are those of onnx.proto.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..errors import ModelCorrupt

__all__ = ["cut", "with_output"]

_MODEL_GRAPH = 7
_NODE, _INITIALIZER, _INPUT, _OUTPUT, _VALUE_INFO = 1, 5, 11, 12, 13
_NODE_INPUT, _NODE_OUTPUT = 1, 2
_TENSOR_NAME, _VALUE_NAME = 8, 1
_FLOAT = 1
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


def cut(model: bytes, inputs: Sequence[tuple[str, int]], outputs: Sequence[str]) -> bytes:
    """The part of `model` that computes `outputs`, as a model of its own.

    `inputs` names float tensors inside the graph, with their number of dimensions, that the new model takes instead of
    computing them; inputs of the old model stay where they are still needed. Raises ModelCorrupt when the file is no
    ONNX model or lacks an output.
    """
    try:
        return _cut(memoryview(model), inputs, outputs)
    except (IndexError, UnicodeDecodeError) as error:
        raise ModelCorrupt("A model file cannot be read; `vivavoce models verify` finds out which.") from error


def _cut(model: memoryview, inputs: Sequence[tuple[str, int]], outputs: Sequence[str]) -> bytes:
    header, graph = bytearray(), memoryview(b"")
    for number, value, whole in _fields(model):
        if number == _MODEL_GRAPH:
            graph = value
        else:
            header += whole
    fields = list(_fields(graph))
    needed, kept = _needed(fields, {name for name, _ in inputs}, outputs)
    body = bytearray()
    for index, (number, value, whole) in enumerate(fields):
        keep = {
            _NODE: index in kept,
            _INITIALIZER: _name(value, _TENSOR_NAME) in needed if number == _INITIALIZER else False,
            _INPUT: _name(value, _VALUE_NAME) in needed if number == _INPUT else False,
            _OUTPUT: False,
            _VALUE_INFO: False,
        }.get(number, True)
        if keep:
            body += whole
    for name, dimensions in inputs:
        body += _message(_INPUT, _float_value(name, dimensions))
    for name in outputs:
        body += _message(_OUTPUT, _message(_VALUE_NAME, name.encode()))
    return bytes(header) + _message(_MODEL_GRAPH, bytes(body))


def _needed(
    fields: Sequence[tuple[int, memoryview, memoryview]], given: set[str], outputs: Sequence[str]
) -> tuple[set[str], set[int]]:
    """The tensors that `outputs` depend on, and the positions of the nodes that make them (nodes come sorted)."""
    needed, kept = set(outputs), set[int]()
    for index in range(len(fields) - 1, -1, -1):
        number, value, _ = fields[index]
        if number != _NODE:
            continue
        made = {name for field, name in _strings(value) if field == _NODE_OUTPUT and name}
        if made & needed - given:
            kept.add(index)
            needed.update(name for field, name in _strings(value) if field == _NODE_INPUT and name)
    if not kept:
        raise ModelCorrupt(f"The model does not compute {', '.join(outputs)}.")
    return needed, kept


def _fields(message: memoryview) -> Iterator[tuple[int, memoryview, memoryview]]:
    """Every field: its number, its value (empty unless bytes) and the field as written."""
    at = 0
    while at < len(message):
        begin = at
        key, at = _read_varint(message, at)
        kind, value = key & 7, message[:0]
        if kind == _VARINT:
            _, at = _read_varint(message, at)
        elif kind in (_FIXED64, _FIXED32):
            at += 8 if kind == _FIXED64 else 4
        elif kind == _BYTES:
            size, at = _read_varint(message, at)
            value = message[at : at + size]
            at += size
        if kind not in (_VARINT, _FIXED64, _BYTES, _FIXED32) or at > len(message) or not key >> 3:
            raise IndexError(at)
        yield key >> 3, value, message[begin:at]


def _strings(message: memoryview) -> Iterator[tuple[int, str]]:
    for number, value, _ in _fields(message):
        if number in (_NODE_INPUT, _NODE_OUTPUT):
            yield number, str(value, "utf-8")


def _name(message: memoryview, number: int) -> str:
    return next((str(value, "utf-8") for field, value, _ in _fields(message) if field == number), "")


def _read_varint(message: memoryview, at: int) -> tuple[int, int]:
    result = shift = 0
    while True:
        byte = message[at]
        at += 1
        result |= (byte & 0x7F) << shift
        if byte < 0x80:
            return result, at
        shift += 7


def _varint(number: int) -> bytes:
    written = bytearray()
    while number > 0x7F:
        written.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*written, number])


def _message(number: int, value: bytes) -> bytes:
    return _varint(number << 3 | _BYTES) + _varint(len(value)) + value


def _float_value(name: str, dimensions: int) -> bytes:
    """A ValueInfoProto: a float tensor whose sizes are not known."""
    shape = b"".join(_message(1, _message(2, f"{name}_{i}".encode())) for i in range(dimensions))
    tensor = _varint(1 << 3 | _VARINT) + _varint(_FLOAT) + _message(2, shape)
    return _message(_VALUE_NAME, name.encode()) + _message(2, _message(1, tensor))


def with_output(model: bytes, name: str) -> bytes:
    """Add a tensor of the graph to the outputs of a model: appended to a protobuf message, a message is merged."""
    return model + _message(_MODEL_GRAPH, _message(_OUTPUT, _message(_VALUE_NAME, name.encode())))
