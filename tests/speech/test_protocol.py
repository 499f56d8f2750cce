"""The conversation of one WebSocket, as tables: what a client says, and what has to come of it."""

from __future__ import annotations

import json

import pytest

from vivavoce.errors import Busy, PredictorFailed
from vivavoce.speech import SegmentEnd, SegmentStart, Timeline, Utterance, Word
from vivavoce.speech.actions import Close, EndText, FeedText, FlushText, MovePlayed, Stop
from vivavoce.speech.ask import Ask
from vivavoce.speech.protocol import MAX_BAD_MESSAGES, MAX_UTTERANCES
from vivavoce.speech.waiting import Place
from vivavoce.text import Segment, speak

from .talking import LIMIT, begin, error_of, finish, say, told

# What is asked for.


def test_a_synthesize_is_accepted_with_everything_it_asks_for(talk):
    ask = begin(
        talk,
        request_id="r1",
        text="Guten Morgen.",
        language="de",
        voice="otto",
        model="kokoro",
        instruct="female, low pitch",
        speed=1.5,
        sample_rate=48_000,
        format="opus",
        word_timestamps=True,
        framing="header",
        lead_ms=750,
    )
    assert ask == Ask(
        generation=1,
        request_id="r1",
        text="Guten Morgen.",
        language="de",
        voice="otto",
        model="kokoro",
        instruct="female, low pitch",
        speed=1.5,
        rate_hz=48_000,
        format="opus",
        word_timestamps=True,
        framing="header",
        lead_ms=750.0,
    )


def test_what_is_left_out_or_null_is_the_servers_choice(talk):
    nothing = dict.fromkeys(
        ["request_id", "voice", "language", "model", "instruct", "speed", "sample_rate", "format", "framing", "lead_ms"]
    )
    ask = begin(talk, **nothing, stream=None, word_timestamps=None, colour="green", text="One egg, soft.")
    assert ask == Ask(generation=1, request_id="u1", text="One egg, soft.")


@pytest.mark.parametrize(
    "fields, text, streamed",
    [
        ({"text": "All of it."}, "All of it.", False),
        ({"text": "All of it.", "stream": False}, "All of it.", False),
        ({"text": "The first ", "stream": True}, "The first ", True),
        ({"text": "", "stream": True}, "", True),
        ({"text": None}, "", True),
        ({"text": None, "stream": True}, "", True),
    ],
)
def test_the_text_is_whole_or_goes_on(talk, fields, text, streamed):
    ask = begin(talk, **fields)
    assert (ask.text, ask.streamed) == (text, streamed)


@pytest.mark.parametrize(
    "fields, code, param",
    [
        ({"text": 7}, "bad_message", "text"),
        ({"text": ["Hello"]}, "bad_message", "text"),
        ({"text": None, "stream": False}, "bad_message", "text"),
        ({"text": ""}, "empty_input", "text"),
        ({"text": " \n\t "}, "empty_input", "text"),
        ({"stream": "yes"}, "bad_message", "stream"),
        ({"stream": 1}, "bad_message", "stream"),
        ({"voice": {"id": "mira"}}, "bad_message", "voice"),
        ({"voice": "v" * 129}, "bad_message", "voice"),
        ({"language": 5}, "bad_message", "language"),
        ({"instruct": "x" * 1_001}, "bad_message", "instruct"),
        ({"speed": "fast"}, "bad_message", "speed"),
        ({"speed": True}, "bad_message", "speed"),
        ({"speed": 0.1}, "out_of_range", "speed"),
        ({"speed": 4.5}, "out_of_range", "speed"),
        ({"speed": 1e999}, "out_of_range", "speed"),
        ({"sample_rate": 24_000.5}, "bad_message", "sample_rate"),
        ({"sample_rate": "24000"}, "bad_message", "sample_rate"),
        ({"sample_rate": 12_345}, "unsupported_format", "sample_rate"),
        ({"sample_rate": -1}, "unsupported_format", "sample_rate"),
        ({"sample_rate": 10**60}, "unsupported_format", "sample_rate"),
        ({"format": "mp7"}, "unsupported_format", "format"),
        ({"format": 3}, "unsupported_format", "format"),
        ({"word_timestamps": "true"}, "bad_message", "word_timestamps"),
        ({"framing": "tail"}, "bad_message", "framing"),
        ({"lead_ms": 10}, "out_of_range", "lead_ms"),
        ({"lead_ms": 10**9}, "out_of_range", "lead_ms"),
        ({"request_id": 5}, "bad_message", "request_id"),
        ({"request_id": ""}, "bad_message", "request_id"),
        ({"request_id": "r" * 129}, "bad_message", "request_id"),
        ({"request_id": "a\nb"}, "bad_message", "request_id"),
    ],
)
def test_a_wrong_field_is_an_error_that_names_it_and_nothing_begins(talk, fields, code, param):
    frame = json.dumps({"type": "synthesize", "text": "Mind the gap.", **fields}).replace("Infinity", "1e999")
    error = error_of(told(talk.receive(frame)))
    assert (error["code"], error["param"], error["retryable"]) == (code, param, False)
    assert not talk.running
    assert begin(talk).generation == 1


