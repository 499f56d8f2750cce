"""What a pool does when predictors refuse, fail, fall silent or die."""

import asyncio
import collections
import contextlib
import logging
import random
import socket
import sys

import numpy as np
import pytest

from vivavoce.engines.base import WordTime
from vivavoce.errors import BadRequest, Busy, PredictorFailed
from vivavoce.predictors.faults import BrokenOff
from vivavoce.predictors.v2_stream import StreamEvent, encode_event
from vivavoce.predictors.v2_wire import InferResponse, Tensor

from .pools import STREAMS, ready_count, stream_route


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


async def test_a_clip_that_breaks_off_after_its_beginning_goes_on_elsewhere_at_the_sample(serve, kit, pool_of) -> None:
    sound = kit.tone(2.0)
    body = InferResponse("tts", (Tensor.of_numbers("audio", np.frombuffer(kit.pcm(sound), "<i2")),)).encode(
        lambda _: True
    )
    told = {"Content_Length": str(len(body.content)), "Inference_Header_Content_Length": str(body.header_bytes)}

    async def dies(asked) -> None:
        await asked.head(**told)
        await asked.raw(body.content[:70_000])
        asked.reset()

    async def lives(asked) -> None:
        await asked.head(**told)
        await asked.raw(body.content)

    bad, good = await serve(kit.v2_routes(dies)), await serve(kit.v2_routes(lives))
    pool = await pool_of(bad, burst=[good])
    chunks = await kit.heard(pool.synthesize(kit.job("The harbour lights are on.")))
    np.testing.assert_allclose(kit.sound(chunks), sound, atol=1e-4)
    assert [len(server.of("/infer")) for server in (bad, good)] == [1, 1]


async def test_why_a_predictor_is_not_ready_is_logged_once_for_each_reason(serve, kit, pool_of, caplog) -> None:
    caplog.set_level(logging.WARNING, "vivavoce.predictors")

    def probes(why):
        return {"/v2/health/ready": lambda asked: asked.whole({"error": why}, 503)}

    loading = await serve(probes("weights are loading"))
    with socket.create_server(("127.0.0.1", 0)) as closed:
        nobody = f"http://127.0.0.1:{closed.getsockname()[1]}"
    await pool_of(loading, nobody, ready=0)

    def said():
        return [record.getMessage() for record in caplog.records]

    await kit.until(lambda: len(loading.asked) > 4 and len(said()) > 1)
    loading.routes |= probes("weights are broken")
    await kit.until(lambda: len(said()) > 2)
    asked = len(loading.asked)
    await kit.until(lambda: len(loading.asked) > asked + 3)
    first, last = (
        f"{loading.url} is not ready: The predictor answered 503: weights are {w}" for w in ("loading", "broken")
    )
    refused = f"{nobody} is not ready: No connection to the predictor came about. ("
    assert [line for line in said() if not line.startswith(refused)] == [first, last]
    assert len(said()) == 3


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


async def test_one_that_fails_again_and_again_is_left_alone_for_a_while(serve, kit, pool_of) -> None:
    bad = await serve(kit.v2_routes(lambda asked: asked.whole({"error": "CUDA"}, 500)))
    good = await serve(kit.v2_routes())
    pool = await pool_of(bad, burst=[good])
    for _ in range(8):
        assert (await kit.heard(pool.synthesize(kit.job())))[-1].origin.endpoint == good.url
    assert len(bad.of("/infer")) == 3
    assert pool.endpoints[0].state == "ejected"


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
