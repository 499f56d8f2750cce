"""A whole clip is handed on so that its beginning is heard first."""

from __future__ import annotations

import numpy as np
import pytest

from vivavoce.engines.base import Origin, WordTime
from vivavoce.predictors.clip import clip_chunks
from vivavoce.predictors.v2_sound import Speech

RATE_HZ = 8_000
ORIGIN = Origin("http://one", "floor")
TEXT = "I saw the heron stand in the shallows."


def speech(ms: int, words: tuple[WordTime, ...] | None = None) -> Speech:
    frames = RATE_HZ * ms // 1000
    numbers = (9_000 * np.sin(np.arange(frames) / 5)).astype("<i2").reshape(1, -1)
    return Speech(numbers, RATE_HZ, words, scale=32_768.0)


@pytest.mark.parametrize("ms", [1, 399, 400, 801, 4_000])
def test_nothing_is_lost_and_the_last_chunk_says_so(ms: int) -> None:
    whole = speech(ms)
    chunks = list(clip_chunks(TEXT, whole, ORIGIN))
    assert np.array_equal(np.concatenate([chunk.samples for chunk in chunks]), whole.samples())
    assert [chunk.is_last for chunk in chunks] == [False] * (len(chunks) - 1) + [True]
    assert chunks[0].origin == ORIGIN
    assert all(chunk.rate_hz == RATE_HZ for chunk in chunks)


def test_the_first_chunk_of_a_long_clip_is_short() -> None:
    first, rest = clip_chunks(TEXT, speech(4_000), ORIGIN)
    assert len(first.samples) * 5 < len(rest.samples)


@pytest.mark.parametrize("told", [True, False])
def test_every_word_comes_once_and_no_later_than_the_chunk_in_which_it_ends(told: bool) -> None:
    spans = [(0, 1), (2, 5), (6, 9), (10, 15), (16, 21), (22, 24), (25, 28), (29, 37)]
    words = tuple(WordTime(*span, 120.0 * i, 120.0 * (i + 1)) for i, span in enumerate(spans)) if told else None
    first, rest = clip_chunks(TEXT, speech(4_000, words), ORIGIN)
    assert [(word.start, word.end) for word in (*first.words, *rest.words)] == spans
    border_ms = len(first.samples) * 1000 / RATE_HZ
    assert all(word.end_ms <= border_ms for word in first.words)
    assert all(word.end_ms >= border_ms for word in rest.words)
    assert all(word.exact is told for word in (*first.words, *rest.words))
