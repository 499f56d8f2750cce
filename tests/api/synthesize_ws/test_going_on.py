"""Speech that goes on after a lost connection, a drain or a dead server."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

TEXT = "At dawn the baker lights his oven. By seven there is bread. By eight, there is none left."
SECRET = "shared-between-gateways"


def words_of(heard: list[Any]) -> list[dict[str, Any]]:
    told = [frame for frame in heard if isinstance(frame, dict) and frame["type"] == "words"]
    return [word for message in told for word in message["words"]]


async def first_leg(client: Any, predictor: Any, **fields: Any) -> tuple[str, int, list[dict[str, Any]]]:
    """Speak until a segment is over; the token, where the first unheard word begins, and the words heard."""
    await client.say("synthesize", text=TEXT, word_timestamps=True, **fields)
    heard = await client.until("start")
    token = heard[-1]["resume_token"]
    words = words_of(await client.until("segment_end"))
    return token, TEXT.index("By seven"), words


async def test_speech_goes_on_at_another_server_from_the_first_unheard_word(build, predictor, serve, until):
    predictor.step_s = 0.01
    async with serve(build(token_secret=SECRET)) as one, serve(build(token_secret=SECRET)) as other:
        async with one.connect() as client:
            token, offset, heard = await first_leg(client, predictor, speed=1.25, sample_rate=16_000, request_id="tale")
            client.leave()
        async with other.connect() as client:
            await client.say("resume", token=token, text=TEXT[offset:], offset=offset)
            rest = await client.until("done")
        await until(lambda: one.idle and other.idle)
    accepted, start, done = rest[0], next(m for m in rest if isinstance(m, dict) and m["type"] == "start"), rest[-1]
    assert (accepted["type"], accepted["request_id"]) == ("accepted", "tale")
    assert start["sample_rate"] == 16_000
    assert done["outcome"] == "ok"
    words = heard + words_of(rest)
    assert " ".join(word["word"] for word in words) == TEXT.replace(",", "").replace(".", "")
    assert [TEXT[word["start"] : word["end"]] for word in words] == [word["word"] for word in words]
    segments = [m for m in rest if isinstance(m, dict) and m["type"] == "segment"]
    assert [TEXT[s["start"] : s["end"]] for s in segments] == [s["text"] for s in segments]
    assert {job.speed for job in predictor.jobs} == {1.25}


async def test_a_resumed_text_may_still_be_arriving(build, predictor, serve):
    app = build(token_secret=SECRET)
    async with serve(app) as door:
        async with door.connect() as client:
            token, offset, _ = await first_leg(client, predictor)
            client.leave()
        async with door.connect() as client:
            await client.say("resume", token=token, text="By seven there ", offset=offset, stream=True)
            await client.say("text", text="is bread. ")
            await client.say("text", text="By eight, there is none left.")
            await client.say("end")
            heard = await client.until("done")
            assert heard[-1]["outcome"] == "ok"
            assert words_of(heard)[-1]["end"] == len(TEXT) - 1


async def test_nothing_left_to_say_is_a_good_end(build, predictor, serve):
    app = build(token_secret=SECRET)
    async with serve(app) as door, door.connect() as client:
        token = (await first_leg(client, predictor))[0]
        await client.until("done")
        await client.say("resume", token=token, text="", offset=len(TEXT))
        heard = await client.until("done")
        assert heard[-1]["outcome"] == "ok"
        assert "error" not in [m["type"] for m in heard]


@pytest.mark.parametrize("kind", ["another secret", "changed", "cut", "too old"])
async def test_a_token_that_is_not_good_is_refused(build, predictor, serve, kind):
    apps = [
        build(token_secret=SECRET),
        build(token_secret="another-secret-altogether" if kind == "another secret" else SECRET),
    ]
    apps[0].state.services.resume_tokens._ttl_s = -1 if kind == "too old" else 900
    async with serve(apps[0]) as one, serve(apps[1]) as other:
        async with one.connect() as client:
            token = (await first_leg(client, predictor))[0]
        async with other.connect() as client:
            bad = {"changed": "A" + token[1:], "cut": token[:-5]}.get(kind, token)
            await client.say("resume", token=bad, text="the rest.", offset=9)
            error = await client.hear()
            assert (error["code"], error["param"], error["retryable"]) == ("bad_token", "token", False)
            assert (await client.speak("From the start, then."))[-1]["outcome"] == "ok"


async def test_going_away_at_the_end_of_the_grace_hands_out_tokens_that_work_elsewhere(build, predictor, serve, until):
    predictor.hold_at, predictor.fail_on = 1, ""
    async with serve(build(token_secret=SECRET)) as one, serve(build(token_secret=SECRET)) as other:
        async with one.connect() as client:
            await client.say("synthesize", request_id="a", text=TEXT, framing="header")
            await client.say("synthesize", request_id="b", framing="header", stream=True)
            await client.until("start", "b")
            await until(lambda: predictor.active == 1)
            one.services.admission.draining = True
            await one.services.connections.going_away(0.05)
            code, heard = await client.closed()
            assert code == 1012
            away = heard[-1]
            assert away["type"] == "going_away"
            assert away["retry_after_ms"] > 0
            assert [entry["request_id"] for entry in away["resume"]] == ["a", "b"]
            assert "done" not in [m["type"] for m in heard if isinstance(m, dict)]
        await until(lambda: one.idle)
        assert one.ended("cancelled") == 2
        predictor.hold_at = None
        async with other.connect() as client:
            for entry in away["resume"]:
                await client.say("resume", token=entry["token"], request_id=entry["request_id"], text=TEXT, offset=0)
            ends = [(await client.until("done"))[-1] for _ in range(2)]
            assert {(end["request_id"], end["outcome"]) for end in ends} == {("a", "ok"), ("b", "ok")}
        predictor.gate.set()


async def test_whoever_is_still_spoken_to_hears_the_end_within_the_grace(app, predictor, serve, until):
    predictor.hold_at = 1
    async with serve(app) as door, door.connect() as busy, door.connect() as idle:
        await busy.say("synthesize", text="Let me finish.")
        await until(lambda: predictor.active == 1)
        leaving = asyncio.create_task(door.services.connections.going_away(20))
        code, heard = await idle.closed()
        assert (code, heard) == (1012, [{"type": "going_away", "retry_after_ms": 500.0, "resume": []}])
        async with door.connect() as late:
            code, heard = await late.closed()
            assert (code, heard[-1]["type"]) == (1012, "going_away")
        predictor.gate.set()
        code, heard = await busy.closed()
        assert code == 1012
        messages = [frame for frame in heard if isinstance(frame, dict)]
        assert [message["type"] for message in messages[-2:]] == ["done", "going_away"]
        assert messages[-2]["outcome"] == "ok"
        await leaving


async def test_what_has_not_begun_when_the_server_leaves_is_refused(build, predictor, serve, until):
    predictor.hold_at = 0
    app = build(warm_capacity=1)
    async with serve(app) as door, door.connect() as first, door.connect() as second:
        await first.say("synthesize", text="I am on.")
        await until(lambda: predictor.active == 1)
        await second.say("synthesize", text="I am next.")
        await second.until("queued")
        await door.services.connections.going_away(0)
        code, heard = await second.closed()
        assert code == 1012
        assert [m["type"] for m in heard if m["type"] != "queued"] == ["busy", "done", "going_away"]
        assert heard[-1]["resume"] == []
        assert (await first.closed())[1][-1]["resume"][0]["request_id"] == "u1"
