"""What the V2 door tells about its server and its model. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .. import __version__
from ..engines.catalog import VoiceEntry
from ..predictors.v2_wire import BINARY_EXTENSION, STREAM_EXTENSION
from .v2_door import VERSION, Tally

__all__ = ["model_config", "model_metadata", "model_stats", "repository_entry", "server_metadata"]

_PLATFORM = "vivavoce"
_INPUTS = (
    ("text", "BYTES", [1]),
    ("voice", "BYTES", [1]),
    ("language", "BYTES", [1]),
    ("instructions", "BYTES", [1]),
    ("speed", "FP32", [1]),
)
_OUTPUTS = (("audio", "INT16", [-1]), ("sample_rate", "INT32", [1]), ("words", "BYTES", [1]))
_CONFIG_TYPES = {"BYTES": "TYPE_STRING", "INT16": "TYPE_INT16", "INT32": "TYPE_INT32", "FP32": "TYPE_FP32"}
_MS_NS = 1_000_000

Tensors = Iterable[tuple[str, str, list[int]]]


def server_metadata() -> dict[str, Any]:
    """The server, and what it can do beyond the core of the protocol."""
    extensions = [BINARY_EXTENSION, "generate", "model_repository", "model_configuration", "statistics"]
    return {"name": "vivavoce", "version": __version__, "extensions": [*extensions, STREAM_EXTENSION]}


def model_metadata(
    name: str, voices: Iterable[VoiceEntry], languages: Iterable[str], *, design: bool
) -> dict[str, Any]:
    """The model's tensors; under `vivavoce` who speaks, in which languages, and whether voices can be designed."""
    spoken = [
        {
            "name": voice.name,
            "language": voice.language,
            "gender": voice.gender,
            "description": voice.description,
            "aliases": list(voice.aliases),
        }
        for voice in voices
    ]
    return {
        "name": name,
        "versions": [VERSION],
        "platform": _PLATFORM,
        "inputs": _described(_INPUTS),
        "outputs": _described(_OUTPUTS),
        "vivavoce": {"voices": spoken, "languages": list(languages), "design": design},
    }


def model_config(name: str) -> dict[str, Any]:
    """The same in the words of Triton's model configuration; every input but the text may be left out."""
    inputs = [_configured(*tensor) | ({"optional": True} if tensor[0] != "text" else {}) for tensor in _INPUTS]
    return {
        "name": name,
        "platform": _PLATFORM,
        "backend": _PLATFORM,
        "max_batch_size": 0,
        "input": inputs,
        "output": [_configured(*tensor) for tensor in _OUTPUTS],
    }


def model_stats(name: str, tally: Tally) -> dict[str, Any]:
    """What the model has done, in the shape of Triton's statistics extension."""
    done = tally.succeeded + tally.failed
    nothing = {"count": 0, "ns": 0}
    succeeded = {"count": tally.succeeded, "ns": int(tally.succeeded_ms * _MS_NS)}
    stats: Mapping[str, Any] = {
        "success": succeeded,
        "fail": {"count": tally.failed, "ns": int(tally.failed_ms * _MS_NS)},
        "queue": nothing,
        "compute_input": nothing,
        "compute_infer": succeeded,
        "compute_output": nothing,
    }
    entry = {
        "name": name,
        "version": VERSION,
        "last_inference": tally.last_unix_ms,
        "inference_count": tally.succeeded,
        "execution_count": done,
        "inference_stats": stats,
        "batch_stats": [],
    }
    return {"model_stats": [entry]}


def repository_entry(name: str, *, ready: bool, reason: str = "") -> dict[str, Any]:
    """A line of the repository's index."""
    return {"name": name, "version": VERSION, "state": "READY" if ready else "UNAVAILABLE", "reason": reason}


def _described(tensors: Tensors) -> list[dict[str, Any]]:
    return [{"name": name, "datatype": datatype, "shape": shape} for name, datatype, shape in tensors]


def _configured(name: str, datatype: str, shape: list[int]) -> dict[str, Any]:
    return {"name": name, "data_type": _CONFIG_TYPES[datatype], "dims": shape}
