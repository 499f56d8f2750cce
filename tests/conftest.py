"""What holds for all tests."""

from __future__ import annotations

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Browser tests come last: Playwright's own event loop runs on behind them, and others need theirs."""
    items.sort(key=lambda item: item.get_closest_marker("browser") is not None)
