"""The conversation of one WebSocket: what a client is told, as it is on the wire."""

from __future__ import annotations

import json
import struct

import pytest

from vivavoce.errors import Busy, RateLimited
from vivavoce.speech import SegmentEnd, SegmentStart, Timeline, Word
from vivavoce.speech.protocol import AUDIO_FRAME_BYTES
from vivavoce.speech.waiting import Place
from vivavoce.text import Segment, speak

from .talking import begin, finish

HEAD = 16


def test_the_reports_of_an_utterance_as_they_are_on_the_wire(talk):
    begin(talk, request_id="r1", word_timestamps=True)
    timeline = Timeline(
        1_000.0, admitted_ms=1_001.0, first_segment_ms=1_002.04, slot_ms=1_002.5, first_audio_ms=1_010.0
    )
    timeline.leading_silence_ms, timeline.audio_ms, timeline.synthesis_ms, timeline.ended_ms = (
        12.5,
        800.0,
        40.0,
        1_100.0,
    )
    frames = [
        *talk.queued(1, Place(3, 1_234.56, 9_000.0)),
        *talk.started(1, 24_000, "a.token"),
        *talk.segment(1, SegmentStart(0, Segment("It is 5 °C. ", 4, 16), speak("It is 5 °C."))),
        *talk.words(1, [Word("5 °C", 10, 14, 260.04, 700.0, False)]),
        *talk.segment_ended(1, SegmentEnd(0, 800.0, 40.0, waited_ms=0.5)),
        *talk.ended(1, "ok", timeline, 90.0),
    ]
    queued, start, segment, words, segment_end, done = [json.loads(frame) for frame in frames]
    assert queued == {"type": "queued", "request_id": "r1", "position": 3, "expected_ms": 1234.6, "budget_ms": 9000.0}
    assert start == {
        "type": "start",
        "request_id": "r1",
        "generation": 1,
        "sample_rate": 24_000,
        "channels": 1,
        "format": "pcm",
        "resume_token": "a.token",
    }
    assert segment == {
        "type": "segment",
        "request_id": "r1",
        "index": 0,
        "start": 4,
        "end": 16,
        "text": "It is 5 °C. ",
        "spoken": "It is five degrees Celsius.",
    }
    word = {"word": "5 °C", "start": 10, "end": 14, "start_ms": 260.0, "end_ms": 700.0, "exact": False}
    assert words == {"type": "words", "request_id": "r1", "words": [word]}
    assert segment_end == {
        "type": "segment_end",
        "request_id": "r1",
        "index": 0,
        "audio_ms": 800.0,
        "synthesis_ms": 40.0,
        "rtf": 0.05,
        "waited_ms": 0.5,
    }
    assert done == {
        "type": "done",
        "request_id": "r1",
        "outcome": "ok",
        "ttfa_ms": 10.0,
        "perceived_ttfa_ms": 22.5,
        "rtf": 0.05,
        "audio_ms": 800.0,
        "bytes": 0,
        "heard_ms": 90.0,
        "underruns": 0,
        "retries": 0,
        "timeline": {
            "received": 0.0,
            "admitted": 1.0,
            "first_segment": 2.0,
            "slot": 2.5,
            "first_audio": 10.0,
            "ended": 100.0,
        },
    }


def test_words_are_told_only_to_those_who_asked(talk):
    begin(talk)
    assert talk.words(1, [Word("Three", 0, 5, 0.0, 9.0, True)]) == []


def test_an_utterance_that_never_began_has_a_done_without_times(talk):
    begin(talk)
    done = json.loads(talk.ended(1, "shed", Timeline(3.0, ended_ms=4.0), 0.0)[0])
    assert (done["ttfa_ms"], done["rtf"], done["audio_ms"], done["timeline"]["admitted"]) == (None, None, 0.0, None)


@pytest.mark.parametrize(
    "refusal, reason, retry_ms",
    [
        (Busy("Too many wait.", retry_after_s=7.5, reason="queue_full"), "queue_full", 7_500),
        (Busy("Going.", reason="draining"), "draining", 1_000),
        (RateLimited("Enough.", retry_after_s=0.25), "rate_limited", 250),
    ],
)
def test_a_refusal_says_why_and_when_to_come_back(talk, refusal, reason, retry_ms):
    begin(talk, request_id="r1")
    (frame,) = talk.refused(1, refusal, 64)
    assert json.loads(frame) == {
        "type": "busy",
        "request_id": "r1",
        "reason": reason,
        "message": refusal.message,
        "retry_after_ms": retry_ms,
        "queue_depth": 64,
    }


def test_bare_frames_are_the_bytes_and_nothing_else(talk):
    begin(talk)
    pcm = bytes(range(256)) * 600
    frames = talk.audio(1, pcm)
    assert b"".join(frames) == pcm
    assert max(map(len, frames)) <= AUDIO_FRAME_BYTES
    assert all(len(frame) % 2 == 0 for frame in frames)
    assert finish(talk, 1)["bytes"] == len(pcm)


def test_headed_frames_say_whose_they_are_and_where_they_belong(talk):
    begin(talk, request_id="a", framing="header")
    begin(talk, request_id="b", framing="header")
    heard: dict[int, bytes] = {1: b"", 2: b""}
    for turn in range(5):
        for generation in (1, 2):
            for frame in talk.audio(generation, bytes([generation]) * 2 * 30_000 * (turn + 1)):
                assert len(frame) <= AUDIO_FRAME_BYTES
                mark, flags, offset = struct.unpack("<IIQ", frame[:HEAD])
                assert (mark, flags, offset * 2) == (generation, 0, len(heard[generation]))
                assert (len(frame) - HEAD) % 2 == 0
                heard[generation] += frame[HEAD:]
    assert set(heard[1]) == {1}
    assert set(heard[2]) == {2}
    assert finish(talk, 1)["bytes"] == len(heard[1])


def test_the_offset_of_encoded_sound_counts_its_bytes(talk):
    begin(talk, framing="header", format="mp3")
    talk.audio(1, b"x" * 7)
    (frame,) = talk.audio(1, b"y" * 5)
    assert struct.unpack("<IIQ", frame[:HEAD]) == (1, 0, 7)


def test_going_away_hands_out_the_tokens_of_what_is_unfinished_and_ends_the_conversation(talk):
    for name in ("a", "b", "c"):
        begin(talk, request_id=name, framing="header")
    talk.started(1, 24_000, "token-a")
    talk.started(2, 24_000, "token-b")
    finish(talk, 2)
    (frame,) = talk.going_away(250.0)
    resume = [{"request_id": "a", "token": "token-a"}]
    assert json.loads(frame) == {"type": "going_away", "retry_after_ms": 250.0, "resume": resume}
    assert talk.ended(1, "cancelled", Timeline(0.0), 0.0) == []
    assert finish(talk, 3, "shed")["request_id"] == "c"
    assert talk.receive('{"type":"ping"}') == []
