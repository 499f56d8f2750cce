"""Long sentences are cut where a reader would breathe, and never inside anything that belongs together."""

import pytest

from vivavoce.text.split_length import weigh


def bodies(segments):
    return [segment.text for segment in segments]


@pytest.mark.parametrize("max_chars", [60, 120, 280])
def test_no_segment_is_longer_than_the_limit(split, max_chars):
    text = "the tide came in and the tide went out and nobody on the pier could say how often " * 20
    assert max(len(body) for body in bodies(split(text, max_chars=max_chars))) <= max_chars


def test_what_is_left_behind_a_cut_is_not_a_word_or_two(split):
    for extra in range(1, 60):
        text = ("walking " * 35)[:280].rstrip() + " on" * extra
        parts = bodies(split(text))
        assert all(len(part) >= 40 for part in parts), parts


def test_a_sentence_up_to_the_limit_is_left_whole(split):
    text = "We packed the tents, the stove, the maps, the rope, the lamps, the rice, the beans, the tea and the sugar, "
    text += (
        "and then, because it was late, because it rained, because nobody was in the mood, and because the road was "
    )
    text += "closed, we stayed at home all week."
    assert len(text) <= 280
    assert bodies(split(text)) == [text]


def test_a_semicolon_is_preferred_to_a_comma(split):
    text = "the first half of it goes on, and on, and on for a while without saying very much at all about anything; "
    text += (
        "the second half, which is longer, is about a boat, a lake, an oar, a storm, a lamp, a dog, a hat, a coat, a "
    )
    text += "shoe, a rope, and all the things that were lost in it, found again, lost again, and told about ever since"
    assert bodies(split(text))[0].endswith("anything; ")


@pytest.mark.parametrize(
    "atom",
    [
        "+1 (555) 010-4477",
        "1 234 567,89",
        '<break time="250 ms" strength="weak"/>',
        "[a very long link text](https://example.org/a/b/c?d=e)",
        "`code with spaces in it`",
        "https://example.org/a/rather/long/path/that/does/not/end?really=not",
        "someone.with.a.long.name@mail.example.org",
        "99.5 %",
        "$ 1,000",
        "No. 17",
    ],
)
def test_no_atom_is_cut(split, atom):
    for shift in range(0, 90, 3):
        text = "words " * 20 + "x" * shift + " " + atom + " and more words" * 20
        assert any(atom in body for body in bodies(split(text, max_chars=150))), shift


@pytest.mark.parametrize(
    "language, unit", [("ja", "とても長い文が続いていて"), ("zh", "这是一个很长的句子没有停顿"), ("ko", "아주긴문장")]
)
def test_scripts_with_dense_characters_are_cut_sooner(split, language, unit):
    segments = split(unit * 60, language)
    assert max(weigh(body, 0, len(body)) for body in bodies(segments)) <= 280
    assert max(len(body) for body in bodies(segments)) <= 140


@pytest.mark.parametrize("cluster", ["e\u0301", "क्षि", "👩‍👩‍👧", "🇫🇷", "👍🏽", "각".encode().decode(), "ก็"])
def test_no_character_is_torn(split, cluster):
    for shift in range(12):
        text = "a" * shift + cluster * 200
        ends = [segment.end for segment in split(text, max_chars=50)]
        assert all((end - shift) % len(cluster) == 0 for end in ends if end > shift)


def test_a_word_over_the_limit_is_cut_at_the_limit(split):
    assert [len(body) for body in bodies(split("a" * 700))] == [280, 280, 140]


def test_japanese_words_in_latin_letters_are_whole(split):
    text = "これはサーバーのkubernetesとopentelemetryとprometheusを使った長い文です" * 6
    for body in bodies(split(text, "ja")):
        for name in ("kubernetes", "opentelemetry", "prometheus"):
            assert body.count(name) == len([1 for at in range(len(body)) if body.startswith(name[:5], at)])


def test_thai_ends_its_phrases_at_spaces(split):
    phrase = "วันนี้ฝนตกหนักมากจนถนนในเมืองหลายสายมีน้ำท่วมขัง "
    assert bodies(split(phrase * 4, "th")) == [phrase] * 4