def test_an_error_names_the_request_where_it_can(talk):
    assert error_of(say(talk, "synthesize", request_id="r9", text="Ho.", speed=9))["request_id"] == "r9"
    assert "request_id" not in error_of(say(talk, "synthesize", request_id=["r9"], text="Ho."))


def test_an_error_does_not_repeat_what_the_client_wrote(talk):
    error = error_of(say(talk, "synthesize", text="Ho.", format="secretsecret", voice="x"))
    assert "secretsecret" not in json.dumps(error)


# Frames that are no messages.


@pytest.mark.parametrize(
    "frame", ["[]", "7", "null", '"synthesize"', "true", "{}", '{"type":null}', '{"type":["text"]}']
)
def test_json_that_is_no_message_leaves_the_connection_usable(talk, frame):
    assert error_of(told(talk.receive(frame)))["code"] == "bad_message"
    assert begin(talk)


@pytest.mark.parametrize("kind", ["session.config", "input.text", "Synthesize", "", "done", "accepted"])
def test_an_unknown_type_is_an_error_that_lists_the_known(talk, kind):
    error = error_of(say(talk, kind))
    assert (error["code"], error["param"]) == ("bad_message", "type")
    assert "synthesize" in error["message"]


@pytest.mark.parametrize(
    "frame",
    ["", "hello", "{", '{"type":"ping"', '{"type":"ping"} {}', '{"a":NaN}', "[" * 100_000, "\x00", "{'type':'ping'}"],
)
def test_what_is_not_json_closes_with_4400(talk, frame):
    error, close = told(talk.receive(frame))
    assert error["code"] == "bad_message"
    assert close == Close(4400, "not JSON")
    assert talk.receive('{"type":"ping"}') == []


@pytest.mark.parametrize("frame", [b"", b"\x00\x01", b'{"type":"ping"}'])
def test_speaches_567_binary_where_json_is_expected_closes_with_1003(talk, frame):
    error, close = told(talk.receive(frame))
    assert error["code"] == "bad_message"
    assert isinstance(close, Close)
    assert close.code == 1003


def test_a_byte_order_mark_is_overlooked(talk):
    assert told(talk.receive('\ufeff{"type":"ping","id":5}')) == [{"type": "pong", "id": 5}]


def test_too_many_bad_messages_close_with_4400_and_good_ones_forgive(talk):
    for _ in range(2):
        for _ in range(MAX_BAD_MESSAGES):
            assert error_of(say(talk, "nonsense"))
        finish(talk, begin(talk).generation)
    for _ in range(MAX_BAD_MESSAGES):
        say(talk, "nonsense")
    error, close = say(talk, "nonsense")
    assert error["type"] == "error"
    assert close == Close(4400, "too many bad messages")


# Text that goes on.


