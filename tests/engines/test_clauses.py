import pytest
from hypothesis import given
from hypothesis import strategies as st

from vivavoce.engines.clauses import Pace, early_pieces
from vivavoce.engines.reading import Reading

FAST, SLOW = Pace(work_s=0.01, sound_s=0.06), Pace(work_s=0.055, sound_s=0.06)
SENTENCE = "wˌɛn ðə ɹˈAn stˈɑps, wi kʊd wˈɔk ɐlˈɔŋ ðə kənˈæl; ɔɹ stˈA ˌɪn, ænd ɹˈid ɐ lˈɔŋ bˈʊk."


def cut(symbols: str, pace: Pace, limit: int = 500) -> list[str]:
    return [piece.symbols for piece in early_pieces(Reading(symbols), pace, limit)]


def test_the_first_clause_goes_alone_and_the_rest_together() -> None:
    assert cut(SENTENCE, FAST) == [SENTENCE[:20], SENTENCE[21:]]


def test_on_a_slow_machine_the_rest_is_cut_too() -> None:
    assert len(cut(SENTENCE, SLOW)) == 4


def test_short_sentences_are_made_in_one_go() -> None:
    assert cut("jˈɛs, ˌI nˈO, bˌʌt wˈA.", FAST) == ["jˈɛs, ˌI nˈO, bˌʌt wˈA."]


def test_a_tiny_first_clause_stays_with_the_next() -> None:
    text = "wˈɛl, ˈæftəɹ ɔl ðˈæt wɚk, ðə bˈOt wʌz stˈɪl nˌɑt ɹˈɛdi tə sˈAl."
    assert cut(text, FAST)[0] == "wˈɛl, ˈæftəɹ ɔl ðˈæt wɚk,"


def test_a_sentence_without_clauses_is_whole() -> None:
    text = "ðə bˈOt wʌz stˈɪl nˌɑt ɹˈɛdi tə sˈAl ˈæftəɹ ɔl ðˈæt wˈɚk."
    assert cut(text, FAST) == [text]


@given(st.text("ab ,;.", max_size=200), st.floats(0.001, 0.2), st.integers(5, 80))
def test_nothing_is_lost_and_no_piece_too_long(symbols: str, work_s: float, limit: int) -> None:
    pieces = cut(symbols, Pace(work_s=work_s), limit)
    assert "".join(pieces).replace(" ", "") == symbols.replace(" ", "")
    assert all(len(piece) <= limit for piece in pieces)


@given(st.lists(st.integers(12, 60), min_size=2, max_size=12), st.floats(0.005, 0.04))
def test_sound_never_runs_dry_where_the_clauses_allow_it(sizes: list[int], work_s: float) -> None:
    pace = Pace(work_s=work_s, sound_s=0.06)
    pieces = cut(", ".join("a" * size for size in sizes), pace)
    ahead_s = len(pieces[0]) * pace.sound_s
    for piece in pieces[1:]:
        single_clause = "," not in piece[:-1]
        assert single_clause or len(piece) * pace.work_s <= ahead_s + 1e-9
        ahead_s += len(piece) * pace.sound_s - pace.takes_s(len(piece))


def test_the_pace_is_learned() -> None:
    pace = Pace(work_s=0.01, sound_s=0.06)
    for _ in range(20):
        pace.learn(42, work_s=2.0, sound_s=2.1)
    assert pace.work_s == pytest.approx(0.04, rel=0.02)
    assert pace.sound_s == pytest.approx(0.05, rel=0.02)


def test_a_first_piece_that_lasts_long_enough_is_not_held_back() -> None:
    assert Pace(work_s=0.01).hold_s(work_s=0.3, sound_s=1.5, first=24, following=45, total=70) == 0


def test_sound_is_held_back_until_it_lasts_for_the_next_piece() -> None:
    pace = Pace(work_s=0.025)
    hold_s = pace.hold_s(work_s=0.8, sound_s=1.5, first=24, following=42, total=67)
    assert 0 < hold_s < pace.takes_s(42)
    assert hold_s + 1.5 >= pace.takes_s(42)
    assert pace.hold_s(work_s=0.8, sound_s=1.6, first=24, following=42, total=67) < hold_s


@given(st.floats(0.002, 0.2), st.integers(10, 60), st.integers(10, 200), st.floats(0.2, 4))
def test_the_first_sound_leaves_within_its_share_of_the_wholes_time(
    work_s: float, first: int, following: int, sound_s: float
) -> None:
    pace = Pace(work_s=work_s)
    total = first + following
    made_s = pace.takes_s(first)
    hold_s = pace.hold_s(made_s, sound_s, first, following, total)
    assert hold_s >= 0
    assert made_s + hold_s <= max(made_s, 0.52 * pace.takes_s(total) + 1e-9)


def test_a_pace_that_was_learned_on_a_busy_machine_does_not_hold_back_for_long() -> None:
    busy = Pace(work_s=0.1)
    assert busy.hold_s(work_s=0.4, sound_s=0.8, first=24, following=42, total=67) <= 0.52 * 0.4 * 75 / 32 - 0.4 + 1e-9
