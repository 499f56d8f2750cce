"""A real `vivavoce serve`, gateway, engine or adapter in its own process, as a user starts it."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Held", "Server", "free_port", "serving", "start"]

PROGRAM = str(Path(sys.executable).with_name("vivavoce"))


@dataclass(frozen=True, slots=True)
class Held:
    """What a process holds; 0 where this system does not tell."""

    threads: int
    descriptors: int
    files: frozenset[str]


@dataclass(slots=True)
class Server:
    """A running server: where it listens, its process, the file it logs to, and the only folder it may litter."""

    port: int
    process: subprocess.Popen[bytes]
    log: Path
    folder: Path

    @property
    def pid(self) -> int:
        """The process that was started; a supervisor's children have it as parent."""
        return self.process.pid

    def get(self, path: str) -> tuple[int, str]:
        """Status and body of a GET; status 0 while nothing listens."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=5) as response:
                return response.status, response.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        except OSError:
            return 0, ""

    def wait_until_healthy(self, timeout_s: float = 60.0) -> None:
        """Return once the server says it can speak; raises RuntimeError when it does not."""
        ends = time.monotonic() + timeout_s
        while time.monotonic() < ends and self.process.poll() is None:
            if self.get("/ready")[0] == 200:
                return
            time.sleep(0.02)
        raise RuntimeError("the server did not become healthy")

    def metric(self, name: str) -> float:
        """The sum of all samples of a metric, 0.0 when it has none yet."""
        samples = (line.rsplit(" ", 1) for line in self.get("/metrics")[1].splitlines() if line and line[0] != "#")
        return sum(float(value) for key, value in samples if key.partition("{")[0] == name)

    def stats(self) -> dict[str, Any]:
        """What /stats says."""
        said: dict[str, Any] = json.loads(self.get("/stats")[1])
        return said

    def busy(self) -> float:
        """Slots, turns and places in the queue that are taken."""
        return sum(map(self.metric, ("tts_slots_busy", "tts_streams_active", "tts_queue_depth")))

    def held(self) -> Held:
        """Threads and open descriptors of the process, and the files in its temporary folder."""
        process = Path(f"/proc/{self.pid}")
        files = frozenset(str(path.relative_to(self.folder)) for path in self.folder.rglob("*"))
        if not process.exists():
            return Held(0, 0, files)
        return Held(len(list((process / "task").iterdir())), len(list((process / "fd").iterdir())), files)

    def rss_kib(self) -> int:
        """Memory of the process; 0 where this system does not tell."""
        status = Path(f"/proc/{self.pid}/status")
        if not status.exists():
            return 0
        return next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmRSS"))

    def settle(self, most: Held | None = None, timeout_s: float = 30.0) -> Held:
        """Wait until nothing is being spoken and no more descriptors are open than in `most`; gives what is held."""
        ends = time.monotonic() + timeout_s
        while True:
            held = self.held()
            if not self.busy() and (most is None or held.descriptors <= most.descriptors):
                return held
            if time.monotonic() > ends:
                raise TimeoutError(f"still {self.busy():.0f} at work and {held} after {timeout_s:.0f} s")
            time.sleep(0.05)

    def stop(self) -> None:
        """End the process, first as an operator would."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(15)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


def start(folder: Path, environment: Mapping[str, str] | None = None, role: str = "serve") -> Server:
    """Start `vivavoce serve`, or another role, on a free port; it may not listen yet."""
    port = free_port()
    log = folder / f"{role}-{port}.log"
    scratch = folder / "tmp"
    scratch.mkdir(exist_ok=True)
    with log.open("wb") as stream:
        process = subprocess.Popen(
            [PROGRAM, role, "--port", str(port)],
            stdout=stream,
            stderr=subprocess.STDOUT,
            env={**os.environ, "PORT": str(port), "TMPDIR": str(scratch), **(environment or {})},
        )
    return Server(port, process, log, scratch)


@contextlib.contextmanager
def serving(environment: Mapping[str, str] | None = None, role: str = "serve") -> Iterator[Server]:
    """A healthy server for the length of a `with` block."""
    with tempfile.TemporaryDirectory(prefix="vivavoce-bench-") as folder:
        server = start(Path(folder), environment, role)
        try:
            server.wait_until_healthy()
            yield server
        except Exception as error:
            error.add_note(f"server's exit code: {server.process.poll()}; its log ends:\n{log_end(server)}")
            raise
        finally:
            server.stop()


def log_end(server: Server) -> str:
    """The last lines that a server logged."""
    return server.log.read_text(errors="replace")[-2000:]


def free_port() -> int:
    """A port that nothing listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
