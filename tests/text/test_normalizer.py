"""The promises of `speak` and of the stateful normalizer that no list of cases can show."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vivavoce.text import Normalizer, Part, Spoken, speak


def parts_of(spoken: Spoken, *rules: str) -> list[Part]:
    return [part for part in spoken.parts if part.rule in rules]


def source_of(text: str, part: Part) -> str:
    return text[part.start : part.end]


def check(text: str, spoken: Spoken) -> None:
    """Every part points both ways, in order, and nothing that is visible is missing."""
    covered = [False] * len(text)
    at = out = 0
    for part in spoken.parts:
        assert 0 <= part.start <= part.end <= len(text)
        assert part.start >= at - 1 or part.start == part.end
        assert spoken.text[part.out_start : part.out_end].strip() == part.words.strip()
        assert part.out_start >= out
        at, out = part.start, part.out_end
        covered[part.start : part.end] = [True] * (part.end - part.start)
    missing = [index for index, seen in enumerate(covered) if not seen and not text[index].isspace()]
    assert not missing, [text[index] for index in missing]


TEXTS = [
    "Dr. Okafor paid $5.3 million at 7:45 a.m. — really?",
    "**Bold** [link](http://x.example) `code` ~~gone~~ # no heading",
    "# Title\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nDone.",
    "Use ```py\nx = 1\n``` now. <b>Fine</b> &amp; good <break time='1s'/> ok",
    'a\u200bb\u202e c\u0000 "d" \ud800 e\ufeff',
    "谢谢 and 🎉 and x² + y² = z², C++, #tag @me a@b.example",
    "<speak><prosody rate='slow'>It is <say-as interpret-as='digits'>42</say-as></prosody></speak>",
]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("language", ["en", "de", "ja", "hi", "xx"])
def test_parts_cover_and_point_both_ways(text: str, language: str) -> None:
    check(text, speak(text, language))


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=80), st.sampled_from(["en", "en-GB", "de", "ja", "ar", "fr"]))
def test_any_text_is_spoken_and_covered(text: str, language: str) -> None:
    check(text, speak(text, language))


ALPHABET = "aAI1 0.,:;-–—/\\*_`~#[]()<>&\"'$€%°@!?|\n²½…+=^xs"


@settings(max_examples=500, deadline=None)
@given(st.text(alphabet=ALPHABET, max_size=60))
def test_any_mixture_of_marks_is_spoken_and_covered(text: str) -> None:
    spoken = speak(text)
    check(text, spoken)
    assert not any(character in "0123456789*`<>[]|_~^{}" for character in spoken.text)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text(alphabet=ALPHABET, max_size=30), max_size=5))
def test_any_segments_of_one_utterance_are_covered(pieces: list[str]) -> None:
    normalizer = Normalizer()
    for piece in pieces:
        check(piece, normalizer.speak(piece))


def test_plain_words_are_parts_of_their_own_with_the_same_letters() -> None:
    text = "The text-to-speech part isn't hard."
    words = parts_of(speak(text), "plain")
    assert [source_of(text, part) for part in words] == ["The", "text-to-speech", "part", "isn't", "hard"]
    assert all(source_of(text, part) == part.words for part in words)


def test_livekit_transcript_sync_an_amount_is_one_word_of_the_original() -> None:
    text = "It cost $5.3 million then."
    (amount,) = parts_of(speak(text), "currency")
    assert source_of(text, amount) == "$5.3 million"
    assert amount.words == "five point three million dollars"


@pytest.mark.parametrize(
    ("text", "pause_ms"),
    [
        ("[pause:1s]Hello.", 1000),
        ("[pause:250ms] Hello.", 250),
        ("[PAUSE: 1.5s]Hello.", 1500),
        ('<break time="750ms"/>Hello.', 750),
        ("<break time='2s'/>Hello.", 2000),
        ('<break strength="strong"/>Hello.', 700),
        ("<break/>Hello.", 400),
        ("[pause:99999s]Hello.", 10_000),
        ("[pause:0s]Hello.", 0),
    ],
)
def test_kokoro_fastapi_355_a_leading_pause_is_silence(text: str, pause_ms: int) -> None:
    spoken = speak(text)
    assert spoken.text == "Hello."
    first = spoken.parts[0]
    assert (first.words, first.pause_ms, first.start, first.out_end) == ("", pause_ms, 0, 0)


def test_kokoro_fastapi_274_a_pause_stands_between_its_words() -> None:
    text = "One [pause:500ms] two <break time='1s'/> three."
    assert [(part.words, part.pause_ms) for part in speak(text).parts] == [
        ("One", 0),
        ("", 500),
        ("two", 0),
        ("", 1000),
        ("three", 0),
        (".", 0),
    ]


@pytest.mark.parametrize("text", ["", " \n\t", "[pause:1s]", "🎉 🎉", "---", "…", "<break/>", "\u200b", "***"])
def test_nothing_to_say_is_silent(text: str) -> None:
    assert speak(text).silent


@pytest.mark.parametrize("text", ["a", "1", "谢谢", "$5", "x"])
def test_something_to_say_is_not_silent(text: str) -> None:
    assert not speak(text).silent


def test_our_37_offsets_point_into_the_original_after_cleaning() -> None:
    text = "a\u200bb\u202e c\u0000 $5\ufeff end"
    spoken = speak(text)
    assert spoken.text == "ab c five dollars end"
    assert [source_of(text, part) for part in parts_of(spoken, "plain", "currency")] == ["a\u200bb", "c", "$5", "end"]


@pytest.mark.parametrize("hostile", ["\ud800", "a\udfffb", "\u0000", "\u202e\u202d", "\ufeff\ufffe", "\U000e0041"])
def test_our_37_what_cannot_be_said_never_reaches_the_words(hostile: str) -> None:
    said = speak(f"One {hostile} two").text
    assert said.replace(" ", "") in ("Onetwo", "Oneabtwo", "Oneatwo", "Onebtwo") or said == "One ab two"
    said.encode("utf-8")


@pytest.mark.parametrize("text", ["नमस्ते\\nदुनिया", "एक\\n\\nदो", "Hello.\\nWorld", "tab\\there"])
def test_kokoro_241_a_literal_backslash_n_is_white_space(text: str) -> None:
    for language in ("hi", "en"):
        assert "\\" not in speak(text, language).text
        assert "backslash" not in speak(text, language).text


@pytest.mark.parametrize(
    "text", ["Say 谢谢 now", "Say شكرا now", "Say שלום now", "Say Спасибо now", "Say ありがとう now", "Say धन्यवाद now"]
)
def test_livekit_mixed_language_other_scripts_are_romanized_never_silent(text: str) -> None:
    spoken = speak(text)
    (foreign,) = parts_of(spoken, "foreign")
    assert foreign.words.isascii()
    assert foreign.words.replace(" ", "").isalpha()
    assert source_of(text, foreign) == text.split()[1]


def test_markup_may_set_another_language_voice_and_rate() -> None:
    text = 'One <lang xml:lang="de">25</lang> <voice name="alloy">two</voice> <prosody rate="150%">three</prosody> four'
    said = {part.words: (part.language, part.voice, part.rate) for part in speak(text).parts if part.words}
    assert said == {
        "One": (None, None, 1.0),
        "fünfundzwanzig": ("de", None, 1.0),
        "two": (None, "alloy", 1.0),
        "three": (None, None, 1.5),
        "four": (None, None, 1.0),
    }


@pytest.mark.parametrize(
    ("rate", "factor"),
    [
        ("slow", 0.75),
        ("x-fast", 1.5),
        ("80%", 0.8),
        ("+20%", 1.2),
        ("-10%", 0.9),
        ("1.1", 1.1),
        ("900%", 4.0),
        ("?", 1.0),
    ],
)
def test_prosody_rates(rate: str, factor: float) -> None:
    (word,) = parts_of(speak(f'<prosody rate="{rate}">word</prosody>'), "plain")
    assert word.rate == pytest.approx(factor)


def test_a_phoneme_keeps_the_written_word_and_carries_its_sound() -> None:
    text = 'Say <phoneme alphabet="ipa" ph="təˈmeɪtoʊ">tomato</phoneme> now'
    (word,) = parts_of(speak(text), "phoneme")
    assert (word.words, word.ipa, source_of(text, word)) == ("tomato", "təˈmeɪtoʊ", "tomato")


def test_an_initialism_carries_the_sound_of_its_letters() -> None:
    (letters,) = parts_of(speak("The CPUs hum."), "plural")
    assert (letters.words, letters.ipa) == ("C P U s", "sˌiːpˌiːjˈuːz")


def test_an_element_spans_segments_until_it_closes() -> None:
    normalizer = Normalizer()
    rates = [
        [part.rate for part in normalizer.speak(segment).parts if part.words.isalpha()]
        for segment in ('One <prosody rate="fast">two. ', "Three. ", "Four</prosody> five.")
    ]
    assert rates == [[1.0, 1.25], [1.25], [1.25, 1.0]]


def test_a_fence_spans_segments_until_it_closes() -> None:
    normalizer = Normalizer()
    said = [normalizer.speak(segment).text for segment in ("Look:\n```py\n", "x = 1\n", "y = 2\n```\n", "Done.")]
    assert said == ["Look: code block.", "", "", "Done."]


def test_an_open_fence_never_reaches_another_utterance() -> None:
    assert speak("Open ```py\nx = 1").text == "Open, code block."
    assert speak("Next one.").text == "Next one."


@pytest.mark.parametrize(
    "text", ["Type ``` to open one. Then go on.", "The mark ``` is a fence.", "Two ``` and ``` here."]
)
def test_backticks_that_open_no_fence_swallow_nothing(text: str) -> None:
    assert speak(text).text == " ".join(text.replace("```", "").split())


def test_code_can_pass_in_silence_or_be_announced_otherwise() -> None:
    text = "See:\n```\nx = 1\n```\nEnd."
    assert Normalizer(code_words="").speak(text).text == "See: End."
    assert Normalizer(code_words="some code").speak(text).text == "See: some code. End."
    assert Normalizer("de").speak("Hier:\n```\nx\n```\n").text == "Hier: Codeblock."
    assert Normalizer("xx").speak(text).text == "See: End."


def test_emoji_are_named_on_request() -> None:
    assert Normalizer(name_emoji=True).speak("Great 🎉").text == "Great party popper"
    assert Normalizer(name_emoji=False).speak("Great 🎉").text == "Great"


def test_british_dates_put_the_day_first() -> None:
    assert speak("On 3/5/2024.", "en-GB").text == "On May third, twenty twenty-four."
    assert speak("On 3/5/2024.", "en-US").text == "On March fifth, twenty twenty-four."


@pytest.mark.parametrize(
    "text",
    ["<speak>Hi", "Hi</speak>", "<prosody>Hi</prosody>", "<break time=>Hi", "<say-as>Hi</say-as>", "<b>Hi", "</p>Hi<p>",
     "<prosody rate='x'>Hi</voice>", "<mark name='a'/>Hi", "<audio src='x'>Hi</audio>", "<emphasis Hi", "<phoneme>Hi</phoneme>",
     "<sub>Hi</sub>", "<!-- x -->Hi", "<?xml version='1.0'?><speak>Hi</speak>", "<foo-bar baz='1'>Hi</foo-bar>"],
)  # fmt: skip
def test_malformed_markup_is_neither_spoken_nor_loses_the_text(text: str) -> None:
    assert speak(text).text.strip(" .") == "Hi"


@pytest.mark.parametrize(
    "unit", ["1", "1.", "<", "*", "[", "@", "a.", "-", "`", "a<", "[a](", "<a ", "#a ", "1:", "1/", "谢", "🎉", "\\", "&", "|", "x^"]
)  # fmt: skip
def test_kokoro_fastapi_070_hostile_floods_are_spoken_to_the_end(unit: str) -> None:
    text = unit * 3000 + " end"
    spoken = speak(text)
    check(text, spoken)
    assert spoken.text.endswith("end")
    assert len(spoken.text) < 12 * len(text)


@pytest.mark.parametrize(("older", "tag"), [("iw", "he"), ("in", "id"), ("sh", "sr"), ("arb", "ar"), ("nn", "no")])
def test_numbers_are_read_under_an_older_tag_of_their_language_too(older, tag):
    said = speak("7, 21.", language=tag).text
    assert "7" not in said
    assert speak("7, 21.", language=older).text == said
