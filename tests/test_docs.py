"""The documents name tests and files that are there."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("docs/**/*.md"), *ROOT.glob("bench/*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"])
TESTS: defaultdict[str, set[str]] = defaultdict(set)
for path in ROOT.glob("tests/**/test_*.py"):
    TESTS[path.name].update(re.findall(r"def (test_\w+)", path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_it_names_is_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    file = ""
    for code in re.findall(r"`([^`\n]+)`", text):
        for name in re.findall(r"\btest_\w+\.py", code):
            file = name
            assert file in TESTS
        for name in re.findall(r"::(test_\w+)", code):
            assert name in TESTS[file], file
    for link in re.findall(r"\]\(([^)#\s]+)", re.sub(r"`[^`\n]*`", "", text)):
        if "://" not in link:
            assert (page.parent / link).exists(), link


def test_every_decision_names_its_proof() -> None:
    for page in ROOT.glob("docs/why/*.md"):
        assert re.search(r"`(tests/|\S*test_\w+\.py)", page.read_text(encoding="utf-8")), page
