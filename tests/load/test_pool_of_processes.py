"""A gateway before three engines and an adapter of a foreign server, each a process of its own, two of them killed."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest

from vivavoce.client import Audio, Done, Segment, SegmentEnded, Words, connect

pytestmark = [
    pytest.mark.slow,
    pytest.mark.models,
    pytest.mark.skipif(shutil.which("espeak-ng") is None, reason="espeak-ng is not installed"),
]

TEXT = " ".join(
    f"Number {number}: the {animal} crossed the frozen river before anybody in the village had woken up."
    for number, animal in enumerate(["fox", "bear", "owl", "hare", "wolf", "lynx", "crane", "otter"] * 2, start=1)
)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


@contextmanager
def process(*command: str, log: Path, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("wb") as output:
        running = subprocess.Popen(command, stdout=output, stderr=output, env=os.environ | environment)
    try:
        yield running
    finally:
        running.kill()
        running.wait()


def vivavoce(role: str, port: int, *more: str) -> list[str]:
    return [sys.executable, "-m", "vivavoce", role, "--port", str(port), *more]


@dataclass
class Stack:
    gateway: str
    engines: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    killed: list[str] = field(default_factory=list)

    async def stats(self) -> dict:
        async with httpx.AsyncClient() as client:
            return (await client.get(f"{self.gateway}/stats")).json()

    async def kill_who_is_at_work(self) -> None:
        """kill -9 the engine that has a job of the gateway's, or the next one where none has at this moment."""
        busy = [one["endpoint"] for one in (await self.stats())["predictors"] if one["outstanding"]]
        living = [url for url in (*busy, *self.engines) if url in self.engines and url not in self.killed]
        os.kill(self.engines[living[0]].pid, signal.SIGKILL)
        self.killed.append(living[0])


@pytest.fixture
async def stack(tmp_path):
    pytest.importorskip("hibari")
    with ExitStack() as running:
        engines = {}
        for number in range(3):
            port = free_port()
            command = vivavoce("engine", port)
            engines[f"http://127.0.0.1:{port}"] = running.enter_context(
                process(*command, log=tmp_path / f"engine-{number}.log", TIER="floor", VIVAVOCE_CACHE_MB="0")
            )
        foreign, adapter, gateway = free_port(), free_port(), free_port()
        script = str(Path(__file__).with_name("foreign_speech.py"))
        running.enter_context(process(sys.executable, script, str(foreign), log=tmp_path / "foreign.log"))
        beside = f"http://127.0.0.1:{foreign}"
        command = vivavoce("adapter", adapter, "--engine-url", beside)
        running.enter_context(process(*command, log=tmp_path / "adapter.log", TIER="burst"))
        running.enter_context(
            process(
                *vivavoce("gateway", gateway),
                log=tmp_path / "gateway.log",
                PREDICTOR_URL=",".join(engines),
                BURST_URL=f"http://127.0.0.1:{adapter}",
                VIVAVOCE_PROBE_INTERVAL_S="0.3",
                VIVAVOCE_CACHE_MB="0",
            )
        )
        stack = Stack(f"http://127.0.0.1:{gateway}", engines)
        await all_ready(stack)
        yield stack


async def all_ready(stack: Stack) -> None:
    async with asyncio.timeout(120):
        while True:
            try:
                states = [one["state"] for one in (await stack.stats())["predictors"]]
            except httpx.TransportError:
                states = []
            if len(states) == 4 and all(state in ("ready", "slow_start") for state in states):
                return
            await asyncio.sleep(0.2)


async def test_two_of_three_engines_killed_lose_no_word(stack):
    """Public case 119, and the reason to have a pool at all."""
    words, segments, audio_bytes, done = [], [], 0, None
    async with connect(stack.gateway) as client:
        async for event in client.speak(TEXT, word_timestamps=True, paced=False):
            if isinstance(event, Segment) and event.index in (3, 8):
                await stack.kill_who_is_at_work()
            if isinstance(event, Words):
                words += event.words
            elif isinstance(event, Audio):
                audio_bytes += len(event.pcm)
            elif isinstance(event, SegmentEnded):
                segments.append(event)
            elif isinstance(event, Done):
                done = event
    assert len(stack.killed) == 2
    assert done is not None and done.outcome == "ok"
    assert [word.text for word in words] == [word.strip(".:") for word in TEXT.split()]
    assert all(TEXT[word.start : word.end] == word.text for word in words)
    assert [word.start_ms for word in words] == sorted(word.start_ms for word in words)
    assert audio_bytes == done.audio_bytes > 48 * 60_000
    assert {segment.endpoint for segment in segments} >= set(stack.engines) - set(stack.killed)
    numbers = await stack.stats()
    assert numbers["outcomes"]["ok"] == 1
    predictors = {one["endpoint"]: one for one in numbers["predictors"]}
    assert sum(one["requests"] - one["failures"] for one in predictors.values()) == len(segments)
    assert {predictors[url]["state"] for url in stack.killed} <= {"unready", "ejected"}
    assert all(one["outstanding"] == 0 for one in predictors.values())
    await the_foreign_server_speaks_when_every_engine_is_dead(stack)


async def the_foreign_server_speaks_when_every_engine_is_dead(stack):
    await stack.kill_who_is_at_work()
    async with connect(stack.gateway) as client:
        ended = [event async for event in client.speak("Nobody else is left to say this.", paced=False)]
    segment = next(event for event in ended if isinstance(event, SegmentEnded))
    assert segment.tier == "burst"
    assert isinstance(ended[-1], Done) and ended[-1].audio_ms > 500
