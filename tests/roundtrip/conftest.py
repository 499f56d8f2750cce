"""A server that speaks, Whisper that listens, and the yardsticks of `bench/`."""

import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "bench"))

from server import Server, serving


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """A server with its defaults."""
    pytest.importorskip("hibari")
    with serving() as running:
        yield running


@pytest.fixture(scope="session")
def whisper():
    """Whisper base, pulled if it is not there."""
    pytest.importorskip("faster_whisper")
    from model_files import whisper_base

    return whisper_base()


@pytest.fixture(scope="session")
def sentences() -> list[str]:
    """The sixty sentences of the round trip."""
    return tomllib.loads(Path(__file__).with_name("sentences.toml").read_text())["sentences"]
