"""How many times faster than real time hibari is when nobody waits for it: its own multiple, in a process of its own.

Arguments: seconds to measure, threads that speak at the same time. Prints one JSON object.
"""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import texts
from engine_alone import EngineAlone

__all__ = ["engine_multiple"]


def engine_multiple(for_s: float, threads: int) -> dict[str, Any]:
    """Seconds of sound for each second of the clock, with so many threads that each speak sentence after sentence."""
    command = [sys.executable, str(Path(__file__).resolve()), str(for_s), str(threads)]
    said: dict[str, Any] = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return said


def _main(for_s: float, threads: int) -> None:
    from vivavoce.engines.hibari import Hibari

    engine = Hibari()
    voice = engine.ready_voices()[0].name
    speakers = [EngineAlone(engine, voice) for _ in range(threads)]
    made_ms: list[list[float]] = [[] for _ in range(threads)]
    ends_s = time.monotonic() + for_s

    def speak(index: int) -> None:
        for sentence in texts.twelve_words(900 + index):
            if time.monotonic() >= ends_s:
                return
            made_ms[index].append(speakers[index].speak(sentence).audio_ms)

    began_s = time.monotonic()
    workers = [threading.Thread(target=speak, args=(index,)) for index in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    took_s = time.monotonic() - began_s
    audio_s = sum(itertools.chain.from_iterable(made_ms)) / 1000
    sentences = sum(map(len, made_ms))
    print(json.dumps({"multiple": audio_s / took_s, "audio_s": audio_s, "took_s": took_s, "sentences": sentences}))


if __name__ == "__main__":
    _main(float(sys.argv[1]), int(sys.argv[2]))
