"""Whatever the text and however it arrives: the same segments, every character once, something to say in each."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vivavoce.text import Splitter

WORDS = [
    "Hello", "the", "U.S", "a.m", "Mr", "e.g", "I", "5", "3.14", "12", "No", "etc", "Inc", "z.B", "A", "x", "b", "He",
    "said", "Juni", "Это", "г", "你好", "说", "これ", "と", "สวัสดี", "سلام", "नमस्ते", "e\u0301", "👩‍👩‍👧", "🎉", "<break time=\"1s\"/>",
    "</p>", "<sub alias=\"x. Y\">", "</sub>", "[pause:1s]", "[1]", "`a. B`", "```", "~~~", "Yahoo", "...", "…", ". . .",
    "1.", "2.", "1)", "2)", "a.", "b.", "•", "-", "#", "|", ">", "\n", "\n\n", "\r\n", "\n- ", "\n1. ", " ", "  ", ".",
    "!", "?", "?!", ",", ":", ";", "—", "–", "\"", "'", "“", "”", "„", "«", "»", "‘", "’", "(", ")", "[", "]", "「", "」",
    "。", "！", "।", "؟", "۔", "։", "።", "፡፡", "*", "_", "<", "`", "http://x.io/a.b?c=1", "a@b.co", "\u200b", "\ud83d",
    "many words in a row without any stop between them", "an-uncommonly-long-word-that-somebody-hyphenated",
]  # fmt: skip
TEXTS = st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from([" ", " ", ""])), max_size=40).map(
    lambda words: "".join(word + space for word, space in words)
)
OPTIONS = st.fixed_dictionaries(
    {
        "language": st.sampled_from(["en", "de", "fr", "hy", "ar", "el", "th", "ja", "ru", "xx"]),
        "join_short": st.booleans(),
        "eager": st.booleans(),
        "max_chars": st.sampled_from([280, 60]),
    }
)


def run(pieces, options):
    splitter = Splitter(**options)
    return [segment for piece in pieces for segment in splitter.feed(piece)] + splitter.flush()


def pieces_of(text, cuts):
    places = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    return [text[start:end] for start, end in pairwise(places)]


@settings(deadline=None, max_examples=250)
@given(st.one_of(TEXTS, st.text(max_size=200)), OPTIONS, st.lists(st.integers(0, 400), max_size=8))
def test_segments_do_not_depend_on_how_the_text_arrives(text, options, cuts):
    whole = run([text], options)
    assert run(list(text), options) == whole
    assert run(pieces_of(text, cuts), options) == whole


@settings(deadline=None, max_examples=250)
@given(st.one_of(TEXTS, st.text(max_size=300)), OPTIONS)
def test_spans_cover_the_text_once_and_each_segment_can_be_spoken(text, options):
    segments = run([text], options)
    assert "".join(segment.text for segment in segments) == text
    assert [segment.start for segment in segments] == [0, *(segment.end for segment in segments)][: len(segments)]
    if any(character.isalnum() for character in text):
        assert all(any(character.isalnum() for character in segment.text) for segment in segments)
    else:
        assert len(segments) <= 1


@settings(deadline=None, max_examples=100)
@given(TEXTS, TEXTS, OPTIONS)
def test_a_flush_forgets_the_text_before(first, second, options):
    splitter = Splitter(**options)
    splitter.feed(first)
    splitter.flush()
    again = splitter.feed(second) + splitter.flush()
    fresh = run([second], options)
    assert [segment.text for segment in again] == [segment.text for segment in fresh]
    assert [segment.start - len(first) for segment in again] == [segment.start for segment in fresh]


@settings(deadline=None, max_examples=150)
@given(st.lists(TEXTS, max_size=6), OPTIONS)
def test_pauses_lose_nothing(texts, options):
    splitter = Splitter(**options)
    segments = [segment for text in texts for segment in (*splitter.feed(text), *splitter.pause())] + splitter.flush()
    assert "".join(segment.text for segment in segments) == "".join(texts)
    assert all(segment.text for segment in segments)


@pytest.mark.slow
@settings(deadline=None, max_examples=2000)
@given(TEXTS, OPTIONS, st.lists(st.integers(0, 400), max_size=8))
def test_segments_do_not_depend_on_how_the_text_arrives_at_length(text, options, cuts):
    whole = run([text], options)
    assert run(list(text), options) == whole
    assert run(pieces_of(text, cuts), options) == whole
