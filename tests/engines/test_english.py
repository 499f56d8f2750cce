import pytest

from vivavoce.engines.base import Ipa, Phrase
from vivavoce.engines.english import EnglishReader


@pytest.fixture(scope="module")
def reader() -> EnglishReader:
    pytest.importorskip("hibari")
    return EnglishReader.shared()


def words(reader: EnglishReader, text: str, *ipa: Ipa) -> list[tuple[str, str]]:
    reading = reader.read(Phrase(text, ipa=ipa))
    assert all(a.last <= b.first for a, b in zip(reading.words, reading.words[1:], strict=False))
    return [(text[w.start : w.end], reading.symbols[w.first : w.last]) for w in reading.words]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hello there, friend.", ["Hello", "there", "friend"]),
        ("We'll see what they've got.", ["We'll", "see", "what", "they've", "got"]),
        ("It’s a well-known, state-of-the-art trick!", ["It’s", "a", "well-known", "state-of-the-art", "trick"]),
        ('"Now," he said, "or never?"', ["Now", "he", "said", "or", "never"]),
        ("No no no, no.", ["No", "no", "no", "no"]),
        ("  Two   spaces  ", ["Two", "spaces"]),
        ("Up and down — or so — we go…", ["Up", "and", "down", "or", "so", "we", "go"]),
    ],
)
def test_every_word_has_its_span(reader: EnglishReader, text: str, expected: list[str]) -> None:
    assert [word for word, _ in words(reader, text)] == expected


def test_pauses_are_no_part_of_a_word(reader: EnglishReader) -> None:
    assert all(sound.strip(' ,.;:!?—…"“”()') == sound for _, sound in words(reader, 'Yes; (so) "they" say, no?'))


@pytest.mark.parametrize("text", ["It is 45 degrees.", "Flight 7B leaves.", "Now £12 more.", "x² + y = 3.5%"])
def test_leftover_figures_are_spoken(reader: EnglishReader, text: str) -> None:
    spoken = words(reader, text)
    digits = [sound for word, sound in spoken if any(c.isdigit() for c in word)]
    assert digits
    assert all(len(sound) > 1 for sound in digits)


def test_ipa_replaces_the_pronunciation_of_its_words_only(reader: EnglishReader) -> None:
    plain = dict(words(reader, "The gif is here"))
    said = dict(words(reader, "The gif is here", Ipa(4, 7, "/dʒɪf/")))
    assert said["gif"] == "ʤɪf"
    assert {word: said[word] for word in ("is", "here")} == {word: plain[word] for word in ("is", "here")}


def test_ipa_over_two_words_and_overlaps(reader: EnglishReader) -> None:
    text = "Meet Xu Li today"
    said = words(reader, text, Ipa(5, 10, "ʃuː liː"), Ipa(8, 10, "x"))
    assert ("Xu Li", "ʃu li") in said
    assert said[-1][0] == "today"


def test_brackets_in_a_text_are_no_instructions(reader: EnglishReader) -> None:
    sounds = "".join(sound for _, sound in words(reader, "[tea](/kˈɔfi/) please"))
    assert "kˈɔfi please" not in sounds
    assert "tˈi" in sounds


@pytest.mark.parametrize(
    "text",
    [
        "a" * 5000,
        "ab-" * 300,
        "1" * 3000,
        "1.1" * 500,
        "\u0300\u200d\ufe0f",
        "谢谢 شكرا नमस्ते",
        "٣٤ ½ Ⅷ",
        "$" * 300,
        "'" * 300,
    ],
)
def test_hostile_text_neither_fails_nor_hangs(reader: EnglishReader, text: str) -> None:
    reader.read(Phrase(text))


def test_a_word_that_cannot_be_read_silences_no_other(reader: EnglishReader) -> None:
    class Stumbling:
        def __call__(self, token: object, context: object) -> tuple[str, int]:
            if token.text == "bad":
                raise IndexError("no such table")
            return "a", 4

    stumbling = EnglishReader()
    stumbling.load()
    stumbling._g2p.lexicon = Stumbling()
    assert [word for word, _ in words(stumbling, "good bad good")] == ["good", "good"]


def test_long_numbers_are_read_digit_by_digit(reader: EnglishReader) -> None:
    assert len(words(reader, "It ends in " + "7" * 40)) == 43


def test_british_reads_otherwise() -> None:
    pytest.importorskip("hibari")
    text = Phrase("The bath water is hot")
    assert EnglishReader.shared(british=True).read(text).symbols != EnglishReader.shared().read(text).symbols
    assert EnglishReader.shared(british=True) is EnglishReader.shared(british=True)


@pytest.mark.parametrize("symbols", ["", "   ", "☃☃", "123", "...", "ˈ", "ːː", "//", "хлеб"])
def test_ipa_that_says_nothing_leaves_the_word_as_it_is_spelled(reader: EnglishReader, symbols: str) -> None:
    text = "Put the jam here"
    assert words(reader, text, Ipa(8, 11, symbols)) == words(reader, text)


@pytest.mark.parametrize(("start", "end"), [(40, 50), (16, 16), (5, 5), (9, 3), (-3, 2)])
def test_ipa_outside_the_text_is_left_out(reader: EnglishReader, start: int, end: int) -> None:
    text = "Put the jam here"
    assert words(reader, text, Ipa(start, end, "ʤˈæm")) == words(reader, text)
