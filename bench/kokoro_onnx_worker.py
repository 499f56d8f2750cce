"""kokoro-onnx behind a pipe: a line of JSON in, a line of JSON out. Runs in the bench's own environment.

Arguments: the model, the file of voices (npz), the voice's name.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from typing import Any

from kokoro_onnx import Kokoro


async def speak(kokoro: Kokoro, voice: str, text: str) -> dict[str, Any]:
    """Time a sentence through its streaming call, then through its whole one."""
    started = time.perf_counter()
    first_ms, samples = 0.0, 0
    async for chunk, _ in kokoro.create_stream(text, voice=voice, speed=1.0, lang="en-us"):
        if not samples:
            first_ms = (time.perf_counter() - started) * 1000
        samples += len(chunk)
    streamed_ms = (time.perf_counter() - started) * 1000
    started = time.perf_counter()
    audio, rate_hz = kokoro.create(text, voice=voice, speed=1.0, lang="en-us")
    whole_ms = (time.perf_counter() - started) * 1000
    return {
        "first_ms": first_ms,
        "streamed_ms": streamed_ms,
        "streamed_audio_ms": samples / rate_hz * 1000,
        "whole_ms": whole_ms,
        "audio_ms": len(audio) / rate_hz * 1000,
    }


def main() -> None:
    """Answer until the pipe closes."""
    model, voices, voice = sys.argv[1:]
    kokoro = Kokoro(model, voices)
    kokoro.create("Good morning.", voice=voice)
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        print(json.dumps(asyncio.run(speak(kokoro, voice, json.loads(line)["text"]))), flush=True)


main()
