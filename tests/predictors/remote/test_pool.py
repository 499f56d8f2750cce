"""A pool over predictors on real sockets: who gets a job, and who waits for whom."""

import asyncio
import contextlib

import numpy as np
import pytest

from vivavoce.config import Settings
from vivavoce.errors import Busy, UnknownVoice
from vivavoce.predictors.discovery import DnsSource, Target
from vivavoce.predictors.pool import Pool
from vivavoce.predictors.pool_setup import pool_from_settings
from vivavoce.predictors.v2 import V2Predictor

from .pools import STREAMS, ready_count, stream_route


async def test_it_sums_what_is_ready_and_says_who_spoke(serve, kit, pool_of) -> None:
    one = await serve(kit.v2_routes(slots=2, streams=9, node="n1"))
    two = await serve(kit.v2_routes(slots=3, streams=11, node="n2"))
    pool = await pool_of(one, burst=[two])
    assert (pool.slots, pool.streams("anna")) == (5, 20)
    (chunk,) = await kit.heard(pool.synthesize(kit.job()))
    assert (chunk.origin.tier, chunk.origin.endpoint) == ("floor", one.url)
    states = pool.endpoints
    assert [(state.tier, state.node, state.slots, state.requests) for state in states] == [
        ("floor", "n1", 2, 1),
        ("burst", "n2", 3, 0),
    ]


async def test_least_outstanding_first_and_the_floor_before_the_burst(serve, kit, pool_of) -> None:
    go_on = asyncio.Event()

    async def slow(asked) -> None:
        await go_on.wait()
        await kit.answer_speech(asked, kit.tone(0.1))

    floor = [await serve(kit.v2_routes(slow, slots=2)) for _ in range(2)]
    burst = [await serve(kit.v2_routes(slow, slots=2))]
    pool = await pool_of(*floor, burst=burst)
    jobs = [asyncio.ensure_future(kit.heard(pool.synthesize(kit.job()))) for _ in range(5)]
    await kit.until(lambda: sum(len(server.of("/infer")) for server in floor + burst) == 5)
    assert [len(server.of("/infer")) for server in floor + burst] == [2, 2, 1]
    assert [state.outstanding for state in pool.endpoints] == [2, 2, 1]
    go_on.set()
    await asyncio.gather(*jobs)
    assert [state.outstanding for state in pool.endpoints] == [0, 0, 0]


async def test_a_refusal_moves_on_at_once(serve, kit, pool_of) -> None:
    full = await serve(kit.v2_routes(lambda asked: asked.whole({"error": "full"}, 503, Retry_After="1"), slots=4))
    free = await serve(kit.v2_routes(slots=1))
    seen = []
    pool = await pool_of(full, burst=[free])
    pool.observe = lambda tier, result, seconds: seen.append((tier, result))
    (chunk,) = await kit.heard(pool.synthesize(kit.job()))
    assert chunk.origin.endpoint == free.url
    assert seen == [("floor", "refused"), ("burst", "ok")]


async def test_gateways_that_share_a_pool_wait_for_each_other(serve, kit, pool_of) -> None:
    running = peak = 0

    async def one_slot(asked) -> None:
        nonlocal running, peak
        if running:
            return await asked.whole({"error": "full"}, 503)
        running += 1
        peak = max(peak, running)
        try:
            await asyncio.sleep(0.005)
            await kit.answer_speech(asked, kit.tone(0.05))
        finally:
            running -= 1

    server = await serve(kit.v2_routes(one_slot, slots=1))
    pools = [await pool_of(server) for _ in range(3)]
    jobs = [kit.heard(pool.synthesize(kit.job())) for pool in pools for _ in range(4)]
    heard = await asyncio.gather(*jobs)
    assert all(len(kit.sound(chunks)) == 1_200 for chunks in heard)
    assert peak == 1


async def test_when_all_stay_full_the_wait_is_bounded(serve, kit, pool_of) -> None:
    full = await serve(kit.v2_routes(lambda asked: asked.whole({"error": "full"}, 503)))
    pool = await pool_of(full, request_timeout_s=0.2)
    with pytest.raises(Busy) as caught:
        await kit.heard(pool.synthesize(kit.job()))
    assert caught.value.reason == "full"
    assert 2 <= len(full.of("/infer")) <= 12


async def test_who_runs_dry_first_is_served_first(serve, kit, pool_of) -> None:
    go_on = asyncio.Event()
    order = []

    async def slow(asked) -> None:
        order.append(asked.json["inputs"][0]["data"][0])
        await go_on.wait()
        await kit.answer_speech(asked, kit.tone(0.05))

    server = await serve(kit.v2_routes(slow, extensions=(), slots=1))
    pool = await pool_of(server)

    def speak(text: str, due_ms: float | None):
        return asyncio.ensure_future(kit.heard(pool.synthesize(kit.job(text), due_ms and (lambda: due_ms))))

    jobs = [speak("first", 1e9)]
    await kit.until(lambda: order)
    jobs += [speak("relaxed", 9e8), speak("urgent", 5.0), speak("soon", 1e6), speak("now", None)]
    left = speak("left", 1.0)
    await asyncio.sleep(0.01)
    left.cancel()
    go_on.set()
    await asyncio.gather(*jobs)
    assert order == ["first", "now", "urgent", "soon", "relaxed"]
    assert pool.endpoints[0].outstanding == 0


