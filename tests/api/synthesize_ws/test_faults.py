"""Frames that are wrong, late, twice or not frames at all: a typed error or a close code, never a hang."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import random
import struct
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed

from vivavoce.errors import PredictorFailed
from vivavoce.speech.protocol import Conversation


async def usable(client: Any) -> bool:
    return (await client.speak("Once more, from the top.", request_id="again"))[-1]["outcome"] == "ok"


@pytest.mark.parametrize(
    "messages, code",
    [
        ([{"type": "text", "text": "Too early."}], "no_utterance"),
        ([{"type": "end"}], "no_utterance"),
        ([{"type": "cancel"}], "no_utterance"),
        ([{"type": "played", "ms": 7}], "no_utterance"),
        ([{"type": "session.config", "voice": "mira"}], "bad_message"),
        ([{"voice": "mira"}], "bad_message"),
        ([["synthesize"]], "bad_message"),
        ([{"type": "synthesize", "text": {"a": 1}}], "bad_message"),
        ([{"type": "synthesize", "text": "Hm.", "speed": "quick"}], "bad_message"),
        ([{"type": "synthesize", "text": "Hm.", "speed": 99}], "out_of_range"),
        ([{"type": "synthesize", "text": "Hm.", "format": "tape"}], "unsupported_format"),
        ([{"type": "synthesize", "text": "Hm.", "sample_rate": 11}], "unsupported_format"),
        ([{"type": "synthesize", "text": "Hm.", "voice": "nobody"}], "unknown_voice"),
        ([{"type": "synthesize", "text": "Hm.", "language": "tlh"}], "unsupported_language"),
        ([{"type": "synthesize", "text": "Hm.", "model": "gpt-9"}], "model_not_found"),
        ([{"type": "synthesize", "text": "  "}], "empty_input"),
        ([{"type": "synthesize", "text": "?! ..."}], "empty_input"),
        ([{"type": "synthesize"}, {"type": "end"}], "empty_input"),
        ([{"type": "synthesize", "text": "Yes, "}, {"type": "text", "text": "and no."}], "text_ended"),
        ([{"type": "synthesize"}, {"type": "text", "text": "So."}, {"type": "end"}, {"type": "end"}], "text_ended"),
        ([{"type": "synthesize", "text": "One."}, {"type": "synthesize", "text": "Two."}], "utterance_running"),
        ([{"type": "resume", "token": "forged", "text": "rest"}], "bad_token"),
        ([{"type": "resume", "token": "YQ.YQ", "text": "rest"}], "bad_token"),
        ([{"type": "resume", "text": "rest"}], "bad_message"),
    ],
)
async def test_speaches_567_a_bad_message_is_a_typed_error_and_the_connection_stays_usable(app, serve, messages, code):
    async with serve(app) as door, door.connect() as client:
        for message in messages:
            await client.socket.send(json.dumps(message))
        heard = await client.until("error")
        error = heard[-1]
        assert error["code"] == code
        assert error["message"]
        assert error["retryable"] is (code == "utterance_running")
        said = [frame["type"] for frame in heard if isinstance(frame, dict)]
        if said.count("accepted") > said.count("done"):
            await client.until("done")
        assert await usable(client)


@pytest.mark.parametrize(
    "frame, code",
    [
        (b"\x00\x01\x02", 1003),
        (b"", 1003),
        ("{" * 3, 4400),
        ("synthesize please", 4400),
        (json.dumps({"type": "synthesize", "text": "x" * 2_000_000}), 1009),
        (b"x" * 2_000_000, 1009),
        (json.dumps({"type": "synthesize", "text": "Word. " * 160_000}), 4413),
    ],
    ids=["binary", "empty binary", "cut json", "prose", "2 MB json", "2 MB binary", "1 MB text"],
)
async def test_speaches_567_frames_that_end_a_connection_say_why(app, predictor, serve, until, frame, code):
    async with serve(app) as door:
        for _ in range(3):
            async with door.connect() as client:
                with contextlib.suppress(ConnectionClosed):
                    await client.socket.send(frame)
                closed, heard = await client.closed()
                assert closed == code
                if code in (1003, 4400, 4413):
                    assert heard[-1]["type"] == "error"
        await until(lambda: door.idle)
        assert predictor.jobs == []
        async with door.connect() as client:
            assert await usable(client)


async def test_speaches_567_invalid_utf8_closes_with_1007(app, serve, until, caplog):
    async with serve(app) as door:
        for bad in (b"\xff\xfe", b'{"type":"ping","id":"\xc3"}', b'{"type":"text","text":"\xed\xa0\x80"}'):
            async with door.connect() as client:
                await client.speak("Fine so far.")
                await send_text_bytes(client, bad)
                assert (await client.closed())[0] == 1007
        await until(lambda: door.idle)


async def send_text_bytes(client: Any, payload: bytes) -> None:
    """A text frame, whatever its bytes are."""
    client.socket.protocol.send_text(payload)
    client.socket.send_data()


async def test_invalid_utf8_in_pieces_closes_with_1007_too(app, serve):
    async with serve(app) as door, door.connect() as client:
        client.socket.protocol.send_text(b'{"type":"ping","id":"\xe2', fin=False)
        client.socket.protocol.send_continuation(b'"}', fin=True)
        client.socket.send_data()
        assert (await client.closed())[0] == 1007


async def test_a_message_in_pieces_is_one_message(app, serve):
    async with serve(app) as door, door.connect() as client:
        await client.socket.send(['{"type":"pi', 'ng","id":', '"pieces"}'])
        assert await client.hear() == {"type": "pong", "id": "pieces"}


async def test_a_frame_that_breaks_the_rules_of_websockets_closes_with_1002(app, serve, until):
    async with serve(app) as door:
        async with door.connect() as client:
            client.socket.transport.write(b"\xf9\x80\x00\x00\x00\x00")
            assert (await client.closed())[0] == 1002
        await until(lambda: door.idle)


async def test_twenty_bad_messages_are_borne_and_no_more(app, serve):
    async with serve(app) as door, door.connect() as client:
        for _ in range(21):
            await client.say("gibberish")
        code, heard = await client.closed()
        assert (code, len(heard)) == (4400, 21)


async def test_a_streamed_text_over_the_limit_ends_in_an_error_and_4413(build, predictor, serve):
    predictor.hold_at = 1
    app = build(max_input_chars=100)
    async with serve(app) as door, door.connect() as client:
        await client.say("synthesize", text="A sentence that fits. ", stream=True)
        await client.until("segment")
        for _ in range(10):
            await client.say("text", text="And one more of it. ")
        code, heard = await client.closed()
        assert code == 4413
        messages = [frame for frame in heard if isinstance(frame, dict)]
        assert [m["type"] for m in messages][-2:] == ["error", "done"]
        assert (messages[-2]["code"], messages[-1]["outcome"]) == ("input_too_large", "error")


async def test_nothing_to_say_is_an_error_only_once_the_text_has_ended(app, serve):
    async with serve(app) as door, door.connect() as client:
        await client.say("synthesize", text="... ", stream=True)
        await client.say("text", text="!? ")
        await client.say("flush")
        await client.say("ping")
        assert "error" not in [m.get("type") for m in await client.until("pong") if isinstance(m, dict)]
        await client.say("end")
        heard = await client.until("done")
        assert (heard[-2]["code"], heard[-1]["outcome"]) == ("empty_input", "error")
        assert heard[-2]["param"] == "text"


# Predictors that fail.


@pytest.mark.usefixtures("errors_in_log")
@pytest.mark.parametrize("fail_at, sounds", [(0, False), (2, True)])
async def test_kokoro_fastapi_331_a_failure_is_an_error_and_a_done(app, predictor, serve, caplog, fail_at, sounds):
    predictor.fail_at = fail_at
    async with serve(app) as door, door.connect() as client:
        heard = await client.speak("The lamp went out.")
        assert any(isinstance(frame, bytes) for frame in heard) is sounds
        error, done = [frame for frame in heard if isinstance(frame, dict)][-2:]
        assert (error["type"], error["code"], error["retryable"]) == ("error", "internal_error", False)
        assert (done["type"], done["outcome"]) == ("done", "error")
        predictor.fail_at = None
        assert await usable(client)
        assert door.ended("error") == 1
    assert "lamp" not in caplog.text


async def test_a_known_failure_keeps_its_name_and_is_no_traceback(app, predictor, serve):
    predictor.fail_at, predictor.fail_with = 1, PredictorFailed("The predictor went away.")
    async with serve(app) as door, door.connect() as client:
        error = (await client.speak("The lamp went out."))[-2]
        assert (error["code"], error["message"]) == ("predictor_failed", "The predictor went away.")
        assert error["retryable"] is True


@pytest.mark.usefixtures("errors_in_log")
async def test_speaches_559_one_that_fails_does_not_take_the_others_along(app, predictor, serve):
    predictor.fail_at, predictor.fail_on, predictor.chunks, predictor.step_s = 2, "Bad", 20, 0.001
    async with serve(app) as door, door.connect() as client:
        for name, text in [("good", "Good things take time."), ("bad", "Bad luck."), ("fine", "Fine weather today.")]:
            await client.say("synthesize", request_id=name, text=text, framing="header")
        outcomes, ends = {}, []
        while len(outcomes) < 3:
            done = (await client.until("done"))[-1]
            outcomes[done["request_id"]] = done["outcome"]
            ends.append(done["request_id"])
        assert outcomes == {"good": "ok", "bad": "error", "fine": "ok"}
        assert ends[0] == "bad"
        assert await usable(client)


# Refusals.


async def test_whoever_waits_is_told_where_they_stand(build, predictor, serve, until):
    predictor.hold_at = 0
    app = build(warm_capacity=1)
    async with serve(app) as door, door.connect() as first, door.connect() as second, door.connect() as third:
        await first.say("synthesize", text="I was here first.")
        await until(lambda: predictor.active == 1)
        await second.say("synthesize", text="Second.")
        assert (await second.until("queued"))[-1]["position"] == 1
        await third.say("synthesize", text="Third.")
        queued = (await third.until("queued"))[-1]
        assert queued["position"] == 2
        assert 0 < queued["budget_ms"] <= 10_000
        assert queued["expected_ms"] > 0
        await second.say("cancel")
        assert (await third.until("queued"))[-1]["position"] == 1
        predictor.gate.set()
        for client in (first, third):
            assert (await client.until("done"))[-1]["outcome"] == "ok"
    assert predictor.texts == ["I was here first.", "Third."]


@pytest.mark.parametrize(
    "settings, reason, retry_ms",
    [
        ({"queue_limit": 0, "queue_timeout_s": 3}, "queue_full", 3_000),
        ({"queue_limit": 5, "queue_timeout_s": 0.01}, "queue_timeout", 10),
    ],
)
async def test_a_refusal_is_busy_and_a_done_and_costs_nothing(
    build, predictor, serve, until, settings, reason, retry_ms
):
    predictor.hold_at = 0
    app = build(warm_capacity=1, **settings)
    async with serve(app) as door, door.connect() as first, door.connect() as second:
        await first.say("synthesize", text="I take my time.")
        await until(lambda: predictor.active == 1)
        heard = await second.speak("Is there room?")
        busy, done = heard[-2:]
        assert (busy["type"], busy["reason"], busy["retry_after_ms"]) == ("busy", reason, retry_ms)
        assert (done["outcome"], done["timeline"]["admitted"]) == ("shed", None)
        assert "start" not in [message["type"] for message in heard]
        assert len(predictor.jobs) == 1
        predictor.gate.set()
        await first.until("done")
        assert await usable(second)


async def test_a_draining_server_refuses_what_is_new(app, predictor, serve, until):
    predictor.hold_at = 0
    async with serve(app) as door, door.connect() as client:
        await client.say("synthesize", text="This one may finish.", request_id="a", framing="header")
        await until(lambda: predictor.active == 1)
        door.services.admission.draining = True
        await client.say("synthesize", text="This one may not.", request_id="b", framing="header")
        busy = (await client.until("busy"))[-1]
        assert (busy["request_id"], busy["reason"]) == ("b", "draining")
        assert (await client.until("done", "b"))[-1]["outcome"] == "shed"
        predictor.gate.set()
        assert (await client.until("done", "a"))[-1]["outcome"] == "ok"


async def test_too_many_connections_are_refused_with_1013(app, serve):
    async with serve(app) as door, door.connect() as first:
        door.services.connections.limit = 1
        async with door.connect() as second:
            code, heard = await second.closed()
            assert code == 1013
            assert heard[-1]["type"] == "error"
            assert heard[-1]["retryable"] is True
        assert await usable(first)


# Noise.


async def test_thousands_of_random_frames_over_a_real_socket(app, predictor, serve, until, caplog):
    chance = random.Random(77)
    texts = ["Hm.", "Well, then. ", "", "é\ud83d", "x" * 50, 7, None, ["a"]]

    def frame() -> str | bytes:
        kind = chance.choice(["synthesize", "text", "flush", "end", "cancel", "played", "ping", "resume", "what"])
        fields = {"type": kind, "request_id": chance.choice([None, "a", "b", "c", 3]), "text": chance.choice(texts)}
        fields |= {"framing": chance.choice(["header", "raw", "x"]), "stream": chance.choice([True, False, None, 1])}
        fields |= {"ms": chance.choice([1, 2.5, -3, "x"]), "token": "t", "id": chance.choice([1, "p", {}])}
        text = json.dumps(fields)
        match chance.randrange(60):
            case 0:
                return os.urandom(chance.randrange(30))
            case 1 | 2:
                return text[: chance.randrange(len(text))]
            case _:
                return text

    sent = connections = 0
    async with serve(app) as door:
        with caplog.at_level(logging.INFO):
            while sent < 4_000:
                connections += 1
                async with door.connect() as client:
                    reading = asyncio.create_task(client.closed())
                    try:
                        for _ in range(200):
                            await client.socket.send(frame())
                            await asyncio.sleep(0)
                            sent += 1
                    except ConnectionClosed:
                        pass
                    if chance.random() < 0.5:
                        client.leave()
                    else:
                        await client.socket.close()
                    await asyncio.wait([reading])
                    reading.exception()
            await until(lambda: door.idle and predictor.active == 0)
        async with door.connect() as client:
            assert await usable(client)
        assert connections >= 20
        assert door.ended("cancelled") > 10
    assert "Traceback" not in caplog.text


async def test_random_bytes_on_the_wire_never_hang_it(app, predictor, serve, until):
    chance = random.Random(78)
    async with serve(app) as door:
        for _ in range(150):
            async with door.connect() as client:
                size = chance.randrange(1, 200)
                noise = chance.randbytes(size)
                if chance.random() < 0.5:
                    noise = (
                        struct.pack(">BB", chance.choice([0x81, 0x82, 0x01, 0x80, 0x89, 0x88]), 0x80 | min(size, 125))
                        + noise
                    )
                client.socket.transport.write(noise)
                client.leave() if chance.random() < 0.5 else client.socket.transport.close()
        await until(lambda: door.idle)
        async with door.connect() as client:
            assert await usable(client)


@pytest.mark.usefixtures("errors_in_log")
async def test_a_fault_of_ours_closes_with_1011_and_harms_no_other_connection(
    app, predictor, serve, until, monkeypatch
):
    predictor.hold_at = 1
    receive = Conversation.receive

    def broken(self: Conversation, frame: str | bytes) -> Any:
        if "break" in str(frame):
            raise KeyError("a bug")
        return receive(self, frame)

    monkeypatch.setattr(Conversation, "receive", broken)
    async with serve(app) as door, door.connect() as first, door.connect() as second:
        for client in (first, second):
            await client.say("synthesize", text="Carry on regardless.")
            await client.until("segment")
        await first.say("break")
        code, heard = await first.closed()
        assert code == 1011
        assert heard[-1]["outcome"] == "cancelled"
        predictor.gate.set()
        assert (await second.until("done"))[-1]["outcome"] == "ok"
        await until(lambda: door.services.connections.count == 1)


async def test_a_server_that_stops_in_a_hurry_closes_with_1012(app, predictor, serve):
    predictor.hold_at = 1
    async with contextlib.AsyncExitStack() as stack:
        async with serve(app, timeout_graceful_shutdown=5) as door:
            quiet = await stack.enter_async_context(door.connect())
            busy = await stack.enter_async_context(door.connect())
            await busy.say("synthesize", text="In the midst of it.")
            await busy.until("segment")
        assert (await quiet.closed())[0] == 1012
        assert (await busy.closed())[0] == 1012
        assert door.idle
        assert door.ended("client_gone") == 1
