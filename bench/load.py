"""The load generator: a process of its own that holds as many listeners as it is told to.

Reads commands from standard input, one JSON object a line, and answers each with one:
`{"do": "hold", "listeners": N, "over_s": S}` adds listeners evenly over S seconds,
`{"do": "measure", "for_s": S}` counts what happens in the next S seconds, `{"do": "stop"}` ends.
Arguments: the port, how many sentences an utterance has, a seed.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import resource
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

import uvloop

import texts
from listener import Heard, Listener
from report import percentile

__all__ = ["Load"]

_LOOK_S = 0.02


class Load:
    """The parent's side: `with Load(port) as load: load.hold(…); load.measure(…)`."""

    def __init__(self, port: int, *, sentences: int, seed: int = 0) -> None:
        self._command = [sys.executable, str(Path(__file__).resolve()), str(port), str(sentences), str(seed)]

    def __enter__(self) -> Load:
        self._process = Popen(self._command, stdin=PIPE, stdout=PIPE)
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(10)

    def hold(self, listeners: int, over_s: float) -> None:
        """Have so many listeners, the new ones starting evenly over that time; returns when they have."""
        self._ask(do="hold", listeners=listeners, over_s=over_s)

    def measure(self, for_s: float) -> dict[str, Any]:
        """What the listeners met with in the next seconds; see `_Window`."""
        return self._ask(do="measure", for_s=for_s)

    def _ask(self, **command: Any) -> dict[str, Any]:
        if self._process.stdin is None or self._process.stdout is None:
            raise RuntimeError("no pipes")
        self._process.stdin.write(json.dumps(command).encode() + b"\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the load generator ended")
        answer: dict[str, Any] = json.loads(line)
        return answer


class _Crowd:
    """The listeners, and what they heard of late."""

    def __init__(self, port: int, sentences: int, seed: int) -> None:
        self._port = port
        self._sentences = sentences
        self._seed = seed
        self.listeners: list[Listener] = []
        self._tasks: list[asyncio.Task[None]] = []
        self._recent: list[Heard] = []

    async def hold(self, listeners: int, over_s: float) -> None:
        missing = listeners - len(self.listeners)
        for _ in range(missing):
            name = len(self.listeners)
            listener = Listener(name, self._port, self._texts(name), self._recent.append)
            self.listeners.append(listener)
            self._tasks.append(asyncio.create_task(listener.run()))
            await asyncio.sleep(over_s / missing)

    async def measure(self, for_s: float) -> dict[str, Any]:
        begins_s = time.monotonic()
        self._recent[:] = [heard for heard in self._recent if not heard.outcome or heard.plays_until_s > begins_s]
        for heard in self._recent:
            heard.recent_audio_s = 0.0
        before = resource.getrusage(resource.RUSAGE_SELF)
        lags_ms = await _lags(for_s)
        after = resource.getrusage(resource.RUSAGE_SELF)
        cpu_s = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
        ended = [task.exception() for task in self._tasks if task.done()]
        if ended:
            raise RuntimeError(f"{len(ended)} listeners ended: {ended[0]!r}")
        return _count(self._recent, begins_s, time.monotonic()) | {
            "listeners": len(self.listeners),
            "load_cpu_share": cpu_s / for_s,
            "load_lag_ms": {"p99": percentile(lags_ms, 0.99), "max": max(lags_ms)},
            "errors": list(itertools.chain.from_iterable(listener.errors for listener in self.listeners))[:20],
        }

    def _texts(self, name: int) -> Iterator[str]:
        source = texts.twelve_words(self._seed * 100_000 + name)
        while True:
            yield " ".join(itertools.islice(source, self._sentences))


async def _lags(for_s: float) -> list[float]:
    """Waits so long; how late the load generator itself came to each of its looks at the clock, in ms."""
    lags_ms: list[float] = []
    ends_s = time.monotonic() + for_s
    while (now_s := time.monotonic()) < ends_s:
        await asyncio.sleep(min(_LOOK_S, ends_s - now_s))
        lags_ms.append((time.monotonic() - now_s - _LOOK_S) * 1000)
    return lags_ms


def _count(recent: list[Heard], begins_s: float, ends_s: float) -> dict[str, Any]:
    """What happened between two moments: utterances that sounded, and those of them in which a listener ran dry."""

    def within(moment_s: float) -> bool:
        return begins_s <= moment_s < ends_s

    sounding = [heard for heard in recent if heard.first_s and heard.first_s < ends_s]
    dry = [heard for heard in sounding if any(map(within, heard.dry_s))]
    fresh = [heard for heard in sounding if within(heard.first_s)]
    window_s = ends_s - begins_s
    return {
        "window_s": window_s,
        "utterances": len(sounding),
        "utterances_dry": len(dry),
        "underruns": sum(sum(map(within, heard.dry_s)) for heard in sounding),
        "audio_s": sum(heard.recent_audio_s for heard in sounding),
        "good_audio_s": sum(heard.recent_audio_s for heard in sounding if heard not in dry),
        "ttfa_ms": [(heard.first_s - heard.asked_s) * 1000 for heard in fresh],
        "ttfa_admitted_ms": [(heard.first_s - heard.started_s) * 1000 for heard in fresh if heard.started_s],
        "queued": sum(heard.queued for heard in recent if within(heard.asked_s)),
        "refused_ms": [
            (heard.refused_s - heard.asked_s) * 1000 for heard in recent if within(heard.refused_s) and not heard.queued
        ],
        "refused_from_queue": sum(within(heard.refused_s) and heard.queued for heard in recent),
    }


async def _main(port: int, sentences: int, seed: int) -> None:
    crowd = _Crowd(port, sentences, seed)
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        command = json.loads(line)
        if command["do"] == "stop":
            return
        if command["do"] == "hold":
            await crowd.hold(command["listeners"], command["over_s"])
            answer: dict[str, Any] = {"listeners": len(crowd.listeners)}
        else:
            answer = await crowd.measure(command["for_s"])
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    uvloop.run(_main(*map(int, sys.argv[1:])))
