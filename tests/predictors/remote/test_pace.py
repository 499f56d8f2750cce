from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vivavoce.predictors.pace import Pace, WordGuess

TEXTS = [
    "The kettle sings.",
    "Don't re-enter state-of-the-art rooms, please!",
    "谢谢 你们",
    "Один, два — три…",
    "   ",
    "a",
]


def listen(text, pieces_ms, pace=None, speed=1.0, silent_ms=0.0):
    guess, at_ms, words = WordGuess(text, "anna", speed, pace or Pace()), 0.0, []
    for ms in pieces_ms:
        loud = np.full(int(ms * 24), 0.3, np.float32)
        loud[: max(0, int((silent_ms - at_ms) * 24))] = 0.0
        at_ms += len(loud) / 24
        told = guess.feed(loud, 24_000)
        assert all(word.end_ms <= at_ms + 1e-6 for word in told)
        words += told
    return words + list(guess.finish()), at_ms


@settings(deadline=None)
@given(text=st.sampled_from(TEXTS), pieces=st.lists(st.floats(0.0, 900.0), max_size=12), speed=st.floats(0.25, 4.0))
def test_every_word_once_in_order_within_the_sound(text, pieces, speed) -> None:
    words, whole_ms = listen(text, pieces, speed=speed)
    spoken = [text[word.start : word.end] for word in words]
    assert "".join(spoken).replace(" ", "") == "".join(c for c in text if c.isalnum() or c in "'-")
    assert all(0 <= word.start_ms <= word.end_ms <= whole_ms + 1e-6 for word in words)
    assert all(one.end_ms <= two.start_ms + 1e-6 for one, two in pairwise(words))
    assert not any(word.exact for word in words)


def test_the_first_word_begins_with_the_sound() -> None:
    words, _ = listen("The kettle sings.", [100] * 15, silent_ms=250)
    assert words[0].start_ms == pytest.approx(250, abs=0.1)


def test_the_voices_own_pace_is_learned() -> None:
    pace = Pace()
    for _ in range(12):
        listen("The kettle sings all day.", [200] * 15, pace)
    slow, whole_ms = listen("The kettle sings all day.", [200] * 15, pace)
    evenly = [word.end_ms - word.start_ms for word in slow]
    assert slow[-1].end_ms == pytest.approx(whole_ms, rel=0.05)
    assert max(evenly) / min(evenly) < 2.5
    assert pace.of("ben") == Pace().of("ben")
    quick, _ = listen("The kettle sings all day.", [100] * 15, pace, speed=2.0)
    assert quick[-1].end_ms == pytest.approx(whole_ms / 2, rel=0.05)


def test_pace_is_kept_for_some_voices_only() -> None:
    pace = Pace()
    for number in range(2_000):
        pace.learn(f"voice {number}", 70.0)
    assert len(pace._ms) <= 512
