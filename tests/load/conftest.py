"""A real server in its own process, as the benches start it."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "bench"))

from server import Server, serving


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """The server, with the fast voice and a cache too small to hide anything."""
    pytest.importorskip("hibari")
    with serving({"VIVAVOCE_CACHE_MB": "1"}) as running:
        yield running
