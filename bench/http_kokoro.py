"""The OpenAI door with a Kokoro voice: a sentence whose first clause is four of its twelve words."""

from __future__ import annotations

import asyncio
import itertools
import statistics
from typing import Any

import uvloop

import texts
from engine_alone import EngineAlone, Spoken
from model_files import kokoro_files
from report import Report, percentile
from server import Server, serving
from short import short_texts
from speech_client import Connection
from vivavoce.engines.catalog import default_catalog

__all__ = ["run"]

RATE_HZ = 24_000
REST_S = 0.05
VOICE = "af_heart"
BODY = {"model": "tts-1", "voice": VOICE, "response_format": "pcm"}


def run(smoke: bool = False) -> Report:
    """Measure; `smoke` takes few samples, for a look."""
    report = Report("http_kokoro", "The OpenAI door, Kokoro int8, one client, warm")
    kokoro_files(VOICE)
    count, shorts = (3, 2) if smoke else (40, 15)
    with serving({"VIVAVOCE_CACHE_MB": "0"}) as server:
        rows = uvloop.run(_clauses(server, count))
        short_rows = uvloop.run(_short(server, shorts))
    report.raw = {"clauses": rows, "short": short_rows}
    _judge(report, rows)
    for name, ttfa_ms in short_rows.items():
        report.add(f"TTFA p50, {name}", statistics.median(ttfa_ms), "ms", note="public case 140, cache off")
        report.add(f"TTFA p95, {name}", percentile(ttfa_ms, 0.95), "ms")
    report.notes += [
        "The whole sentence in one go is the engine, in the bench's process, on the same words without the comma: then "
        "nothing is cut. In clauses is the engine on the sentence as it is. All three in turn, sentence by sentence.",
        f"The voice is {VOICE}; the engine uses as many threads as the server's does.",
    ]
    return report


async def _short(server: Server, count: int) -> dict[str, list[float]]:
    async with await Connection.open(server.port) as connection:
        return await short_texts(connection, BODY, count, REST_S)


async def _clauses(server: Server, count: int) -> list[dict[str, Any]]:
    engine = EngineAlone(default_catalog().engine_of(VOICE), VOICE)
    rows = []
    async with await Connection.open(server.port) as connection:
        for text in itertools.islice(texts.clause_of_four(seed=98), 4):
            await connection.speak(input=text, **BODY)
            engine.speak(text)
        for index, text in enumerate(itertools.islice(texts.clause_of_four(), count)):
            row: dict[str, Any] = {"text": text}
            sides = ("http", "one_go", "clauses")
            for side in sides[index % 3 :] + sides[: index % 3]:
                await asyncio.sleep(REST_S)
                if side == "http":
                    answer = await connection.speak(input=text, **BODY)
                    if answer.status != 200:
                        raise RuntimeError(f"status {answer.status}: {answer.body[:300]!r}")
                    row[side] = {
                        "first_ms": answer.first_ms(),
                        "ended_ms": answer.ended_ms,
                        "audio_ms": answer.audio_ms(RATE_HZ),
                        "underruns": answer.underruns(RATE_HZ),
                        "arrivals_ms": [round(arrival_ms, 2) for arrival_ms in answer.arrivals_ms],
                        "piece_bytes": [len(piece) for piece in answer.pieces],
                    }
                else:
                    row[side] = _facts(engine.speak(text.replace(",", "") if side == "one_go" else text))
            rows.append(row)
    return rows


def _facts(spoken: Spoken) -> dict[str, float]:
    return {"first_ms": spoken.first_ms, "whole_ms": spoken.whole_ms, "audio_ms": spoken.audio_ms}


def _judge(report: Report, rows: list[dict[str, Any]]) -> None:
    def values(side: str, key: str) -> list[float]:
        return [row[side][key] for row in rows]

    ttfa = values("http", "first_ms")
    p50, p95 = statistics.median(ttfa), percentile(ttfa, 0.95)
    one_go, clauses = (statistics.median(values(side, "whole_ms")) for side in ("one_go", "clauses"))
    door = [row["http"]["first_ms"] - row["clauses"]["first_ms"] for row in rows]
    report.add("TTFA p50, a comma after 4 of 12 words", p50, "ms")
    report.add("TTFA p95", p95, "ms")
    report.add("TTFA p95 / p50", p95 / p50, at_most=2.0)
    report.add("engine alone, whole sentence in one go, p50", one_go, "ms")
    report.add("engine alone, whole sentence in clauses, p50", clauses, "ms")
    report.add("TTFA / whole sentence in one go", p50 / one_go, at_most=0.55)
    report.add("TTFA / whole sentence in clauses", p50 / clauses)
    report.add("the door adds, p50", statistics.median(door), "ms", note="TTFA minus engine's first samples")
    report.add("underruns", sum(values("http", "underruns")), at_most=0)
    report.add("RTF", sum(values("http", "ended_ms")) / sum(values("http", "audio_ms")))
    report.add(
        "time / engine's time in clauses",
        sum(values("http", "ended_ms")) / sum(values("clauses", "whole_ms")),
        at_most=1.15,
    )
    report.add("time / engine's time in one go", sum(values("http", "ended_ms")) / sum(values("one_go", "whole_ms")))
