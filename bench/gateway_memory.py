"""What a gateway without an engine weighs: at rest, for each stream, over ten thousand utterances, and unread."""

from __future__ import annotations

import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import uvloop

import texts
from instant_server import instant_server
from listener import Heard, Listener
from report import Report
from server import Server, serving, start
from ws_socket import Socket

__all__ = ["run"]

STREAMS = 200
UTTERANCES = 10_000
LONG_AUDIO_MS, SHORT_AUDIO_MS = 4_000, 300


def run(smoke: bool = False) -> Report:
    """Measure; `smoke` takes few samples, for a look."""
    report = Report("gateway_memory", "What a gateway without an engine weighs")
    streams, utterances = (20, 400) if smoke else (STREAMS, UTTERANCES)
    with instant_server(LONG_AUDIO_MS) as upstream:
        starts_s = [_start_s(upstream) for _ in range(3 if smoke else 8)]
        with serving(_before(upstream, cache_mb=0), role="gateway") as server:
            rest_kb, spoken_kb, full_kb = uvloop.run(_streams(server, streams))
        with serving(_before(upstream, cache_mb=0), role="gateway") as server:
            unread_kb = uvloop.run(_unread(server, 6.0 if smoke else 20.0))
    with instant_server(SHORT_AUDIO_MS) as upstream, serving(_before(upstream), role="gateway") as server:
        began_s = time.monotonic()
        flat_kb = uvloop.run(_utterances(server, utterances))
        rate = utterances / (time.monotonic() - began_s)
    report.raw = {
        "start_s": starts_s,
        "rss_kb": {"at_rest": rest_kb, "after_one_stream": spoken_kb, "with_streams": full_kb, "streams": streams},
        "rss_kb_over_utterances": flat_kb,
        "rss_kb_unread": unread_kb,
    }
    report.add("from `vivavoce gateway` to ready, p50", statistics.median(starts_s[1:]), "s", at_most=1.0)
    report.add("from `vivavoce gateway` to ready, worst", max(starts_s[1:]), "s")
    report.add("RSS at rest", rest_kb / 1000, "MB", at_most=120)
    report.add(f"RSS for each of {streams} streams", (full_kb - spoken_kb) / streams, "kB", at_most=150)
    half = len(flat_kb) // 2
    grown_kb = flat_kb[-1] - flat_kb[half]
    report.add(
        f"RSS growth over the second half of {utterances} utterances",
        grown_kb / 1000,
        "MB",
        at_most=1.0,
        note=f"{flat_kb[0] / 1000:.0f} MB before, {flat_kb[-1] / 1000:.0f} MB after; {rate:.0f} utterances a second",
    )
    report.add("RSS for a client that never reads, at most", (max(unread_kb) - unread_kb[0]) / 1000, "MB", at_most=5)
    report.notes += [
        "The predictor answers at once, from a process of its own, with 4 s of sound for a phrase. RSS counts the gateway's "
        "process; it has no children. The phrase cache is off where streams are weighed.",
        f"Streams: {streams} connections that each listen to a long text in real time, begun over ten seconds and measured ten "
        "seconds later, against "
        "the same gateway after one such stream.",
        f"Utterances: one sentence each, over 20 connections, {SHORT_AUDIO_MS} ms of sound; the phrase cache is at its "
        "default of 32 MB, and full long before half of them.",
        "A client that never reads asks for a text of 90,000 characters, told that it may be made 15 s ahead, says that it "
        "has heard everything, and reads nothing; against the same gateway after a client that read its book for five seconds.",
        "Ready: /ready answers 200, tried every 5 ms from the moment the command is run. The first start, which may have "
        "to compile Python's bytecode, is in the JSON and not counted.",
    ]
    return report


def _before(upstream: int, cache_mb: int = 32) -> dict[str, str]:
    return {
        "PREDICTOR_URL": f"http://127.0.0.1:{upstream}",
        "WARM_CAPACITY": "100000",
        "VIVAVOCE_LOG_LEVEL": "warning",
        "VIVAVOCE_CACHE_MB": str(cache_mb),
    }


def _start_s(upstream: int) -> float:
    with tempfile.TemporaryDirectory() as folder:
        began_s = time.monotonic()
        server = start(Path(folder), {**_before(upstream), "PYTHONDONTWRITEBYTECODE": ""}, role="gateway")
        try:
            while server.get("/ready")[0] != 200:
                if server.process.poll() is not None:
                    raise RuntimeError(f"the gateway ended:\n{server.log.read_text()[-2000:]}")
                time.sleep(0.005)
            return time.monotonic() - began_s
        finally:
            server.stop()


async def _streams(server: Server, streams: int) -> tuple[int, int, int]:
    """RSS at rest, after one utterance, and with so many streams."""
    rest_kb = server.rss_kib()
    first = Listener(10_000, server.port, _long(10_000), _ignore)
    begun = asyncio.create_task(first.run())
    await asyncio.sleep(5)
    begun.cancel()
    spoken_kb = server.rss_kib()
    listeners = [Listener(name, server.port, _long(name), _ignore) for name in range(streams)]
    tasks = []
    for listener in listeners:
        tasks.append(asyncio.create_task(listener.run()))
        await asyncio.sleep(10 / streams)
    await asyncio.sleep(10)
    full_kb = server.rss_kib()
    ended = [task for task in tasks if task.done()]
    for task in tasks:
        task.cancel()
    if ended:
        raise RuntimeError(f"{len(ended)} of the streams ended: {ended[0].exception()!r}")
    return rest_kb, spoken_kb, full_kb


async def _utterances(server: Server, utterances: int, connections: int = 20) -> list[int]:
    """RSS before the first utterance and after each of twenty equal parts of them."""
    sentences = texts.twenty_words(seed=31)
    listeners = [Listener(name, server.port, sentences, _ignore) for name in range(connections)]
    sockets = [await listener._open() for listener in listeners]
    readings = [server.rss_kib()]

    async def speak(index: int, count: int) -> None:
        for _ in range(count):
            heard = await listeners[index].speak(sockets[index])
            if heard.outcome != "ok":
                raise RuntimeError(f"an utterance ended in {heard.outcome} {listeners[index].errors}")

    for _ in range(20):
        async with asyncio.TaskGroup() as group:
            for index in range(connections):
                group.create_task(speak(index, utterances // 20 // connections))
        readings.append(server.rss_kib())
    for socket in sockets:
        socket.close()
    return readings


async def _unread(server: Server, for_s: float) -> list[int]:
    """RSS twice a second, while a client asks for a book and reads nothing of it; first after one that reads it."""
    reading = await _ask_for_book(server, seed=40)
    await asyncio.sleep(5)
    reading.close()
    await asyncio.sleep(1)
    readings = [server.rss_kib()]
    socket = await _ask_for_book(server, seed=41)
    socket.transport.pause_reading()
    ends_s = time.monotonic() + for_s
    while time.monotonic() < ends_s:
        socket.send('{"type":"played","ms":1e9}')
        await asyncio.sleep(0.5)
        readings.append(server.rss_kib())
    socket.close()
    return readings


async def _ask_for_book(server: Server, seed: int) -> Socket:
    socket = await Socket.open(server.port)
    text = texts.long_text(17_000, seed)[:90_000]
    socket.send(json.dumps({"type": "synthesize", "text": text, "framing": "header", "lead_ms": 15_000}))
    return socket


def _long(name: int) -> Iterator[str]:
    while True:
        yield texts.long_text(200, seed=name)


def _ignore(heard: Heard) -> None:
    pass