async def test_nobody_ready_is_busy_in_the_end(serve, kit, pool_of) -> None:
    pool = await pool_of("http://127.0.0.1:9", ready=0, request_timeout_s=0.1)
    with pytest.raises(Busy, match="No predictor is ready"):
        await kit.heard(pool.synthesize(kit.job()))


async def test_a_voice_goes_where_it_is_spoken(serve, kit, pool_of) -> None:
    one = await serve(kit.v2_routes(voices=[{"name": "anna", "aliases": ["nova"]}]))
    two = await serve(kit.v2_routes(voices=[{"name": "ben"}]))
    pool = await pool_of(one, two)
    for voice, server in (("ben", two), ("Nova", one), ("anna", one)):
        assert (await kit.heard(pool.synthesize(kit.job(voice=voice))))[0].origin.endpoint == server.url
    assert (pool.streams("ben"), pool.streams("carl")) == (1, 0)
    with pytest.raises(UnknownVoice):
        await kit.heard(pool.synthesize(kit.job(voice="carl")))


async def test_alltalk_63_two_at_once_never_mix(serve, kit, pool_of) -> None:
    async def infer(asked) -> None:
        pitch = float(asked.json["inputs"][0]["data"][0])
        await kit.answer_speech(asked, kit.tone(0.1, pitch))

    servers = [await serve(kit.v2_routes(infer, extensions=(), slots=3)) for _ in range(2)]
    pool = await pool_of(*servers)
    pitches = [100.0 + 20 * number for number in range(30)]
    heard = await asyncio.gather(*(kit.heard(pool.synthesize(kit.job(str(pitch)))) for pitch in pitches))
    for pitch, chunks in zip(pitches, heard, strict=True):
        np.testing.assert_allclose(kit.sound(chunks), kit.tone(0.1, pitch), atol=1e-4)


async def test_leaving_frees_everything_wherever_the_job_is(serve, kit, pool_of) -> None:
    async def never(asked) -> None:
        await asyncio.Event().wait()

    server = await serve(kit.v2_routes(never, slots=2))
    pool = await pool_of(server)
    seen = []
    pool.observe = lambda tier, result, seconds: seen.append(result)
    for turns in range(12):
        jobs = [asyncio.ensure_future(kit.heard(pool.synthesize(kit.job()))) for _ in range(5)]
        for _ in range(turns):
            await asyncio.sleep(0)
        for job in jobs:
            job.cancel()
        await asyncio.gather(*jobs, return_exceptions=True)
    assert pool.endpoints[0].outstanding == 0
    assert set(seen) <= {"cancelled"}
    server.routes["/infer"] = lambda asked: kit.answer_speech(asked, kit.tone(0.1))
    assert len(await kit.heard(pool.synthesize(kit.job()))) == 1


async def test_closing_the_pool_ends_those_who_wait(serve, kit, pool_of) -> None:
    pool = await pool_of("http://127.0.0.1:9", ready=0)
    waiting = asyncio.ensure_future(kit.heard(pool.synthesize(kit.job())))
    await asyncio.sleep(0.01)
    await pool.aclose()
    with pytest.raises(Busy):
        await waiting


async def test_kept_connections_are_used_again_and_may_be_closed_meanwhile(serve, kit, pool_of) -> None:
    server = await serve(kit.v2_routes(slots=1))
    pool = await pool_of(server, keep_alive=True, probe_interval_s=30.0)
    before = server.connections
    for _ in range(4):
        await kit.heard(pool.synthesize(kit.job()))
    assert server.connections == before
    answered = server.routes["/infer"]

    async def hang_up(asked) -> None:
        server.routes["/infer"] = answered
        asked.writer.close()

    server.routes["/infer"] = hang_up
    assert len(await kit.heard(pool.synthesize(kit.job()))) == 1
    assert [state.failures for state in pool.endpoints] == [0]


async def test_a_stream_gives_its_kept_connection_back(serve, kit, pool_of) -> None:
    server = await serve(kit.v2_routes(extensions=STREAMS) | stream_route(kit, kit.tone(0.2)))
    pool = await pool_of(server, keep_alive=True, probe_interval_s=30.0)
    before = server.connections
    for _ in range(3):
        await kit.heard(pool.synthesize(kit.job()))
    assert server.connections == before

    async def linger(asked, number) -> None:
        asked.raw = never if number == 3 else asked.raw

    async def never(data) -> None:
        if data.startswith(b"0"):
            await asyncio.Event().wait()
        asked_of.writer.write(data)

    asked_of = None

    async def remember(asked) -> None:
        nonlocal asked_of
        asked_of = asked
        await lingering["/generate_stream"](asked)

    lingering = stream_route(kit, kit.tone(0.2), on_piece=linger)
    server.routes["/generate_stream"] = remember
    assert len(kit.sound(await kit.heard(pool.synthesize(kit.job())))) == 4_800


