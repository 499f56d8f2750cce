"""The OpenAI door with the fast voice, against its own engine in the same run."""

from __future__ import annotations

import asyncio
import itertools
import statistics
from typing import Any

import uvloop

import texts
from engine_alone import EngineAlone, hibari_package
from report import Report, percentile, spread
from server import Server, serving
from short import short_texts
from speech_client import Answer, Connection, leading_silence_ms
from vivavoce.engines.hibari import Hibari

__all__ = ["run"]

RATE_HZ = 24_000
REST_S = 0.02
BODY = {"model": "tts-1", "voice": "alloy", "response_format": "pcm"}


def run(smoke: bool = False) -> Report:
    """Measure; `smoke` takes few samples, for a look."""
    report = Report("http_speech", "The OpenAI door, hibari, one client, warm")
    count, paragraphs, shorts = (6, 2, 4) if smoke else (120, 20, 60)
    with serving() as server:
        rows = uvloop.run(_sentences(server, count))
        text_rows = uvloop.run(_paragraphs(server, paragraphs))
    with serving({"VIVAVOCE_CACHE_MB": "0"}) as server:
        short_rows = uvloop.run(_short(server, shorts))
    report.raw = {"sentences": rows, "paragraphs": text_rows, "short": short_rows}
    _judge_sentences(report, rows)
    _judge_paragraphs(report, text_rows)
    for name, ttfa_ms in short_rows.items():
        report.add(f"TTFA p50, {name}", statistics.median(ttfa_ms), "ms", note="public case 140, cache off")
        report.add(f"TTFA p95, {name}", percentile(ttfa_ms, 0.95), "ms", at_most=200)
    report.notes += [
        "TTFA is from writing the request on a kept-alive connection to the first byte of audio (PCM, no header).",
        "Every sentence is new to the server; the engine alone speaks the same sentence in the bench's process, "
        "before or after it in turn, with the same number of threads (1).",
        "The package is hibari-tts as its authors ship it: the whole sentence in one go.",
        "An underrun is a listener who starts at the first byte running dry before the end.",
    ]
    return report


async def _sentences(server: Server, count: int) -> list[dict[str, Any]]:
    engine, package = EngineAlone(Hibari(), "heart"), hibari_package()
    rows = []
    async with await Connection.open(server.port) as connection:
        await _warm(connection)
        for index, text in enumerate(itertools.islice(texts.twelve_words(), count)):
            row: dict[str, Any] = {"text": text}
            for side in ("http", "engine", "package") if index % 2 else ("package", "engine", "http"):
                await asyncio.sleep(REST_S)
                if side == "http":
                    row["http"] = _facts(await connection.speak(input=text, **BODY))
                else:
                    spoken = engine.speak(text) if side == "engine" else package(text)
                    row[side] = {
                        "first_ms": spoken.first_ms,
                        "whole_ms": spoken.whole_ms,
                        "audio_ms": spoken.audio_ms,
                    }
            await asyncio.sleep(REST_S)
            row["cached"] = _facts(await connection.speak(input=text, **BODY))
            rows.append(row)
    return rows


async def _paragraphs(server: Server, count: int) -> list[dict[str, Any]]:
    engine = EngineAlone(Hibari(), "heart")
    rows = []
    source = texts.twelve_words(seed=7)
    async with await Connection.open(server.port) as connection:
        await _warm(connection)
        for index in range(count):
            sentences = list(itertools.islice(source, 10))
            row: dict[str, Any] = {"sentences": len(sentences)}
            for side in ("http", "engine") if index % 2 else ("engine", "http"):
                await asyncio.sleep(REST_S)
                if side == "http":
                    row["http"] = _facts(await connection.speak(input=" ".join(sentences), **BODY))
                else:
                    spoken = [engine.speak(sentence) for sentence in sentences]
                    row["engine"] = {
                        "whole_ms": sum(each.whole_ms for each in spoken),
                        "audio_ms": sum(each.audio_ms for each in spoken),
                    }
            rows.append(row)
    return rows


