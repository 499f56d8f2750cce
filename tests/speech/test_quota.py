"""Characters a minute."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vivavoce.errors import RateLimited
from vivavoce.speech.quota import Caller, Quota

KIOSK = Caller("kiosk", characters_per_minute=100)


class SetClock:
    def __init__(self):
        self.at_s = 50.25

    def now_ms(self):
        return self.at_s * 1000


@pytest.fixture
def clock():
    return SetClock()


@given(st.lists(st.tuples(st.floats(0, 20), st.integers(0, 70)), max_size=60))
def test_no_minute_holds_more_than_the_limit_and_the_wait_that_is_told_is_enough(steps):
    clock = SetClock()
    quota, spent = Quota(clock), []
    for pause_s, characters in steps:
        clock.at_s += pause_s
        try:
            quota.spend(KIOSK, characters)
        except RateLimited as refusal:
            assert 0 < refusal.retry_after_s <= 61
            clock.at_s += refusal.retry_after_s + 0.001
            quota.spend(KIOSK, characters)
        spent.append((clock.at_s, characters))
        assert sum(count for at_s, count in spent if at_s > clock.at_s - 60) <= 100


def test_a_text_that_never_fits_says_so(clock):
    with pytest.raises(RateLimited, match="in pieces"):
        Quota(clock).spend(KIOSK, 101)


def test_one_character_at_a_time_for_ten_minutes_is_limited_and_takes_no_memory(clock):
    quota, told, refused = Quota(clock), 0, 0
    for _ in range(6_000):
        clock.at_s += 0.1
        try:
            quota.spend(KIOSK, 1)
            told += 1
        except RateLimited:
            refused += 1
    assert 900 <= told <= 1_000
    assert refused == 6_000 - told
    assert len(quota._spent["kiosk"].seconds) <= 62


def test_keys_do_not_pay_for_each_other_and_some_pay_nothing(clock):
    quota = Quota(clock)
    quota.spend(KIOSK, 100)
    quota.spend(Caller("guest", characters_per_minute=5), 5)
    for _ in range(100):
        quota.spend(Caller(), 10_000)
    with pytest.raises(RateLimited):
        quota.spend(KIOSK, 1)


def test_what_was_never_spoken_is_given_back_even_seconds_later(clock):
    quota = Quota(clock)
    quota.spend(KIOSK, 40)
    clock.at_s += 5
    quota.spend(KIOSK, 40)
    clock.at_s += 5
    quota.give_back(KIOSK, 60)
    quota.spend(KIOSK, 80)
    with pytest.raises(RateLimited):
        quota.spend(KIOSK, 1)


def test_a_limit_that_changes_holds_at_once(clock):
    quota = Quota(clock)
    quota.spend(KIOSK, 90)
    with pytest.raises(RateLimited):
        quota.spend(Caller("kiosk", characters_per_minute=95), 10)
    quota.spend(Caller("kiosk", characters_per_minute=200), 110)


@pytest.mark.parametrize("characters", [0, -5])
def test_nothing_costs_nothing(clock, characters):
    quota = Quota(clock)
    quota.spend(KIOSK, 100)
    quota.spend(KIOSK, characters)
