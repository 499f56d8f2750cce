"""A voice described by OmniVoice's closed vocabulary: one choice a category."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from ..errors import BadRequest, UnsupportedLanguage
from ..languages import find_language
from .catalog import VoiceEntry

__all__ = ["CATEGORIES", "Design", "Nearest", "nearest_voice", "parse_design"]

CATEGORIES: dict[str, tuple[str, ...]] = {
    "gender": ("male", "female"),
    "age": ("child", "teenager", "young adult", "middle-aged", "elderly"),
    "pitch": ("very low pitch", "low pitch", "moderate pitch", "high pitch", "very high pitch"),
    "style": ("whisper",),
    "accent": tuple(
        f"{country} accent"
        for country in (
            "american",
            "british",
            "australian",
            "canadian",
            "indian",
            "chinese",
            "korean",
            "japanese",
            "portuguese",
            "russian",
        )
    ),
    "dialect": tuple(
        f"{place}话"
        for place in ("河南", "陕西", "四川", "贵州", "云南", "桂林", "济南", "石家庄", "甘肃", "宁夏", "青岛", "东北")
    ),
}
"""Every choice, by category; `accent` is for English text, `dialect` for Chinese."""

_CHINESE = {
    "男": "male",
    "女": "female",
    "儿童": "child",
    "少年": "teenager",
    "青年": "young adult",
    "中年": "middle-aged",
    "老年": "elderly",
    "极低音调": "very low pitch",
    "低音调": "low pitch",
    "中音调": "moderate pitch",
    "高音调": "high pitch",
    "极高音调": "very high pitch",
    "耳语": "whisper",
}
_SEPARATORS = re.compile("[,，、;；]")
_LIMIT_CHARACTERS = 500

# What the voices of Kokoro are like beyond their gender and accent.
_TRAITS = {
    "af_nicole": {"whisper"},
    "am_onyx": {"low pitch", "very low pitch"},
    "am_santa": {"elderly"},
    "em_santa": {"elderly"},
    "pm_santa": {"elderly"},
    "bm_lewis": {"low pitch"},
    "bm_george": {"middle-aged"},
    "af_sky": {"young adult", "high pitch"},
    "am_puck": {"young adult"},
}
_WEIGHTS = {"gender": 8.0, "accent": 4.0, "style": 3.0, "age": 1.5, "pitch": 1.5}
_REGIONS = {"american accent": "us", "british accent": "gb", "australian accent": "au", "indian accent": "in"}


@dataclass(frozen=True, slots=True)
class Design:
    """What a voice shall be like: at most one word a category, in the vocabulary's order."""

    choices: tuple[tuple[str, str], ...]

    @property
    def instruct(self) -> str:
        """The design as OmniVoice reads it; Chinese once a dialect is in it, for the two languages cannot mix."""
        if any(category == "dialect" for category, _ in self.choices):
            chinese = {english: word for word, english in _CHINESE.items()}
            return "，".join(chinese.get(choice, choice) for _, choice in self.choices)
        return ", ".join(choice for _, choice in self.choices)


@dataclass(frozen=True, slots=True)
class Nearest:
    """The voice that comes closest to a design, what it fulfils of it, and what it cannot."""

    voice: VoiceEntry
    met: tuple[str, ...]
    missed: tuple[str, ...]


def parse_design(instruct: str, language: str | None = None) -> Design:
    """Read a comma-separated design, English or Chinese. Raises BadRequest with the nearest words of the vocabulary.

    An accent asks for English text, a dialect for Chinese, where the text's language is told.
    """
    if len(instruct) > _LIMIT_CHARACTERS:
        raise BadRequest(f"instruct may have {_LIMIT_CHARACTERS} characters.", param="instruct")
    chosen: dict[str, str] = {}
    for word in (piece.strip() for piece in _SEPARATORS.split(instruct)):
        if not word:
            continue
        choice = _CHINESE.get(word, word.lower())
        category = _categories().get(choice)
        if category is None:
            raise BadRequest(f"instruct: {word[:40]!r} is not in the vocabulary.{_near(choice)}", param="instruct")
        if chosen.setdefault(category, choice) != choice:
            message = f"instruct: one {category} at most, not both {chosen[category]!r} and {choice!r}."
            raise BadRequest(message, param="instruct")
    if "accent" in chosen and "dialect" in chosen:
        raise BadRequest("instruct: an accent and a dialect cannot be mixed.", param="instruct")
    _check_language(chosen, language)
    return Design(tuple((category, chosen[category]) for category in CATEGORIES if category in chosen))


def nearest_voice(design: Design, voices: Iterable[VoiceEntry], language: str | None = None) -> Nearest:
    """The voice that is ready, speaks the language and fulfils most. Raises UnsupportedLanguage where none speaks it."""
    wanted = find_language(language) if language else find_language("en")
    able = [v for v in voices if v.ready and find_language(v.language) == wanted]
    if not able:
        raise UnsupportedLanguage(f"No voice here speaks {language!r}.", param="language")
    best = max(able, key=lambda voice: sum(_WEIGHTS[c] for c, choice in design.choices if _fits(voice, c, choice)))
    met = tuple(choice for category, choice in design.choices if _fits(best, category, choice))
    missed = tuple(choice for category, choice in design.choices if not _fits(best, category, choice))
    return Nearest(best, met, missed)


def _fits(voice: VoiceEntry, category: str, choice: str) -> bool:
    if category == "gender":
        return voice.gender == choice
    if category == "accent":
        return voice.language.lower().split("-")[1:2] == [_REGIONS.get(choice, "")]
    return choice in _TRAITS.get(voice.name, ())


def _check_language(chosen: dict[str, str], language: str | None) -> None:
    spoken = find_language(language) if language else None
    if spoken is None:
        return
    if "accent" in chosen and spoken.id != "en":
        raise BadRequest("instruct: accents are for English text.", param="instruct")
    if "dialect" in chosen and spoken.id != "zh":
        raise BadRequest("instruct: dialects are for Chinese text.", param="instruct")


@cache
def _categories() -> dict[str, str]:
    return {choice: category for category, choices in CATEGORIES.items() for choice in choices}


def _near(word: str) -> str:
    near = difflib.get_close_matches(word[:64], [*_categories(), *_CHINESE], n=3, cutoff=0.5)
    return f" Did you mean {' or '.join(near)}?" if near else ""
