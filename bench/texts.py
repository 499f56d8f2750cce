"""The sentences that speed is measured with: as many different ones as wanted, all of one length.

Every sentence is new to the server, so no cache can answer it, and of the same shape, so that figures are comparable.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

__all__ = ["TEN_MINUTE_WORDS", "clause_of_four", "long_text", "twelve_words", "twenty_words"]

ADJECTIVES = [
    "old",
    "quiet",
    "small",
    "bright",
    "narrow",
    "wooden",
    "heavy",
    "gentle",
    "yellow",
    "busy",
    "simple",
    "warm",
    "early",
    "local",
    "famous",
]
PEOPLE = [
    "gardener",
    "teacher",
    "captain",
    "painter",
    "neighbor",
    "driver",
    "doctor",
    "farmer",
    "writer",
    "singer",
    "baker",
    "sailor",
]
VERBS = ["found", "counted", "carried", "ordered", "painted", "borrowed", "repaired", "collected", "noticed", "wanted"]
NUMBERS = ["two", "three", "four", "five", "six", "seven", "eight", "nine", "eleven", "twelve", "twenty", "thirty"]
THINGS = [
    "boxes",
    "letters",
    "apples",
    "baskets",
    "pictures",
    "lanterns",
    "blankets",
    "bottles",
    "candles",
    "tickets",
    "windows",
    "chairs",
]
PLACES = [
    "station",
    "market",
    "harbor",
    "library",
    "garden",
    "river",
    "kitchen",
    "theater",
    "bridge",
    "village",
    "meadow",
    "office",
]
TIMES = ["morning", "evening", "winter", "summer", "afternoon", "spring", "weekend"]
TEN_MINUTE_WORDS = 1_700


def twelve_words(seed: int = 0) -> Iterator[str]:
    """Different sentences of twelve words without a comma."""
    return _distinct(
        seed,
        lambda pick: (
            f"The {pick(ADJECTIVES)} {pick(PEOPLE)} {pick(VERBS)} {pick(NUMBERS)} {pick(THINGS)} "
            f"near the {pick(ADJECTIVES)} {pick(PLACES)} this {pick(TIMES)}."
        ),
    )


def clause_of_four(seed: int = 0) -> Iterator[str]:
    """Different sentences of twelve words with a comma after the fourth."""
    return _distinct(
        seed,
        lambda pick: (
            f"Behind the {pick(ADJECTIVES)} {pick(PLACES)}, the {pick(ADJECTIVES)} {pick(PEOPLE)} {pick(VERBS)} "
            f"{pick(NUMBERS)} {pick(THINGS)} this {pick(TIMES)}."
        ),
    )


def twenty_words(seed: int = 0) -> Iterator[str]:
    """Different sentences of twenty words."""
    return _distinct(
        seed,
        lambda pick: (
            f"The {pick(ADJECTIVES)} {pick(PEOPLE)} from the {pick(PLACES)} {pick(VERBS)} {pick(NUMBERS)} {pick(THINGS)} "
            f"and then {pick(VERBS)} the {pick(ADJECTIVES)} {pick(THINGS)} near the {pick(PLACES)} this {pick(TIMES)}."
        ),
    )


def long_text(words: int, seed: int = 0) -> str:
    """Prose of at least that many words, in paragraphs of six sentences."""
    sources = (twelve_words(seed), clause_of_four(seed), twenty_words(seed))
    sentences: list[str] = []
    spoken = 0
    while spoken < words:
        sentence = next(sources[len(sentences) % 3])
        spoken += len(sentence.split())
        sentences.append(sentence + ("\n\n" if len(sentences) % 6 == 5 else " "))
    return "".join(sentences)


def _distinct(seed: int, make: Callable[[Callable[[list[str]], str]], str]) -> Iterator[str]:
    source = random.Random(seed)
    seen: set[str] = set()
    while True:
        sentence = make(source.choice)
        if sentence not in seen:
            seen.add(sentence)
            yield sentence
