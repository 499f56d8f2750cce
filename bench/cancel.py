"""From a cancel to the freed slot: the embedded engine's, and a foreign engine's behind adapter and gateway."""

from __future__ import annotations

import asyncio
import itertools
import json
import random
import time
import urllib.request

import uvloop

import texts
from instant_server import instant_server
from report import Report, percentile, spread
from server import Server, serving
from ws_socket import Socket

__all__ = ["run"]

# The embedded engine makes its lead of 15 s in about a tenth of a second, and then has nothing to cancel.
EMBEDDED_S, THROUGH_S = 0.08, 0.3


def run(smoke: bool = False) -> Report:
    """Measure; `smoke` takes few samples, for a look."""
    report = Report("cancel", "From a cancel to the freed slot")
    count = 5 if smoke else 60
    with serving({"VIVAVOCE_CACHE_MB": "0"}) as server:
        embedded = uvloop.run(_cancels(server, count, EMBEDDED_S, _ByMetric(server)))
    adapter = {"VIVAVOCE_SLOTS": "4"}
    # An engine that takes a second for a second of sound, so that it is at work whenever the cancel comes.
    with instant_server(20_000, pace_ms=100) as engine:
        adapter["ENGINE_URL"] = f"http://127.0.0.1:{engine}"
        with serving(adapter, role="adapter") as beside:
            front = {"PREDICTOR_URL": f"http://127.0.0.1:{beside.port}", "VIVAVOCE_CACHE_MB": "0"}
            with serving(front, role="gateway") as gateway:
                through = uvloop.run(_cancels(gateway, count, THROUGH_S, _ByEngine(engine)))
    report.raw = {"embedded_ms": embedded, "through_adapter_ms": through}
    report.raw["spread"] = {"embedded": spread(embedded), "through_adapter": spread(through)}
    report.add("cancel to slot free p95, embedded hibari", percentile(embedded, 0.95), "ms", at_most=50)
    report.add("cancel to slot free p50, embedded hibari", percentile(embedded, 0.5), "ms")
    report.add(
        "cancel to engine's request ended p95, gateway and adapter", percentile(through, 0.95), "ms", at_most=150
    )
    report.add("cancel to engine's request ended p50, gateway and adapter", percentile(through, 0.5), "ms")
    report.notes += [
        f"A long text is cancelled at a random moment up to {EMBEDDED_S * 1000:.0f} ms ({THROUGH_S * 1000:.0f} ms through "
        "the adapter) after its first sound, while the engine is at work; one utterance at a time.",
        "Embedded: what the server itself measured for each cancel (the sum of `tts_cancel_seconds` before and after), "
        "from the message to the moment at which the engine's thread has left and slot and seat are free.",
        "Through the adapter: from the client's cancel to the moment at which the foreign engine sees its request closed, "
        "on the one clock of this machine, with a gateway and an adapter between.",
    ]
    return report


class _ByMetric:
    """How long the server says that a cancel took."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self.mark()

    def mark(self) -> None:
        """A cancel comes next."""
        self._count, self._sum_s = self._read()

    def took_ms(self, asked_s: float) -> float | None:
        """How long it took; None while that is not known."""
        count, sum_s = self._read()
        return None if count == self._count else (sum_s - self._sum_s) * 1000

    def _read(self) -> tuple[float, float]:
        return self._server.metric("tts_cancel_seconds_count"), self._server.metric("tts_cancel_seconds_sum")


class _ByEngine:
    """When the engine sees its request closed."""

    def __init__(self, port: int) -> None:
        self._port = port
        self.mark()

    def mark(self) -> None:
        """A cancel comes next."""
        self._known = len(self._read())

    def took_ms(self, asked_s: float) -> float | None:
        """How long it took; None while that is not known."""
        hangups = self._read()
        return (hangups[-1] - asked_s) * 1000 if len(hangups) > self._known else None

    def _read(self) -> list[float]:
        with urllib.request.urlopen(f"http://127.0.0.1:{self._port}/hangups", timeout=5) as response:
            hangups: list[float] = json.loads(response.read())
        return hangups


async def _cancels(server: Server, count: int, longest_s: float, watch: _ByMetric | _ByEngine) -> list[float]:
    """Cancel utterance after utterance, each at a random moment up to so long after its first sound."""
    chance = random.Random(11)
    sentences = texts.twelve_words(seed=77)
    socket = await Socket.open(server.port)
    times = []
    for _ in range(count):
        text = " ".join(itertools.islice(sentences, 12))
        times.append(await _cancel_once(socket, text, chance.random() * longest_s, watch))
    socket.close()
    return times


async def _cancel_once(socket: Socket, text: str, after_s: float, watch: _ByMetric | _ByEngine) -> float:
    sounding, done = asyncio.Event(), asyncio.Event()
    outcomes = []

    def hear(data: bytes) -> None:
        said = json.loads(data)
        if said["type"] == "done":
            outcomes.append(said["outcome"])
            done.set()

    socket.on_text = hear
    socket.on_sound = lambda sound: sounding.set()
    watch.mark()
    socket.send(json.dumps({"type": "synthesize", "text": text, "framing": "header", "lead_ms": 15_000}))
    async with asyncio.timeout(20):
        await sounding.wait()
        await asyncio.sleep(after_s)
        asked_s = time.monotonic()
        socket.send('{"type":"cancel"}')
        await done.wait()
        if outcomes != ["cancelled"]:
            raise RuntimeError(f"the utterance had ended before its cancel: {outcomes}")
        while (took_ms := watch.took_ms(asked_s)) is None:  # noqa: ASYNC110 - another process knows
            await asyncio.sleep(0.02)
    return took_ms
