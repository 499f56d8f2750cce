"""Which voice is meant, and whether it can be spoken: never another voice in silence."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..clock import Clock, MonotonicClock
from ..errors import UnknownModel, UnknownVoice, UnsupportedLanguage, VoiceNotInstalled
from ..languages import find_language
from .aliases import ANY_MODEL, KOKORO_LANGUAGES, MODEL_ALIASES, VOICE_ALIASES, VOICE_ALIASES_OF
from .base import Engine, Voice

__all__ = ["USUAL_THREADS", "Catalog", "ModelEntry", "Selection", "VoiceEntry", "default_catalog"]

# Speech for one listener: hibari needs no second core, and Kokoro waits half as long with one.
USUAL_THREADS = {"hibari": 1, "kokoro": 2}

_LISTED_MAX = 8
_LONGEST_TAG = 3
_KNOWN_MAX, _KNOWN_MS = 256, 1000.0
# OpenAI also names its models with the day of their snapshot.
_DATE = re.compile(r"-\d{4}(-\d{2}-\d{2})?$")


@dataclass(frozen=True, slots=True)
class Selection:
    """The engine that speaks, the voice, and the language of the text (a BCP 47 tag)."""

    engine: Engine
    voice: Voice
    language: str


@dataclass(frozen=True, slots=True)
class VoiceEntry:
    """A line of `vivavoce voices`; `hint` says how to get a voice that is not `ready`, and is empty otherwise."""

    name: str
    engine: str
    language: str
    gender: str
    description: str
    aliases: tuple[str, ...]
    ready: bool
    hint: str


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """A model name that a request may carry. `engine` is empty where it means whichever engine has the voice."""

    name: str
    engine: str
    voices: int
    ready: bool


class Catalog:
    """Every engine of this process, in order of preference."""

    def __init__(self, engines: Iterable[Engine], clock: Clock | None = None) -> None:
        self.engines: tuple[Engine, ...] = tuple(engines)
        self._clock = clock or MonotonicClock()
        self._known: dict[tuple[str | None, str | None, str | None], tuple[Selection, float]] = {}

    def engine_of(self, voice: str) -> Engine:
        """The engine that has the voice of that exact name. Raises UnknownVoice."""
        for engine in self.engines:
            if any(known.name == voice for known in engine.voices()):
                return engine
        raise self._unknown_voice(voice, self.engines)

    def resolve(self, voice: str | None, model: str | None, language: str | None) -> Selection:
        """Find the voice that a request means.

        Names are those of voices, of OpenAI's voices and of models, in any case. Without a voice it is the best one
        that is ready for the language, without a language the voice's own. Raises UnknownModel, UnknownVoice,
        UnsupportedLanguage, VoiceNotInstalled. An answer holds for a second before the disk is asked again; an error is
        never kept, so that a voice that was just pulled speaks at once.
        """
        asked, now_ms = (voice, model, language), self._clock.now_ms()
        selection, until_ms = self._known.get(asked, (None, now_ms))
        if selection is None or until_ms <= now_ms:
            selection = self._resolved(voice, model, language)
            if len(self._known) >= _KNOWN_MAX:
                self._known.clear()
            self._known[asked] = selection, now_ms + _KNOWN_MS
        return selection

    def cast(self, voice: str | None, language: str) -> str:
        """The real name of the voice that markup asks for in the midst of a text. Raises as `resolve` does."""
        return self.resolve(voice, None, language).voice.name

    def _resolved(self, voice: str | None, model: str | None, language: str | None) -> Selection:
        engines = self._engines_for(model)
        tag = _tag(language)
        if not voice or not voice.strip():
            return self._default(engines, tag or "en")
        engine, found = self._find(voice.strip(), engines)
        if tag is not None and not engine.speaks(found.name, tag):
            raise self._unspoken(tag, found)
        if found not in engine.ready_voices():
            raise VoiceNotInstalled(
                f"The voice {found.name!r} is not on this machine. {_hint(engine, found.name)}", param="voice"
            )
        return Selection(engine, found, tag or found.language)

    def voices(self) -> tuple[VoiceEntry, ...]:
        """Every voice, whether it is ready, and how to get it where it is not."""
        entries = []
        for engine in self.engines:
            ready = {voice.name for voice in engine.ready_voices()}
            for voice in engine.voices():
                entries.append(
                    VoiceEntry(
                        name=voice.name,
                        engine=engine.name,
                        language=voice.language,
                        gender=voice.gender,
                        description=voice.description,
                        aliases=tuple(alias for alias, name in VOICE_ALIASES.items() if name == voice.name),
                        ready=voice.name in ready,
                        hint="" if voice.name in ready else _hint(engine, voice.name),
                    )
                )
        return tuple(entries)

    def languages(self) -> dict[str, int]:
        """The tags of the languages that can be spoken now, each with its number of voices."""
        return dict(Counter(voice.language for engine in self.engines for voice in engine.ready_voices()))

    @property
    def designs(self) -> bool:
        """No engine of this process designs voices."""
        return False

    def models(self) -> tuple[ModelEntry, ...]:
        """Every model name that a request may carry."""
        own = [ModelEntry(e.name, e.name, len(e.voices()), bool(e.ready_voices())) for e in self.engines]
        total, any_ready = sum(entry.voices for entry in own), any(entry.ready for entry in own)
        return (*own, *(ModelEntry(name, "", total, any_ready) for name in ANY_MODEL))

    def _engines_for(self, model: str | None) -> Sequence[Engine]:
        wanted = (model or "").strip().lower()
        if not wanted or _DATE.sub("", wanted) in ANY_MODEL:
            return self.engines
        wanted = MODEL_ALIASES.get(wanted, wanted)
        named = [engine for engine in self.engines if engine.name == wanted]
        if not named:
            known = [*(engine.name for engine in self.engines), *ANY_MODEL]
            raise UnknownModel(f"No model is called {_shown(wanted)}.{_near(wanted, known)}", param="model")
        return named

    def _find(self, name: str, engines: Sequence[Engine]) -> tuple[Engine, Voice]:
        wanted = name.lower()
        names = [wanted, VOICE_ALIASES.get(wanted, wanted)]
        if len(engines) == 1:
            names.insert(0, VOICE_ALIASES_OF.get(engines[0].name, {}).get(wanted, wanted))
        for candidate in names:
            for engine in engines:
                for voice in engine.voices():
                    if voice.name.lower() == candidate:
                        return engine, voice
        raise self._unknown_voice(name, engines)

    def _default(self, engines: Sequence[Engine], tag: str) -> Selection:
        spoken = [(e, v) for e in engines for v in e.voices() if e.speaks(v.name, tag)]
        if not spoken:
            raise self._unspoken(tag, None)
        names = {voice.name for engine in engines for voice in engine.ready_voices()}
        ready = [(e, v) for e, v in spoken if v.name in names]
        if not ready:
            raise VoiceNotInstalled(
                f"No voice for {tag!r} is on this machine. {_hint(spoken[0][0], spoken[0][1].name)}", param="language"
            )
        same_region = [(e, v) for e, v in ready if v.language.lower() == tag.lower() and "-" in tag]
        engine, voice = (same_region or ready)[0]
        return Selection(engine, voice, tag)

    def _unspoken(self, tag: str, voice: Voice | None) -> UnsupportedLanguage:
        others = [v.name for e in self.engines for v in e.voices() if e.speaks(v.name, tag)]
        if not others:
            return UnsupportedLanguage(
                f"No engine here speaks {_shown(tag)}.{_note(self.engines, tag)}", param="language"
            )
        listed = ", ".join(others[:_LISTED_MAX]) + (", …" if len(others) > _LISTED_MAX else "")
        subject = f"The voice {voice.name!r}" if voice else "That model"
        return UnsupportedLanguage(
            f"{subject} does not speak {tag!r}. Voices that do: {listed}.{_note(self.engines, tag)}", param="language"
        )

    def _unknown_voice(self, name: str, engines: Sequence[Engine]) -> UnknownVoice:
        known = [voice.name for engine in engines for voice in engine.voices()]
        known += [alias for alias, target in VOICE_ALIASES.items() if target in known]
        note = _note(engines, name.lower()) or _near(name.lower(), known)
        of = f" of the model {engines[0].name!r}" if len(engines) < len(self.engines) else ""
        return UnknownVoice(f"No voice{of} is called {_shown(name)}.{note}", param="voice")


def default_catalog(
    *, threads: int = USUAL_THREADS["hibari"], kokoro_threads: int = USUAL_THREADS["kokoro"]
) -> Catalog:
    """hibari, Kokoro and espeak-ng, in that order; nothing is loaded yet."""
    from .espeak import Espeak
    from .hibari import Hibari
    from .kokoro import Kokoro

    return Catalog([Hibari(threads=threads), Kokoro(threads=kokoro_threads), Espeak()])


def _tag(language: str | None) -> str | None:
    """A language as a BCP 47 tag: `EN_gb` is `en-GB`, Kokoro's `b` too, `German` is `de`; `auto`, nothing are None."""
    wanted = (language or "").strip().replace("_", "-")
    if not wanted or wanted.lower() == "auto":
        return None
    if wanted.lower() in KOKORO_LANGUAGES:
        return KOKORO_LANGUAGES[wanted.lower()]
    first, *rest = wanted.split("-")
    if len(first) > _LONGEST_TAG and (named := find_language(wanted)) is not None:
        return named.id
    return "-".join([first.lower(), *(part.upper() if len(part) == 2 else part for part in rest)])


def _hint(engine: Engine, voice: str) -> str:
    hint = getattr(engine, "hint", None)
    return str(hint(voice)) if hint else ""


def _note(engines: Iterable[Engine], wanted: str) -> str:
    notes = (str(engine.note(wanted)) for engine in engines if hasattr(engine, "note"))
    return "".join(f" {note}" for note in notes if note)


def _near(name: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(name[:64], known, n=3, cutoff=0.5)
    return f" Did you mean {' or '.join(near)}?" if near else " `vivavoce voices` lists what there is."


def _shown(name: str) -> str:
    return repr(name if len(name) <= 64 else name[:64] + "…")
