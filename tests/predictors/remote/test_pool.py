import asyncio
import collections
import contextlib
import random
import socket
import sys

import numpy as np
import pytest

from vivavoce.config import Settings
from vivavoce.engines.base import WordTime
from vivavoce.errors import BadRequest, Busy, PredictorFailed, UnknownVoice
from vivavoce.predictors.discovery import DnsSource, Target
from vivavoce.predictors.faults import BrokenOff
from vivavoce.predictors.pool import Pool
from vivavoce.predictors.pool_setup import pool_from_settings
from vivavoce.predictors.v2 import V2Predictor
from vivavoce.predictors.v2_stream import StreamEvent, encode_event

STREAMS = ("vivavoce_stream",)


@pytest.fixture
async def pool_of():
    """A pool over some servers, all of which are ready."""
    pools = []

    async def make(*floor, burst=(), ready=None, **settings):
        settings = {"request_timeout_s": 3.0, "probe_interval_s": 0.05, "connect_timeout_s": 0.5} | settings
        urls, more = (tuple(one if isinstance(one, str) else one.url for one in tier) for tier in (floor, burst))
        pool = pool_from_settings(Settings.load(predictor_url=urls, burst_url=more, **settings))
        pools.append(pool)
        await pool.start()
        await ready_count(pool, len(urls) + len(burst) if ready is None else ready)
        return pool

    yield make
    for pool in pools:
        await pool.aclose()


async def ready_count(pool, count) -> None:
    for _ in range(2500):
        if sum(state.state in ("ready", "slow_start") for state in pool.endpoints) == count:
            return
        await asyncio.sleep(0.002)
    raise AssertionError([state.state for state in pool.endpoints])


def stream_route(kit, samples, *, pieces=4, on_piece=None, **headers):
    async def answer(asked) -> None:
        await asked.head(Transfer_Encoding="chunked", Content_Type="text/event-stream", **headers)
        for number, piece in enumerate(np.array_split(samples, pieces)):
            if on_piece is not None:
                await on_piece(asked, number)
            await asked.chunk(encode_event(StreamEvent(kit.pcm(piece), 24_000, (), number == pieces - 1)))
        await asked.raw(b"0\r\n\r\n")

    return {"/generate_stream": answer}


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


async def test_a_job_that_gave_no_sound_is_made_once_more_elsewhere(serve, kit, pool_of) -> None:
    bad = await serve(kit.v2_routes(lambda asked: asked.whole({"error": "CUDA"}, 500)))
    good = await serve(kit.v2_routes())
    seen = []
    pool = await pool_of(bad, burst=[good])
    pool.observe = lambda tier, result, seconds: seen.append((tier, result))
    told, spoken = await kit.heard(pool.synthesize(kit.job()))
    assert (told.origin.endpoint, told.origin.attempt, len(told.samples)) == (good.url, 2, 0)
    assert (spoken.origin.endpoint, spoken.origin.attempt, len(spoken.samples)) == (good.url, 2, 12_000)
    assert seen == [("floor", "failed"), ("burst", "ok")]


@pytest.mark.parametrize("is_there", [True, False])
async def test_a_job_that_only_moved_on_was_not_made_again(serve, kit, pool_of, is_there) -> None:
    """One that refuses it, or that is no longer there, has not begun it."""
    first = await serve(kit.v2_routes(lambda asked: asked.whole({"error": "full"}, 503)))
    other = await serve(kit.v2_routes())
    pool = await pool_of(first, burst=[other])
    if not is_there:
        await first.stop()
    chunks = await kit.heard(pool.synthesize(kit.job()))
    assert len(kit.sound(chunks)) == 12_000
    assert [(chunk.origin.endpoint, chunk.origin.attempt) for chunk in chunks if chunk.origin] == [(other.url, 1)]
    assert len(first.of("/infer")) == is_there


