"""Side by side in one run: Piper's own HTTP server, and kokoro-onnx with the same weights and voice."""

from __future__ import annotations

import asyncio
import itertools
import statistics
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import uvloop

import texts
from model_files import kokoro_files
from peer_processes import KokoroOnnx, kokoro_onnx, piper_server
from report import Report
from server import Server, serving
from speech_client import Answer, Connection
from whisper import read_wav

__all__ = ["run"]

WAV_HEADER_BYTES = 44
REST_S = 0.05
KOKORO_VOICE = "af_heart"
SHAPES = {"12 words": texts.twelve_words, "a comma after 4 of 12 words": texts.clause_of_four}


def run(smoke: bool = False) -> Report:
    """Measure; `smoke` takes few samples, for a look."""
    report = Report("peers", "Side by side with Piper's HTTP server and kokoro-onnx")
    with tempfile.TemporaryDirectory() as name, serving() as server:
        folder = Path(name)
        with piper_server(folder / "piper.log") as port:
            piper = uvloop.run(_against_piper(server, port, 4 if smoke else 60))
        model, voice = kokoro_files(KOKORO_VOICE)
        voices = folder / "voices.npz"
        np.savez(voices, **{KOKORO_VOICE: np.fromfile(voice, np.float32).reshape(-1, 1, 256)})
        with kokoro_onnx(model, voices, KOKORO_VOICE) as peer:
            kokoro = {
                shape: uvloop.run(_against_kokoro_onnx(server, peer, shape, 2 if smoke else 20)) for shape in SHAPES
            }
    report.raw = {"piper": piper, "kokoro_onnx": kokoro}
    _judge(report, "Piper", piper, ttfa_at_most=1 / 3)
    for shape, rows in kokoro.items():
        _judge(report, f"kokoro-onnx, {shape}", rows, ttfa_at_most=None)
    report.notes += [
        "Every product runs with its own defaults, warm, on its own process, one request at a time, in turn; every "
        "sentence is new to each. Piper: piper-tts 1.8.0, voice joe (medium), asked for a WAV over HTTP. kokoro-onnx "
        "0.6.1: called in its process without HTTP, `create_stream` for TTFA and `create` for RTF; ours over HTTP.",
        "Ratios are ours over theirs, of p50s.",
    ]
    return report


async def _against_piper(server: Server, port: int, count: int) -> list[dict[str, Any]]:
    rows = []
    async with await Connection.open(server.port) as ours:
        for index, text in enumerate(itertools.islice(texts.twelve_words(seed=21), count + 3)):
            row: dict[str, Any] = {"text": text}
            for side in ("ours", "theirs") if index % 2 else ("theirs", "ours"):
                await asyncio.sleep(REST_S)
                if side == "ours":
                    answer = await ours.speak(
                        model="tts-1", voice="alloy", input=text, response_format="wav", stream=True
                    )
                    row[side] = _facts(answer, 24_000)
                else:
                    async with await Connection.open(port) as theirs:
                        answer = await theirs.speak("/synthesize", text=text)
                    row[side] = _facts(answer, read_wav(answer.body)[1])
            rows.append(row)
    return rows[3:]


async def _against_kokoro_onnx(server: Server, peer: KokoroOnnx, shape: str, count: int) -> list[dict[str, Any]]:
    rows = []
    async with await Connection.open(server.port) as ours:
        for index, text in enumerate(itertools.islice(SHAPES[shape](22), count + 1)):
            row: dict[str, Any] = {"text": text}
            for side in ("ours", "theirs") if index % 2 else ("theirs", "ours"):
                await asyncio.sleep(REST_S)
                if side == "ours":
                    answer = await ours.speak(
                        model="tts-1", voice=KOKORO_VOICE, input=text, response_format="wav", stream=True
                    )
                    row[side] = _facts(answer, 24_000)
                else:
                    said = peer.speak(text)
                    row[side] = {
                        "first_ms": said["first_ms"],
                        "ended_ms": said["whole_ms"],
                        "audio_ms": said["audio_ms"],
                    }
            rows.append(row)
    return rows[1:]


def _facts(answer: Answer, rate_hz: int) -> dict[str, Any]:
    if answer.status != 200:
        raise RuntimeError(f"status {answer.status}: {answer.body[:300]!r}")
    return {
        "first_ms": answer.first_ms(WAV_HEADER_BYTES),
        "ended_ms": answer.ended_ms,
        "audio_ms": answer.audio_ms(rate_hz, WAV_HEADER_BYTES),
    }


def _judge(report: Report, peer: str, rows: list[dict[str, Any]], ttfa_at_most: float | None) -> None:
    def median(side: str, key: str) -> float:
        return statistics.median(row[side][key] for row in rows)

    def rtf(side: str) -> float:
        return statistics.median(row[side]["ended_ms"] / row[side]["audio_ms"] for row in rows)

    report.add(f"TTFA p50, ours beside {peer}", median("ours", "first_ms"), "ms")
    report.add(f"TTFA p50, {peer}", median("theirs", "first_ms"), "ms")
    ratio = median("ours", "first_ms") / median("theirs", "first_ms")
    report.add(f"TTFA, ours / {peer}", ratio, at_most=ttfa_at_most)
    report.add(f"RTF, {peer}", rtf("theirs"))
    report.add(f"RTF, ours / {peer}", rtf("ours") / rtf("theirs"))
