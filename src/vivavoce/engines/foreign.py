"""Spelling of other languages becomes phonemes, through espeak-ng, in the alphabet of Kokoro."""

from __future__ import annotations

import re
from collections.abc import Sequence

from . import espeak_program
from .base import Ipa, Phrase
from .ipa import has_sounds, untied
from .reading import Reading, WordSymbols

__all__ = ["ForeignReader"]

_WORD = re.compile(r"""[^\s,;:.!?…—–()\[\]{}"“”„«»‹›¿¡।॥|/\\<>*_~]+""")
_PUNCTUATION = {"«": "“", "»": "”", "„": "“", "।": ".", "॥": ".", "–": "—", '"': '"', "(": "(", ")": ")"}
_PUNCTUATION |= {mark: mark for mark in ",;:.!?…—“”"}
_CLAUSE_MARKS = frozenset(",;:.!?…—")
_LANGUAGE_SWITCH = re.compile(r"\([^)]*\)")

Word = tuple[int, int, str]


class ForeignReader:
    """Reads phrases in one of espeak-ng's languages; stateless, so safe to share between threads."""

    def __init__(self, espeak_voice: str) -> None:
        self._voice = espeak_voice

    def read(self, phrase: Phrase) -> Reading:
        """Say how a phrase sounds, with the span of every word. Raises VoiceNotInstalled, PredictorFailed."""
        words = [_stripped(match.start(), match.group()) for match in _WORD.finditer(phrase.text)]
        words = [word for word in words if any(c.isalnum() for c in word[2])]
        sounds = self._sounds(phrase, words)
        symbols: list[str] = []
        placed: list[WordSymbols] = []
        length = cursor = 0
        for (start, end, _), sound in zip(words, sounds, strict=True):
            before = _between(phrase.text[cursor:start], first=not placed)
            symbols += [before, sound]
            length += len(before)
            if sound:
                placed.append(WordSymbols(start, end, length, length + len(sound)))
            length += len(sound)
            cursor = end
        symbols.append(_between(phrase.text[cursor:], first=not placed).rstrip())
        return Reading("".join(symbols), tuple(placed))

    def _sounds(self, phrase: Phrase, words: Sequence[Word]) -> list[str]:
        clauses = _clauses(phrase.text, words)
        lines = espeak_program.phonemes([" ".join(word[2] for word in clause) for clause in clauses], self._voice)
        spoken = [_clean(line).split() for line in lines]
        if [len(line) for line in spoken] == [len(clause) for clause in clauses]:
            sounds = [sound for line in spoken for sound in line]
        else:
            sounds = self._one_by_one(words)
        said = [(_override(phrase.ipa, word), sound) for word, sound in zip(words, sounds, strict=True)]
        return [sound if asked is None else asked for asked, sound in said]

    def _one_by_one(self, words: Sequence[Word]) -> list[str]:
        """Espeak joined or split words, so each is read alone; what it breaks up even then is read in a call of its own."""
        lines = espeak_program.phonemes([word[2] for word in words], self._voice)
        if len(lines) != len(words):
            lines = [" ".join(espeak_program.phonemes([word[2]], self._voice)) for word in words]
        return [_clean(line) for line in lines]


def _stripped(start: int, text: str) -> Word:
    left = len(text) - len(text.lstrip("'’‘-"))
    text = text.strip("'’‘-") or text
    return start + left, start + left + len(text), text


def _clauses(text: str, words: Sequence[Word]) -> list[list[Word]]:
    clauses: list[list[Word]] = []
    cursor = -1
    for word in words:
        if cursor < 0 or any(mark in _PUNCTUATION for mark in text[cursor : word[0]]):
            clauses.append([])
        clauses[-1].append(word)
        cursor = word[1]
    return clauses


def _between(text: str, *, first: bool) -> str:
    """The punctuation and the space between two words."""
    marks = "".join(_PUNCTUATION.get(character, "") for character in text)
    if first:
        return marks.lstrip("".join(_CLAUSE_MARKS))
    opening = len(marks) - len(marks.rstrip("(“"))
    closing = marks[: len(marks) - opening] if opening else marks
    return closing + " " + (marks[len(marks) - opening :] if opening else "")


def _clean(line: str) -> str:
    return untied(_LANGUAGE_SWITCH.sub("", line))


def _override(overrides: Sequence[Ipa], word: Word) -> str | None:
    """The sound asked for; it is said with the first of the words that it stands for, and the others are silent."""
    start, end, _ = word
    for ipa in overrides:
        if ipa.start <= start and end <= ipa.end:
            said = untied(ipa.symbols.strip("/[] "))
            if has_sounds(said):
                return said if start == ipa.start else ""
    return None
