"""Word error rate between what was to be said and what a recognizer wrote.

The normalizer was written before any output was seen. It forgives only what cannot be heard: case, punctuation,
figures against number words, contractions, `OK` against `okay`, British against American spelling, and where a
compound has its space (`river bank`, `riverbank`). A wrong, missing or added word is an error, homophones included.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Errors", "compare", "normalize"]

CONTRACTIONS = (
    (r"\bwon't\b", "will not"),
    (r"\b(can't|cannot)\b", "can not"),
    (r"\bshan't\b", "shall not"),
    (r"n't\b", " not"),
    (r"\blet's\b", "let us"),
    (r"\b(it|he|she|that|what|there|here|where|who|how)'s\b", r"\1 is"),
    (r"'re\b", " are"),
    (r"'ll\b", " will"),
    (r"'ve\b", " have"),
    (r"\bi'm\b", "i am"),
)
SAME_SOUND_OTHER_SPELLING = {
    "ok": "okay",
    "mr": "mister",
    "mrs": "missus",
    "dr": "doctor",
    "st": "saint",
    "neighbour": "neighbor",
    "neighbours": "neighbors",
    "colour": "color",
    "colours": "colors",
    "favourite": "favorite",
    "grey": "gray",
    "centre": "center",
    "theatre": "theater",
    "practise": "practice",
    "practised": "practiced",
    "programme": "program",
    "travelled": "traveled",
    "cancelled": "canceled",
    "jewellery": "jewelry",
    "alright": "all right",
}
CURRENCY = {"$": "dollars", "€": "euros", "£": "pounds"}


def normalize(text: str) -> list[str]:
    """The words of a text as they sound: lower case, figures spelled out, nothing but letters."""
    text = unicodedata.normalize("NFKC", text).lower().replace("’", "'")
    text = re.sub(r"([$€£])\s?(\d[\d,]*(?:\.\d+)?)", lambda found: f"{found[2]} {CURRENCY[found[1]]}", text)
    text = re.sub(r"(?<=\d)\s?%", " percent", text).replace("&", " and ")
    text = re.sub(r"(?<=\d),(?=\d{3}\b)", "", text)
    text = re.sub(r"\b(\d{1,2}):(\d\d)\b", _clock, text)
    text = re.sub(r"\b(\d+)(?:st|nd|rd|th)\b", lambda found: _number(found[1], "ordinal"), text)
    text = re.sub(r"\d+(?:\.\d+)?", lambda found: f" {_number(found[0])} ", text)
    for pattern, words in CONTRACTIONS:
        text = re.sub(pattern, words, text)
    text = "".join(character for character in text if character != "'")
    words = re.findall(r"[^\W\d_]+", text)
    return [word for spelled in words for word in SAME_SOUND_OTHER_SPELLING.get(spelled, spelled).split()]


@dataclass(frozen=True, slots=True)
class Errors:
    """How many of `words` reference words came out wrong: substituted, missing or added."""

    errors: int
    words: int

    @property
    def rate(self) -> float:
        """Errors per reference word."""
        return self.errors / self.words if self.words else float(self.errors > 0)


def compare(reference: str, heard: str) -> Errors:
    """Count the word errors of `heard` against `reference`, both normalized first."""
    words = normalize(reference)
    return Errors(_distance(words, normalize(heard)), len(words))


def _distance(reference: Sequence[str], heard: Sequence[str]) -> int:
    """Levenshtein over words, where two words and the same letters written as one word are equal."""
    rows = [list(range(len(heard) + 1))]
    for i, word in enumerate(reference, 1):
        row = [i]
        for j, other in enumerate(heard, 1):
            best = min(rows[i - 1][j] + 1, row[j - 1] + 1, rows[i - 1][j - 1] + (word != other))
            if i > 1 and reference[i - 2] + word == other:
                best = min(best, rows[i - 2][j - 1])
            if j > 1 and heard[j - 2] + other == word:
                best = min(best, rows[i - 1][j - 2])
            row.append(best)
        rows.append(row)
    return rows[-1][-1]


def _clock(found: re.Match[str]) -> str:
    hour, minute = int(found[1]), found[2]
    if minute == "00":
        return _number(str(hour))
    return f"{_number(str(hour))} {'o ' if minute[0] == '0' else ''}{_number(str(int(minute)))}"


def _number(digits: str, to: str = "cardinal") -> str:
    from num2words import num2words

    value = float(digits) if "." in digits else int(digits)
    return str(num2words(value, to=to)).replace("-", " ").replace(",", "").replace(" and ", " ")
