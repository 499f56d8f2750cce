from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vivavoce.engines.base import WordTime
from vivavoce.errors import PredictorFailed
from vivavoce.predictors.v2_stream import StreamEvent, StreamFailed, decode_event, encode_error, encode_event

MS = st.integers(0, 100_000).map(lambda hundredths: hundredths / 100)
WORDS = st.lists(st.builds(WordTime, st.integers(0, 9), st.integers(9, 99), MS, MS), max_size=3).map(tuple)


def data_of(line: bytes) -> bytes:
    assert line.startswith(b"data: ")
    assert line.endswith(b"\n\n")
    assert line.count(b"\n") == 2
    return line[6:-2]


@given(st.binary(max_size=40), st.sampled_from([8_000, 24_000, 48_000]), WORDS, st.booleans())
def test_an_event_arrives_as_it_was_sent(pcm, rate_hz, words, final):
    event = StreamEvent(pcm, rate_hz, words, final)
    line = encode_event(event, model_name="tts", text_output="two\nlines")
    assert decode_event(data_of(line)) == event
    assert json.loads(data_of(line))["text_output"] == "two\nlines"


def test_times_that_were_estimated_stay_so():
    event = StreamEvent(b"\0\0", 24_000, (WordTime(0, 3, 0.0, 90.0, exact=False),))
    assert decode_event(data_of(encode_event(event))) == event


def test_a_server_that_tells_no_words_tells_none():
    assert decode_event('{"audio": "AAA=", "sample_rate": 24000}') == StreamEvent(b"\0\0", 24_000)


def test_a_stream_that_broke_says_why():
    with pytest.raises(StreamFailed, match="the engine is gone"):
        decode_event(data_of(encode_error("the engine is gone")))


@pytest.mark.parametrize(
    "data",
    [
        "",
        "[DONE]",
        "[]",
        "{}",
        '{"audio": 7, "sample_rate": 24000}',
        '{"audio": "é", "sample_rate": 24000}',
        '{"audio": "A", "sample_rate": 24000}',
        '{"audio": ""}',
        '{"audio": "", "sample_rate": true}',
        '{"audio": "", "sample_rate": 0}',
        '{"audio": "", "sample_rate": 24000.5}',
        '{"audio": "", "sample_rate": 24000, "words": {}}',
        '{"audio": "", "sample_rate": 24000, "words": [[0, 1, 2]]}',
        '{"audio": "", "sample_rate": 24000, "words": [[2, 1, 0, 5]]}',
        '{"audio": "", "sample_rate": 24000, "words": [[0, 1, 0, 1e999]]}',
        '{"audio": "", "sample_rate": 24000, "words": [[0, 1, 0, 1' + "0" * 400 + "]]}",
        "[" * 100_000,
    ],
)
def test_other_events_are_the_predictors_fault(data):
    with pytest.raises(PredictorFailed):
        decode_event(data)
