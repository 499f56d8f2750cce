"""Every utterance is counted once, with the outcome that it had. Public case 121: ray#64077, ray#64078."""

from __future__ import annotations

import asyncio
import contextlib
import random

import pytest
from websockets.exceptions import ConnectionClosed

from vivavoce.errors import PredictorFailed
from vivavoce.speech.admission import Admission

OUTCOMES = ("ok", "cancelled", "client_gone", "shed", "error")


@pytest.fixture
def counts():
    """`counts(app)`: utterances by outcome, whatever door they came by."""

    def read(app):
        found = dict.fromkeys(OUTCOMES, 0)
        for family in app.state.services.metrics.registry.collect():
            for sample in family.samples:
                if sample.name == "tts_utterances_total":
                    found[sample.labels["outcome"]] += int(sample.value)
        return found

    return read


@pytest.fixture
def resting(until):
    """`await resting(app)`: nothing is spoken, waits, or holds anything; the gauges say so."""

    async def wait(app):
        def quiet():
            reading = app.state.services.metrics.read()
            return not (reading.streams or reading.queue or reading.slots_busy or reading.connections)

        await until(quiet)

    return wait


def one_seat(app, queue_limit=0):
    """From now on one utterance at a time."""
    admission: Admission = app.state.services.admission
    admission.capacity, admission.queue_limit = 1, queue_limit


async def speak_to_the_end(talk, port, app, predictor):
    async with talk(port) as client:
        await client.ask()
        assert (await client.until("done"))["outcome"] == "ok"


async def cancel_while_speaking(talk, port, app, predictor):
    predictor.hold_at = 1
    async with talk(port) as client:
        await client.ask()
        await client.until("audio")
        await client.tell("cancel")
        assert (await client.until("done"))["outcome"] == "cancelled"


async def cancel_at_once(talk, port, app, predictor):
    async with talk(port) as client:
        await client.ask()
        await client.tell("cancel")
        assert (await client.until("done"))["outcome"] == "cancelled"


async def cancel_twice(talk, port, app, predictor):
    predictor.hold_at = 1
    async with talk(port) as client:
        await client.ask()
        await client.until("audio")
        await client.tell("cancel")
        await client.tell("cancel")
        await client.until("done")
        await client.tell("ping")
        await client.until("pong")


async def cancel_while_waiting(talk, port, app, predictor):
    one_seat(app, 5)
    predictor.hold_at = 1
    async with talk(port) as first, talk(port) as second:
        await first.ask()
        await first.until("audio")
        await second.ask()
        await second.until("queued")
        await second.tell("cancel")
        assert (await second.until("done"))["outcome"] == "cancelled"
        predictor.gate.set()
        assert (await first.until("done"))["outcome"] == "ok"


async def close_while_speaking(talk, port, app, predictor):
    predictor.hold_at = 1
    async with talk(port) as client:
        await client.ask()
        await client.until("audio")


async def vanish_while_speaking(talk, port, app, predictor):
    predictor.hold_at = 1
    async with talk(port) as client:
        await client.ask()
        await client.until("audio")
        client.vanish()


async def vanish_while_waiting(talk, port, app, predictor):
    one_seat(app, 5)
    predictor.hold_at = 1
    async with talk(port) as first, talk(port) as second:
        await first.ask()
        await first.until("audio")
        await second.ask()
        await second.until("queued")
        second.vanish()
        await asyncio.sleep(0.05)
        predictor.gate.set()
        assert (await first.until("done"))["outcome"] == "ok"


async def vanish_before_the_text_is_whole(talk, port, app, predictor):
    async with talk(port) as client:
        await client.ask("The text goes on", stream=True)
        await client.until("start")
        client.vanish()


async def come_when_it_is_full(talk, port, app, predictor):
    one_seat(app)
    predictor.hold_at = 1
    async with talk(port) as first, talk(port) as second:
        await first.ask()
        await first.until("audio")
        await second.ask()
        assert (await second.until("busy"))["reason"] == "queue_full"
        assert (await second.until("done"))["outcome"] == "shed"
        predictor.gate.set()
        assert (await first.until("done"))["outcome"] == "ok"


async def meet_an_engine_that_breaks(talk, port, app, predictor):
    predictor.fail_at, predictor.fail_with = 1, PredictorFailed("the scripted engine broke")
    async with talk(port) as client:
        await client.ask()
        assert (await client.until("done"))["outcome"] == "error"


