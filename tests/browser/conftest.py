"""A real Chromium, and a page in it on a scripted server."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import playwright.sync_api
import pytest
import uvicorn
from playwright.sync_api import Browser, expect, sync_playwright
from starlette.types import ASGIApp

from .studio import Script, Studio

CHROMIUM_ARGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
    "--host-resolver-rules=MAP phone.test 127.0.0.1",
)


@contextlib.contextmanager
def served(app: ASGIApp) -> Iterator[str]:
    """Serve an app on a free port of loopback from a thread; gives its address."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        config = uvicorn.Config(app, log_level="warning", lifespan="on", timeout_graceful_shutdown=1)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
        finally:
            server.should_exit = True
            thread.join(timeout=10)


def chromium_path() -> str | None:
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = chromium_path()
    if path is None:
        missing = pytest.fail if os.environ.get("CI") else pytest.skip
        missing("no Chromium here: install it, or set CHROMIUM to its path")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=[*CHROMIUM_ARGS])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def serving() -> Callable[[ASGIApp], contextlib.AbstractContextManager[str]]:
    """Serves an app of the test's own."""
    return served


@pytest.fixture(scope="session")
def studio_server() -> Iterator[Studio]:
    studio = Studio()
    with served(studio.app()) as url:
        studio.url = url
        yield studio


@pytest.fixture
def studio(studio_server: Studio) -> Studio:
    """The scripted server, with nothing left of the test before."""
    studio_server.script = Script()
    studio_server.requests, studio_server.headers = [], []
    studio_server.said = []
    studio_server.deltas_sent = studio_server.left = studio_server.connections = 0
    studio_server.numbers_asked, studio_server.listening = 0, set()
    return studio_server


LOUDNESS = (Path(__file__).parent / "loudness.js").read_text().strip()
RECORD_LIT = (Path(__file__).parent / "record-lit.js").read_text().strip()


@dataclass
class Stage:
    """An open page, and what a user does with it."""

    page: playwright.sync_api.Page

    def say(self, text: str) -> None:
        self.page.get_by_label("Text to speak").fill(text)
        self.page.get_by_role("button", name="Speak").click()

    def expect_status(self, words: str, timeout_ms: float = 10_000) -> None:
        expect(self.page.get_by_role("status")).to_have_text(words, timeout=timeout_ms)

    def js(self, expression: str) -> Any:
        return self.page.evaluate(expression)

    def until(self, expression: str, timeout_ms: int = 10_000) -> None:
        """Playwright's own wait needs eval, which the page's policy forbids."""
        for _ in range(timeout_ms // 20):
            if self.js(expression):
                return
            self.page.wait_for_timeout(20)
        pytest.fail(f"never came true: {expression}")

    def loudness(self) -> float:
        return float(self.js(LOUDNESS))

    def until_loud(self) -> None:
        self.until(f"({LOUDNESS})() > 0.3")

    def until_silent(self) -> None:
        """The player fades out within a few ms, and the analyser hears the last of it a little longer."""
        self.until(f"({LOUDNESS})() === 0", timeout_ms=1_000)

    def record_lit(self) -> None:
        self.js(RECORD_LIT)

    def record_told(self) -> None:
        """From now on `told` has every status that was shown."""
        self.js("""() => {
          window.told = [];
          const status = document.getElementById("status");
          new MutationObserver(() => told.push(status.textContent)).observe(status, { childList: true });
        }""")


@pytest.fixture
def open_stage(browser: Browser) -> Iterator[Callable[..., Stage]]:
    """Opens a page in a profile of its own; fails the test on any error in the page's console."""
    with contextlib.ExitStack() as stack:
        complaints: list[str] = []

        def opened(url: str, expect_errors: bool = False, before: str = "", **options: Any) -> Stage:
            context = browser.new_context(**options)
            stack.callback(context.close)
            context.add_init_script(before)
            page = context.new_page()
            page.set_default_timeout(15_000)
            if not expect_errors:
                page.on("console", lambda message: message.type == "error" and complaints.append(message.text))
            page.on("pageerror", lambda error: complaints.append(str(error)))
            page.goto(url)
            return Stage(page)

        yield opened
        assert complaints == []


@pytest.fixture(scope="module")
def workshop(browser: Browser, studio_server: Studio) -> Iterator[Stage]:
    """A page that stays open for a file's tests, for those that only try the page's modules by themselves."""
    context = browser.new_context()
    page = context.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(studio_server.url)
    yield Stage(page)
    context.close()
    assert complaints == []


@pytest.fixture
def stage(open_stage: Callable[..., Stage], studio: Studio) -> Stage:
    """The page on the scripted server, with its voices there."""
    stage = open_stage(studio.url)
    stage.page.wait_for_selector("#health[data-health=well]")
    return stage
