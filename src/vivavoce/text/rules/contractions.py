"""Contractions that engines stumble over, written out. The common ones (`don't`, `they're`) are left alone."""

from __future__ import annotations

import re

from .hit import Hit, Source

__all__ = ["CONTRACTIONS", "contraction"]

CONTRACTIONS: dict[str, str] = {}
for _word in str.split("how why when where what which who there these those here that this"):
    CONTRACTIONS[f"{_word}'re"] = f"{_word} are"
for _word in str.split("how why when where what"):
    CONTRACTIONS[f"{_word}'d"] = f"{_word} did"
for _word in str.split("how why when where which this these those there"):
    CONTRACTIONS[f"{_word}'ll"] = f"{_word} will"
for _word in str.split("this that there which who it"):
    CONTRACTIONS[f"{_word}'ve"] = f"{_word} have"
for _word in str.split("could should would might must"):
    CONTRACTIONS[f"{_word}'ve"] = f"{_word} have"
    CONTRACTIONS[f"{_word}n't've"] = f"{_word} not have"
for _word in str.split("i you he she it we they who there that"):
    CONTRACTIONS[f"{_word}'d've"] = f"{_word} would have"
CONTRACTIONS |= {
    "there'd": "there would",
    "this'd": "this would",
    "'tis": "it is",
    "'twas": "it was",
    "'em": "them",
    "'til": "till",
    "'cause": "because",
    "'cos": "because",
    "'bout": "about",
    "'round": "round",
    "y'all're": "you all are",
    "y'all'd": "you all would",
    "mayn't": "may not",
    "shan't": "shall not",
    "oughtn't": "ought not",
    "daren't": "dare not",
    "so're": "so are",
    "names're": "names are",
}
WORD = re.compile(r"['’]?[A-Za-z]{1,20}(?:['’][A-Za-z]{1,6}){0,3}(?![A-Za-z0-9'’@_])")


def contraction(source: Source, at: int) -> Hit | None:
    """`how're` is `how are`; only whole words are ever touched."""
    match = WORD.match(source.text, at)
    if match is None:
        return None
    word = match.group().replace("’", "'")
    said = CONTRACTIONS.get(word.lower())
    if said is None:
        return None
    return Hit(match.end(), said[0].upper() + said[1:] if word.lstrip("'")[0].isupper() else said, "contraction")
