import threading

import numpy as np
import pytest

from vivavoce.engines import espeak, espeak_program
from vivavoce.engines.base import Phrase
from vivavoce.engines.espeak import Espeak
from vivavoce.errors import PredictorFailed, UnknownVoice, VoiceNotInstalled

needs_espeak = pytest.mark.skipif(espeak_program.program() is None, reason=espeak_program.HOW_TO_INSTALL)


@needs_espeak
def test_more_than_a_hundred_languages_each_under_one_name() -> None:
    voices = Espeak().voices()
    assert len({voice.language.split("-")[0] for voice in voices}) > 100
    assert len({voice.name for voice in voices}) == len(voices)
    assert all(voice.name.startswith("espeak/") for voice in voices)


@needs_espeak
@pytest.mark.parametrize(
    ("voice", "text"),
    [
        ("espeak/de", "Heute gehen wir schwimmen, morgen nicht."),
        ("espeak/ru", "Сегодня хорошая погода."),
        ("espeak/cmn", "今天天气很好，我们去公园。"),
        ("espeak/sw", "Habari za asubuhi, rafiki."),
        ("espeak/ar", "صباح الخير يا صديقي"),
        ("espeak/fi", "Hyvää huomenta, ystävä!"),
    ],
)
def test_kokoro_fastapi_484_each_language_is_heard_and_has_times(say, voice: str, text: str) -> None:
    engine = Espeak()
    samples, words = say(engine, text, voice)
    assert len(samples) > engine.rate_hz / 2
    assert 0.05 < np.abs(samples).max() <= 1
    assert words
    assert not any(word.exact for word in words)
    times = [time for word in words for time in (word.start_ms, word.end_ms)]
    assert times == sorted(times)


@needs_espeak
@pytest.mark.parametrize(
    "text", ["-v de", "--help", "-w /tmp/stolen.wav words", "[[h@l'oU]]", "a\nb\n\nc", "<speak>x</speak>"]
)
def test_text_is_never_an_option_nor_an_instruction(say, text: str) -> None:
    samples, words = say(Espeak(), text, "espeak/en-us")
    assert len(samples) > 1000
    assert words


@needs_espeak
def test_speed_changes_the_length(say) -> None:
    lengths = [len(say(Espeak(), "one two three four five", "espeak/en-us", speed)[0]) for speed in (0.6, 1.0, 1.5)]
    assert lengths[0] > 1.3 * lengths[1] > 1.6 * lengths[2]


@needs_espeak
def test_a_cancel_kills_the_program() -> None:
    cancelled = threading.Event()
    cancelled.set()
    assert list(Espeak().synthesize(Phrase("word " * 5000), "espeak/en-us", 1.0, cancelled.is_set)) == []


@pytest.mark.parametrize("text", ["", "  ", "…!", "🎉"])
def test_nothing_to_say_starts_no_program(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    engine = Espeak()
    monkeypatch.setattr(engine, "load", lambda voice: None)
    monkeypatch.setattr(espeak, "_spoken", lambda *_: pytest.fail("started"))
    assert list(engine.synthesize(Phrase(text), "espeak/en-us", 1.0, lambda: False)) == []


def test_without_the_program_voices_are_known_but_not_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(espeak_program, "program", lambda: None)
    engine = Espeak()
    assert len(engine.voices()) > 100
    assert engine.ready_voices() == ()
    assert "apt install espeak-ng" in engine.hint("espeak/de")
    with pytest.raises(VoiceNotInstalled, match="brew install espeak-ng"):
        engine.load("espeak/de")


@needs_espeak
@pytest.mark.parametrize("voice", ["espeak/xx", "de", "espeak/../de", "espeak/"])
def test_unknown_voices_are_refused(voice: str) -> None:
    with pytest.raises(UnknownVoice):
        Espeak().load(voice)


@pytest.mark.parametrize(
    ("voice", "language", "speaks"),
    [
        ("espeak/de", "de-AT", True),
        ("espeak/pt-br", "pt", True),
        ("espeak/cmn", "zh-TW", True),
        ("espeak/nb", "no", True),
        ("espeak/de", "nl", False),
        ("heart", "en", False),
    ],
)
def test_regions_share_a_language(voice: str, language: str, speaks: bool) -> None:
    assert Espeak().speaks(voice, language) is speaks


def test_a_program_that_fails_is_a_typed_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(espeak_program, "program", lambda: "/bin/false")
    with pytest.raises(PredictorFailed):
        espeak._spoken("hello", "en-us", 1.0, lambda: False)


@pytest.mark.parametrize(
    "wav", [b"", b"RIFF", b"RIFF....WAVE", b"RIFF....WAVEfmt \x10\0\0\0" + bytes(16) + b"data\x02\0\0\0xx"]
)
def test_what_is_no_wav_of_the_right_rate_is_refused(wav: bytes) -> None:
    with pytest.raises(PredictorFailed):
        espeak._samples(wav)
