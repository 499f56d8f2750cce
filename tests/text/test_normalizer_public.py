"""Public bug reports of this field, each with several inputs of our own."""

import pytest

from vivavoce.text import Normalizer, Splitter, speak


@pytest.mark.parametrize("unit", ["7", "7.", "3.1", "9,", "12:", "1/", "5-", "$1", "0x"])
def test_kokoro_fastapi_070_digit_floods_end(unit: str) -> None:
    """Linear time is measured by the bench; here, that a flood is said to its end and without a digit left."""
    said = speak("Start " + unit * 20_000 + " stop").text
    assert said.startswith("Start ")
    assert said.endswith(" stop")
    assert not any(character.isdigit() for character in said)


@pytest.mark.parametrize(
    ("written", "spoken"),
    [
        ("Ring (202) 555-0147 or 303-555-0188.", "Ring two zero two, five five five, zero one four seven or three zero "
         "three, five five five, zero one eight eight."),
        ("All NPUs and TPUs are new.", "All N P U s and T P U s are new."),
        ("MIND THE GAP", "mind the gap"),
        ("UNICEF thanked the IMF.", "UNICEF thanked the I M F."),
        ("yes — no", "yes — no"),
        ("Soon 🚀 we fly 😀", "Soon we fly"),
    ],
)  # fmt: skip
def test_kokoro_fastapi_529_dashes_emoji_phones_capitals_plurals(written: str, spoken: str) -> None:
    assert speak(written).text == spoken


@pytest.mark.parametrize(
    ("written", "spoken"),
    [
        ("Try localhost:5000/api?id=7", "Try localhost colon five thousand slash A P I question mark I D equals seven"),
        (
            "Use 127.0.0.1:8080/health",
            "Use one twenty-seven dot zero dot zero dot one colon eighty eighty slash health",
        ),
        ("Mail anna@mail.example.org.", "Mail anna at mail dot example dot org."),
        ("Write to b.lee@example.com, please.", "Write to b dot lee at example dot com, please."),
    ],
)
def test_kokoro_fastapi_hosts_ports_and_mail(written: str, spoken: str) -> None:
    assert speak(written).text == spoken


@pytest.mark.parametrize(
    ("written", "spoken"),
    [
        ("How're your parents?", "How are your parents?"),
        ("why’re they late", "why are they late"),
        ("Where're the keys", "Where are the keys"),
        ("The severe genre premiere, wherefore, software.", "The severe genre premiere, wherefore, software."),
        ("Shore, before, therefore: square.", "Shore, before, therefore: square."),
    ],
)
def test_kokoro_fastapi_contractions_only_whole_words(written: str, spoken: str) -> None:
    assert speak(written).text == spoken


CODE = "Run this: ```sh\nls -la /tmp\necho done.\n``` and wait. Bye."


@pytest.mark.parametrize("cut", range(1, len(CODE)))
def test_livekit_filter_markdown_a_fence_is_never_read_wherever_the_text_is_cut(cut: int) -> None:
    splitter, normalizer = Splitter(), Normalizer()
    segments = [*splitter.feed(CODE[:cut]), *splitter.feed(CODE[cut:]), *splitter.flush()]
    said = " ".join(normalizer.speak(segment.text).text for segment in segments)
    assert said == "Run this: code block. and wait. Bye."


@pytest.mark.parametrize(
    "text", ["[pause:2s]Good morning.", "[pause:100ms] Go.", "<break time='1s'/>Go.", "[pause]Go."]
)
def test_kokoro_fastapi_355_a_pause_tag_may_come_first(text: str) -> None:
    spoken = speak(text)
    assert spoken.parts[0].pause_ms > 0
    assert spoken.parts[0].words == ""
    assert spoken.text in ("Good morning.", "Go.")


def test_kokoro_fastapi_274_pauses_keep_their_place_and_length() -> None:
    parts = speak("A b[pause:1s] c <break time='300ms'/>d.").parts
    assert [(part.start, part.pause_ms) for part in parts if part.pause_ms] == [(3, 1000), (16, 300)]


@pytest.mark.parametrize("text", ["आज मौसम\\nअच्छा है", "पहला\\n\\nदूसरा।", "शुभ\\tप्रभात"])
def test_kokoro_241_hindi_with_literal_escapes(text: str) -> None:
    said = speak(text, "hi").text
    assert "\\" not in said
    assert said.split()[0].startswith(text[0])


@pytest.mark.parametrize("text", ["He wrote 你好 and مرحبا.", "Она сказала hello, 再见.", "Danke 谢谢 merci ขอบคุณ."])
@pytest.mark.parametrize("language", ["en", "de", "ru"])
def test_livekit_mixed_language_nothing_falls_silent(text: str, language: str) -> None:
    spoken = speak(text, language)
    for part in spoken.parts:
        if any(character.isalpha() for character in text[part.start : part.end]):
            assert any(character.isalpha() for character in part.words), text[part.start : part.end]


@pytest.mark.parametrize(
    "text", ["o\u200bne t\u202ewo", "\ufeffone two", "one\u0000 two\u0007", "one \ud83dtwo", "o\u00adne two\u200f", "one\u2060 two"]
)  # fmt: skip
def test_our_37_invisible_characters_are_taken_out(text: str) -> None:
    assert speak(text).text == "one two"


def test_livekit_pipecat_5259_whole_words_with_their_own_offsets() -> None:
    text = "A state-of-the-art, well-known thing isn't $9.99."
    spans = [text[part.start : part.end] for part in speak(text).parts if part.rule not in ("punctuation",)]
    assert spans == ["A", "state-of-the-art", "well-known", "thing", "isn't", "$9.99"]


@pytest.mark.parametrize(
    ("written", "spoken"),
    [
        ("BBC 4", "B B C four"),
        ("WHO 2023", "W H O twenty twenty-three"),
        ("DVLA 7", "D V L A seven"),
        ("NO2 LEVELS", "N O two levels"),
        ("H2O LEVEL", "H two O level"),
        ("we ship 24/7", "we ship twenty-four seven"),
        ("gallons/day", "gallons per day"),
        ("miles/hour", "miles per hour"),
        ("kg/m³", "kilograms per cubic meter"),
        ("km²/yr", "square kilometers per year"),
        ("Jan-Mar 2023", "January to March twenty twenty-three"),
        ("Tue–Thu", "Tuesday to Thursday"),
        ("Section B.4", "Section B point four"),
        ("Appendix C.12", "Appendix C point twelve"),
    ],
)
def test_vernacula_233_guards_that_hit_their_neighbours(written: str, spoken: str) -> None:
    assert speak(written).text == spoken
