"""What a predictor tells about itself."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from ..engines.aliases import KOKORO_LANGUAGES
from ..engines.espeak_languages import SAME
from ..languages import find_language

__all__ = ["EndpointInfo", "RemoteVoice", "first_of", "tongue_of", "voices_in"]

_MAX_VOICES = 5_000
_MAX_NAME = 200
_KOKORO = re.compile(r"([abefhijpz])([fm])_\w+")
_GENDERS = {"f": "female", "m": "male"}


@dataclass(frozen=True, slots=True)
class RemoteVoice:
    """A voice that a predictor has; only `name` is always known. `language` is a BCP 47 tag."""

    name: str
    language: str = ""
    gender: str = ""
    description: str = ""
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True)
class EndpointInfo:
    """What is known of a predictor; everything may be unknown.

    Without `voices` it takes any name, without `languages` any language; `design` means that it follows `instruct`.
    `slots` and `streams` are None where it does not tell them.
    """

    voices: tuple[RemoteVoice, ...] = ()
    languages: tuple[str, ...] = ()
    design: bool = False
    model: str = ""
    node: str = ""
    tier: str = ""
    slots: int | None = None
    streams: int | None = None

    @cached_property
    def names(self) -> frozenset[str]:
        """Every name that its voices answer to, in lower case."""
        return frozenset(name.lower() for voice in self.voices for name in (voice.name, *voice.aliases))

    @cached_property
    def tongues(self) -> frozenset[str]:
        """Its languages, each under one name."""
        return frozenset(tongue_of(tag) for tag in self.languages)

    def speaks(self, voice: str, language: str = "") -> bool:
        """Whether a job in that voice can be its own; no voice means whichever it has."""
        if voice and self.names and voice.lower() not in self.names:
            return False
        return bool(voice and self.names) or not language or not self.tongues or tongue_of(language) in self.tongues


@lru_cache(maxsize=4_096)
def tongue_of(language: str) -> str:
    """One name for a language, whichever of its tags, codes or names is given: zh, cmn and Chinese are the same."""
    first = first_of(language)
    known = find_language(SAME.get(first, language))
    return first if known is None else known.id


def voices_in(listed: Any) -> tuple[RemoteVoice, ...]:
    """The voices in a list of any shape that servers use: names, or objects; alone or under `voices` or `data`."""
    if isinstance(listed, Mapping):
        groups = [listed.get(key) for key in ("voices", "uploaded_voices", "data")]
        entries = [entry for group in groups if isinstance(group, list) for entry in group]
    else:
        entries = listed if isinstance(listed, list) else []
    return _without_twins(voice for voice in map(_voice, entries[:_MAX_VOICES]) if voice is not None)


def _without_twins(voices: Iterable[RemoteVoice]) -> tuple[RemoteVoice, ...]:
    return tuple({voice.name.lower(): voice for voice in reversed(list(voices))}.values())[::-1]


def _voice(entry: Any) -> RemoteVoice | None:
    if isinstance(entry, str):
        entry = {"name": entry}
    if not isinstance(entry, Mapping):
        return None
    # speaches calls the id of a voice `voice_id`, Kokoro-FastAPI `id`; where both id and name stand, the id is sent.
    names = (entry.get(key) for key in ("voice_id", "id", "name", "voice"))
    name = next((found for found in names if isinstance(found, str) and 0 < len(found) <= _MAX_NAME), "")
    if not name:
        return None
    language, gender = _kokoro(name)
    aliases = entry.get("aliases")
    return RemoteVoice(
        name,
        _text(entry, "language") or language,
        _text(entry, "gender") or gender,
        _text(entry, "description") or _text(entry, "speaker_description"),
        tuple(alias for alias in aliases if isinstance(alias, str)) if isinstance(aliases, list) else (),
    )


def _kokoro(name: str) -> tuple[str, str]:
    """The language and the gender that a name of Kokoro's says, as in `af_heart`."""
    match = _KOKORO.fullmatch(name)
    return (KOKORO_LANGUAGES[match[1]], _GENDERS[match[2]]) if match else ("", "")


def _text(entry: Mapping[str, Any], key: str) -> str:
    value = entry.get(key)
    return value if isinstance(value, str) else ""


def first_of(tag: str) -> str:
    """The first subtag, in lower case."""
    return tag.lower().replace("_", "-").partition("-")[0]
