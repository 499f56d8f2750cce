"""Whether a full stop ends its sentence or belongs to an abbreviation, a number or a name."""

from __future__ import annotations

import re

from .abbreviations import SentenceRules
from .split_marks import OPENERS
from .split_stops import NO, WAIT, Stop, begins, next_word, token_before

__all__ = ["VOWELS", "dot_ends"]

_INITIALS = re.compile(r"(?:[^\W\d_]\.-?)+[^\W\d_]|[A-ZÀ-Þ]{2}(?:\.[A-ZÀ-Þ]{2})+")
_SPACED_INITIALS = re.compile(r"(?:(?<!\w)[^\W\d_]\.[ \xa0]?)+$")
_NUMBER = re.compile(r"\d[\d.,'’]*")
_ROMAN = re.compile(r"[IVXLCDM]+")
_NUMERALS = frozenset("IVXLC")
_NEVER_ROMAN = frozenset(("no", "nos", "nr", "tel", "ph", "c", "d", "b", "r", "l"))
_UNITS = frozenset("CFJKLVghlmpst")  # behind a number; `N`, `S`, `E` and `W` are streets there
_APOSTROPHE = re.compile("[’']")
VOWELS = frozenset("aeiouyàáâãäåæèéêëìíîïòóôõöøùúûüýÿœ")


def dot_ends(stop: Stop, spoken: int, rules: SentenceRules) -> int:
    """1 where the full stop ends its sentence, else NO or WAIT; `spoken` is where the next word or number stands."""
    letter = stop.text[spoken]
    if stop.after > stop.run:
        return NO if letter.islower() else 1
    token = _last_part(token_before(stop.text, stop.start, stop.at), rules)
    if not token:
        return NO if letter.islower() else 1
    kind = _kind(stop, token, rules)
    if kind is not None:
        verdict = _abbreviation(stop, kind, token, spoken, rules)
        if verdict != 0:
            return verdict
    if token[0].isdigit() and _NUMBER.fullmatch(token):
        return _number(stop, token, spoken, rules)
    if len(token) == 1 and token.isalpha():
        return _initial(stop, token, spoken, rules)
    if ("." in token and _INITIALS.fullmatch(token)) or (rules.ordinals and _ROMAN.fullmatch(token)):
        return _unless_name(stop, spoken, rules)
    return _word(stop, token, spoken, rules)


def _last_part(token: str, rules: SentenceRules) -> str:
    """`Ing` of `l'Ing`, `Col` of `Lt.-Col`."""
    if "’" in token or "'" in token:
        token = _APOSTROPHE.split(token)[-1] or token
    if "-" in token and token.lower() not in rules.kinds:
        tail = token.rsplit("-", 1)[1]
        return tail if len(tail) > 1 and tail.isalpha() else token
    return token


def _kind(stop: Stop, token: str, rules: SentenceRules) -> str | None:
    key = token.lower()
    if len(token) == 1 and token.isalpha():
        spaced = _SPACED_INITIALS.search(stop.text, max(stop.start, stop.at - 12), stop.at - 1)
        if spaced and (kind := rules.kinds.get("".join(spaced.group().split()).lower() + key)):
            return kind  # `z. B.`
    return rules.kinds.get(token) or rules.kinds.get(key)


def _abbreviation(stop: Stop, kind: str, token: str, spoken: int, rules: SentenceRules) -> int:
    """The verdict of a known abbreviation, or 0 where it is an ordinary word after all."""
    letter = stop.text[spoken]
    if kind == "never":
        return NO
    if kind == "measure":
        if not _counted(stop, token):
            return 0
        kind = "inner"
    if kind == "number_or_word" and letter not in _NUMERALS:
        return NO if letter.isdigit() else 0
    if letter.islower():
        return NO if kind != "number_or_word" else 0
    if kind in ("before_number", "number_or_word") and letter in _NUMERALS and token.lower() not in _NEVER_ROMAN:
        word = next_word(stop, spoken)
        if isinstance(word, int):
            return WAIT
        if (len(word) > 1 or word in "VX") and _ROMAN.fullmatch(word):
            return NO
    if kind in ("before_number", "number_or_word"):
        return NO if letter.isdigit() else 0
    if kind == "closing":
        return NO if letter.isdigit() else 1
    if kind == "inner":
        return NO if letter.isdigit() else 1
    if letter.isdigit():
        return NO if kind != "clock" or _fronted(stop, rules) else 1
    return _clock(stop, spoken, rules) if kind == "clock" else _unless_name(stop, spoken, rules)


