"""Characters whose halves arrive apart."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vivavoce.speech.surrogates import Surrogates


def units(text: str) -> list[str]:
    """The text as JavaScript counts it: UTF-16 code units, halves of pairs on their own."""
    raw = text.encode("utf-16-le")
    return [chr(int.from_bytes(raw[at : at + 2], "little")) for at in range(0, len(raw), 2)]


@given(st.text(), st.integers(1, 5))
def test_a_text_cut_between_any_two_code_units_comes_out_whole(text, step):
    halves, pieces = Surrogates(), units(text)
    out = [halves.feed("".join(pieces[at : at + step])) for at in range(0, len(pieces), step)]
    assert "".join(out) + halves.flush() == text
    assert all(piece.encode() is not None for piece in out)


@pytest.mark.parametrize(
    "pieces, whole",
    [
        (["a\ud83d", "b"], "a\ufffdb"),
        (["\udc1f", "b"], "\ufffdb"),
        (["\ud83d", "\ud83d", "\udc1f"], "\ufffd🐟"),
        (["\ud83d", "", "\udc1f"], "🐟"),
        (["\udc1f\ud83d"], "\ufffd\ufffd"),
        (["🐟\ud83d\udc1f"], "🐟🐟"),
    ],
)
def test_a_half_that_stays_alone_is_replaced(pieces, whole):
    halves = Surrogates()
    assert "".join(halves.feed(piece) for piece in pieces) + halves.flush() == whole