def test_text_flush_and_end_reach_the_utterance_that_is_meant(talk):
    one = begin(talk, request_id="a", text=None, framing="header")
    two = begin(talk, request_id="b", text=None, framing="header")
    assert say(talk, "text", request_id="b", text="Zwei. ") == [FeedText(two.generation, "Zwei. ")]
    assert say(talk, "text", request_id="a", text="Eins. ") == [FeedText(one.generation, "Eins. ")]
    assert say(talk, "flush", request_id="a") == [FlushText(one.generation)]
    assert say(talk, "end", request_id="b") == [EndText(two.generation)]
    assert say(talk, "played", request_id="a", ms=12.5) == [MovePlayed(one.generation, 12.5)]


def test_without_an_id_the_one_utterance_is_meant_and_of_several_none(talk):
    one = begin(talk, text=None, framing="header")
    assert say(talk, "text", text="Yes.") == [FeedText(one.generation, "Yes.")]
    begin(talk, request_id="b", text=None, framing="header")
    for kind, fields in [("text", {"text": "?"}), ("flush", {}), ("end", {}), ("cancel", {}), ("played", {"ms": 1})]:
        error = error_of(say(talk, kind, **fields))
        assert (error["code"], error["param"]) == ("bad_message", "request_id")


def test_an_empty_piece_of_text_is_nothing(talk):
    begin(talk, text=None)
    assert say(talk, "text", text="") == []


def test_characters_that_arrive_in_halves_are_put_together(talk):
    one = begin(talk, text=None)
    assert told(talk.receive('{"type":"text","text":"Gone fishing \\ud83d"}')) == [FeedText(1, "Gone fishing ")]
    assert told(talk.receive('{"type":"text","text":"\\udc1f!"}')) == [FeedText(one.generation, "🐟!")]
    assert told(talk.receive('{"type":"text","text":"\\udc1f"}')) == [FeedText(1, "\ufffd")]
    assert told(talk.receive('{"type":"text","text":"\\ud83d"}')) == []
    assert say(talk, "end") == [FeedText(1, "\ufffd"), EndText(1)]


def test_half_a_character_in_a_whole_text_is_replaced(talk):
    accepted, action = told(talk.receive('{"type":"synthesize","text":"Broken \\ud83d"}'))
    assert accepted["type"] == "accepted"
    assert action.ask.text == "Broken \ufffd"


@pytest.mark.parametrize("kind, fields", [("text", {"text": "More."}), ("end", {}), ("flush", {})])
def test_speaches_567_nothing_can_follow_a_complete_text(talk, kind, fields):
    begin(talk, request_id="r1")
    assert error_of(say(talk, kind, request_id="r1", **fields))["code"] == "text_ended"
    finish(talk, 1)
    assert error_of(say(talk, kind, **fields))["code"] == "text_ended"
    begin(talk, request_id="r2", text=None)
    assert say(talk, "end") == [EndText(2)]
    assert error_of(say(talk, kind, **fields))["code"] == "text_ended"


@pytest.mark.parametrize("kind", ["text", "flush", "end", "cancel", "played"])
def test_speaches_567_what_speaks_of_no_utterance_is_an_error(talk, kind):
    fields = {"text": {"text": "Too early."}, "played": {"ms": 3}}.get(kind, {})
    assert error_of(say(talk, kind, **fields))["code"] == "no_utterance"
    error = error_of(say(talk, kind, request_id="never", **fields))
    assert (error["code"], error["param"]) == ("no_utterance", "request_id")
    assert begin(talk)


@pytest.mark.parametrize("outcome", ["cancelled", "error", "shed"])
def test_text_that_crosses_the_end_of_its_utterance_is_no_mistake(talk, outcome):
    begin(talk, request_id="r1", text=None)
    finish(talk, 1, outcome)
    for _ in range(MAX_BAD_MESSAGES * 3):
        assert say(talk, "text", request_id="r1", text="and ") == []
        assert say(talk, "text", text="on ") == []
    assert say(talk, "flush") == say(talk, "end") == say(talk, "played", ms=40) == []
    assert not talk.closed