def _word(stop: Stop, token: str, spoken: int, rules: SentenceRules) -> int:
    """An ordinary word; one without vowels (`bldg`) is an abbreviation where words have vowels."""
    letter = stop.text[spoken]
    shortened = (
        rules.consonants_abbreviate
        and len(token) > 1
        and token.isascii()
        and token.isalpha()
        and token[1:].islower()
        and VOWELS.isdisjoint(key := token.lower())
        and key not in rules.vowelless
    )
    if not letter.islower():
        return _unless_name(stop, spoken, rules) if shortened and not _counted(stop, token) else 1
    if not rules.lower_starts or shortened or not token[-1].isalpha():
        return NO
    word = next_word(stop, spoken) if rules.never_starts else ""
    return WAIT if isinstance(word, int) else NO if word in rules.never_starts else 1


def _counted(stop: Stop, token: str) -> bool:
    """Whether a number stands in front, as in `5 ft.` it does."""
    at = stop.at - len(token)
    if at - stop.start < 2 or not stop.text[at - 1].isspace():
        return False
    return stop.text[at - 2].isdigit() or stop.text[max(stop.start, at - 5) : at - 1] in (" cu.", " sq.")


def _unless_name(stop: Stop, spoken: int, rules: SentenceRules) -> int:
    """After what may end a sentence and may not: a word that begins sentences decides."""
    letter = stop.text[spoken]
    if letter.isupper():
        return begins(stop, spoken, rules)
    return NO if letter.isdigit() or letter.islower() else 1


def _clock(stop: Stop, spoken: int, rules: SentenceRules) -> int:
    word = next_word(stop, spoken)
    if isinstance(word, int):
        return WAIT
    return NO if word.lower() in rules.after_clock or _fronted(stop, rules) else 1


def _fronted(stop: Stop, rules: SentenceRules) -> bool:
    """Whether the sentence so far only says when, as `At 5 a.m.` does."""
    words = stop.text[stop.start : min(stop.at, stop.start + 60)].strip(OPENERS + " \n").split()
    return 0 < len(words) <= 4 and words[0].lower() in rules.fronting


def _number(stop: Stop, token: str, spoken: int, rules: SentenceRules) -> int:
    """A number; in many languages one with a full stop is an ordinal, as in `3. Mai`."""
    letter = stop.text[spoken]
    if letter.islower():
        return NO
    if not rules.ordinals or len(token) > 2:
        return 1
    if letter.isdigit():
        return NO
    word = next_word(stop, spoken)
    if isinstance(word, int):
        return WAIT
    if word.lower() in rules.months:
        return NO
    if not rules.nouns_capital or word.lower() in rules.starters:
        return 1
    before = token_before(stop.text, stop.start, stop.at - len(token) - 1)
    named = before[:1].isupper() and before.lower() not in rules.starters  # `Satz 1.`, but `Der 1. Satz`
    return 1 if named or not word else NO


def _initial(stop: Stop, letter: str, spoken: int, rules: SentenceRules) -> int:
    following = stop.text[spoken]
    if following.islower() or following.isdigit():
        return NO
    if letter == "I" and rules.language == "en":
        before = token_before(stop.text, stop.start, stop.at - 2)
        if before and not before[:1].isupper():
            return 1
    if letter in _UNITS and _counted(stop, letter):
        return 1
    return begins(stop, spoken, rules) if following.isupper() else NO