async def _short(server: Server, count: int) -> dict[str, list[float]]:
    async with await Connection.open(server.port) as connection:
        await _warm(connection)
        return await short_texts(connection, BODY, count, REST_S)


async def _warm(connection: Connection) -> None:
    for text in itertools.islice(texts.twelve_words(seed=99), 10):
        await connection.speak(input=text, **BODY)


def _facts(answer: Answer) -> dict[str, Any]:
    if answer.status != 200:
        raise RuntimeError(f"status {answer.status}: {answer.body[:300]!r}")
    return {
        "first_ms": answer.first_ms(),
        "ended_ms": answer.ended_ms,
        "audio_ms": answer.audio_ms(RATE_HZ),
        "leading_silence_ms": leading_silence_ms(answer.body, RATE_HZ),
        "underruns": answer.underruns(RATE_HZ),
        "arrivals_ms": [round(arrival_ms, 3) for arrival_ms in answer.arrivals_ms],
        "piece_bytes": [len(piece) for piece in answer.pieces],
    }


def _judge_sentences(report: Report, rows: list[dict[str, Any]]) -> None:
    def values(side: str, key: str) -> list[float]:
        return [row[side][key] for row in rows]

    ttfa = values("http", "first_ms")
    p50, p95 = statistics.median(ttfa), percentile(ttfa, 0.95)
    door = [row["http"]["first_ms"] - row["engine"]["first_ms"] for row in rows]
    report.raw["summary"] = {
        f"{side}.{key}": spread(values(side, key))
        for side, keys in {
            "http": ("first_ms", "ended_ms"),
            "engine": ("first_ms", "whole_ms"),
            "package": ("whole_ms",),
        }.items()
        for key in keys
    }
    report.add("TTFA p50, 12 words", p50, "ms")
    report.add("TTFA p95, 12 words", p95, "ms")
    report.add("TTFA p95 / p50", p95 / p50, at_most=2.0)
    report.add("engine alone, first samples p50", statistics.median(values("engine", "first_ms")), "ms")
    report.add("engine alone, whole sentence p50", statistics.median(values("engine", "whole_ms")), "ms")
    report.add("package, whole sentence p50", statistics.median(values("package", "whole_ms")), "ms")
    report.add(
        "the door adds, p50", statistics.median(door), "ms", at_most=3.0, note="TTFA minus engine's first samples"
    )
    report.add("TTFA / engine's whole sentence", p50 / statistics.median(values("engine", "whole_ms")), at_most=0.8)
    report.add("TTFA / package's whole sentence", p50 / statistics.median(values("package", "whole_ms")), at_most=0.8)
    report.add(
        "leading silence p50",
        statistics.median(values("http", "leading_silence_ms")),
        "ms",
        note="perceived TTFA adds it",
    )
    report.add("cached phrase, TTFA p50", statistics.median(values("cached", "first_ms")), "ms", at_most=5.0)
    report.add("cached phrase, TTFA p95", percentile(values("cached", "first_ms"), 0.95), "ms")
    report.add("underruns, 12 words", sum(values("http", "underruns")), at_most=0)
    _judge_pace(report, "12 words", rows)


def _judge_paragraphs(report: Report, rows: list[dict[str, Any]]) -> None:
    _judge_pace(report, "ten sentences", rows)
    report.add("underruns, ten sentences", sum(row["http"]["underruns"] for row in rows), at_most=0)


def _judge_pace(report: Report, shape: str, rows: list[dict[str, Any]]) -> None:
    """The same text takes the door so much longer than the engine; the engine's sound is longer by what is trimmed."""
    http_ms, engine_ms = (
        sum(row[side][key] for row in rows) for side, key in (("http", "ended_ms"), ("engine", "whole_ms"))
    )
    http_audio_ms, engine_audio_ms = (sum(row[side]["audio_ms"] for row in rows) for side in ("http", "engine"))
    report.add(f"time / engine's time, {shape}", http_ms / engine_ms, at_most=1.15)
    report.add(f"RTF, {shape}", http_ms / http_audio_ms)
    report.add(
        f"RTF of the engine alone, {shape}", engine_ms / engine_audio_ms, note="silence at its ends counts as sound"
    )
