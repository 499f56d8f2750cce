from itertools import pairwise

import numpy as np
import pytest

from vivavoce.engines.base import Chunk, Origin, WordTime
from vivavoce.predictors.repeat import Take

RATE_HZ = 24_000


def speech(words, *, gap_ms=60.0, word_ms=200.0, pitch=150.0):
    """A sound with one tone for each word, and its words."""
    samples, times, at_ms = [], [], 0.0
    for number in range(words):
        for silent, ms in ((True, gap_ms), (False, word_ms)):
            frames = np.arange(int(ms * RATE_HZ / 1000))
            tone = 0.0 if silent else 0.4
            samples.append((tone * np.sin(2 * np.pi * (pitch + 31 * number) * frames / RATE_HZ)).astype(np.float32))
        times.append(WordTime(number * 5, number * 5 + 4, at_ms + gap_ms, at_ms + gap_ms + word_ms))
        at_ms += gap_ms + word_ms
    return np.concatenate(samples), times


def chunks(samples, words, sizes=(2_400,), origin="one", rate_hz=RATE_HZ):
    """The speech in pieces; each word comes with the piece in which it ends."""
    left, at, made = list(words), 0, []
    while at < len(samples):
        size = sizes[len(made) % len(sizes)]
        at_ms = min(at + size, len(samples)) * 1000 / rate_hz
        told = [word for word in left if word.end_ms <= at_ms + 1e-6]
        left = left[len(told) :]
        first = Origin(origin) if not made else None
        made.append(Chunk(samples[at : at + size], tuple(told), rate_hz=rate_hz, origin=first))
        at += size
    return made


def feed(take, pieces, *, finish=True):
    given = [take.feed(piece) for piece in pieces]
    if finish:
        given.append(take.finish())
    return [chunk for chunk in given if chunk is not None]


def joined(given):
    return np.concatenate([chunk.samples for chunk in given])


def spans(given):
    return [word.start for chunk in given for word in chunk.words]


def test_what_is_whole_passes_untouched() -> None:
    pieces = chunks(*speech(4))
    assert feed(Take(), pieces) == pieces


@pytest.mark.parametrize("given_pieces", range(1, 9))
@pytest.mark.parametrize("sizes", [(2_400,), (977, 3_001), (100_000,), (240,)])
def test_the_same_speech_goes_on_at_the_sample(given_pieces, sizes) -> None:
    samples, words = speech(4)
    take = Take()
    heard = feed(take, chunks(samples, words)[:given_pieces], finish=False)
    take.again()
    heard += feed(take, chunks(samples, words, sizes, "two"))
    assert spans(heard) == [0, 5, 10, 15]
    whole = joined(heard)
    # In a rest the same speech cannot be told from another: the rest may then be shorter, and nothing else.
    assert abs(len(whole) - len(samples)) <= 60 * 24
    if len(whole) == len(samples):
        np.testing.assert_allclose(whole, samples, atol=1e-6)


@pytest.mark.parametrize("given_ms", [100, 240, 300, 500, 610, 700, 1_000])
def test_another_speech_goes_on_at_the_first_word_that_was_not_heard_whole(given_ms) -> None:
    first, words = speech(4)
    second, others = speech(4, gap_ms=90, word_ms=150, pitch=800)
    take = Take()
    cut = int(given_ms * 24)
    heard = feed(take, chunks(first[:cut], words, (480,)), finish=False)
    whole_words = sum(word.end_ms <= given_ms for word in words)
    take.again()
    rest = feed(take, chunks(second, others, (1_111,), "two"))
    assert spans(heard + rest) == [0, 5, 10, 15]
    assert rest[0].origin == Origin("two")
    wanted_ms = 0.0 if not whole_words else max(others[whole_words - 1].end_ms, others[whole_words].start_ms - 25)
    left_out = len(second) - len(joined(rest))
    if whole_words:
        assert abs(left_out - wanted_ms * 24) <= 1
    told = [word for chunk in heard + rest for word in chunk.words]
    assert all(one.end_ms <= two.start_ms + 1e-6 for one, two in pairwise(told))
    assert told[-1].end_ms == pytest.approx(given_ms + len(joined(rest)) / 24, abs=0.1)


def test_chatterbox_tts_api_14_a_seam_between_two_voices_does_not_click() -> None:
    first, words = speech(3)
    second, others = speech(3, gap_ms=10, word_ms=240, pitch=60)
    for cut in range(6_300, 11_000, 137):
        take = Take()
        heard = feed(take, chunks(first[:cut], words, (480,)), finish=False)
        take.again()
        rest = joined(feed(take, chunks(second, others)))
        jump = abs(float(rest[0]) - float(joined(heard)[-1]))
        assert jump < 0.03, cut


def test_a_speech_at_another_rate_goes_on_at_the_first_ones() -> None:
    first, words = speech(4)
    second, others = speech(4)
    take = Take()
    heard = feed(take, chunks(first, words)[:4], finish=False)
    take.again()
    doubled = np.repeat(second, 2)
    rest = feed(take, chunks(doubled, others, (5_000,), "two", rate_hz=48_000))
    assert {chunk.rate_hz for chunk in heard + rest} == {RATE_HZ}
    assert spans(heard + rest) == [0, 5, 10, 15]
    assert abs(len(joined(heard + rest)) - len(first)) <= 60 * 24


def test_a_speech_without_words_goes_on_at_the_place() -> None:
    first, _ = speech(4)
    second, _ = speech(4, pitch=700)
    take = Take()
    heard = feed(take, chunks(first, ())[:3], finish=False)
    take.again()
    rest = feed(take, chunks(second, ()))
    assert len(joined(heard + rest)) == len(second)


def test_a_second_speech_that_ends_earlier_gives_what_is_left_of_it() -> None:
    first, words = speech(4)
    second, others = speech(4, gap_ms=10, word_ms=90, pitch=700)
    take = Take()
    heard = feed(take, chunks(first, words, (480,))[:30], finish=False)
    assert spans(heard) == [0, 5]
    take.again()
    rest = feed(take, chunks(second, others))
    assert spans(rest) == [10, 15]
    assert joined(rest).size


def test_when_all_was_heard_nothing_is_said_again() -> None:
    first, words = speech(2)
    take = Take()
    feed(take, chunks(first, words), finish=False)
    take.again()
    assert feed(take, chunks(*speech(2, pitch=700))) == []


def test_before_any_sound_it_simply_begins() -> None:
    take = Take()
    take.again()
    pieces = chunks(*speech(2))
    assert feed(take, pieces) == pieces


def test_what_is_kept_for_the_seam_is_small() -> None:
    take = Take()
    for piece in chunks(np.zeros(240_000, np.float32), (), (240,)):
        take.feed(piece)
    assert sum(len(samples) for samples in take._recent) <= 2 * 1_440
