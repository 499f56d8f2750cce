"""Speech together with the words that the door told beside it."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pauses import Pause, pauses
from speech_client import Connection

__all__ = ["RATE_HZ", "Told", "speak_with_words"]

RATE_HZ = 24_000


@dataclass(frozen=True, slots=True)
class Told:
    """Speech and the words that came beside it: text, start_ms, end_ms and the span in the input."""

    samples: npt.NDArray[np.float32]
    words: list[dict[str, Any]]

    def pauses(self) -> list[Pause]:
        """The silences of 100 ms and more, against the words' times."""
        return pauses(self.samples, RATE_HZ, [(word["start_ms"], word["end_ms"]) for word in self.words])

    def edges_ms(self) -> tuple[list[float], list[float]]:
        """At each pause and at both ends: a word's start minus the sound's, and a word's end minus the sound's."""
        loud = np.flatnonzero(np.abs(self.samples) > 0.01 * np.abs(self.samples).max()) * 1000 / RATE_HZ
        starts, ends = [self.words[0]["start_ms"] - loud[0]], [self.words[-1]["end_ms"] - loud[-1]]
        for pause in self.pauses():
            middle_ms = (pause.start_ms + pause.end_ms) / 2
            starts.append(
                min(word["start_ms"] for word in self.words if word["end_ms"] > middle_ms) - loud[loud > middle_ms][0]
            )
            ends.append(
                max(word["end_ms"] for word in self.words if word["start_ms"] < middle_ms) - loud[loud < middle_ms][-1]
            )
        return [float(value) for value in starts], [float(value) for value in ends]


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
