"""A segment's words become beats: phrases for a predictor, and rests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ..audio import MAX_SPEED, MIN_SPEED
from ..engines.base import Ipa, Phrase
from ..errors import UnsupportedLanguage
from ..predictors.base import Job
from ..text import Part, Spoken
from .events import Utterance

__all__ = ["Beat", "Resolve", "Rest", "Say", "beats"]

Resolve = Callable[[str | None, str], str]
"""The real voice for a voice (None: whichever fits) and a language that markup asked for."""


@dataclass(frozen=True, slots=True)
class Say:
    """One job, and where its phrase starts in `Spoken.text`."""

    job: Job
    out_start: int


@dataclass(frozen=True, slots=True)
class Rest:
    """An asked-for silence."""

    duration_ms: float


Beat = Say | Rest


def beats(spoken: Spoken, utterance: Utterance, resolve: Resolve | None = None) -> Iterator[Beat]:
    """Cut one segment wherever the voice, the pace or the language changes, and at every asked-for pause.

    Phrases without a letter or a digit are left out: no engine is called for them. Raises UnknownVoice where markup
    names a voice that `resolve` does not know.
    """
    run: list[Part] = []
    for part in spoken.parts:
        if run and (part.pause_ms or _manner(part) != _manner(run[-1])):
            yield from _say(spoken, run, utterance, resolve)
            run = []
        if part.pause_ms:
            yield Rest(part.pause_ms / utterance.speed)
        if part.words:
            run.append(part)
    if run:
        yield from _say(spoken, run, utterance, resolve)


def _manner(part: Part) -> tuple[float, str | None, str | None]:
    return part.rate, part.language, part.voice


def _say(spoken: Spoken, run: list[Part], utterance: Utterance, resolve: Resolve | None) -> Iterator[Say]:
    first, start, end = run[0], run[0].out_start, run[-1].out_end
    text = spoken.text[start:end]
    if not any(character.isalnum() for character in text):
        return
    voice, language = _cast(first, utterance, resolve)
    ipa = tuple(Ipa(part.out_start - start, part.out_end - start, part.ipa) for part in run if part.ipa)
    speed = min(max(utterance.speed * first.rate, MIN_SPEED), MAX_SPEED)
    instruct = utterance.instruct if voice == utterance.voice else ""
    yield Say(Job(Phrase(text, language, ipa), voice, speed, instruct), start)


def _cast(part: Part, utterance: Utterance, resolve: Resolve | None) -> tuple[str, str]:
    """Who reads this part, in which language.

    A language that no engine here speaks is read by the utterance's own voice rather than left out.
    """
    if resolve is None or (part.voice is None and part.language is None):
        return utterance.voice, utterance.language
    language = part.language or utterance.language
    try:
        return resolve(part.voice, language), language
    except UnsupportedLanguage:
        return utterance.voice, utterance.language
