"""A listener's buffer: when it runs dry, what was heard, what counts as a gap."""

from __future__ import annotations

import asyncio
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vivavoce.audio import Playback
from vivavoce.speech import Listener


@pytest.fixture
def listener(still_clock) -> Listener:
    still_clock.at_ms = 1_000.0
    return Listener(still_clock, due_ms=1_150.0)


def test_before_the_first_sound_it_is_due_and_has_heard_nothing(listener, still_clock) -> None:
    still_clock.at_ms = 9_000.0
    assert listener.deadline() == 1_150.0
    assert (listener.heard_ms, listener.ahead_ms, listener.underruns) == (0, 0, 0)
    assert listener.waits


def test_playback_begins_with_the_first_sound_and_runs_in_real_time(listener, still_clock) -> None:
    still_clock.at_ms = 1_100.0
    listener.sent(2_000)
    assert listener.deadline() == 3_100.0
    still_clock.at_ms = 1_600.0
    assert (listener.heard_ms, listener.ahead_ms) == (500, 1_500)
    listener.sent(1_000)
    assert listener.deadline() == 4_100.0
    still_clock.at_ms = 60_000.0
    assert (listener.heard_ms, listener.ahead_ms) == (3_000, 0)


def test_a_gap_is_one_underrun_and_playback_goes_on_behind_it(listener, still_clock) -> None:
    listener.sent(500)
    still_clock.at_ms = 2_500.0
    assert listener.underruns == 0, "the end of an utterance is no gap"
    assert listener.deadline() == 1_500.0, "who has been dry longest is due first"
    listener.sent(1_000)
    assert listener.underruns == 1
    assert listener.deadline() == 3_500.0
    listener.sent(1_000)
    assert listener.underruns == 1


@pytest.mark.parametrize("empty_ms", [0.0, -5.0, math.nan])
def test_no_sound_is_no_news(listener, still_clock, empty_ms: float) -> None:
    listener.sent(empty_ms)
    assert listener.deadline() == 1_150.0
    listener.sent(100)
    still_clock.at_ms = 5_000.0
    listener.sent(empty_ms)
    assert listener.underruns == 0
    assert listener.deadline() == 1_100.0


def test_the_clients_word_counts_more_than_the_clock(listener, still_clock) -> None:
    listener.sent(5_000)
    still_clock.at_ms = 2_000.0
    listener.played(400)
    assert listener.heard_ms == 400
    assert listener.deadline() == 6_600.0
    still_clock.at_ms = 2_500.0
    assert listener.heard_ms == 900
    listener.played(800)
    assert listener.heard_ms == 800


def test_a_client_that_buffers_has_no_gap_where_the_clock_alone_would_see_one(listener, still_clock) -> None:
    listener.sent(500)
    still_clock.at_ms = 1_400.0
    listener.played(100)
    still_clock.at_ms = 1_700.0
    listener.sent(500)
    assert listener.underruns == 0


@pytest.mark.parametrize(("cursor_ms", "heard_ms"), [(1e12, 2_000), (math.inf, 2_000), (300, 600), (-1, 600)])
def test_words_that_cannot_be_true_are_clamped_or_ignored(listener, still_clock, cursor_ms, heard_ms) -> None:
    listener.sent(2_000)
    listener.played(600)
    listener.played(cursor_ms)
    listener.played(math.nan)
    assert listener.heard_ms == heard_ms


def test_a_word_before_any_sound_is_ignored(listener, still_clock) -> None:
    listener.played(500)
    still_clock.at_ms = 1_100.0
    listener.sent(300)
    assert listener.deadline() == 1_400.0
    assert listener.heard_ms == 0


def test_a_writer_who_pauses_makes_no_underrun(listener, still_clock) -> None:
    listener.sent(500)
    still_clock.at_ms = 1_400.0
    waited_since_ms = still_clock.at_ms
    still_clock.at_ms = 9_000.0
    listener.text_came(waited_since_ms)
    assert listener.waits and listener.deadline() == 9_000.0
    still_clock.at_ms = 9_050.0
    listener.sent(1_000)
    assert listener.underruns == 0
    assert listener.deadline() == 10_050.0


def test_text_that_came_in_time_excuses_no_gap(listener, still_clock) -> None:
    listener.sent(500)
    listener.text_came(1_000.0)
    still_clock.at_ms = 2_000.0
    listener.text_came(2_000.0)
    assert not listener.waits
    listener.sent(500)
    assert listener.underruns == 1


@given(st.lists(st.tuples(st.floats(0, 900), st.floats(1, 900)), max_size=30))
def test_without_the_clients_word_it_agrees_with_the_playback_model(steps: list[tuple[float, float]]) -> None:
    class Still:
        at_ms = 0.0

        def now_ms(self) -> float:
            return self.at_ms

    clock, playback = Still(), Playback(1_000)
    listener = Listener(clock, due_ms=0)
    for wait_ms, audio_ms in steps:
        clock.at_ms += wait_ms
        dry_ms = playback.dry_ms
        listener.sent(audio_ms)
        playback.arrive(clock.at_ms, audio_ms)
        assert dry_ms is None or listener.heard_ms <= listener.sent_ms
        assert listener.ahead_ms == pytest.approx(playback.buffered_ms(clock.at_ms), abs=1e-6)
        assert listener.deadline() == pytest.approx(playback.dry_ms, abs=1e-6)
    assert listener.underruns <= playback.underruns.count


def test_waiting_for_room_ends_when_time_has_eaten_enough(virtual, virtual_clock) -> None:
    async def run() -> float:
        listener = Listener(virtual_clock, due_ms=virtual_clock.now_ms())
        await listener.until_ahead_below(1_000)
        listener.sent(6_000)
        since_ms = virtual_clock.now_ms()
        await listener.until_ahead_below(5_000)
        return virtual_clock.now_ms() - since_ms

    assert 1_000 <= virtual(run()) <= 1_010


@pytest.mark.parametrize(("cursor_ms", "waits_ms"), [(3_000.0, 500), (0.0, 1_500)])
def test_the_cursor_moves_the_wait(virtual, virtual_clock, cursor_ms: float, waits_ms: float) -> None:
    async def run() -> float:
        listener = Listener(virtual_clock, due_ms=virtual_clock.now_ms())
        listener.sent(6_000)
        since_ms = virtual_clock.now_ms()
        waiting = asyncio.ensure_future(listener.until_ahead_below(5_000))
        await asyncio.sleep(0.5)
        listener.played(cursor_ms)
        await waiting
        return virtual_clock.now_ms() - since_ms

    assert virtual(run()) == pytest.approx(waits_ms, abs=10)


def test_what_is_made_and_not_handed_over_counts_too(virtual, virtual_clock) -> None:
    async def run() -> float:
        listener, made_ms = Listener(virtual_clock, due_ms=virtual_clock.now_ms()), 3_000.0
        listener.sent(4_000)
        since_ms = virtual_clock.now_ms()
        waiting = asyncio.ensure_future(listener.until_ahead_below(5_000, lambda: made_ms))
        await asyncio.sleep(1)
        made_ms = 0.0
        listener.sent(3_000)
        await waiting
        return virtual_clock.now_ms() - since_ms

    assert virtual(run()) == pytest.approx(2_000, abs=10), "handing over moves sound, it adds none"


def test_a_reader_who_never_comes_is_waited_for_without_turning_in_circles(virtual, virtual_clock) -> None:
    async def run() -> None:
        listener = Listener(virtual_clock, due_ms=virtual_clock.now_ms())
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(listener.until_ahead_below(5_000, lambda: 9_000.0), 3_600)

    virtual(run())
