"""Whoever stops, or leaves, frees what they held at once; nothing stale is sent."""

from __future__ import annotations

import asyncio
import logging
import random
from typing import Any

import pytest

LONG = "First the kettle, then the cups. " * 40


def settled(door: Any, predictor: Any) -> bool:
    return door.services.admission.running == 0 and predictor.active == 0 and predictor.closed == len(predictor.jobs)


@pytest.mark.parametrize("framing", ["raw", "header"])
async def test_a_cancel_is_answered_and_nothing_of_it_follows(app, predictor, serve, until, framing):
    predictor.chunks, predictor.step_s = 1_000, 0.001
    async with serve(app) as door, door.connect() as client:
        await client.say("synthesize", request_id="r1", text=LONG, framing=framing)
        while not isinstance(await client.hear(), bytes):
            pass
        await client.say("cancel", request_id="r1")
        done = (await client.until("done"))[-1]
        assert (done["outcome"], done["request_id"]) == ("cancelled", "r1")
        await until(lambda: settled(door, predictor))
        await client.say("ping")
        assert await client.hear() == {"type": "pong"}
        assert door.ended("cancelled") == 1
        assert door.count("tts_cancel_seconds_count") == 1
        assert door.count("tts_streams_active", door="websocket") == 0


async def test_the_next_utterance_need_not_wait_for_the_answer_to_a_cancel(app, predictor, serve, until):
    predictor.chunks, predictor.step_s = 50, 0.001
    async with serve(app) as door, door.connect() as client:
        await client.say("synthesize", request_id="r1", text=LONG)
        await client.until("segment")
        await client.say("cancel")
        await client.say("synthesize", request_id="r2", text="Stop that. Listen.")
        heard = await client.until("done")
        assert heard[-1]["request_id"] == "r1"
        predictor.chunks = 3
        heard = await client.until("done")
        assert [m["request_id"] for m in heard if isinstance(m, dict) and m["type"] == "start"] == ["r2"]
        assert (heard[-1]["request_id"], heard[-1]["outcome"]) == ("r2", "ok")
        await until(lambda: settled(door, predictor))


async def test_a_cancel_while_it_waits_for_its_turn(build, predictor, serve, until):
    predictor.hold_at = 0
    app = build(warm_capacity=1)
    async with serve(app) as door, door.connect() as first, door.connect() as second:
        await first.say("synthesize", text="Ladies first.")
        await until(lambda: predictor.active == 1)
        await second.say("synthesize", text="Then me.")
        await second.until("queued")
        await second.say("cancel")
        done = (await second.until("done"))[-1]
        assert done["outcome"] == "cancelled"
        await until(lambda: door.services.admission.waiting == 0)
        assert door.services.admission.running == 1
        predictor.gate.set()
        assert (await first.until("done"))[-1]["outcome"] == "ok"
    assert predictor.texts == ["Ladies first."]


async def test_a_cancel_while_its_text_is_awaited(app, serve, until):
    async with serve(app) as door, door.connect() as client:
        await client.say("synthesize")
        await client.until("start")
        await client.say("cancel")
        assert (await client.until("done"))[-1]["outcome"] == "cancelled"
        await until(lambda: door.services.admission.running == 0)


async def test_cancelling_one_of_two_leaves_the_other_alone(app, predictor, serve):
    predictor.chunks, predictor.step_s = 40, 0.001
    async with serve(app) as door, door.connect() as client:
        for name in ("a", "b"):
            await client.say("synthesize", request_id=name, text="It goes on and on.", framing="header")
        await client.until("segment", "b")
        await client.say("cancel", request_id="a")
        await client.until("done", "a")
        heard = await client.until("done", "b")
        generations = {int.from_bytes(frame[:4], "little") for frame in heard if isinstance(frame, bytes)}
        assert generations == {2}
        assert heard[-1]["outcome"] == "ok"


async def test_a_cancel_with_nothing_to_cancel_is_answered(app, serve):
    async with serve(app) as door, door.connect() as client:
        await client.say("cancel")
        assert (await client.hear())["code"] == "no_utterance"
        await client.speak("Well then.")
        await client.say("cancel")
        assert (await client.hear())["code"] == "no_utterance"
        assert (await client.speak("Once more."))[-1]["outcome"] == "ok"


