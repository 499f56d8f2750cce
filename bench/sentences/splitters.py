"""Every splitter behind one face: text and language in, sentences out."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from vivavoce.text import Splitter

__all__ = ["SPLITTERS", "missing"]

Split = Callable[[str, str], list[str]]

# nltk's names of the languages that the corpus has.
PUNKT = {
    "cs": "czech", "da": "danish", "de": "german", "el": "greek", "en": "english", "es": "spanish", "fi": "finnish",
    "fr": "french", "it": "italian", "nl": "dutch", "no": "norwegian", "pl": "polish", "pt": "portuguese", "ru": "russian",
    "sv": "swedish", "tr": "turkish",
}  # fmt: skip


def _vivavoce(text: str, language: str) -> list[str]:
    splitter = Splitter(language, join_short=False)
    return [segment.text for segment in splitter.feed(text) + splitter.flush()]


@lru_cache
def _pysbd_segmenter(language: str) -> Any:
    import pysbd
    from pysbd.languages import LANGUAGE_CODES

    return pysbd.Segmenter(language=language if language in LANGUAGE_CODES else "en", clean=False)


def _pysbd(text: str, language: str) -> list[str]:
    return list(_pysbd_segmenter(language).segment(text))


def _blingfire(text: str, language: str) -> list[str]:
    import blingfire

    return blingfire.text_to_sentences(text).split("\n")


@lru_cache
def _punkt_tokenizer(language: str) -> Any:
    from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer

    model = importlib.import_module(f"punkt.data.{PUNKT.get(language, 'english')}")
    parameters = PunktParameters()
    parameters.abbrev_types = set(model.ABBREV_TYPES)
    parameters.sent_starters = set(model.SENT_STARTERS)
    parameters.collocations = {tuple(pair) for pair in model.COLLOCATIONS}
    parameters.ortho_context.update(model.ORTHO_CONTEXT)
    return PunktSentenceTokenizer(parameters)


def _punkt(text: str, language: str) -> list[str]:
    return list(_punkt_tokenizer(language).tokenize(text))


SPLITTERS: dict[str, Split] = {"vivavoce": _vivavoce, "pysbd": _pysbd, "blingfire": _blingfire, "punkt": _punkt}


def missing() -> list[str]:
    """The splitters that cannot run here because a package is not installed."""
    absent = []
    for name, split in SPLITTERS.items():
        try:
            split("One. Two.", "en")
        except ImportError:
            absent.append(name)
    return absent
