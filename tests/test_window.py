"""The last minute in numbers."""

from __future__ import annotations

import tracemalloc

import pytest

from vivavoce.metrics import Ending
from vivavoce.speech import SegmentEnd, Timeline
from vivavoce.window import Recent, Window


class Hand:
    """A clock that stands still until it is moved."""

    def __init__(self):
        self.ms = 50_000.0

    def now_ms(self):
        return self.ms


@pytest.fixture
def clock():
    return Hand()


def ending(outcome="ok", ttfa_ms=20.0, **more):
    reason = more.pop("reason", "")
    times = {"received_ms": 0.0, "admitted_ms": 5.0, "first_audio_ms": ttfa_ms, "audio_ms": 1_000.0}
    return Ending("websocket", outcome, Timeline(**{**times, "synthesis_ms": 40.0, **more}), reason=reason)


def test_quantiles_are_those_of_what_was_seen(clock):
    recent = Recent(clock, 60_000)
    for value in range(1, 102):
        recent.add(float(value))
    assert recent.quantiles(0.5, 0.95) == (51.0, 96.0)


def test_nothing_seen_is_nothing_not_zero(clock):
    assert Recent(clock, 60_000).quantiles(0.5, 0.95) == (None, None)


def test_what_is_older_than_the_window_is_forgotten(clock):
    recent = Recent(clock, 60_000)
    recent.add(1_000.0)
    clock.ms += 59_000
    recent.add(1.0)
    assert recent.quantiles(1.0) == (1_000.0,)
    clock.ms += 2_000
    assert recent.quantiles(1.0) == (1.0,)
    assert recent.most(500) == 0
    assert recent.most(5_000) == 1


def test_a_flood_keeps_the_newest(clock):
    recent = Recent(clock, 60_000, limit=100)
    for value in range(1_000):
        recent.add(float(value))
    assert recent.quantiles(0.0, 1.0) == (900.0, 999.0)


def test_outcomes_of_the_window_and_since_the_start(clock):
    window = Window(clock)
    for outcome in ("ok", "ok", "cancelled", "client_gone", "error"):
        window.ended(ending(outcome))
    window.ended(ending("shed", None, reason="queue_full"))
    assert window.outcomes == {"ok": 2, "cancelled": 1, "client_gone": 1, "shed": 1, "error": 1}
    clock.ms += 61_000
    window.ended(ending("ok"))
    assert window.outcomes == {"ok": 1, "cancelled": 0, "client_gone": 0, "shed": 0, "error": 0}
    assert window.outcomes_total == {"ok": 3, "cancelled": 1, "client_gone": 1, "shed": 1, "error": 1}
    assert window.busy_total == {"queue_full": 1}


def test_every_time_of_an_utterance_is_kept(clock):
    window = Window(clock)
    window.ended(ending(leading_silence_ms=10.0, underruns=2, segments=[SegmentEnd(0, 900.0, 35.0)]))
    assert window.ttfa_ms.quantiles(0.5) == (20,)
    assert window.perceived_ttfa_ms.quantiles(0.5) == (30,)
    assert window.rtf.quantiles(0.5) == (0.04,)
    assert window.queue_wait_ms.quantiles(0.5) == (5,)
    assert window.synthesis_ms.quantiles(0.5) == (35,)
    assert (window.underruns, window.underruns_total) == (2, 2)


def test_one_that_never_sounded_moves_no_time(clock):
    window = Window(clock)
    window.ended(Ending("openai", "error", None, "internal_error"))
    window.ended(Ending("openai", "client_gone", Timeline(0.0)))
    assert window.ttfa_ms.quantiles(0.5) == window.rtf.quantiles(0.5) == (None,)
    assert window.outcomes["error"] == window.outcomes["client_gone"] == 1


def test_memory_does_not_follow_the_number_of_utterances(clock):
    window = Window(clock)

    def many():
        for _ in range(5_000):
            clock.ms += 30
            window.ended(ending())

    many()
    tracemalloc.start()
    many()
    grown, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert sum(window.outcomes.values()) >= 1_900
    assert grown < 100_000
