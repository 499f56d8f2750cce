"""A ten-minute text: first audio, underruns, speed, and what it does to memory."""

from __future__ import annotations

import asyncio
import statistics
from typing import Any

import psutil
import uvloop

import texts
from report import Report
from server import Server, serving
from speech_client import Connection

__all__ = ["run"]

RATE_HZ = 24_000
BODY = {"model": "tts-1", "voice": "alloy", "response_format": "pcm"}


def run(smoke: bool = False) -> Report:
    """Measure; `smoke` takes a shorter text, for a look."""
    report = Report("long_form", "A ten-minute text, hibari")
    words = 300 if smoke else texts.TEN_MINUTE_WORDS
    with serving({"VIVAVOCE_CACHE_MB": "1"}) as server:
        rows = uvloop.run(_measure(server, words, 1 if smoke else 3))
    report.raw = {"rows": rows}
    report.add("sounds for", statistics.median(row["audio_ms"] for row in rows) / 60_000, "min")
    report.add("TTFA p50", statistics.median(row["first_ms"] for row in rows), "ms")
    report.add("RTF", statistics.median(row["ended_ms"] / row["audio_ms"] for row in rows))
    report.add("underruns", sum(row["underruns"] for row in rows), at_most=0)
    grown = max(row["peak_mb"] - row["before_mb"] for row in rows)
    report.add("memory above that of a warm server, most", grown, "MB", at_most=12, note="the PCM is 29 MB")
    report.notes.append("The client reads as fast as it can; memory is read every 20 ms.")
    return report


async def _measure(server: Server, words: int, count: int) -> list[dict[str, Any]]:
    process = psutil.Process(server.pid)
    rows = []
    async with await Connection.open(server.port) as connection:
        for seed in range(3):
            await connection.speak(input=texts.long_text(120, seed=40 + seed), **BODY)
        for seed in range(count):
            before_mb = process.memory_info().rss / 1e6
            peaks = [before_mb]
            async with asyncio.TaskGroup() as group:
                watch = group.create_task(_watch(process, peaks))
                answer = await connection.speak(input=texts.long_text(words, seed=50 + seed), **BODY)
                watch.cancel()
            rows.append(
                {
                    "first_ms": answer.first_ms(),
                    "ended_ms": answer.ended_ms,
                    "audio_ms": answer.audio_ms(RATE_HZ),
                    "underruns": answer.underruns(RATE_HZ),
                    "before_mb": before_mb,
                    "peak_mb": max(peaks),
                }
            )
    return rows


async def _watch(process: psutil.Process, peaks: list[float]) -> None:
    while True:
        peaks.append(process.memory_info().rss / 1e6)
        await asyncio.sleep(0.02)
