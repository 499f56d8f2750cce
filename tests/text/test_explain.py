"""The explanation of a text: its segments, their words, and why."""

from vivavoce.text import Lexicon
from vivavoce.text.explain import explain

TEXT = "Dr. Ode paid $5.3 million in 1999. NASA sent 3 CPUs, and she wrote to user@example.com."


def test_every_part_points_into_the_whole_text() -> None:
    found = explain(TEXT)
    rules = {TEXT[part.start : part.end]: part.rule for one in found for part in one.spoken.parts}
    assert rules["$5.3 million"] == "currency"
    assert rules["1999"] == "year"
    assert rules["CPUs"] == "plural"
    assert rules["user@example.com"] == "email"
    assert rules["Dr."] == "abbreviation"
    assert rules["wrote"] == "plain"


def test_segments_follow_each_other_and_hold_their_words() -> None:
    found = explain(TEXT)
    assert "".join(one.segment.text for one in found) == TEXT
    assert " ".join(one.spoken.text for one in found).startswith("Doctor Ode paid five point three million dollars in")
    for one in found:
        assert all(one.segment.start <= part.start <= part.end <= one.segment.end for part in one.spoken.parts)


def test_the_lexicon_and_emoji_are_respected() -> None:
    (one,) = explain("NASA 🎉", lexicon=Lexicon.parse('[words]\nNASA = "space"'), name_emoji=True)
    assert one.spoken.text == "space party popper"
    assert [part.rule for part in one.spoken.parts] == ["lexicon", "emoji"]


def test_nothing_is_explained_for_nothing() -> None:
    assert explain("") == []
