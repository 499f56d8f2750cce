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


@pytest.mark.parametrize(
    ("before", "text", "language", "rest_ms"),
    [
        ("The ferry leaves at nine. ", "It carries forty cars.", "en", 300),
        ("The ferry leaves at nine. ", "", "en", 300),
        ("Are you there?! ", '<voice name="anna">I am.</voice>', "en", 300),
        ('She said "no." ', "Then she left.", "en", 300),
        ("A story\n\n", "Once upon a time", "en", 600),
        ("A story\n", "Once upon a time", "en", 300),
        ("At seven, ", "there is bread.", "en", 160),
        ("At seven, ", "", "en", 160),
        ("你好。", "再见。", "zh", 300),
        ("你好，", "再见。", "zh", 160),
        ("word " * 500 + "end. ", "And " + "so on " * 500, "en", 300),
        ("The ferry ", "leaves at nine.", "en", 0),
        ("The ferry ", "", "en", 0),
        ("We met Dr. ", "Brook at noon.", "en", 0),
        ("We met Dr. ", "", "en", 0),
        ("It has 1,", "400 seats.", "en", 0),
        ("It is version 3.", "5 by now.", "en", 0),
        ("", "The beginning.", "en", 0),
    ],
)
def test_where_speech_goes_on_it_rests_only_behind_a_sentence_or_a_clause(before, text, language, rest_ms):
    assert PAUSES.between(before, text, language) == rest_ms
