"""What each language writes with a dot that ends nothing, and how its sentences begin."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Any

from .split_marks import BREAKS, BULLETS, CLAUSE_MARKS, FIRM, MARKS, PARTNERS

__all__ = ["SentenceRules", "sentence_rules"]

_ALIASES = {"cmn": "zh", "yue": "zh", "nb": "no", "nn": "no", "iw": "he", "in": "id", "sh": "hr", "bs": "hr"}
_KINDS = ("never", "before_number", "number_or_word", "ending", "closing", "clock", "general", "inner", "measure")
_SETS = ("starters", "months", "fronting", "after_clock", "saying", "open_words", "brands", "vowelless", "never_starts")


@dataclass(frozen=True, slots=True)
class SentenceRules:
    """How one language ends its sentences.

    `kinds` maps an abbreviation without its last dot to when it ends a sentence: `never`; `before_number` not before a
    number or a small letter; `number_or_word` not before a number; `ending` and `general` before a word that begins
    sentences; `closing` before any capital; `clock` where the time does not go on; `inner` not before a small letter or
    a number; `measure` like it, behind a number only. A lower-case entry holds for any case.
    """

    language: str
    kinds: dict[str, str]
    starters: frozenset[str]
    months: frozenset[str]
    fronting: frozenset[str]
    after_clock: frozenset[str]
    saying: frozenset[str]
    open_words: frozenset[str]
    brands: frozenset[str]
    vowelless: frozenset[str]
    never_starts: frozenset[str]
    lower_starts: bool
    ordinals: bool
    nouns_capital: bool
    consonants_abbreviate: bool
    inline_code: bool
    soft_dot: bool
    extra_stops: str
    candidate: re.Pattern[str]
    eager_candidate: re.Pattern[str]


def sentence_rules(language: str) -> SentenceRules:
    """Give the rules of a BCP 47 tag; a language that has none of its own gets the common ones."""
    primary = language.replace("_", "-").split("-", 1)[0].lower()
    return _load(_ALIASES.get(primary, primary))


@lru_cache(maxsize=64)
def _load(language: str) -> SentenceRules:
    folder = resources.files(__package__) / "sentence_rules"
    common = tomllib.loads((folder / "common.toml").read_text(encoding="utf-8"))
    own: dict[str, Any] = {}
    if re.fullmatch(r"[a-z]{2,3}", language) and (file := folder / f"{language}.toml").is_file():
        own = tomllib.loads(file.read_text(encoding="utf-8"))
    kinds = {word: kind for source in (common, own) for kind in _KINDS for word in source.get(kind, "").split()}
    sets = {name: frozenset((common.get(name, "") + " " + own.get(name, "")).split()) for name in _SETS}
    extra = own.get("extra_stops", "")
    spaces = " " if own.get("spaced_by_phrase", False) else ""
    return SentenceRules(
        language=language,
        kinds=kinds,
        lower_starts=own.get("lower_starts", False),
        ordinals=own.get("ordinals", False),
        nouns_capital=own.get("nouns_capital", False),
        consonants_abbreviate=own.get("consonants_abbreviate", False),
        inline_code=own.get("inline_code", True),
        soft_dot=own.get("soft_dot", False),
        extra_stops=extra,
        candidate=_candidates(extra + spaces),
        eager_candidate=_candidates(extra + spaces + CLAUSE_MARKS + "—"),
        **sets,
    )


def _candidates(more: str) -> re.Pattern[str]:
    """Every character that may end a sentence or keeps it together; a dot inside a word or number is passed over."""
    nesting = "".join(PARTNERS) + "".join(PARTNERS.values())
    listed = re.escape("".join(dict.fromkeys(f".…‥{MARKS}{FIRM}{BREAKS}{BULLETS}{nesting}`~<፡{more}")))
    return re.compile(rf"[{listed}](?:(?<!\.)|(?![a-z0-9_]))")