def test_a_text_over_the_limit_closes_with_4413(talk):
    error, close = say(talk, "synthesize", request_id="r1", text="a" * (LIMIT + 1))
    assert (error["code"], error["param"], error["request_id"]) == ("input_too_large", "text", "r1")
    assert isinstance(close, Close)
    assert close.code == 4413


def test_a_streamed_text_over_the_limit_fails_its_utterance_and_closes_with_4413(talk):
    ask = begin(talk, text="a" * (LIMIT - 1), stream=True)
    assert say(talk, "text", text="b") == [FeedText(ask.generation, "b")]
    stop, close = say(talk, "text", text="c")
    assert isinstance(stop, Stop)
    assert stop.fault is not None
    assert close.code == 4413
    assert json.loads(talk.failed(1, stop.fault)[0])["code"] == "input_too_large"
    assert finish(talk, 1, "error")["outcome"] == "error"


# Several utterances.


def test_one_after_the_other_needs_no_ids(talk):
    for generation in (1, 2, 3):
        ask = begin(talk)
        assert (ask.generation, ask.request_id) == (generation, f"u{generation}")
        assert finish(talk, generation)["request_id"] == f"u{generation}"


def test_an_id_may_be_used_again_after_its_end(talk):
    for generation in (1, 2):
        assert begin(talk, request_id="turn").generation == generation
        finish(talk, generation)


def test_several_at_once_need_headers_and_ids_that_differ(talk):
    begin(talk, request_id="a", framing="header")
    error = error_of(say(talk, "synthesize", request_id="b", text="Hm."))
    assert (error["code"], error["param"], error["request_id"]) == ("framing_required", "framing", "b")
    error = error_of(say(talk, "synthesize", request_id="a", text="Hm.", framing="header"))
    assert (error["code"], error["retryable"]) == ("utterance_running", True)
    assert error_of(say(talk, "synthesize", text="Hm.", framing="header"))["code"] == "utterance_running"
    assert begin(talk, request_id="b", framing="header").generation == 2
    assert set(talk.running) == {1, 2}


def test_none_may_join_an_utterance_whose_frames_are_bare(talk):
    begin(talk, request_id="a")
    error = error_of(say(talk, "synthesize", request_id="b", text="Hm.", framing="header"))
    assert error["code"] == "framing_required"


def test_there_is_a_limit_to_how_many_run_at_once(talk):
    for index in range(MAX_UTTERANCES):
        begin(talk, request_id=f"r{index}", framing="header")
    error = error_of(say(talk, "synthesize", request_id="more", text="Hm.", framing="header"))
    assert (error["code"], error["retryable"]) == ("too_many_utterances", True)
    finish(talk, 3)
    assert begin(talk, request_id="more", framing="header")


# Cancel.


def test_a_cancel_stops_its_utterance_and_no_other(talk):
    begin(talk, request_id="a", framing="header")
    begin(talk, request_id="b", framing="header")
    assert say(talk, "cancel", request_id="b") == [Stop(2)]
    assert finish(talk, 2, "cancelled")["request_id"] == "b"
    assert say(talk, "cancel") == [Stop(1)]


def test_nothing_of_an_utterance_follows_its_done(talk):
    begin(talk, request_id="a", framing="header", word_timestamps=True)
    talk.started(1, 24_000, "token")
    finish(talk, 1, "cancelled")
    segment = SegmentStart(0, Segment("Yes.", 0, 4), speak("Yes."))
    assert talk.queued(1, Place(1, 2.0, 3.0)) == []
    assert talk.started(1, 24_000, "token") == []
    assert talk.segment(1, segment) == []
    assert talk.words(1, [Word("Yes", 0, 3, 0.0, 9.0, True)]) == []
    assert talk.audio(1, b"\x00\x00") == []
    assert talk.segment_ended(1, SegmentEnd(0, 1.0, 1.0)) == []
    assert talk.failed(1, PredictorFailed("late")) == []
    assert talk.refused(1, Busy("late"), 0) == []
    assert talk.ended(1, "ok", Timeline(0.0), 0.0) == []


