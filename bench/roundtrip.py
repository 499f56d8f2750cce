"""Text to speech to text: what Whisper base writes down of sixty clean sentences in three voices."""

from __future__ import annotations

import asyncio
import tomllib
from pathlib import Path
from typing import Any

from model_files import whisper_base
from report import Report
from server import Server, serving
from speech_client import Connection
from wer import Errors, compare, normalize
from whisper import Whisper, read_wav

__all__ = ["SENTENCES", "run"]

SENTENCES = Path(__file__).resolve().parent.parent / "tests" / "roundtrip" / "sentences.toml"
VOICES = ("heart", "af_bella", "am_michael")


def run(smoke: bool = False) -> Report:
    """Measure; `smoke` takes few sentences, for a look."""
    report = Report("roundtrip", "Round trip through Whisper base")
    sentences = tomllib.loads(SENTENCES.read_text())["sentences"][: 3 if smoke else None]
    whisper = whisper_base()
    rows: list[dict[str, Any]] = []
    with serving() as server:
        for voice in VOICES:
            rows += asyncio.run(_voice(server, whisper, voice, sentences))
    report.raw = {"rows": rows}
    for voice in VOICES:
        total = _total([row for row in rows if row["voice"] == voice])
        report.add(f"WER, {voice}", 100 * total.rate, "%", at_most=2, note=f"{total.errors} of {total.words} words")
    total = _total(rows)
    report.add("WER, all voices", 100 * total.rate, "%", at_most=2, note=f"{total.errors} of {total.words} words")
    report.notes += [f"{row['voice']}: “{row['text']}” was heard as “{row['heard']}”" for row in rows if row["errors"]]
    report.notes.append("What the count forgives is written at the top of `bench/wer.py`.")
    return report


async def _voice(server: Server, whisper: Whisper, voice: str, sentences: list[str]) -> list[dict[str, Any]]:
    rows = []
    async with await Connection.open(server.port) as connection:
        for text in sentences:
            answer = await connection.speak(model="tts-1", voice=voice, input=text, response_format="wav")
            if answer.status != 200:
                raise RuntimeError(f"{voice}: status {answer.status}: {answer.body[:300]!r}")
            heard = whisper.hear(*read_wav(answer.body))
            errors = compare(text, heard)
            rows.append(
                {
                    "voice": voice,
                    "text": text,
                    "heard": heard,
                    "heard_normalized": " ".join(normalize(heard)),
                    "errors": errors.errors,
                    "words": errors.words,
                }
            )
    return rows


def _total(rows: list[dict[str, Any]]) -> Errors:
    return Errors(sum(row["errors"] for row in rows), sum(row["words"] for row in rows))
