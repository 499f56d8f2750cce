"""The golden corpus: what is written and what is said, one file for each kind."""

import tomllib
from pathlib import Path

import pytest

from vivavoce.text import speak

CORPUS = Path(__file__).parent / "spoken"


def load() -> list[tuple[str, str, str, str]]:
    cases = []
    for path in sorted(CORPUS.glob("*.toml")):
        kind = tomllib.loads(path.read_text(encoding="utf-8"))
        assert kind.keys() == {"language", "says"}, path.name
        cases += [(path.stem, kind["language"], written, spoken) for written, spoken in kind["says"].items()]
    return cases


CASES = load()


@pytest.mark.parametrize(("kind", "language", "written", "spoken"), CASES, ids=[f"{c[0]}: {c[2]!r}" for c in CASES])
def test_spoken_as_listed(kind: str, language: str, written: str, spoken: str) -> None:
    assert speak(written, language).text == spoken


def test_corpus_is_large() -> None:
    assert len(CASES) >= 400
    assert len({kind for kind, *_ in CASES}) >= 25
