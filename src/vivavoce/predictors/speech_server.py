"""What a server of /v1/audio/speech tells about itself, as far as it does."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import BadRequest, PredictorFailed
from ..languages import find_language
from .faults import Missing
from .info import EndpointInfo, RemoteVoice, voices_in
from .patience import Patience
from .sound import SoundReader
from .upstream import Upstream

__all__ = ["ServerFacts", "language_for", "learn_rate", "look_at"]

_WARM_UP_TEXT = "Ready."
_ANY_MODEL = ("tts-1", "gpt-4o-mini-tts")
_SPEAKING = ("tts", "speech", "voice", "kokoro", "speak")
_QWEN_LANGUAGES = frozenset(
    ("Chinese", "English", "Japanese", "Korean", "German", "French", "Russian", "Portuguese", "Spanish", "Italian")
)


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """The models and the voices that a server lists; either may be empty."""

    models: tuple[str, ...]
    voices: tuple[RemoteVoice, ...]

    def model_for(self, wanted: str) -> str:
        """The model to ask for: the wanted one where it is listed or nothing is, else the likeliest to speak."""
        if not self.models or wanted in self.models:
            return wanted
        for name in _ANY_MODEL:
            if name in self.models:
                return name
        speaking = [name for name in self.models if any(word in name.lower() for word in _SPEAKING)]
        return (speaking or list(self.models))[0]

    def info(self, model: str) -> EndpointInfo:
        """What a pool wants to know of it."""
        name = model.lower()
        return EndpointInfo(self.voices, design="omnivoice" in name or "voicedesign" in name, model=model)


async def look_at(base: str, upstream: Upstream, limit_s: float, *, again: bool) -> ServerFacts | None:
    """Ask whether the server is up, and, where wanted, what it has. Raises PredictorFailed, Busy where it is not."""
    await _found(f"{base}/health", upstream, limit_s)
    if not again:
        return None
    listed = await _found(f"{base}/v1/models", upstream, limit_s)
    voices = await _found(f"{base}/v1/audio/voices", upstream, limit_s)
    return ServerFacts(_models_in(listed), voices_in(voices))


async def learn_rate(url: str, upstream: Upstream, patience: Patience, model: str, info: EndpointInfo) -> int | None:
    """Have the server speak a word as WAV, whose header says the rate. Raises PredictorFailed, Busy, BadRequest."""
    body = {"input": _WARM_UP_TEXT, "response_format": "wav", "stream": False}
    if model:
        body["model"] = model
    if info.voices:
        body["voice"] = info.voices[0].name
    sent, headers = json.dumps(body).encode(), {"Content-Type": "application/json"}
    async with upstream.request("POST", url, patience, body=sent, headers=headers) as reply:
        clip = await reply.whole()
    if not clip.startswith(b"RIFF"):
        return None
    reader = SoundReader(0)
    samples = np.concatenate((reader.feed(clip), reader.finish()))
    if not len(samples):
        raise PredictorFailed("The predictor gave no sound.")
    return reader.rate_hz


def language_for(model: str, language: str) -> str:
    """The language in the words of the model: OmniVoice's ids, Qwen3-TTS's English names, BCP 47 for all others."""
    name = model.lower()
    if "omnivoice" in name:
        found = find_language(language)
        return found.id if found else language
    if "qwen" in name:
        found = find_language(language)
        return found.name if found and found.name in _QWEN_LANGUAGES else "Auto"
    return language


async def _found(url: str, upstream: Upstream, limit_s: float) -> Any:
    """The JSON behind a URL; None where the server has no such path, or something else there."""
    try:
        return json.loads(await upstream.get(url, limit_s))
    except (Missing, BadRequest, ValueError, RecursionError):
        return None


def _models_in(listed: Any) -> tuple[str, ...]:
    entries = listed.get("data") if isinstance(listed, Mapping) else None
    names = (entry.get("id") for entry in entries or () if isinstance(entry, Mapping))
    return tuple(name for name in names if isinstance(name, str) and name)
