"""Word times against Whisper's, and against the waveform's own silences."""

from __future__ import annotations

import asyncio
import difflib
import statistics
import tomllib
from typing import Any

from model_files import whisper_base
from pauses import Pause
from report import Report, percentile
from roundtrip import SENTENCES
from server import Server, serving
from speech_client import Connection
from told import RATE_HZ, speak_with_words
from wer import normalize
from whisper import Whisper

__all__ = ["run"]

VOICES = ("heart", "af_heart")


def run(smoke: bool = False) -> Report:
    """Measure; `smoke` takes few sentences, for a look."""
    report = Report("word_times", "Word times against Whisper's and against silence")
    sentences = tomllib.loads(SENTENCES.read_text())["sentences"][: 3 if smoke else None]
    whisper = whisper_base()
    with serving() as server:
        for voice in VOICES:
            report.raw[voice] = asyncio.run(_voice(server, whisper, voice, sentences))
    for voice in VOICES:
        _judge(report, voice, report.raw[voice])
    report.notes += [
        "Errors are ours minus Whisper's, over the words both have; Whisper's times come from its attention, in steps "
        "of 20 ms, and are no ground truth: both its starts and its ends come early, hence the figures without the mean.",
        "Against the sound: words at the start, at the end and beside a pause, whose edge the waveform shows (40 dB below "
        "the loudest sample).",
        "A pause is 100 ms or more below loud speech by 40 dB. It falls between two words when no word owns more of it "
        "than 50 ms, two frames of the models' clock.",
    ]
    return report


async def _voice(server: Server, whisper: Whisper, voice: str, sentences: list[str]) -> list[dict[str, Any]]:
    rows = []
    async with await Connection.open(server.port) as connection:
        for text in sentences:
            told = await speak_with_words(connection, text, voice)
            heard = [
                {"word": word.text, "start_ms": word.start_ms, "end_ms": word.end_ms}
                for word in whisper.hear_words(told.samples, RATE_HZ)
            ]
            rows.append(
                {
                    "text": text,
                    "words": told.words,
                    "whisper": heard,
                    "errors_ms": _errors_ms(told.words, heard),
                    "edges_ms": told.edges_ms(),
                    "pauses": [
                        {
                            "start_ms": float(pause.start_ms),
                            "end_ms": float(pause.end_ms),
                            "overlap_ms": pause.overlap_ms,
                        }
                        for pause in told.pauses()
                    ],
                }
            )
    return rows


def _errors_ms(words: list[dict[str, Any]], heard: list[dict[str, Any]]) -> list[tuple[float, float]]:
    """Start and end errors of the words that both sides have, in order."""
    ours, theirs = (["".join(normalize(word["word"])) for word in side] for side in (words, heard))
    matches = difflib.SequenceMatcher(None, ours, theirs, autojunk=False).get_matching_blocks()
    pairs = [(words[m.a + i], heard[m.b + i]) for m in matches for i in range(m.size)]
    return [(a["start_ms"] - b["start_ms"], a["end_ms"] - b["end_ms"]) for a, b in pairs]


def _judge(report: Report, voice: str, rows: list[dict[str, Any]]) -> None:
    errors = [error for row in rows for error in row["errors_ms"]]
    spoken = sum(len(row["words"]) for row in rows)
    for at, name in enumerate(("start", "end")):
        mean = statistics.fmean(error[at] for error in errors)
        away = [abs(error[at]) for error in errors]
        report.add(
            f"{voice}: {name} of a word against Whisper's, size of the error, p50",
            percentile(away, 0.5),
            "ms",
            note=f"{len(errors)} of {spoken} words; mean {mean:+.0f} ms",
        )
        report.add(f"{voice}: the same, p90", percentile(away, 0.9), "ms")
        away = [abs(error[at] - mean) for error in errors]
        report.add(f"{voice}: the same without the mean, p50", percentile(away, 0.5), "ms")
        report.add(f"{voice}: the same without the mean, p90", percentile(away, 0.9), "ms")
        edges = [edge for row in rows for edge in row["edges_ms"][at]]
        report.add(
            f"{voice}: {name} of a word against the sound's, size of the error, p50",
            percentile([abs(edge) for edge in edges], 0.5),
            "ms",
            note=f"{len(edges)} words beside silence; mean {statistics.fmean(edges):+.0f} ms",
        )
        report.add(f"{voice}: the same, p90", percentile([abs(edge) for edge in edges], 0.9), "ms")
    found = [Pause(**pause) for row in rows for pause in row["pauses"]]
    astray = sum(not pause.between_words for pause in found)
    report.add(f"{voice}: pauses inside a word", astray, at_most=0, note=f"of {len(found)} pauses")
    if found:
        report.add(f"{voice}: most that a word owns of a pause", max(pause.overlap_ms for pause in found), "ms")
