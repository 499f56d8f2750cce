"""What a client may ask for, and how each wrong field is answered."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vivavoce.api.speech_request import SpeechOrder, SpeechRequest, parse_order
from vivavoce.errors import BadRequest, EmptyInput, InputTooLarge, OutOfRange, UnsupportedFormat

LIMIT = 5_000


def order(**body):
    return parse_order({"input": "A small sentence.", **body}, LIMIT)


def test_only_the_input_is_needed():
    made = order()
    assert (made.text, made.voice, made.model, made.language) == ("A small sentence.", None, None, None)
    assert (made.speed, made.format, made.rate_hz, made.delivery) == (1.0, "mp3", 24_000, "chunked")


def test_unknown_fields_are_ignored():
    made = order(volume_multiplier=2, return_download_link=True, normalization_options={"a": [1]}, seed="x")
    assert made == order()


@pytest.mark.parametrize("voice", ["nova", {"id": "nova"}, {"id": "nova", "object": "voice"}])
def test_a_voice_is_a_name_or_an_id(voice):
    assert order(voice=voice).voice == "nova"


@pytest.mark.parametrize(
    ("fields", "delivery"),
    [
        ({}, "chunked"),
        ({"response_format": "wav"}, "whole"),
        ({"response_format": "wav", "stream": True}, "chunked"),
        ({"response_format": "opus", "stream": False}, "whole"),
        ({"word_timestamps": True}, "whole"),
        ({"word_timestamps": True, "stream": True}, "chunked"),
        ({"stream_format": "sse"}, "sse"),
        ({"stream_format": "sse", "stream": False, "response_format": "wav"}, "sse"),
        ({"stream_format": "audio", "stream": True}, "chunked"),
    ],
)
def test_how_audio_leaves(fields, delivery):
    assert order(**fields).delivery == delivery


@pytest.mark.parametrize(
    ("fields", "error", "param"),
    [
        ({"response_format": "midi"}, UnsupportedFormat, "response_format"),
        ({"response_format": "MP3 "}, UnsupportedFormat, "response_format"),
        ({"response_format": 3}, UnsupportedFormat, "response_format"),
        ({"sample_rate": 11_025}, UnsupportedFormat, "sample_rate"),
        ({"sample_rate": -1}, UnsupportedFormat, "sample_rate"),
        ({"sample_rate": 24_000.5}, BadRequest, "sample_rate"),
        ({"speed": 0.2499}, OutOfRange, "speed"),
        ({"speed": 4.01}, OutOfRange, "speed"),
        ({"speed": 0}, OutOfRange, "speed"),
        ({"speed": float("inf")}, OutOfRange, "speed"),
        ({"speed": float("nan")}, BadRequest, "speed"),
        ({"speed": "fast"}, BadRequest, "speed"),
        ({"speed": True}, BadRequest, "speed"),
        ({"speed": []}, BadRequest, "speed"),
        ({"stream_format": "websocket"}, BadRequest, "stream_format"),
        ({"stream": "yes"}, BadRequest, "stream"),
        ({"word_timestamps": 1}, BadRequest, "word_timestamps"),
        ({"voice": 7}, BadRequest, "voice"),
        ({"voice": {"name": "nova"}}, BadRequest, "voice"),
        ({"model": ["tts-1"]}, BadRequest, "model"),
        ({"language": {}}, BadRequest, "language"),
        ({"instructions": 5}, BadRequest, "instructions"),
        ({"input": 12}, BadRequest, "input"),
        ({"input": ["a"]}, BadRequest, "input"),
        ({"input": ""}, EmptyInput, "input"),
        ({"input": " \n\t\u3000 "}, EmptyInput, "input"),
        ({"input": "x" * (LIMIT + 1)}, InputTooLarge, "input"),
    ],
)
def test_each_wrong_field_is_named(fields, error, param):
    with pytest.raises(error) as caught:
        order(**fields)
    assert caught.value.param == param


def test_a_missing_input_is_named():
    with pytest.raises(BadRequest, match="input is missing") as caught:
        parse_order({"model": "tts-1"}, LIMIT)
    assert caught.value.param == "input"


def test_the_longest_input_is_taken():
    assert len(order(input="x" * LIMIT).text) == LIMIT


def test_a_complaint_never_quotes_the_text():
    with pytest.raises(BadRequest) as caught:
        order(input=["my secret words"])
    assert "secret" not in caught.value.message


@pytest.mark.parametrize("speed", [0.25, 1, 4, 4.0, 2.5])
def test_speeds_within_the_limits(speed):
    assert order(speed=speed).speed == speed


@pytest.mark.parametrize(
    ("fields", "language"),
    [
        ({"language": "de"}, "de"),
        ({"lang_code": "b"}, "b"),
        ({"language": "fr", "lang_code": "a"}, "fr"),
        ({"language": " "}, None),
    ],
)
def test_language_wins_over_its_letter(fields, language):
    assert order(**fields).language == language


odd = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.just([]) | st.just({"id": 1})
likely = st.sampled_from(["mp3", "wav", "sse", "audio", "mira", {"id": "mira"}, 24_000, 8_000, 1, 1.5, True, "en", "b"])


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=60)
@given(st.dictionaries(st.sampled_from(sorted(SpeechRequest.model_fields)), odd | likely))
def test_any_body_is_an_order_or_a_complaint(body):
    try:
        made = parse_order({name: value for name, value in body.items() if value is not None}, LIMIT)
    except (BadRequest, InputTooLarge) as error:
        assert error.param is None or error.param in SpeechRequest.model_fields
        assert error.message
    else:
        assert isinstance(made, SpeechOrder)
