"""From the command to the first audio, the memory it takes, and what the import costs."""

from __future__ import annotations

import asyncio
import itertools
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

import texts
from report import Report
from server import Server, serving, start
from speech_client import Connection

__all__ = ["run"]

BODY = {"model": "tts-1", "voice": "alloy", "response_format": "pcm"}


def run(smoke: bool = False) -> Report:
    """Measure; `smoke` takes few samples, for a look."""
    report = Report("startup", "From `vivavoce serve` to the first audio, memory, import")
    starts = [_start_to_audio_ms() for _ in range(2 if smoke else 7)]
    requests = 10 if smoke else 50
    memory = _memory_mb(requests)
    imports = [_import_ms() for _ in range(3 if smoke else 9)]
    report.raw = {"start_to_audio_ms": starts, "memory_mb": memory, "import_ms": imports}
    report.add("`vivavoce serve` to first audio, first run", starts[0] / 1000, "s", at_most=3.0)
    report.add("`vivavoce serve` to first audio, p50", statistics.median(starts) / 1000, "s", at_most=3.0)
    report.add("`vivavoce serve` to first audio, worst", max(starts) / 1000, "s", at_most=3.0)
    report.add(f"RSS after {requests} requests, hibari alone", memory[-1], "MB", at_most=350, note="children included")
    report.add("RSS before the first request", memory[0], "MB")
    report.add("`import vivavoce`, p50", statistics.median(imports), "ms", at_most=150)
    report.notes += [
        "The first audio is asked for with a connection attempt every 5 ms from the moment the command is run.",
        "The import is what `python -X importtime` says for `vivavoce`, everything it pulls in included.",
    ]
    return report


def _start_to_audio_ms() -> float:
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        server = start(Path(folder))
        try:
            return asyncio.run(_first_audio(server, started))
        finally:
            server.stop()


async def _first_audio(server: Server, started: float) -> float:
    while server.process.poll() is None:
        try:
            async with await Connection.open(server.port) as connection:
                answer = await connection.speak(input="Good morning to everyone in the room.", **BODY)
            if answer.status == 200:
                took_ms = answer.ended_ms - answer.first_ms()
                return (time.perf_counter() - started) * 1000 - took_ms
        except OSError:
            pass
        await asyncio.sleep(0.005)
    raise RuntimeError(f"the server ended:\n{server.log.read_text()[-2000:]}")


def _memory_mb(requests: int) -> list[float]:
    with serving() as server:
        return asyncio.run(_memory_over(server, requests))


async def _memory_over(server: Server, requests: int) -> list[float]:
    def rss_mb() -> float:
        process = psutil.Process(server.pid)
        return sum(each.memory_info().rss for each in (process, *process.children(recursive=True))) / 1e6

    readings = [rss_mb()]
    async with await Connection.open(server.port) as connection:
        for text in itertools.islice(texts.twelve_words(seed=5), requests):
            await connection.speak(input=text, **BODY)
            readings.append(rss_mb())
    return readings


def _import_ms() -> float:
    said = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", "import vivavoce"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": ""},
    ).stderr
    found = re.search(r"\|\s+(\d+) \|\s+vivavoce$", said, re.MULTILINE)
    if found is None:
        raise RuntimeError(f"no import of vivavoce seen:\n{said[-1000:]}")
    return int(found[1]) / 1000
