"""docs/operating.md names every number that there is, and none that is not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from vivavoce.clock import MonotonicClock
from vivavoce.metrics import Metrics
from vivavoce.stats import Stats

PAGE = Path(__file__).parents[1] / "docs" / "operating.md"


@pytest.fixture(scope="module")
def page():
    return PAGE.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def families():
    class Cache:
        bytes, hits, misses = 0, 0, 0

    metrics = Metrics()
    metrics.watch(cache=Cache())
    return {
        f"{family.name}_total" if family.type == "counter" else family.name
        for family in metrics.registry.collect()
        if family.name.startswith("tts_")
    }


def test_every_metric_is_explained(page, families):
    explained = set(re.findall(r"`(tts_\w+)`", page))
    assert families - explained == set()


def test_no_metric_is_made_up(page, families):
    named = {re.sub(r"_(bucket|sum|count)$", "", name) for name in re.findall(r"\btts_\w+", page)}
    assert named - families == set()


def test_every_field_of_stats_is_explained(page):
    section = page.split("## `/stats`")[1].split("\n## ")[0]
    explained = set(re.findall(r"`(\w+)`", section))
    stats = Stats(Metrics(), MonotonicClock())
    shown = stats.now()
    assert set(shown) - explained == set()
    assert set(stats._point()) - explained == set()