async def test_a_thousand_immediate_cancels_leave_the_gauges_at_nothing(build, predictor, serve, until):
    app = build(queue_limit=2_000)
    chance = random.Random(11)
    predictor.chunks, predictor.step_s = 20, 0.0005
    async with serve(app) as door:

        async def bother(count: int) -> None:
            async with door.connect() as client:
                for index in range(count):
                    await client.say("synthesize", request_id=f"r{index}", text="Never mind what I say. Or do.")
                    if chance.random() < 0.3:
                        await asyncio.sleep(chance.random() * 0.005)
                    await client.say("cancel", request_id=f"r{index}")
                    done = (await client.until("done", f"r{index}"))[-1]
                    assert done["outcome"] in ("cancelled", "ok")

        await asyncio.gather(*(bother(100) for _ in range(10)))
        await until(lambda: door.idle and predictor.active == 0)
        assert door.ended("cancelled") + door.ended("ok") == 1_000
        assert door.ended("cancelled") > 900
        assert door.count("tts_streams_active", door="websocket") == 0
        assert door.count("tts_queue_depth") == door.count("tts_slots_busy") == 0
        async with door.connect() as client:
            assert (await client.speak("Still fine."))[-1]["outcome"] == "ok"


# Leaving.


@pytest.mark.parametrize("moment", ["accepted", "start", "segment", "segment_end"])
async def test_pocket_tts_238_disconnect_frees_slot(app, predictor, serve, until, moment):
    predictor.chunks = 2_000 if moment != "segment_end" else 2
    predictor.step_s = 0.001
    async with serve(app) as door:
        async with door.connect() as client:
            await client.say("synthesize", text=LONG)
            await client.until(moment)
            client.leave()
        await until(lambda: door.idle and predictor.active == 0)
        assert door.ended("client_gone") == 1
        made = predictor.made
        async with door.connect() as client:
            predictor.chunks = 1
            await client.speak("Next, please.")
        assert predictor.made == made + 1


async def test_home_assistant_addons_3360_a_client_that_drops_is_no_traceback(app, predictor, serve, until, caplog):
    predictor.chunks, predictor.chunk_ms = 500, 500.0
    with caplog.at_level(logging.DEBUG, logger="vivavoce"):
        async with serve(app) as door:
            for _ in range(10):
                async with door.connect() as client:
                    await client.say("synthesize", text=LONG, lead_ms=15_000)
                    await client.until("segment")
                    client.leave()
            await until(lambda: door.idle and predictor.active == 0)
            assert door.ended("client_gone") == 10
    assert "Traceback" not in caplog.text
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


async def test_a_polite_goodbye_in_the_midst_of_speech_counts_as_leaving(app, predictor, serve, until):
    predictor.hold_at = 1
    async with serve(app) as door:
        async with door.connect() as client:
            await client.say("synthesize", text=LONG)
            await client.until("segment")
        await until(lambda: door.idle and predictor.active == 0)
        assert door.ended("client_gone") == 1


async def test_ray_64077_every_utterance_is_counted_once_with_its_outcome(build, predictor, serve, until):
    app = build(queue_limit=0, warm_capacity=1)
    predictor.fail_on, predictor.fail_at, predictor.fail_with = "broken", 0, ValueError("no such thing")
    async with serve(app) as door:
        async with door.connect() as client:
            assert (await client.speak("This is fine."))[-1]["outcome"] == "ok"
            predictor.hold_at = 1
            await client.say("synthesize", text="This is not wanted any more.")
            await client.until("segment")
            async with door.connect() as other:
                assert (await other.speak("No room for this."))[-1]["outcome"] == "shed"
            await client.say("cancel")
            assert (await client.until("done"))[-1]["outcome"] == "cancelled"
            assert (await client.speak("Unheard of.", voice="nobody"))[-1]["outcome"] == "error"
            await client.say("synthesize", text="Goodbye to this.")
            await client.until("segment")
        await until(lambda: door.idle)
        outcomes = {name: door.ended(name) for name in ("ok", "shed", "cancelled", "error", "client_gone")}
        assert outcomes == dict.fromkeys(outcomes, 1)
        assert door.count("tts_errors_total", door="websocket", code="unknown_voice") == 1
        assert door.count("tts_busy_total", reason="queue_full") == 1


async def test_a_storm_of_departures_leaves_nothing_behind(build, predictor, serve, until):
    app = build(queue_limit=500)
    chance = random.Random(5)
    predictor.chunks, predictor.step_s = 30, 0.001
    async with serve(app) as door:

        async def visit() -> None:
            async with door.connect() as client:
                for index in range(chance.randrange(1, 4)):
                    fields = chance.choice(
                        [{"text": LONG}, {"text": "Hi."}, {"stream": True}, {"text": LONG, "stream": True}]
                    )
                    await client.say("synthesize", request_id=f"r{index}", framing="header", **fields)
                await asyncio.sleep(chance.random() * 0.1)
                if chance.random() < 0.7:
                    client.leave()

        for _ in range(4):
            await asyncio.gather(*(visit() for _ in range(50)))
        await until(lambda: door.idle and predictor.active == 0)
        assert door.count("tts_streams_active", door="websocket") == 0
        assert door.count("tts_connections") == 0
        async with door.connect() as client:
            predictor.chunks = 2
            assert (await client.speak("Calm again."))[-1]["outcome"] == "ok"