def test_a_cancel_that_crosses_the_end_is_answered_and_is_no_mistake(talk):
    begin(talk, request_id="a")
    finish(talk, 1)
    for _ in range(MAX_BAD_MESSAGES * 2):
        error = error_of(say(talk, "cancel", request_id="a"))
        assert error["code"] == "no_utterance"
        assert "request_id" not in error
    assert not talk.closed


# Ping.


@pytest.mark.parametrize("identity", ["p1", 17, 0, 2.5])
def test_a_ping_is_answered_with_its_id(talk, identity):
    assert say(talk, "ping", id=identity) == [{"type": "pong", "id": identity}]


def test_a_ping_without_an_id_is_answered_and_a_wrong_id_is_an_error(talk):
    assert say(talk, "ping") == [{"type": "pong"}]
    for wrong in ([1], {"a": 1}, True, "x" * 200):
        assert error_of(say(talk, "ping", id=wrong))["param"] == "id"


# Going on.


def test_a_resume_goes_on_with_the_tokens_settings(talk):
    accepted, action = say(talk, "resume", token="good", text="from here on.", offset=57)
    assert accepted == {"type": "accepted", "request_id": "r7"}
    ask = action.ask
    assert ask.resumed == Utterance(voice="mira", language="en-US", speed=1.25, rate_hz=16_000, offset=57)
    assert (ask.text, ask.streamed, ask.format, ask.framing) == ("from here on.", False, "pcm", "header")
    assert (ask.rate_hz, ask.word_timestamps, ask.speed, ask.voice) == (16_000, True, 1.25, "alloy")


@pytest.mark.parametrize(
    "told, rest_ms",
    [
        ({"before": "All of it was heard. "}, 240),
        ({"before": "All of it was heard. ", "silence_ms": 90}, 150),
        ({"before": "All of it was heard. ", "silence_ms": 500.5}, 0),
        ({"before": "Nearly all ", "silence_ms": None}, 0),
        ({"before": None, "silence_ms": 0}, 0),
        ({}, 0),
    ],
)
def test_a_resume_begins_with_what_was_not_received_of_the_pause_there(talk, told, rest_ms):
    _, action = say(talk, "resume", token="good", text="Here it goes on.", offset=57, **told)
    assert action.ask.resumed.opening_rest_ms == pytest.approx(rest_ms)  # at a speed of 1.25


def test_a_resumed_text_may_go_on_or_be_over(talk):
    _, action = say(talk, "resume", request_id="mine", token="good", offset=3)
    assert (action.ask.request_id, action.ask.streamed) == ("mine", True)
    finish(talk, 1)
    _, action = say(talk, "resume", token="good", text="", offset=90)
    assert (action.ask.text, action.ask.streamed) == ("", False)


@pytest.mark.parametrize(
    "fields, code, param",
    [
        ({"token": "forged"}, "bad_token", "token"),
        ({"token": ""}, "bad_message", "token"),
        ({"token": 7}, "bad_message", "token"),
        ({}, "bad_message", "token"),
        ({"token": "x" * 20_000}, "bad_message", "token"),
        ({"token": "good", "offset": -1}, "out_of_range", "offset"),
        ({"token": "good", "offset": 1.5}, "bad_message", "offset"),
        ({"token": "good", "offset": "9"}, "bad_message", "offset"),
        ({"token": "good", "before": 9}, "bad_message", "before"),
        ({"token": "good", "silence_ms": -1}, "out_of_range", "silence_ms"),
        ({"token": "good", "silence_ms": "1"}, "bad_message", "silence_ms"),
    ],
)
def test_a_resume_that_cannot_be_is_an_error_and_the_connection_stays_usable(talk, fields, code, param):
    error = error_of(say(talk, "resume", text="rest", **fields))
    assert (error["code"], error["param"]) == (code, param)
    assert begin(talk)
