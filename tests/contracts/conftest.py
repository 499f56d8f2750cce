"""A real server with the voice that comes in hibari's wheel, in a thread of its own, for real clients."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator

import pytest
import uvicorn

from vivavoce.api import create_app
from vivavoce.config import Settings

pytest.importorskip("hibari")

KEY = "contract-key"


class Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    """Nothing that was downloaded to this machine is used."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VIVAVOCE_HOME", str(tmp_path_factory.mktemp("home")))
        yield create_app(Settings(api_keys=KEY))


@pytest.fixture(scope="module")
def base_url(app) -> Iterator[str]:
    server = Server(uvicorn.Config(app, log_config=None, access_log=False, timeout_graceful_shutdown=2))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        services = app.state.services
        ends = time.monotonic() + 60
        while not services.spoken and services.fault is None and time.monotonic() < ends:
            time.sleep(0.01)
        assert services.spoken, services.fault
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        server.should_exit = True
        thread.join(20)
    assert not thread.is_alive()


@pytest.fixture(scope="module")
def key() -> str:
    return KEY