async def test_kserve_1663_no_text_runs_more_than_twice(serve, kit, pool_of) -> None:
    bad = [await serve(kit.v2_routes(lambda asked: asked.whole({"error": "poison"}, 500))) for _ in range(4)]
    pool = await pool_of(*bad)
    with pytest.raises(PredictorFailed, match="poison"):
        await kit.heard(pool.synthesize(kit.job()))
    assert sum(len(server.of("/infer")) for server in bad) == 2


async def test_kserve_1663_our_own_time_limit_is_no_reason_to_ask_again(serve, kit, pool_of) -> None:
    async def never(asked) -> None:
        await asyncio.Event().wait()

    slow = [await serve(kit.v2_routes(never)) for _ in range(3)]
    seen = []
    pool = await pool_of(*slow, request_timeout_s=0.15)
    pool.observe = lambda tier, result, seconds: seen.append(result)
    with pytest.raises(PredictorFailed, match="did not answer"):
        await kit.heard(pool.synthesize(kit.job()))
    assert seen == ["timeout"]
    assert sum(len(server.of("/infer")) for server in slow) == 1


async def test_a_wrong_request_is_nobodys_fault(serve, kit, pool_of) -> None:
    servers = [await serve(kit.v2_routes(lambda asked: asked.whole({"error": "no such pitch"}, 400))) for _ in range(2)]
    pool = await pool_of(*servers)
    for _ in range(5):
        with pytest.raises(BadRequest, match="no such pitch"):
            await kit.heard(pool.synthesize(kit.job()))
    assert sum(len(server.of("/infer")) for server in servers) == 5
    assert [state.failures for state in pool.endpoints] == [0, 0]


@pytest.mark.parametrize("at_piece", [0, 1, 2, 3])
async def test_one_that_dies_in_mid_speech_is_taken_over_to_the_sample(serve, kit, pool_of, at_piece) -> None:
    async def die(asked, number) -> None:
        if number == at_piece:
            await asyncio.sleep(0.01)
            asked.reset()

    whole = kit.tone(0.4) * np.linspace(0.2, 1, 9_600, dtype=np.float32)
    dying = await serve(kit.v2_routes(extensions=STREAMS) | stream_route(kit, whole, on_piece=die))
    other = await serve(kit.v2_routes(extensions=STREAMS) | stream_route(kit, whole, pieces=3))
    pool = await pool_of(dying, burst=[other])
    chunks = await kit.heard(pool.synthesize(kit.job()))
    np.testing.assert_allclose(kit.sound(chunks), whole, atol=1e-4)
    origins = [(chunk.origin.endpoint, chunk.origin.attempt) for chunk in chunks if chunk.origin]
    assert origins == [(dying.url, 1)] * (at_piece > 0) + [(other.url, 2), (other.url, 2)]


@pytest.mark.parametrize("at_piece", [0, 2])
async def test_the_only_one_there_is_asked_once_more_as_soon_as_it_proves_well(serve, kit, pool_of, at_piece) -> None:
    broken = []

    async def die(asked, number) -> None:
        if number == at_piece and not broken:
            broken.append(number)
            await asyncio.sleep(0.01)
            asked.reset()

    whole = kit.tone(0.4) * np.linspace(0.2, 1, 9_600, dtype=np.float32)
    server = await serve(kit.v2_routes(extensions=STREAMS) | stream_route(kit, whole, on_piece=die))
    pool = await pool_of(server)
    chunks = await kit.heard(pool.synthesize(kit.job()))
    np.testing.assert_allclose(kit.sound(chunks), whole, atol=1e-4)
    assert broken
    assert len(server.of("/generate_stream")) == 2
    assert {chunk.origin.endpoint for chunk in chunks if chunk.origin} == {server.url}
    assert max(chunk.origin.attempt for chunk in chunks if chunk.origin) == 2


