"""The numbers of a run are those that its listener met."""

import pytest

from vivavoce.cli.measure import Meter, percentile, summary


def reading(arrivals, wall_ms, rate_hz=1_000):
    meter = Meter(rate_hz)
    for at_ms, frames in arrivals:
        meter.arrive(at_ms, frames)
    return meter.reading(wall_ms)


def test_steady_sound_has_no_underrun():
    read = reading([(40, 100), (120, 100), (200, 100)], 210)
    assert (read.ttfa_ms, read.audio_ms, read.underruns, read.stalled_ms) == (40, 300, 0, 0)
    assert read.rtf == pytest.approx(0.7)


def test_every_hole_is_counted_with_its_length():
    read = reading([(40, 100), (190, 100), (300, 100)], 300)
    assert (read.underruns, read.stalled_ms) == (2, 60)


def test_empty_arrivals_are_no_sound():
    assert reading([], 10) is None
    assert reading([(5, 0)], 10) is None
    assert reading([(5, 0), (9, 10)], 10).ttfa_ms == 9


@pytest.mark.parametrize("share, expected", [(0.0, 1), (0.5, 10), (0.51, 11), (0.95, 19), (0.99, 20), (1.0, 20)])
def test_percentile_is_a_value_that_was_measured(share, expected):
    assert percentile(list(range(20, 0, -1)), share) == expected


def test_percentile_of_nothing_is_an_error():
    with pytest.raises(ValueError, match="no values"):
        percentile([], 0.5)


def test_summary_adds_up():
    told = summary([reading([(n, 100)], 2 * n) for n in (10, 20, 30)])
    assert told["requests"] == 3
    assert told["ttfa_ms"] == {"p50": 20, "p95": 30, "max": 30}
    assert told["rtf"] == {"p50": 0.4, "p95": 0.6, "max": 0.6}
    assert (told["audio_ms"], told["underruns"]) == (300, 0)
