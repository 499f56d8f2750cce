from hypothesis import given
from hypothesis import strategies as st

from vivavoce.engines.base import WordTime
from vivavoce.engines.reading import Reading, WordSymbols, word_times


def reading(symbols: str) -> Reading:
    """Every run between spaces and punctuation is a word that sounds as it is written."""
    words, first = [], None
    for index, symbol in enumerate(symbols + " "):
        if symbol in " ,.;":
            if first is not None:
                words.append(WordSymbols(first, index, first, index))
            first = None
        elif first is None:
            first = index
    return Reading(symbols, tuple(words))


def spoken(piece: Reading) -> list[str]:
    return [piece.symbols[word.first : word.last] for word in piece.words]


def test_unknown_symbols_go_and_words_keep_their_own() -> None:
    kept = reading("ab% c%d, %%").keep("abcd ,")
    assert kept.symbols == "ab cd, "
    assert spoken(kept) == ["ab", "cd"]
    assert [(word.start, word.end) for word in kept.words] == [(0, 3), (4, 7)]


def test_pieces_end_at_clauses_first() -> None:
    pieces = list(reading("aaaa bb, cccc dd; eeee ff gg").pieces(14))
    assert [piece.symbols for piece in pieces] == ["aaaa bb,", "cccc dd;", "eeee ff gg"]


def test_pieces_end_between_words_where_there_is_no_clause() -> None:
    assert [piece.symbols for piece in reading("aaaa bbbb cccc dddd").pieces(10)] == ["aaaa bbbb", "cccc dddd"]


def test_a_word_too_long_for_the_model_is_cut_and_told_in_each_piece() -> None:
    pieces = list(reading("a" * 25).pieces(10))
    assert [len(piece.symbols) for piece in pieces] == [10, 10, 5]
    assert {(word.start, word.end) for piece in pieces for word in piece.words} == {(0, 25)}


@given(st.text("ab ,.;", max_size=120), st.integers(1, 40))
def test_pieces_lose_nothing_but_outer_spaces(symbols: str, limit: int) -> None:
    whole = reading(symbols)
    pieces = list(whole.pieces(limit))
    assert all(len(piece.symbols) <= limit for piece in pieces)
    assert "".join(piece.symbols for piece in pieces).replace(" ", "") == symbols.replace(" ", "")
    told = dict.fromkeys((w.start, w.end) for piece in pieces for w in piece.words)
    assert list(told) == [(w.start, w.end) for w in whole.words]


def test_silence_is_recognised() -> None:
    assert reading(" , … .").silent
    assert not reading(", a.").silent


def test_a_word_lasts_from_its_first_symbol_to_its_last() -> None:
    # Ends of: pad, a, b, comma, space, c, pad.
    ends_ms = [300.0, 350.0, 425.0, 500.0, 525.0, 600.0, 900.0]
    words = word_times(reading("ab, c"), ends_ms)
    assert words == (WordTime(0, 2, 300.0, 425.0), WordTime(4, 5, 525.0, 600.0))


def test_a_word_that_is_cut_in_two_is_told_once() -> None:
    long_word = reading("so aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa it")
    pieces = list(long_word.pieces(12))
    assert len(pieces) > 2
    told = [(word.start, word.end) for piece in pieces for word in piece.words]
    assert told == [(word.start, word.end) for word in long_word.words]
