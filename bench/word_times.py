"""Word times against Whisper's, and against the waveform's own silences."""

from __future__ import annotations

import asyncio
import difflib
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
        "of 20 ms, and are no ground truth: its word starts often lie in the pause before.",
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
    for name, at in (("start", 0), ("end", 1)):
        away = [abs(error[at]) for error in errors]
        note = f"{len(errors)} of {spoken} words; mean {sum(error[at] for error in errors) / len(errors):+.0f} ms"
        report.add(f"{voice}: {name} of a word, p50 of |error|", percentile(away, 0.5), "ms", note=note)
        report.add(f"{voice}: {name} of a word, p90 of |error|", percentile(away, 0.9), "ms")
        report.add(f"{voice}: {name} of a word, most", max(away), "ms")
    found = [Pause(**pause) for row in rows for pause in row["pauses"]]
    astray = sum(not pause.between_words for pause in found)
    report.add(f"{voice}: pauses inside a word", astray, at_most=0, note=f"of {len(found)} pauses")
    if found:
        report.add(f"{voice}: most that a word owns of a pause", max(pause.overlap_ms for pause in found), "ms")
