"""Word times against Whisper's, and against the waveform's own silences."""

from __future__ import annotations

import asyncio
import base64
import difflib
import json
import tomllib
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from model_files import whisper_base

from pauses import Pause, pauses
from report import Report, percentile
from roundtrip import SENTENCES
from server import Server, serving
from speech_client import Connection
from wer import normalize
from whisper import Whisper

__all__ = ["Told", "run", "speak_with_words"]

RATE_HZ = 24_000
VOICES = ("heart", "af_heart")


@dataclass(frozen=True, slots=True)
class Told:
    """Speech and the words that came beside it: text, start_ms, end_ms and the span in the input."""

    samples: npt.NDArray[np.float32]
    words: list[dict[str, Any]]

    def pauses(self) -> list[Pause]:
        """The silences of 100 ms and more, against the words' times."""
        return pauses(self.samples, RATE_HZ, [(word["start_ms"], word["end_ms"]) for word in self.words])


async def speak_with_words(connection: Connection, text: str, voice: str) -> Told:
    """Ask the door for PCM as events, with word times."""
    answer = await connection.speak(
        model="tts-1", voice=voice, input=text, response_format="pcm", stream_format="sse", word_timestamps=True
    )
    if answer.status != 200:
        raise RuntimeError(f"{voice}: status {answer.status}: {answer.body[:300]!r}")
    events = [json.loads(line[6:]) for line in answer.body.decode().splitlines() if line.startswith("data: {")]
    if events[-1]["type"] != "speech.audio.done":
        raise RuntimeError(f"the stream ended with {events[-1]}")
    audio = b"".join(base64.b64decode(event["audio"]) for event in events[:-1])
    words = [word for event in events[:-1] for word in event.get("words", ())]
    return Told(np.frombuffer(audio, "<i2").astype(np.float32) / 32768, words)


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
