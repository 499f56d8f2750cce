"""Words come back whole, once, in order, with offsets into the author's text."""

from __future__ import annotations

from vivavoce.engines.base import WordTime
from vivavoce.speech.words import WordTracker
from vivavoce.text import Part, Spoken


def spoken_of(source: str, *pieces: tuple[str, str, str]) -> Spoken:
    """Parts from (source text, spoken words, rule), joined as the source joins them."""
    text, parts, position = "", [], 0
    for written, words, rule in pieces:
        start = source.index(written, position)
        if text and source[position:start].isspace():
            text += " "
        parts.append(Part(start, start + len(written), words, rule, len(text), len(text) + len(words)))
        text += words
        position = start + len(written)
    return Spoken(text, tuple(parts))


def engine_words(text: str, step_ms: float = 100.0) -> list[WordTime]:
    times, position = [], 0
    for index, word in enumerate(text.split()):
        start = text.index(word, position)
        position = start + len(word)
        times.append(WordTime(start, position, index * step_ms, (index + 1) * step_ms))
    return times


def told(
    source: str, spoken: Spoken, words: list[WordTime], offset: int = 0
) -> list[tuple[str, int, int, float, float]]:
    tracker = WordTracker(source, spoken, offset)
    out = []
    for word in words:
        out += [*tracker.feed([word], 0, 0.0)]
    out += [*tracker.flush()]
    return [(w.text, w.start, w.end, w.start_ms, w.end_ms) for w in out]


def test_plain_words_keep_their_offsets_and_lose_their_punctuation() -> None:
    source = "Well, (nobody) asked!"
    spoken = spoken_of(source, (source, source, "plain"))
    assert told(source, spoken, engine_words(spoken.text), offset=7) == [
        ("Well", 7, 11, 0, 100),
        ("nobody", 14, 20, 100, 200),
        ("asked", 22, 27, 200, 300),
    ]


def test_many_spoken_words_become_the_one_written_word() -> None:
    source = "It cost $4.2 million then."
    spoken = spoken_of(
        source,
        ("It cost", "It cost", "plain"),
        ("$4.2 million", "four point two million dollars", "currency"),
        ("then.", "then.", "plain"),
    )
    assert told(source, spoken, engine_words(spoken.text)) == [
        ("It", 0, 2, 0, 100),
        ("cost", 3, 7, 100, 200),
        ("$4.2 million", 8, 20, 200, 700),
        ("then", 21, 25, 700, 800),
    ]


def test_pipecat_5259_a_hyphenated_word_stays_whole() -> None:
    source = "plain text-to-speech works"
    spoken = spoken_of(source, (source, source, "plain"))
    words = [
        WordTime(0, 5, 0, 100),
        WordTime(6, 10, 100, 200),
        WordTime(11, 13, 200, 300),
        WordTime(14, 20, 300, 400),
        WordTime(21, 26, 400, 500),
    ]
    assert told(source, spoken, words) == [
        ("plain", 0, 5, 0, 100),
        ("text-to-speech", 6, 20, 100, 400),
        ("works", 21, 26, 400, 500),
    ]


def test_parts_without_white_space_between_them_are_one_word() -> None:
    source = "a GPU-based box"
    spoken = spoken_of(
        source, ("a", "a", "plain"), ("GPU", "G P U", "initialism"), ("-based box", "-based box", "plain")
    )
    words = [WordTime(0, 1, 0, 10), WordTime(2, 7, 10, 40), WordTime(8, 13, 40, 60), WordTime(14, 17, 60, 80)]
    assert told(source, spoken, words) == [("a", 0, 1, 0, 10), ("GPU-based", 2, 11, 10, 60), ("box", 12, 15, 60, 80)]


def test_a_word_whose_end_is_never_seen_is_told_at_the_end() -> None:
    source = "three 3 words"
    spoken = spoken_of(
        source, ("three", "three", "plain"), ("3", "number three", "number"), ("words", "words", "plain")
    )
    words = [WordTime(0, 5, 0, 10), WordTime(6, 12, 10, 20), WordTime(19, 22, 30, 35)]
    assert [w[0] for w in told(source, spoken, words)] == ["three", "3", "words"]


def test_words_are_told_as_soon_as_their_end_is_known() -> None:
    source = "one two three"
    tracker = WordTracker(source, spoken_of(source, (source, source, "plain")))
    first, second, third = engine_words(source)
    assert [w.text for w in tracker.feed([first], 0, 0.0)] == ["one"]
    assert [w.text for w in tracker.feed([second, third], 0, 0.0)] == ["two", "three"]
    assert not [*tracker.flush()]


def test_an_estimate_anywhere_in_a_word_marks_the_word() -> None:
    source = "50 %"
    spoken = spoken_of(source, (source, "fifty percent", "percentage"))
    tracker = WordTracker(source, spoken)
    [*tracker.feed([WordTime(0, 5, 0, 10, exact=True)], 0, 0.0)]
    (word,) = tracker.feed([WordTime(6, 13, 10, 20, exact=False)], 0, 0.0)
    assert not word.exact and word.text == "50 %"


def test_what_one_rule_took_keeps_its_brackets_and_dots() -> None:
    source = "(Ring (555) 010-4477 at 7:45 p.m., ok?)"
    spoken = spoken_of(
        source,
        ("(", "", "punctuation"),
        ("Ring", "Ring", "plain"),
        ("(555) 010-4477", "five five five, oh one oh, four four seven seven", "phone"),
        ("at", "at", "plain"),
        ("7:45 p.m.", "seven forty-five p.m.", "time"),
        (",", ",", "punctuation"),
        ("ok", "ok", "plain"),
        ("?)", "?", "punctuation"),
    )
    assert [(w[0], source[w[1] : w[2]]) for w in told(source, spoken, engine_words(spoken.text))] == [
        (word, word) for word in ("Ring", "(555) 010-4477", "at", "7:45 p.m.", "ok")
    ]
