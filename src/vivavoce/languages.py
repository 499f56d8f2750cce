"""The languages that OmniVoice speaks, and what each is called."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

__all__ = ["Language", "find_language", "languages"]


@dataclass(frozen=True, slots=True)
class Language:
    """One language. `id` is OmniVoice's own, which is also its shortest BCP 47 tag; `hours` is its training speech."""

    name: str
    id: str
    iso639_3: str
    hours: float


@cache
def languages() -> tuple[Language, ...]:
    """All 646, by name (source: k2-fsa/OmniVoice, docs/languages.md)."""
    with (files("vivavoce") / "languages.csv").open(encoding="utf-8") as table:
        return tuple(
            Language(row["name"], row["omnivoice_id"], row["iso639_3"], float(row["training_hours"]))
            for row in csv.DictReader(table)
        )


def find_language(wanted: str) -> Language | None:
    """The language of a BCP 47 tag, an ISO 639-3 code or an English name, in any case; None where there is none."""
    key = wanted.strip().lower().replace("_", "-")
    first = key.partition("-")[0]
    known = _known()
    return known.get(key) or known.get(_MEANT.get(first, first))


# Tags of wider languages, and older ones, with the member that people mean by them.
_MEANT = {"ar": "arb", "cmn": "zh", "iw": "he", "ku": "kmr", "ne": "npi", "or": "ory", "tl": "fil"}


@cache
def _known() -> dict[str, Language]:
    known: dict[str, Language] = {}
    for language in languages():
        for key in (language.id, language.iso639_3, language.name):
            known.setdefault(key.lower(), language)
    return known
