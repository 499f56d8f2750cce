import pytest

from vivavoce.engines.catalog import VoiceEntry
from vivavoce.engines.design import CATEGORIES, nearest_voice, parse_design
from vivavoce.errors import BadRequest, UnsupportedLanguage


def voice(name: str, language: str, gender: str, *, ready: bool = True) -> VoiceEntry:
    return VoiceEntry(name, "any", language, gender, "", (), ready, "")


VOICES = [
    voice("first", "en-US", "female"),
    voice("bm_george", "en-GB", "male"),
    voice("am_onyx", "en-US", "male"),
    voice("af_nicole", "en-US", "female"),
    voice("ff_siwis", "fr-FR", "female"),
    voice("far", "en-AU", "male", ready=False),
]


def test_every_word_of_the_vocabulary_is_read_and_written_back() -> None:
    for category, choices in CATEGORIES.items():
        for choice in choices:
            design = parse_design(choice)
            assert design.choices == ((category, choice),)
            assert design.instruct == choice


def test_order_case_and_spaces_do_not_matter() -> None:
    design = parse_design("  British accent ,MALE,  low pitch, ")
    assert design.instruct == "male, low pitch, british accent"
    assert parse_design(design.instruct) == design


def test_chinese_is_the_same_vocabulary() -> None:
    assert parse_design("女，青年，耳语").instruct == "female, young adult, whisper"
    assert parse_design("男，四川话").instruct == "男，四川话"


def test_saying_the_same_twice_is_once() -> None:
    assert parse_design("male, Male, 男").instruct == "male"


@pytest.mark.parametrize(
    ("instruct", "said"),
    [
        ("male, female", "one gender"),
        ("very low pitch, high pitch", "one pitch"),
        ("british accent, 四川话", "mixed"),
        ("brittish accent", "british accent"),
        ("robotic", "vocabulary"),
        ("x" * 501, "500"),
    ],
)
def test_what_cannot_be_is_a_clear_error(instruct: str, said: str) -> None:
    with pytest.raises(BadRequest, match=said) as caught:
        parse_design(instruct)
    assert caught.value.param == "instruct"


def test_accents_are_for_english_and_dialects_for_chinese() -> None:
    assert parse_design("indian accent", "en-GB").choices
    assert parse_design("东北话", "cmn").choices
    with pytest.raises(BadRequest, match="English"):
        parse_design("indian accent", "fr")
    with pytest.raises(BadRequest, match="Chinese"):
        parse_design("东北话", "en")


@pytest.mark.parametrize(
    ("instruct", "language", "name", "missed"),
    [
        ("", None, "first", ()),
        ("male", "en", "bm_george", ()),
        ("male, american accent", "en", "am_onyx", ()),
        ("male, low pitch", "en", "am_onyx", ()),
        ("whisper", "en", "af_nicole", ()),
        ("female, british accent", "en", "first", ("british accent",)),
        ("male, australian accent", "en", "bm_george", ("australian accent",)),
        ("male, elderly", "fr", "ff_siwis", ("male", "elderly")),
    ],
)
def test_the_nearest_voice_and_what_it_cannot_do(
    instruct: str, language: str | None, name: str, missed: tuple[str, ...]
) -> None:
    nearest = nearest_voice(parse_design(instruct), VOICES, language)
    assert nearest.voice.name == name
    assert nearest.missed == missed


def test_a_language_that_nobody_speaks_is_an_error() -> None:
    with pytest.raises(UnsupportedLanguage):
        nearest_voice(parse_design("male"), VOICES, "ja")
