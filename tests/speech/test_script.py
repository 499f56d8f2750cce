"""Beats: phrases cut where the manner changes, rests where they are asked for."""

from __future__ import annotations

import pytest

from vivavoce.errors import UnknownVoice, UnsupportedLanguage
from vivavoce.speech import Utterance
from vivavoce.speech.script import Rest, Say, beats
from vivavoce.text import Part, Spoken

ME = Utterance(voice="me", language="en", speed=1.5)


def spoken(*parts: Part) -> Spoken:
    size = max((p.out_end for p in parts), default=0)
    text = [" "] * size
    for part in parts:
        text[part.out_start : part.out_end] = part.words
    return Spoken("".join(text), parts)


def test_parts_of_one_manner_are_one_phrase() -> None:
    (say,) = beats(spoken(Part(0, 2, "Hi", "plain", 0, 2), Part(3, 8, "there", "plain", 3, 8)), ME)
    assert isinstance(say, Say)
    assert (say.job.phrase.text, say.job.voice, say.job.speed, say.out_start) == ("Hi there", "me", 1.5, 0)


def test_a_pause_cuts_and_rests_at_the_pace_of_the_voice() -> None:
    script = list(
        beats(
            spoken(
                Part(0, 2, "Hi", "plain", 0, 2),
                Part(2, 5, "", "pause", 2, 2, pause_ms=300),
                Part(6, 9, "you", "plain", 3, 6),
            ),
            ME,
        )
    )
    assert [type(b) for b in script] == [Say, Rest, Say]
    assert script[1] == Rest(200.0)
    assert script[2].out_start == 3  # type: ignore[union-attr]


def test_speed_stays_within_its_limits() -> None:
    (say,) = beats(spoken(Part(0, 2, "Hi", "ssml", 0, 2, rate=9.0)), ME)
    assert isinstance(say, Say) and say.job.speed == 4.0


def test_punctuation_alone_calls_no_engine() -> None:
    assert list(beats(spoken(Part(0, 3, "...", "plain", 0, 3)), ME)) == []


def test_a_pronunciation_points_into_the_phrase() -> None:
    script = list(
        beats(
            spoken(
                Part(0, 1, "A", "plain", 0, 1, pause_ms=10),
                Part(2, 5, "big", "plain", 2, 5),
                Part(6, 11, "tomato", "lexicon", 6, 12, ipa="təˈmɑːtoʊ"),
            ),
            ME,
        )
    )
    say = script[-1]
    assert isinstance(say, Say)
    (ipa,) = say.job.phrase.ipa
    assert say.job.phrase.text[ipa.start : ipa.end] == "tomato" and ipa.symbols == "təˈmɑːtoʊ"


def test_markup_voices_are_cast() -> None:
    asked = []

    def resolve(voice: str | None, language: str) -> str:
        asked.append((voice, language))
        return "other"

    script = list(
        beats(
            spoken(Part(0, 2, "Hi", "plain", 0, 2), Part(3, 6, "you", "ssml", 3, 6, voice="Other", language="fr")),
            ME,
            resolve,
        )
    )
    assert [b.job.voice for b in script if isinstance(b, Say)] == ["me", "other"]
    assert asked == [("Other", "fr")]
    assert script[1].job.phrase.language == "fr"  # type: ignore[union-attr]


def test_a_language_nobody_speaks_is_read_by_the_same_voice_not_left_out() -> None:
    def resolve(voice: str | None, language: str) -> str:
        raise UnsupportedLanguage(f"nobody speaks {language}")

    (say,) = beats(spoken(Part(0, 2, "Hi", "ssml", 0, 2, language="xx")), ME, resolve)
    assert isinstance(say, Say) and say.job.voice == "me"


def test_a_voice_that_does_not_exist_is_an_error() -> None:
    def resolve(voice: str | None, language: str) -> str:
        raise UnknownVoice(f"no voice {voice}")

    with pytest.raises(UnknownVoice):
        list(beats(spoken(Part(0, 2, "Hi", "ssml", 0, 2, voice="x")), ME, resolve))
