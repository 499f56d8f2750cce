import numpy as np
import pytest

from vivavoce.engines.base import WordTime
from vivavoce.engines.joins import Clause, faded, join_pause_ms, joined, quiet_edges

RATE_HZ = 24_000


def padded(head_ms: float, tail_ms: float) -> np.ndarray:
    voice = 0.2 * np.random.default_rng(0).standard_normal(RATE_HZ // 2)
    return np.concatenate([np.zeros(int(24 * head_ms)), voice, np.zeros(int(24 * tail_ms))]).astype(np.float32)


def test_silence_beyond_what_is_wanted_is_cut() -> None:
    samples = padded(300, 450)
    first, last = quiet_edges(samples, RATE_HZ, head_ms=100, tail_ms=100)
    assert first == pytest.approx(24 * 200, abs=300)
    assert len(samples) - last == pytest.approx(24 * 350, abs=300)
    assert first % 300 == last % 300 == 0


def test_less_silence_than_wanted_is_kept_and_none_added() -> None:
    samples = padded(50, 75)
    assert quiet_edges(samples, RATE_HZ, head_ms=200, tail_ms=200) == (0, len(samples))


def test_outer_ends_are_left_alone() -> None:
    samples = padded(300, 450)
    assert quiet_edges(samples, RATE_HZ, head_ms=None, tail_ms=None) == (0, len(samples))


def test_no_voice_is_left_alone() -> None:
    samples = np.zeros(9_000, np.float32)
    assert quiet_edges(samples, RATE_HZ, head_ms=10, tail_ms=10) == (0, 9_000)


def test_a_cut_makes_no_step() -> None:
    samples = faded(np.full(1_000, 0.5, np.float32), head=True, tail=True)
    assert np.abs(np.diff(samples)).max() < 0.01
    assert samples[0] == samples[-1] == 0
    assert faded(np.ones(10, np.float32), head=False, tail=False).min() == 1


def test_longer_marks_make_longer_pauses_and_speed_shortens_them() -> None:
    assert join_pause_ms("a,", 1) < join_pause_ms("a;", 1) < join_pause_ms("a.", 1)
    assert join_pause_ms("a, ", 2) == join_pause_ms("a,", 1) / 2
    assert join_pause_ms("a", 1) < 60


def test_clauses_are_joined_by_the_pause_of_their_mark_and_words_move_along(pauses) -> None:
    clause = padded(300, 450)
    words = (WordTime(0, 3, 300, 800),)
    chunks = list(
        joined(
            [
                Clause(clause, words, "abc,", False),
                Clause(clause, words, "abc;", False),
                Clause(clause, words, "abc.", True),
            ],
            RATE_HZ,
            1.0,
        )
    )
    samples = np.concatenate([chunk.samples for chunk in chunks])
    quiet = pauses(samples, RATE_HZ)
    assert [round(end - start, -1) for start, end in quiet] == pytest.approx([300, 200, 280, 450], abs=30)
    told = [(word.start_ms, word.end_ms) for chunk in chunks for word in chunk.words]
    assert [start for start, _ in told] == pytest.approx([300, quiet[1][1], quiet[2][1]], abs=15)
    assert [end - start for start, end in told] == [500, 500, 500]


def test_how_long_a_clause_is_to_be_held_stays_with_its_sound() -> None:
    clauses = [Clause(padded(50, 50), (), "a,", False, 120.0), Clause(padded(50, 50), (), "b.", True)]
    assert [chunk.hold_ms for chunk in joined(clauses, RATE_HZ, 1.0)] == [120.0, 0.0]
