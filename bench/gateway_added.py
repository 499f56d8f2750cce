"""What the gateway adds to the time to first audio, with a predictor that answers at once, beside LiteLLM's proxy."""

from __future__ import annotations

import asyncio
import itertools
import random
import statistics
import subprocess
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import uvloop

import texts
from instant_server import instant_server
from listener import Heard, Listener
from litellm_proxy import VERSION, litellm_proxy
from report import Report, percentile, spread
from server import Server, serving
from speech_client import Connection

__all__ = ["run"]

AUDIO_MS = 4_000
STREAMS = 200
# Each stream asks for a sentence, listens to it, and asks for the next.
Asker = Callable[[int], Awaitable[float]]


def run(smoke: bool = False) -> Report:
    """Measure; `smoke` takes few samples, for a look."""
    report = Report("gateway_added", "What the gateway adds to the time to first audio")
    streams, for_s = (20, 3.0) if smoke else (STREAMS, 12.0)
    sides: dict[str, list[float]] = {name: [] for name in ("alone", "gateway", "kept", "speech alone", "proxy")}
    with instant_server(AUDIO_MS) as upstream:
        _measured("gateway", upstream, streams, for_s)  # a core that has slept takes a while to be as fast as it can
        for names in (tuple(sides), tuple(reversed(sides))):
            for name in names:
                try:
                    sides[name] += _measured(name, upstream, streams, for_s)
                except (RuntimeError, OSError, subprocess.CalledProcessError) as error:
                    if name != "proxy":
                        raise
                    report.notes.append(f"LiteLLM's proxy could not be measured here: {str(error)[:300]}")
    report.raw = {
        "streams": streams,
        "ttfa_ms": {name: [round(ms, 3) for ms in times] for name, times in sides.items()},
    }
    _judge(report, sides, streams)
    return report


def _measured(name: str, upstream: int, streams: int, for_s: float) -> list[float]:
    """The times to first audio of one side, in ms; its server is started for it and gone afterwards."""
    gateway = {"PREDICTOR_URL": f"http://127.0.0.1:{upstream}", "VIVAVOCE_CACHE_MB": "0", "WARM_CAPACITY": "100000"}
    match name:
        case "alone":
            return uvloop.run(_http(upstream, "/v2/models/tts/infer", streams, for_s))
        case "speech alone":
            return uvloop.run(_http(upstream, "/v1/audio/speech", streams, for_s))
        case "proxy":
            with litellm_proxy(upstream) as port:
                return uvloop.run(_http(port, "/v1/audio/speech", streams, for_s))
        case _:
            kept = {"VIVAVOCE_KEEP_ALIVE": "true"} if name == "kept" else {}
            with serving({**gateway, **kept}, role="gateway") as server:
                return uvloop.run(_websocket(server, streams, for_s))