async def meet_a_fault_of_ours(talk, port, app, predictor):
    predictor.fail_at = 0
    async with talk(port) as client:
        await client.ask()
        assert (await client.until("done"))["outcome"] == "error"


async def ask_for_a_voice_that_nobody_has(talk, port, app, predictor):
    async with talk(port) as client:
        await client.ask(voice="nobody")
        await client.until("error")


@pytest.mark.parametrize(
    ("scene", "expected"),
    [
        (speak_to_the_end, {"ok": 1}),
        (cancel_while_speaking, {"cancelled": 1}),
        (cancel_at_once, {"cancelled": 1}),
        (cancel_twice, {"cancelled": 1}),
        (cancel_while_waiting, {"ok": 1, "cancelled": 1}),
        (close_while_speaking, {"client_gone": 1}),
        (vanish_while_speaking, {"client_gone": 1}),
        (vanish_while_waiting, {"ok": 1, "client_gone": 1}),
        (vanish_before_the_text_is_whole, {"client_gone": 1}),
        (come_when_it_is_full, {"ok": 1, "shed": 1}),
        (meet_an_engine_that_breaks, {"error": 1}),
        (meet_a_fault_of_ours, {"error": 1}),
        (ask_for_a_voice_that_nobody_has, {"error": 1}),
    ],
)
async def test_ray_64077_every_session_is_counted_once_however_it_ends(
    app, predictor, running, talk, counts, resting, scene, expected
):
    async with running(app) as port:
        await scene(talk, port, app, predictor)
        await resting(app)
        assert counts(app) == {**dict.fromkeys(OUTCOMES, 0), **expected}
        window = app.state.services.stats.now()
        assert window["outcomes"] == counts(app)
    assert predictor.active == 0


async def test_a_thousand_that_cancel_at_once_leave_the_gauges_at_rest(app, predictor, running, talk, counts, resting):
    predictor.hold_at = 0
    async with running(app) as port:

        async def many(clients):
            async with talk(port) as client:
                for number in range(clients):
                    await client.ask()
                    if number % 10 == 0:
                        await client.until("start")
                    await client.tell("cancel")
                    await client.until("done")

        await asyncio.gather(*(many(100) for _ in range(10)))
        await resting(app)
        assert counts(app) == {**dict.fromkeys(OUTCOMES, 0), "cancelled": 1_000}
        assert app.state.services.metrics.registry.get_sample_value("tts_cancel_seconds_count") > 0


async def test_a_storm_of_clients_that_leave_at_any_moment_is_counted_to_the_last(
    app, predictor, running, talk, counts, resting
):
    chance = random.Random(20)
    begun = 0

    async def one(port, moment):
        nonlocal begun
        with contextlib.suppress(ConnectionClosed):
            async with talk(port) as client:
                await client.ask(f"This is the one that leaves {moment}.")
                await client.until("accepted")
                begun += 1
                if moment != "accepted":
                    await client.until(moment)
                client.vanish()

    async with running(app) as port:
        moments = [chance.choice(["accepted", "start", "segment", "audio", "done"]) for _ in range(150)]
        for batch in range(0, 150, 25):
            await asyncio.gather(*(one(port, moment) for moment in moments[batch : batch + 25]))
        await resting(app)
        found = counts(app)
    assert sum(found.values()) == begun == 150
    assert found["error"] == 0
    assert found["client_gone"] > 0
    assert found["ok"] > 0
    assert predictor.active == 0


async def test_what_comes_by_http_is_counted_beside_it(app, predictor, running, talk, wire, counts, resting):
    async with running(app) as port:
        async with wire(port) as raw:
            await raw.post({"input": "I listen to the end.", "response_format": "pcm"})
            assert (await raw.head())[0] == 200
            while not (await raw.reader.readline()).startswith(b"0\r\n"):
                pass
        predictor.hold_at = 1
        async with wire(port) as raw:
            await raw.post({"input": "I leave in the middle.", "response_format": "pcm"})
            assert (await raw.head())[0] == 200
            raw.leave()
        await resting(app)
        assert app.state.services.metrics.registry.get_sample_value("tts_cancel_seconds_count") == 1
        predictor.hold_at = None
        await speak_to_the_end(talk, port, app, predictor)
        await resting(app)
        assert counts(app) == {"ok": 2, "client_gone": 1, "cancelled": 0, "shed": 0, "error": 0}
