"""What holds for all tests."""

from __future__ import annotations

import asyncio
import selectors

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Browser tests come last: Playwright's own event loop runs on behind them, and others need theirs."""
    items.sort(key=lambda item: item.get_closest_marker("browser") is not None)


class _Skipping(selectors.SelectSelector):
    """Waits for nothing: whoever would wait has the loop's clock put forward instead."""

    loop: VirtualLoop

    def select(self, timeout=None):
        ready = super().select(0)
        if not ready:
            assert timeout is not None, "nothing will ever happen: a deadlock"
            self.loop.now_s += timeout
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop in which hours pass at once; it is its own Clock."""

    def __init__(self):
        selector = _Skipping()
        selector.loop = self
        self.now_s = 1_000.0
        super().__init__(selector)

    def time(self):
        return self.now_s

    def now_ms(self):
        return self.now_s * 1000


@pytest.fixture(scope="session")
def virtual():
    """`virtual(scene, …)` runs `await scene(loop, …)` on a VirtualLoop of its own."""

    def run(scene, *arguments):
        with asyncio.Runner(loop_factory=VirtualLoop) as runner:
            return runner.run(scene(runner.get_loop(), *arguments))

    return run
