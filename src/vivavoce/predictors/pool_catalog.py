"""Which voices a pool of predictors has, as far as they tell."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from ..engines.aliases import ANY_MODEL, KOKORO_LANGUAGES
from ..engines.base import Voice
from ..engines.catalog import ModelEntry, VoiceEntry
from ..errors import UnknownModel, UnknownVoice, UnsupportedLanguage
from ..languages import Language, find_language
from .info import EndpointInfo, RemoteVoice, first_of, tongue_of

__all__ = ["PoolCatalog", "PoolChoice"]

_SHOWN_CHARACTERS = 64
_LONGEST_TAG = 3


@dataclass(frozen=True, slots=True)
class PoolChoice:
    """A voice of the pool (its name is empty where the predictor shall choose) and the text's language."""

    voice: Voice
    language: str


class Told(Protocol):
    """What one predictor of a pool has told."""

    @property
    def info(self) -> EndpointInfo:
        """About itself."""
        ...

    @property
    def state(self) -> str:
        """Its health."""
        ...


class KnownPool(Protocol):
    """A pool that can be asked who is in it."""

    @property
    def endpoints(self) -> Sequence[Told]:
        """Every predictor, ready or not."""
        ...


class PoolCatalog:
    """Finds voices among those that the predictors of a pool tell.

    Where one of them tells none, any name may be its voice and is passed on, and a request that names none is left to
    the predictor; where one tells no languages, any of OmniVoice's 646 may be spoken.
    """

    def __init__(self, pool: KnownPool, model: str) -> None:
        self._pool = pool
        self._model = model

    def resolve(self, voice: str | None, model: str | None, language: str | None) -> PoolChoice:
        """Who is meant. Raises UnknownModel, UnknownVoice, UnsupportedLanguage."""
        self._check_model(model)
        wanted = (voice or "").strip()
        tag = self._tag(language)
        infos = self._infos()
        if not wanted:
            return _unnamed(infos, tag or "en")
        found = _find(wanted.lower(), infos)
        if found is None:
            if infos and all(info.voices for info in infos):
                near = _near(wanted.lower(), {name for info in infos for name in info.names})
                raise UnknownVoice(f"No predictor has a voice called {_shown(wanted)}.{near}", param="voice")
            return PoolChoice(Voice(wanted, tag or "en"), tag or "en")
        spoken = Voice(found.name, found.language or tag or "en", found.gender, found.description)
        return PoolChoice(spoken, tag or spoken.language)

    def cast(self, voice: str | None, language: str) -> str:
        """The real name of a voice that markup asks for. Raises as `resolve` does."""
        return self.resolve(voice, None, language).voice.name

    def voices(self) -> tuple[VoiceEntry, ...]:
        """Every voice that was told, once."""
        entries: dict[str, VoiceEntry] = {}
        for info in self._infos():
            for voice in info.voices:
                entries.setdefault(voice.name.lower(), _entry(voice, info.model))
        return tuple(entries.values())

    def models(self) -> tuple[ModelEntry, ...]:
        """The pool's model, those that its predictors name, and the names that clients of OpenAI send."""
        infos = self._infos()
        names = dict.fromkeys([self._model, *(info.model for info in infos if info.model), *ANY_MODEL])
        count = len(self.voices())
        return tuple(ModelEntry(name, "" if name in ANY_MODEL else name, count, bool(infos)) for name in names)

    def languages(self) -> dict[str, int]:
        """The tags of what can be spoken now, each with the number of voices that were told for it."""
        counts = Counter(entry.language for entry in self.voices() if entry.language)
        for info in self._infos():
            counts.update(dict.fromkeys(info.languages, 0))
        return dict(counts)

    @property
    def designs(self) -> bool:
        """Whether a predictor of the pool follows a voice's design."""
        return any(info.design for info in self._infos())

    def _infos(self) -> list[EndpointInfo]:
        """Of those that are ready, or of all while none is: a pool that restarts has not lost its voices."""
        ready = [one.info for one in self._pool.endpoints if one.state in ("ready", "slow_start")]
        return ready or [one.info for one in self._pool.endpoints]

    def _check_model(self, model: str | None) -> None:
        wanted = (model or "").strip().lower()
        if wanted and wanted not in (known := [entry.name.lower() for entry in self.models()]):
            raise UnknownModel(f"No model is called {_shown(wanted)}.{_near(wanted, known)}", param="model")

    def _tag(self, language: str | None) -> str | None:
        wanted = (language or "").strip().replace("_", "-")
        if not wanted or wanted.lower() == "auto":
            return None
        wanted = KOKORO_LANGUAGES.get(wanted.lower(), wanted)
        infos = self._infos()
        tags = [voice.language for info in infos for voice in info.voices if voice.language]
        tags += [tag for info in infos for tag in info.languages]
        known = find_language(wanted)
        told = {tongue_of(tag): tag for tag in reversed(tags)}
        if (theirs := told.get(tongue_of(wanted))) is not None:
            return _as_told(wanted, known, theirs, {first_of(tag) for tag in tags})
        if infos and all(info.languages for info in infos):
            raise UnsupportedLanguage(f"No predictor speaks {_shown(wanted)}.", param="language")
        if known is None:
            raise UnsupportedLanguage(f"{_shown(wanted)} is none of the 646 languages.", param="language")
        # A name such as "Cantonese" is no tag; a region is kept, for the text's own rules read it.
        return wanted if len(wanted.partition("-")[0]) <= _LONGEST_TAG else known.id


def _as_told(wanted: str, known: Language | None, theirs: str, told: set[str]) -> str:
    """A language by a tag that its predictor understands: the wanted one, with its region, where that is told."""
    if first_of(wanted) in told:
        return wanted
    return known.id if known is not None and known.id in told else theirs


def _unnamed(infos: Sequence[EndpointInfo], language: str) -> PoolChoice:
    """One voice for the whole utterance where every predictor tells its voices: one that they share, if they do."""
    tongue = tongue_of(language)
    if infos and all(info.voices for info in infos):
        able = [voice for info in infos for voice in info.voices if tongue_of(voice.language) == tongue]
        shared = [voice for voice in able if all(voice.name.lower() in info.names for info in infos)]
        for voice in (*shared, *able):
            return PoolChoice(Voice(voice.name, voice.language, voice.gender, voice.description), language)
    return PoolChoice(Voice("", language), language)


def _find(name: str, infos: Iterable[EndpointInfo]) -> RemoteVoice | None:
    for info in infos:
        if name in info.names:
            return next(v for v in info.voices if name in (v.name.lower(), *(alias.lower() for alias in v.aliases)))
    return None


def _entry(voice: RemoteVoice, model: str) -> VoiceEntry:
    return VoiceEntry(
        name=voice.name,
        engine=model,
        language=voice.language,
        gender=voice.gender,
        description=voice.description,
        aliases=voice.aliases,
        ready=True,
        hint="",
    )


def _near(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name[:_SHOWN_CHARACTERS], list(known), n=3, cutoff=0.5)
    return f" Did you mean {' or '.join(near)}?" if near else ""


def _shown(name: str) -> str:
    return repr(name if len(name) <= _SHOWN_CHARACTERS else name[:_SHOWN_CHARACTERS] + "…")
