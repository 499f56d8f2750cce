"""The frames of `vivavoce.v1` (docs/protocol.md) as a client writes and reads them. Pure."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from ..errors import ConfigError, VivavoceError
from .faults import busy_fault, told_fault

__all__ = ["PATH", "SUBPROTOCOL", "Order", "Sound", "address", "fault_in", "frame", "message_in", "number", "sound_in"]

SUBPROTOCOL = "vivavoce.v1"
PATH = "/ws/synthesize"

_HEADER = struct.Struct("<IIQ")
_SCHEMES = {"ws": "ws", "http": "ws", "wss": "wss", "https": "wss"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """How a text is to be spoken; None leaves the choice to the server."""

    voice: str | None = None
    language: str | None = None
    model: str | None = None
    instruct: str | None = None
    speed: float | None = None
    sample_rate: int = 24_000
    lead_ms: float | None = None

    def fields(self) -> dict[str, Any]:
        """The fields of a `synthesize`, but for its text and id. Words are always asked for: resuming needs them."""
        chosen = {name: getattr(self, name) for name in self.__slots__}
        fixed = {"format": "pcm", "framing": "header", "word_timestamps": True}
        return {name: value for name, value in chosen.items() if value is not None} | fixed


@dataclass(frozen=True, slots=True)
class Sound:
    """A binary frame: whose it is, where in that utterance it begins (samples), and its PCM."""

    generation: int
    offset: int
    pcm: bytes


def address(url: str) -> str:
    """The WebSocket's address for what a person wrote: `http` is `ws`, and the path may be left out.

    Raises ConfigError where it is no address.
    """
    parts = urlsplit(url if "//" in url else f"//{url}", scheme="ws")
    scheme = _SCHEMES.get(parts.scheme)
    if scheme is None or not parts.hostname:
        raise ConfigError(f"{url!r} is no address of a server; it looks like ws://host:8000 or https://host.")
    path = parts.path.rstrip("/")
    return urlunsplit((scheme, parts.netloc, path if path.endswith(PATH) else path + PATH, parts.query, ""))


def frame(kind: str, **fields: Any) -> str:
    """A message to the server."""
    return json.dumps({"type": kind, **fields}, separators=(",", ":"))


def message_in(text: str) -> dict[str, Any]:
    """A message of the server's; an empty one for what is none, as newer servers may say more than we know."""
    try:
        fields = json.loads(text)
    except ValueError:
        return {}
    return fields if isinstance(fields, dict) else {}


def sound_in(data: bytes) -> Sound | None:
    """The sound in a binary frame, or None where it has no whole header or no whole samples."""
    if len(data) < _HEADER.size or len(data) % 2:
        return None
    generation, _, offset = _HEADER.unpack_from(data)
    return Sound(generation, offset, data[_HEADER.size :])


def fault_in(message: dict[str, Any]) -> VivavoceError:
    """What an `error` or a `busy` says."""
    wait_ms = number(message, "retry_after_ms")
    wait_s = None if wait_ms is None else wait_ms / 1000
    said = str(message.get("message") or "The server is busy.")
    if message.get("type") == "busy":
        return busy_fault(message.get("reason"), said, wait_s)
    param = message.get("param")
    return told_fault(
        str(message.get("code")),
        said,
        retryable=bool(message.get("retryable")),
        param=param if isinstance(param, str) else None,
        retry_after_s=wait_s,
    )


def number(message: dict[str, Any], name: str) -> float | None:
    """A number in a message, None where there is none."""
    value = message.get(name)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
