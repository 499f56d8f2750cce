"""A user's lexicon has the last word, and a bad one says what is wrong."""

from pathlib import Path

import pytest

from vivavoce.errors import BadRequest
from vivavoce.text import Lexicon, Normalizer, speak


def say(toml: str, text: str, language: str = "en") -> str:
    return speak(text, language, Lexicon.parse(toml)).text


def test_a_word_is_said_as_asked_in_any_case() -> None:
    toml = '[words]\nvivavoce = "viva votchay"'
    assert say(toml, "Vivavoce and VIVAVOCE, vivavoce's.") == "viva votchay and viva votchay, viva votchay's."


def test_it_wins_over_every_rule() -> None:
    toml = '[words]\nNASA = "the space people"\n"$5" = "a fiver"\n"Dr." = "Drive"\nGB = "gigs"'
    assert (
        say(toml, "NASA paid $5 to Dr. Ode for 3 GB.") == "the space people paid a fiver to Drive Ode for three gigs."
    )


def test_only_whole_words_match() -> None:
    assert say('[words]\ncat = "dog"', "cat concatenate cat-like cats") == "dog concatenate dog like cats"


def test_the_longest_entry_wins() -> None:
    toml = '[words]\nYork = "yolk"\n"New York" = "the big apple"'
    assert say(toml, "New  York or York") == "the big apple or yolk"


def test_case_can_matter() -> None:
    toml = '[[entry]]\ntext = "Polish"\nsay = "Pole-ish"\ncase = "exact"'
    assert say(toml, "Polish the Polish, polish it") == "Pole-ish the Pole-ish, polish it"


@pytest.mark.parametrize("toml", ['[[entry]]\ntext = "read"\nipa = "ɹɛd"', '[words]\nread = "/ɹɛd/"'])
def test_a_pronunciation_keeps_the_written_word(toml: str) -> None:
    text = "I read it."
    spoken = speak(text, lexicon=Lexicon.parse(toml))
    (part,) = [part for part in spoken.parts if part.rule == "lexicon"]
    assert (part.words, part.ipa, text[part.start : part.end]) == ("read", "ɹɛd", "read")


def test_it_works_in_any_language_and_within_markup() -> None:
    assert say('[words]\nIBAN = "Ibaan"', "Die **IBAN** fehlt.", "de") == "Die Ibaan fehlt."


def test_it_holds_for_every_segment() -> None:
    normalizer = Normalizer("en", Lexicon.parse('[words]\nx = "ex"'))
    assert [normalizer.speak(text).text for text in ("x one.", "x two.")] == ["ex one.", "ex two."]


def test_an_empty_lexicon_changes_nothing() -> None:
    assert say("", "Nothing at $5.") == speak("Nothing at $5.").text


@pytest.mark.parametrize(
    ("toml", "told"),
    [
        ("[words", "not valid TOML"),
        ("words = 3", "table"),
        ("[word]\na = 'b'", "'word'"),
        ("[words]\na = 3", "'a'"),
        ("[[entry]]\nsay = 'x'", "text"),
        ("[[entry]]\ntext = ' '\nsay = 'x'", "text"),
        ("[[entry]]\ntext = 'a'", "says nothing"),
        ("[[entry]]\ntext = 'a'\nsay = 'b'\ncase = 'upper'", "case"),
        ("[[entry]]\ntext = 'a'\nsaid = 'b'", "'said'"),
        ("entry = 1", "list"),
        ("[words]\n" + "a" * 300 + " = 'b'", "200"),
    ],
)
def test_a_bad_lexicon_is_a_typed_error(toml: str, told: str) -> None:
    with pytest.raises(BadRequest, match=told) as caught:
        Lexicon.parse(toml)
    assert caught.value.code == "bad_lexicon"


def test_a_file_is_read_and_a_missing_one_is_a_typed_error(tmp_path: Path) -> None:
    path = tmp_path / "words.toml"
    path.write_text('[words]\nGIF = "jif"\n', encoding="utf-8")
    assert speak("A GIF.", lexicon=Lexicon.load(path)).text == "A jif."
    with pytest.raises(BadRequest):
        Lexicon.load(tmp_path / "none.toml")
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadRequest):
        Lexicon.load(path)