async def test_two_that_die_at_the_same_time_are_stepped_over(serve, kit, pool_of) -> None:
    gone = []

    async def die(asked, number) -> None:
        if number == 2:
            await servers[1].stop()
            gone.append(servers[1])
            asked.reset()

    whole = kit.tone(0.4) * np.linspace(0.2, 1, 9_600, dtype=np.float32)
    servers = [
        await serve(kit.v2_routes(extensions=STREAMS) | stream_route(kit, whole, on_piece=die)),
        await serve(kit.v2_routes(extensions=STREAMS) | stream_route(kit, whole)),
        await serve(kit.v2_routes(extensions=STREAMS) | stream_route(kit, whole)),
    ]
    pool = await pool_of(*servers)
    chunks = await kit.heard(pool.synthesize(kit.job()))
    assert gone
    np.testing.assert_allclose(kit.sound(chunks), whole, atol=1e-4)
    assert chunks[-1].origin is None or chunks[-1].origin.endpoint == servers[2].url


async def test_every_predictor_dies_and_comes_back(serve, kit, pool_of) -> None:
    servers = [await serve(kit.v2_routes(slots=1)) for _ in range(2)]
    changes = []
    pool = await pool_of(*servers)
    pool.on_change = lambda: changes.append(pool.slots)
    ports = [server.port for server in servers]
    for server in servers:
        await server.stop()
    await ready_count(pool, 0)
    assert (pool.slots, pool.streams("anna")) == (0, 0)
    waiting = asyncio.ensure_future(kit.heard(pool.synthesize(kit.job())))
    await asyncio.sleep(0.02)
    assert not waiting.done()
    for port in ports:
        await serve(kit.v2_routes(slots=1), port)
    assert len(kit.sound(await waiting)) == 12_000
    await ready_count(pool, 2)
    assert changes[-1] == 2
    assert 0 in changes


async def test_nobody_ready_is_busy_in_the_end(serve, kit, pool_of) -> None:
    pool = await pool_of("http://127.0.0.1:9", ready=0, request_timeout_s=0.1)
    with pytest.raises(Busy, match="No predictor is ready"):
        await kit.heard(pool.synthesize(kit.job()))


async def test_one_that_fails_again_and_again_is_left_alone_for_a_while(serve, kit, pool_of) -> None:
    bad = await serve(kit.v2_routes(lambda asked: asked.whole({"error": "CUDA"}, 500)))
    good = await serve(kit.v2_routes())
    pool = await pool_of(bad, burst=[good])
    for _ in range(8):
        assert (await kit.heard(pool.synthesize(kit.job())))[-1].origin.endpoint == good.url
    assert len(bad.of("/infer")) == 3
    assert pool.endpoints[0].state == "ejected"


async def test_a_voice_goes_where_it_is_spoken(serve, kit, pool_of) -> None:
    one = await serve(kit.v2_routes(voices=[{"name": "anna", "aliases": ["nova"]}]))
    two = await serve(kit.v2_routes(voices=[{"name": "ben"}]))
    pool = await pool_of(one, two)
    for voice, server in (("ben", two), ("Nova", one), ("anna", one)):
        assert (await kit.heard(pool.synthesize(kit.job(voice=voice))))[0].origin.endpoint == server.url
    assert (pool.streams("ben"), pool.streams("carl")) == (1, 0)
    with pytest.raises(UnknownVoice):
        await kit.heard(pool.synthesize(kit.job(voice="carl")))


async def test_a_partition_is_stepped_over_and_heals(serve, kit, pool_of) -> None:
    """A machine that is cut off takes connections in its kernel, or not even that, and never answers."""
    stuck = asyncio.Event()

    async def ready(asked) -> None:
        await stuck.wait()
        await asked.whole({"ready": True})

    far = await serve(kit.v2_routes(slots=1))
    near = await serve(kit.v2_routes(slots=1))
    pool = await pool_of(far, burst=[near], probe_interval_s=0.05, connect_timeout_s=0.1)
    healthy = far.routes["/v2/health/ready"]
    far.routes["/v2/health/ready"] = ready
    await ready_count(pool, 1)
    assert (await kit.heard(pool.synthesize(kit.job())))[0].origin.endpoint == near.url
    far.routes["/v2/health/ready"] = healthy
    stuck.set()
    await ready_count(pool, 2)
    assert (await kit.heard(pool.synthesize(kit.job())))[0].origin.endpoint == far.url


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


