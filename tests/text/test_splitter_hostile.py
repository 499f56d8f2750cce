"""Work is linear and memory bounded on text that was made to hurt; steps are counted, not time."""

import sys

import pytest

from vivavoce.text import Splitter

UNITS = [
    "1", "1.", "1. ", "(", "((a.", "<", "<a ", "<break time=", "\"", "\"a. ", "“a. ", "`", "` ", "`x", "```", "````\n```x ", "~~~\n",
    ". ", ".", "!", "? ", "a. ", "A. ", "Mr. ", "U.S. ", "e.g. ", "\n", "a\n", "A\n", "- a\n", "# A\n", "|", "e\u0301", "\u0301", "\u200d",
    "👩‍👩‍👧", "Hi! 🎉", "あ", "あ、", "。", "「あ。", "ก ", "[", "[a", "[pause:", "http://", "a@", "x@x.", "'", "‘a. ", "«a. ", "፡", "،", "1) ",
    "• a ", "...", "a…", " ", "\u00a0", "\ud800", "http://a.b/?c=d. E", "</p>", "a</p>", "said. \"", ",", ", ", "a, ", "—", ";a",
]  # fmt: skip


def steps(text, pieces, language="en"):
    """How many calls the splitter makes, and how much text it holds at most."""
    splitter = Splitter(language)
    calls = held = 0

    def count(frame, event, argument):
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        for piece in pieces:
            splitter.feed(piece)
            held = max(held, len(splitter._scanner.text))
        splitter.flush()
    finally:
        sys.setprofile(None)
    return calls, held


@pytest.mark.parametrize("unit", UNITS)
def test_twice_the_text_is_at_most_twice_the_work(unit):
    text = (unit * 8000)[:8000]
    once, _ = steps(text, [text])
    twice, _ = steps(text * 2, [text * 2])
    assert twice <= 2.2 * once + 200


@pytest.mark.parametrize("unit", UNITS)
def test_one_character_at_a_time_is_linear_too(unit):
    text = (unit * 3000)[:3000]
    once, _ = steps(text, text)
    twice, held = steps(text * 2, text * 2)
    assert twice <= 2.2 * once + 500
    assert held <= 2500 or not any(character.isalnum() for character in text) or "```" in text


@pytest.mark.parametrize("unit", ["1", "1.", "(", "<", "```", "a. ", "あ"])
def test_100_000_characters_come_back_whole(unit):
    text = (unit * 100_000)[:100_000]
    splitter = Splitter()
    segments = splitter.feed(text) + splitter.flush()
    assert "".join(segment.text for segment in segments) == text
    if unit not in ("(", "<", "```"):
        assert max(len(segment.text) for segment in segments) <= 280


@pytest.mark.parametrize("unit", ["1", "1.", "`x", "```\nx "])
def test_100_000_characters_one_at_a_time_come_back_whole(unit):
    text = (unit * 100_000)[:100_000]
    splitter = Splitter()
    segments = [segment for character in text for segment in splitter.feed(character)] + splitter.flush()
    assert "".join(segment.text for segment in segments) == text
