"""The beginning of an inference response, read while the rest is still coming. Pure."""

from __future__ import annotations

import math
from typing import Any

from ..audio import FRAME_BYTES
from .v2_tensors import parameters_of
from .v2_wire import BINARY_SIZE, InferResponse, WireError, described, split_body, tensors_in, text_in

__all__ = ["beginning"]


def beginning(body: bytes, header_length: str | None) -> InferResponse | None:
    """The response that `body` is the beginning of, its sound cut to what is there.

    None where nothing can be said before the end: the sound is not twice as long as that, or the JSON is followed by
    something else than one row of INT16. Whoever reads the whole will say what is wrong with it.
    """
    try:
        head, payload = split_body(body, header_length)
        entries = head.get("outputs")
        if not isinstance(entries, list) or sum(map(_is_binary, entries)) != 1:
            return None
        return InferResponse(
            model_name=text_in(head, "model_name"),
            outputs=tensors_in([_cut(entry, len(payload)) for entry in entries], "outputs", payload),
            parameters=parameters_of(head.get("parameters"), "response"),
        )
    except WireError:
        return None


def _is_binary(entry: object) -> bool:
    return BINARY_SIZE in described(entry, "outputs")[3]


def _cut(entry: dict[str, Any], size: int) -> dict[str, Any]:
    """The description of a long row of binary INT16, with no more than `size` bytes of it; any other as it is."""
    name, datatype, shape, parameters = described(entry, "outputs")
    told = parameters.get(BINARY_SIZE)
    if told is None:
        return entry
    row = max(shape, default=0)
    if datatype != "INT16" or math.prod(shape) != row or told != row * FRAME_BYTES or told <= 2 * size:
        raise WireError(f"tensor {name!r} is no long row of INT16")
    return {**entry, "shape": [size // FRAME_BYTES], "parameters": {**parameters, BINARY_SIZE: size}}