async def test_jobs_at_one_that_falls_silent_go_elsewhere(serve, kit, pool_of) -> None:
    """A machine that loses its power sends no reset: only its silence tells."""
    cut_off = asyncio.Event()

    async def fall_silent(asked, number=2) -> None:
        if number == 2:
            far.routes["/v2/health/ready"] = far.routes["/generate_stream"] = fall_silent
            cut_off.set()
            await asyncio.Event().wait()

    whole = kit.tone(0.4) * np.linspace(0.2, 1, 9_600, dtype=np.float32)
    far = await serve(kit.v2_routes(extensions=STREAMS) | stream_route(kit, whole, on_piece=fall_silent))
    near = await serve(kit.v2_routes(extensions=STREAMS) | stream_route(kit, whole))
    seen = []
    pool = await pool_of(far, burst=[near], connect_timeout_s=0.05, request_timeout_s=20.0)
    pool.observe = lambda tier, result, seconds: seen.append((tier, result))
    chunks = await kit.heard(pool.synthesize(kit.job()))
    assert cut_off.is_set()
    np.testing.assert_allclose(kit.sound(chunks), whole, atol=1e-4)
    assert seen == [("floor", "failed"), ("burst", "ok")]


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


async def test_a_listener_that_accepts_nobody_is_stepped_over_and_heals(serve, kit, pool_of) -> None:
    far, near = await serve(kit.v2_routes(slots=1)), await serve(kit.v2_routes(slots=1))
    pool = await pool_of(far, burst=[near], connect_timeout_s=0.05, request_timeout_s=20.0)
    await far.stop()
    deaf = socket.socket()
    deaf.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    deaf.bind(("127.0.0.1", far.port))
    deaf.listen(8)
    chunks = await kit.heard(pool.synthesize(kit.job()))
    assert len(kit.sound(chunks)) == 12_000
    assert chunks[-1].origin.endpoint == near.url
    await ready_count(pool, 1)
    deaf.close()
    await serve(kit.v2_routes(slots=1), far.port)
    await ready_count(pool, 2)


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


_PROCESS = """
import socket, sys, threading, time
events = open(sys.argv[1], "rb").read().split(b"|")
slow = sys.argv[2] == "slow"
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
pages = {b"/v2": b'{"extensions": ["vivavoce_stream"]}'}
def serve(peer):
    path = peer.recv(65536).split(b" ")[1]
    if b"generate_stream" not in path:
        page = pages.get(path, b'{"ready": true}')
        peer.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: %d\\r\\n\\r\\n" % len(page) + page)
    else:
        peer.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Type: text/event-stream\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n")
        for number, event in enumerate(events):
            peer.sendall(b"%x\\r\\n%b\\r\\n" % (len(event), event))
            time.sleep(60 if slow and number == 1 else 0)
        peer.sendall(b"0\\r\\n\\r\\n")
    peer.close()
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
"""