def _judge(report: Report, sides: dict[str, list[float]], streams: int) -> None:
    alone = statistics.median(sides["alone"])
    for name, side in (("gateway", "gateway"), ("gateway, connections kept", "kept")):
        p50, p99 = (percentile(sides[side], share) - alone for share in (0.5, 0.99))
        targets = side == "gateway"
        report.add(f"added TTFA p50, {name}, {streams} streams", p50, "ms", at_most=2.0 if targets else None)
        report.add(f"added TTFA p99, {name}", p99, "ms", at_most=8.0 if targets else None)
    report.add("TTFA p50, V2 predictor alone", alone, "ms", note=f"p99 {percentile(sides['alone'], 0.99):.2f}")
    if sides["proxy"]:
        direct = statistics.median(sides["speech alone"])
        ours, theirs = statistics.median(sides["gateway"]) - alone, statistics.median(sides["proxy"]) - direct
        ours_p99, theirs_p99 = percentile(sides["gateway"], 0.99) - alone, percentile(sides["proxy"], 0.99) - direct
        report.add(f"added TTFA p50, LiteLLM's proxy {VERSION}", theirs, "ms", note=f"p99 {theirs_p99:.1f}")
        report.add("added TTFA p50, ours / LiteLLM's", ours / theirs)
        report.add("added TTFA p99, ours / LiteLLM's", ours_p99 / theirs_p99)
    report.raw["spread"] = {name: spread(times) for name, times in sides.items() if times}
    report.notes += [
        f"The predictor answers every phrase at once with {AUDIO_MS / 1000:.0f} s of sound, from a process of its own. "
        f"Each of {streams} streams asks for a sentence, listens to it in real time, and asks for the next: about "
        f"{streams * 1000 / AUDIO_MS:.0f} a second, at random moments. Phrase cache off, admission on.",
        "After a run that is thrown away every side is measured twice, the second time in the opposite order, each time "
        "by servers that were started for it.",
        "Added: the percentile through the gateway, minus the p50 of the same requests sent to the predictor itself. "
        "Predictor, gateway and load generator share the cores.",
        "The gateway speaks WebSocket to its clients and V2 (binary tensors) to the predictor, over a new connection for "
        "each phrase, which is its default (at this rate most are opened ahead); the proxy speaks /v1/audio/speech (PCM) "
        "on both sides, one worker, over connections that are kept. Both have their time to first audio measured from "
        "the request to the first bytes of sound.",
    ]


async def _websocket(server: Server, streams: int, for_s: float) -> list[float]:
    listeners = [Listener(name, server.port, _sentences(name), _ignore) for name in range(streams)]
    sockets = [await listener._open() for listener in listeners]

    async def ask(name: int) -> float:
        heard = await listeners[name].speak(sockets[name])
        if heard.outcome != "ok":
            raise RuntimeError(f"an utterance ended in {heard.outcome} {listeners[name].errors}")
        return (heard.first_s - heard.asked_s) * 1000

    times = await _ask_all(ask, streams, for_s)
    for socket in sockets:
        socket.close()
    return times


async def _http(port: int, path: str, streams: int, for_s: float) -> list[float]:
    connections = [await Connection.open(port) for _ in range(streams)]
    sentences = [_sentences(name) for name in range(streams)]

    async def ask(name: int) -> float:
        text = next(sentences[name])
        body: dict[str, Any] = {"model": "tts", "voice": "tone", "input": text, "response_format": "pcm"}
        if path.endswith("/infer"):
            body = {
                "inputs": [{"name": "text", "datatype": "BYTES", "shape": [1], "data": [text]}],
                "parameters": {"binary_data_output": True},
            }
        answer = await connections[name].speak(path, **body)
        if answer.status != 200:
            raise RuntimeError(f"status {answer.status}: {answer.body[:300]!r}")
        return answer.first_ms()

    times = await _ask_all(ask, streams, for_s)
    for connection in connections:
        await connection.close()
    return times


async def _ask_all(ask: Asker, streams: int, for_s: float) -> list[float]:
    """Every stream asks, listens and asks again; gives the times to first audio after a warm-up of one sentence each."""
    times: list[float] = []
    begins_s = time.monotonic() + AUDIO_MS / 1000
    ends_s = begins_s + for_s

    async def stream(name: int) -> None:
        chance = random.Random(name)
        await asyncio.sleep(chance.random() * AUDIO_MS / 1000)
        while (asked_s := time.monotonic()) < ends_s:
            took_ms = await ask(name)
            if asked_s >= begins_s:
                times.append(took_ms)
            await asyncio.sleep(max(0.0, asked_s + AUDIO_MS / 1000 * (0.8 + 0.4 * chance.random()) - time.monotonic()))

    async with asyncio.TaskGroup() as group:
        for name in range(streams):
            group.create_task(stream(name))
    return times


def _sentences(name: int) -> Iterator[str]:
    return itertools.chain.from_iterable(texts.twelve_words(seed) for seed in itertools.count(name * 1_000))


def _ignore(heard: Heard) -> None:
    pass
