import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vivavoce.engines.rests import Plan, with_rests

STEP_MS = 25.0
DASHES = [
    "The ferry leaves at nine — do not be late.",
    "My uncle — he is a baker — gets up at four.",
    "Two eggs — one cup of sugar — and a little salt.",
    "She knew — of course — what it meant.",
]
ELLIPSES = [
    "I could come along… if you like.",
    "So… where were we?",
    "He counted to ten… and then he ran.",
    "It was late… far too late… and nobody spoke.",
]


def plan(steps: list[int]) -> Plan:
    """A plan whose features and pitch are the number of their own frame."""
    count = 2 * sum(steps)
    numbers = np.arange(count, dtype=np.float32)
    return Plan(np.stack([numbers, -numbers])[None], numbers, np.array(steps, np.int64))


def test_silence_comes_after_the_mark_out_of_the_lead() -> None:
    longer = with_rests(plan([4, 3, 1, 2, 1, 3, 2]), "a — b", 1.0, STEP_MS)
    assert longer.steps.tolist() == [4, 3, 1, 10, 1, 3, 2]
    expected = [*range(20), *[4] * 16, *range(20, 32)]
    assert longer.f0_hz.tolist() == expected
    assert longer.features[0].tolist() == [expected, [-number for number in expected]]


@pytest.mark.parametrize("symbols", ["a, b", "a. b", "— ab", "ab —", "ab…", "… ab"])
def test_other_marks_and_the_ends_of_a_phrase_stay(symbols: str) -> None:
    given_plan = plan([4, *[2] * len(symbols), 2])
    assert with_rests(given_plan, symbols, 1.0, STEP_MS) is given_plan


def test_a_pause_that_is_long_enough_stays() -> None:
    given_plan = plan([4, 3, 2, 9, 1, 3, 2])
    assert with_rests(given_plan, "a — b", 1.0, STEP_MS) is given_plan
    assert with_rests(given_plan, "a — b", 0.5, STEP_MS).steps.tolist() == [4, 3, 2, 21, 1, 3, 2]


@given(st.text("ab —…,", max_size=40), st.sampled_from([0.5, 1.0, 1.4]), st.data())
def test_steps_and_frames_agree_and_nothing_is_lost(symbols: str, speed: float, data: st.DataObject) -> None:
    inputs = len(symbols) + 2
    steps = data.draw(st.lists(st.integers(0, 6), min_size=inputs, max_size=inputs))
    steps[0] = max(steps[0], 1)
    before = plan(steps)
    longer = with_rests(before, symbols, speed, STEP_MS)
    assert 2 * longer.steps.sum() == len(longer.f0_hz) == longer.features.shape[2]
    assert (longer.steps >= before.steps).all()
    silent = steps[0]
    kept = longer.f0_hz[longer.f0_hz != silent]
    assert kept.tolist() == [frame for frame in before.f0_hz.tolist() if frame != silent]


@pytest.mark.parametrize(
    ("text", "mark", "least_ms"),
    [*((text, "—", 120) for text in DASHES), *((text, "…", 180) for text in ELLIPSES)],
)
@pytest.mark.parametrize("speed", [1.0, 1.3])
def test_a_dash_and_an_ellipsis_are_heard(
    hibari, say, pauses, text: str, mark: str, least_ms: float, speed: float
) -> None:
    samples, words = say(hibari, text, "heart", speed)
    found = pauses(samples, hibari.rate_hz, 60)
    for before, after in itertools.pairwise(words):
        if mark not in text[before.end : after.start]:
            continue
        between = [b - a for a, b in found if before.end_ms - 45 < a and b < after.start_ms + 75]
        assert between, text[before.start : after.end]
        assert max(between) >= least_ms / speed, text[before.start : after.end]
        assert after.start_ms - before.end_ms >= least_ms / speed