async def test_kill_9_in_mid_segment_loses_no_word(kit, pool_of, tmp_path) -> None:
    whole = kit.tone(0.6) * np.linspace(0.2, 1, 14_400, dtype=np.float32)
    words = [WordTime(0, 3, 0.0, 140.0), WordTime(4, 10, 150.0, 390.0), WordTime(11, 16, 400.0, 590.0)]
    events = [
        encode_event(StreamEvent(kit.pcm(piece), 24_000, (word,), word is words[-1]))
        for piece, word in zip(np.array_split(whole, 3), words, strict=True)
    ]
    (tmp_path / "events").write_bytes(b"|".join(events))
    processes = []
    for speed in ("slow", "quick"):
        argv = [sys.executable, "-c", _PROCESS, str(tmp_path / "events"), speed]
        processes.append(await asyncio.create_subprocess_exec(*argv, stdout=asyncio.subprocess.PIPE))
    try:
        urls = [f"http://127.0.0.1:{int(await process.stdout.readline())}" for process in processes]
        pool = await pool_of(urls[0], burst=urls[1:])
        heard = []
        async for chunk in pool.synthesize(kit.job()):
            heard.append(chunk)
            if len(heard) == 2:
                processes[0].kill()
        np.testing.assert_allclose(kit.sound(heard), whole, atol=1e-4)
        assert [word for chunk in heard for word in chunk.words] == words
        assert [chunk.origin.endpoint for chunk in heard if chunk.origin] == [urls[0], urls[1], urls[1]]
        await ready_count(pool, 1)
    finally:
        for process in processes:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()


async def test_a_storm_of_faults_leaves_nothing_behind(serve, kit, pool_of) -> None:
    chance = random.Random(20)
    whole = kit.tone(0.2) * np.linspace(0.2, 1, 4_800, dtype=np.float32)

    async def stumble(asked, number) -> None:
        if chance.random() < 0.04:
            asked.reset()

    speak = stream_route(kit, whole, on_piece=stumble)["/generate_stream"]

    async def anything(asked) -> None:
        fate = chance.random()
        if fate < 0.3:
            await asked.whole({"error": "full"}, 503)
        elif fate < 0.35:
            await asked.whole({"error": "CUDA"}, 500)
        elif fate < 0.4:
            await asked.whole(b"<html>", Content_Type="text/html")
        elif fate < 0.42:
            asked.reset()
        else:
            await speak(asked)

    servers = [
        await serve(kit.v2_routes(extensions=STREAMS, slots=4) | {"/generate_stream": anything}) for _ in range(4)
    ]
    pools = [await pool_of(*servers, request_timeout_s=30.0) for _ in range(2)]
    outcomes = collections.Counter()

    async def speak_one(number: int) -> None:
        listening = asyncio.ensure_future(kit.heard(pools[number % 2].synthesize(kit.job())))
        if chance.random() < 0.2:
            await asyncio.sleep(chance.random() * 0.02)
            listening.cancel()
        try:
            np.testing.assert_allclose(kit.sound(await listening), whole, atol=1e-4)
            outcomes["whole"] += 1
        except (PredictorFailed, Busy) as error:
            outcomes[type(error).__name__] += 1
        except asyncio.CancelledError:
            outcomes["left"] += 1

    await asyncio.gather(*(speak_one(number) for number in range(200)))
    assert outcomes["whole"] > 120, outcomes
    assert outcomes["left"] > 10
    assert outcomes["BrokenOff"] + outcomes["PredictorFailed"] < 30, outcomes
    assert [state.outstanding for pool in pools for state in pool.endpoints] == [0] * 8
    assert not any(pool._waiting for pool in pools)
    await asyncio.gather(*(pool.aclose() for pool in pools))
    await kit.until(lambda: not any(server.open for server in servers))


@pytest.mark.parametrize("dying", [1, 2, 3])
async def test_pipecat_5361_what_died_unheard_is_asked_for_once_more_and_never_twice(
    serve, kit, pool_of, dying
) -> None:
    async def die(asked) -> None:
        asked.reset()

    servers = [await serve(kit.v2_routes(die if number < dying else None)) for number in range(3)]
    pool = await pool_of(servers[0], servers[1], burst=servers[2:])
    if dying == 1:
        assert len(kit.sound(await kit.heard(pool.synthesize(kit.job())))) == 12_000
    else:
        with pytest.raises(BrokenOff):
            await kit.heard(pool.synthesize(kit.job()))
    assert [len(server.of("/infer")) for server in servers] == [1, 1, 0]