async def test_one_that_is_started_later_is_spared_at_first(serve, kit) -> None:
    class Clock:
        now = 0.0

        def now_ms(self) -> float:
            return self.now

    clock = Clock()
    early, late = await serve(kit.v2_routes(slots=4)), await serve(kit.v2_routes(slots=4))
    well = late.routes["/v2/health/ready"]
    late.routes["/v2/health/ready"] = lambda asked: asked.whole({"error": "loading"}, 503)
    settings = Settings.load(predictor_url=(early.url, late.url), probe_interval_s=0.02)
    pool = pool_from_settings(settings, clock)
    await pool.start()
    await ready_count(pool, 1)
    clock.now = 20_000.0
    late.routes["/v2/health/ready"] = well
    await ready_count(pool, 2)
    assert [state.state for state in pool.endpoints] == ["ready", "slow_start"]
    assert pool.slots == 8
    await asyncio.gather(*(kit.heard(pool.synthesize(kit.job())) for _ in range(4)))
    assert len(late.of("/infer")) == 0
    clock.now = 30_001.0
    await asyncio.gather(*(kit.heard(pool.synthesize(kit.job())) for _ in range(4)))
    assert len(late.of("/infer")) == 2
    await pool.aclose()


async def test_the_key_goes_along(serve, kit, pool_of) -> None:
    server = await serve(kit.v2_routes())
    pool = await pool_of(server, predictor_key="s3cret")
    await kit.heard(pool.synthesize(kit.job()))
    assert {asked.headers["authorization"] for asked in server.asked} == {"Bearer s3cret"}


async def test_warm_capacity_is_what_stands_behind_a_single_name(kit) -> None:
    for urls, slots in (
        (("tts-lb.tts.svc:8080",), 25),
        (("http://127.0.0.1:8080",), 1),
        (("http://localhost:8080",), 1),
        (("http://one:8080", "http://two:8080"), 1),
    ):
        pool = pool_from_settings(Settings.load(predictor_url=urls, warm_capacity=25, probe_interval_s=30.0))
        await pool.start()
        await kit.until(lambda pool=pool, urls=urls: len(pool.endpoints) == len(urls))
        assert {endpoint.predictor.slots for endpoint in pool._endpoints.values()} == {slots}
        with contextlib.suppress(asyncio.CancelledError):
            await pool.aclose()


async def test_one_that_is_told_to_stop_finishes_what_it_is_saying(serve, kit, pool_of) -> None:
    async def drain(asked, number) -> None:
        if number == 1:
            server.routes["/v2/health/ready"] = lambda asked: asked.whole({"error": "Server is not ready."}, 503)
            await kit.until(lambda: pool.slots == 0)

    whole = kit.tone(0.4)
    server = await serve(kit.v2_routes(extensions=STREAMS) | stream_route(kit, whole, on_piece=drain))
    pool = await pool_of(server)
    np.testing.assert_allclose(kit.sound(await kit.heard(pool.synthesize(kit.job()))), whole, atol=1e-4)
    assert pool.endpoints[0].state == "unready"


async def test_a_name_whose_addresses_change(serve, kit) -> None:
    one, two = await serve(kit.v2_routes(slots=1)), await serve(kit.v2_routes(slots=2))
    addresses = {frozenset({"a"}): frozenset({one.url}), frozenset({"b"}): frozenset({two.url})}
    told = frozenset({"a"})

    async def resolve(host, port):
        return told

    class Named:
        async def watch(self):
            async for found in DnsSource("pods", 8080, resolve=resolve, interval_s=0.01).watch():
                names = frozenset(target.url.removeprefix("http://").partition(":")[0] for target in found)
                yield frozenset(Target(url) for url in addresses[names])

    go_on = asyncio.Event()

    async def slow(asked) -> None:
        await go_on.wait()
        await kit.answer_speech(asked, kit.tone(0.1))

    one.routes["/infer"] = slow
    pool = Pool([Named()], lambda target: V2Predictor(target.url), probe_interval_s=0.05)
    await pool.start()
    await ready_count(pool, 1)
    running = asyncio.ensure_future(kit.heard(pool.synthesize(kit.job())))
    await kit.until(lambda: one.of("/infer"))
    told = frozenset({"b"})
    await kit.until(lambda: pool.slots == 2)
    assert [(state.endpoint, state.state) for state in pool.endpoints] == [(two.url, "ready"), (one.url, "leaving")]
    assert (await kit.heard(pool.synthesize(kit.job())))[0].origin.endpoint == two.url
    go_on.set()
    assert (await running)[0].origin.endpoint == one.url
    assert [state.endpoint for state in pool.endpoints] == [two.url]
    await pool.aclose()
