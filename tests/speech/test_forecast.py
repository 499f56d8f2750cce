"""What those in line are told of their wait."""

from __future__ import annotations

import asyncio

import pytest

from vivavoce.speech.forecast import Forecast
from vivavoce.speech.quota import Caller
from vivavoce.speech.waiting import Place, Waiter

LIMIT_MS = 10_000.0


@pytest.fixture
async def line(still_clock):
    """A forecast, one who waits, and what was told."""
    told: list[Place] = []
    waiter = Waiter(Caller(), "anna", 0.0, asyncio.get_running_loop().create_future(), told.append)
    return Forecast(still_clock), waiter, told


async def test_seats_come_free_as_often_as_they_did_of_late(line, still_clock):
    forecast, waiter, told = line
    for held_ms in (2_000.0, 2_000.0, 2_000.0):
        forecast.ended(held_ms)
    forecast.freed()
    forecast.tell(waiter, 3, running=5, limit_ms=LIMIT_MS)
    assert told == [Place(3, pytest.approx(3 * forecast.seat_ms / 5), LIMIT_MS)]
    assert 2_000 < forecast.seat_ms < 2_600


async def test_the_wait_grows_while_nobody_gets_up(line, still_clock):
    forecast, waiter, told = line
    forecast.tell(waiter, 1, running=4, limit_ms=LIMIT_MS)
    still_clock.at_ms = 6_000.0
    forecast.tell(waiter, 1, running=4, limit_ms=LIMIT_MS)
    assert [place.expected_ms for place in told] == [1_000.0, 6_000.0]
    assert told[1].budget_ms == 4_000.0


async def test_where_nobody_can_speak_the_whole_wait_is_expected(line, still_clock):
    forecast, waiter, told = line
    still_clock.at_ms = 3_000.0
    forecast.tell(waiter, 1, running=0, limit_ms=LIMIT_MS)
    assert told == [Place(1, 7_000.0, 7_000.0)]


async def test_what_is_no_news_is_not_told_and_neither_is_one_who_has_an_answer(line, still_clock):
    forecast, waiter, told = line
    forecast.tell(waiter, 2, running=2, limit_ms=LIMIT_MS)
    still_clock.at_ms = 100.0
    forecast.tell(waiter, 2, running=2, limit_ms=LIMIT_MS)
    assert len(told) == 1
    waiter.answer.set_result(None)
    forecast.tell(waiter, 1, running=2, limit_ms=LIMIT_MS)
    assert len(told) == 1
