"""Drives a Firefox without a window over its own WebDriver BiDi: just what the tests of the page need."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

PREFERENCES = {
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "media.autoplay.default": 1,
    "media.cubeb.force_mock_context": True,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "remote.active-protocols": 1,
}
PATIENCE_S = 20.0
ESCAPE = "\ue00c"


def firefox_path() -> str | None:
    """Where Firefox is; None where there is none."""
    return os.environ.get("FIREFOX") or next(filter(None, map(shutil.which, ("firefox-esr", "firefox"))), None)


class Firefox:
    """One tab. Every method waits for the browser's answer, `PATIENCE_S` at most."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._numbers = itertools.count(1)
        self.complaints: list[str] = []
        self.ask("session.new", capabilities={})
        self.ask("session.subscribe", events=["log.entryAdded"])
        self._tab = self.ask("browsingContext.getTree")["contexts"][0]["context"]

    def ask(self, method: str, **params: Any) -> Any:
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": params}))
        while True:
            message = json.loads(self._socket.recv(timeout=PATIENCE_S))
            if message["type"] == "event" and message["params"]["level"] == "error":
                self.complaints.append(message["params"]["text"])
            if message.get("id") == number:
                assert message["type"] == "success", message
                return message["result"]

    def open(self, url: str) -> None:
        self.ask("browsingContext.navigate", context=self._tab, url=url, wait="complete")

    def js(self, expression: str) -> Any:
        """The value of an expression, or of the promise that it is, as JSON carries it."""
        whole = f"(async () => JSON.stringify((await ({expression})) ?? null))()"
        told = self.ask("script.evaluate", expression=whole, target={"context": self._tab}, awaitPromise=True)
        assert told["type"] == "success", told
        return json.loads(told["result"]["value"])

    def until(self, expression: str) -> None:
        ends_s = time.monotonic() + PATIENCE_S
        while not self.js(expression):
            assert time.monotonic() < ends_s, f"never came true: {expression}"
            time.sleep(0.02)

    def click(self, selector: str) -> None:
        """A real click, which a browser takes for a person's."""
        box = f"document.querySelector({json.dumps(selector)}).getBoundingClientRect()"
        x, y = self.js(f"(({{x, y, width, height}}) => [x + width / 2, y + height / 2].map(Math.round))({box})")
        steps = [
            {"type": "pointerMove", "x": x, "y": y},
            *({"type": f"pointer{way}", "button": 0} for way in ("Down", "Up")),
        ]
        self._act({"type": "pointer", "id": "mouse", "actions": steps})

    def press(self, keys: str) -> None:
        steps = [{"type": f"key{way}", "value": key} for key in keys for way in ("Down", "Up")]
        self._act({"type": "key", "id": "keyboard", "actions": steps})

    def _act(self, action: dict[str, Any]) -> None:
        self.ask("input.performActions", context=self._tab, actions=[action])


@contextlib.contextmanager
def running(path: str, profile: Path) -> Iterator[Firefox]:
    """Start a Firefox with a profile of its own, whose loudspeaker exists only in its mind."""
    told = "".join(f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in PREFERENCES.items())
    (profile / "user.js").write_text(told)
    command = [path, "--headless", "--no-remote", "--remote-debugging-port", "0", "--profile", str(profile)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        with connect(f"{_address(process, profile)}/session", max_size=None) as socket:
            yield Firefox(socket)
    finally:
        process.terminate()
        process.wait(timeout=PATIENCE_S)


def _address(process: subprocess.Popen[bytes], profile: Path) -> str:
    """Where it listens, which it writes down in its profile."""
    ends_s = time.monotonic() + PATIENCE_S
    while process.poll() is None and time.monotonic() < ends_s:
        with contextlib.suppress(FileNotFoundError, ValueError):
            place = json.loads((profile / "WebDriverBiDiServer.json").read_text())
            return f"ws://{place['ws_host']}:{place['ws_port']}"
        time.sleep(0.05)
    raise TimeoutError("Firefox did not start")
