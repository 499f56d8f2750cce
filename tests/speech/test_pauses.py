"""Rests between segments follow the punctuation."""

from __future__ import annotations

import pytest

from vivavoce.speech.pauses import Pauses
from vivavoce.text import Segment

PAUSES = Pauses(sentence_ms=300, clause_ms=160, paragraph_ms=600, word_ms=30)
LONG = "a very long clause that simply goes on and on without any punctuation until the limit is reached and it is cut "


@pytest.mark.parametrize(
    ("text", "rest_ms"),
    [
        ("The end. ", 300),
        ("The end.", 300),
        ('"The end." ', 300),
        ("Is it? ", 300),
        ("first of all, ", 160),
        ("これは、", 160),
        ("Title\n\n", 600),
        ("- an item\n", 300),
        (LONG, 30),
        ("Heading", 300),
        ("", 300),
    ],
)
def test_a_rest_is_read_from_the_last_characters(text: str, rest_ms: float) -> None:
    assert PAUSES.after(Segment(text, 0, len(text))) == rest_ms
