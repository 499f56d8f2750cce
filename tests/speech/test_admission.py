"""Who is spoken, who waits, who is refused; in virtual time."""

from __future__ import annotations

import asyncio
import itertools
import logging
from contextlib import AsyncExitStack

import pytest

from vivavoce.errors import Busy, RateLimited
from vivavoce.speech.admission import Admission, Caller

ANYONE = Caller()


@pytest.fixture(scope="session")
def play(virtual, virtual_clock):
    """`play(scene)` runs `await scene(clock)` in virtual time."""
    return lambda scene: virtual(scene(virtual_clock))


def door(clock, streams=1, **options):
    return Admission(clock, streams=streams if callable(streams) else lambda _voice: streams, **options)


async def speak(admission, for_s, caller=ANYONE, log=None, name=None, **how):
    async with admission.admit(caller, voice=how.pop("voice", "mira"), **how) as seat:
        if log is not None:
            log.append(name)
        await asyncio.sleep(for_s)
        return seat


async def refusal_of(admission, **how):
    with pytest.raises(Busy) as caught:
        await speak(admission, 0, **how)
    return caught.value


def test_a_seat_is_there_at_once_while_there_is_room(play):
    async def scene(clock):
        admission = door(clock, 3)
        async with asyncio.TaskGroup() as group:
            seats = [group.create_task(speak(admission, 2)) for _ in range(3)]
            await asyncio.sleep(1)
            assert (admission.running, admission.waiting, admission.full) == (3, 0, False)
        assert [seat.result().waited_ms for seat in seats] == [0, 0, 0]
        assert (admission.running, admission.waiting) == (0, 0)

    play(scene)


def test_first_come_first_served(play):
    async def scene(clock):
        admission, order = door(clock), []
        async with asyncio.TaskGroup() as group:
            for name in range(6):
                group.create_task(speak(admission, 1, log=order, name=name))
        assert order == list(range(6))

    play(scene)


def test_voices_weigh_what_they_cost(play):
    """Eight light voices keep up with their listeners, or two heavy ones, or four light and one heavy."""
    streams = {"light": 8, "heavy": 2}

    async def scene(clock):
        admission, log = door(clock, streams.__getitem__), []
        async with asyncio.TaskGroup() as group:
            for voice in ["light"] * 4 + ["heavy"] + ["light"]:
                group.create_task(speak(admission, 1, voice=voice, log=log, name=voice))
            await asyncio.sleep(0.5)
            assert (admission.running, admission.waiting) == (5, 1)
        assert len(log) == 6

    play(scene)


def test_thirds_make_a_whole(play):
    async def scene(clock):
        admission = door(clock, 3)
        async with asyncio.TaskGroup() as group:
            for _ in range(30):
                group.create_task(speak(admission, 0.01))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            assert admission.running == 3

    play(scene)


def test_a_heavy_utterance_is_not_overtaken_for_ever(play):
    streams = {"light": 2, "heavy": 1}

    async def scene(clock):
        admission, log = door(clock, streams.__getitem__), []

        async def come_and_go():
            for _ in range(8):
                await speak(admission, 1, voice="light", log=log, name="light")

        async with asyncio.TaskGroup() as group:
            group.create_task(come_and_go())
            await asyncio.sleep(0.5)
            group.create_task(come_and_go())
            await asyncio.sleep(0.25)
            group.create_task(speak(admission, 1, voice="heavy", log=log, name="heavy"))
        assert log.index("heavy") == 2

    play(scene)


def test_nobody_ready_means_wait_and_holds_nobody_else_up(play):
    streams = {"mira": 0, "otto": 1}

    async def scene(clock):
        admission, log = door(clock, streams.__getitem__), []
        async with asyncio.TaskGroup() as group:
            group.create_task(speak(admission, 1, voice="mira", log=log, name="mira"))
            await asyncio.sleep(0.1)
            group.create_task(speak(admission, 1, voice="otto", log=log, name="otto"))
            await asyncio.sleep(2)
            assert (log, admission.waiting) == (["otto"], 1)
            streams["mira"] = 1
            admission.capacity_changed()
            await asyncio.sleep(0)
            assert log == ["otto", "mira"]

    play(scene)


@pytest.mark.parametrize("told", [True, False])
def test_new_predictors_are_used_whether_or_not_they_are_announced(play, told):
    streams = {"mira": 1}

    async def scene(clock):
        admission = door(clock, streams.__getitem__)
        async with asyncio.TaskGroup() as group:
            for _ in range(4):
                group.create_task(speak(admission, 5))
            await asyncio.sleep(1)
            assert admission.running == 1
            streams["mira"] = 4
            if told:
                admission.capacity_changed()
            await asyncio.sleep(0 if told else 0.5)
            assert admission.running == 4

    play(scene)


def test_dead_predictors_take_no_seat_away_and_give_none(play):
    streams = {"mira": 4}

    async def scene(clock):
        admission = door(clock, streams.__getitem__, queue_timeout_s=100)
        async with asyncio.TaskGroup() as group:
            for seconds in (1, 2, 3, 4, 1):
                group.create_task(speak(admission, seconds))
            await asyncio.sleep(0.5)
            streams["mira"] = 1
            await asyncio.sleep(3)
            assert (admission.running, admission.waiting) == (1, 1)
            await asyncio.sleep(1)
            assert (admission.running, admission.waiting) == (1, 0)

    play(scene)


@pytest.mark.parametrize("capacity", [1, 5])
def test_an_operators_number_replaces_the_predictors(play, capacity):
    async def scene(clock):
        admission = door(clock, 3, capacity=capacity)
        async with asyncio.TaskGroup() as group:
            for _ in range(7):
                group.create_task(speak(admission, 1))
            await asyncio.sleep(0.5)
            assert admission.running == capacity

    play(scene)


def test_the_kill_switch_takes_everybody(play):
    async def scene(clock):
        admission = door(clock, 0, enabled=False, queue_limit=0)
        limited = Caller("kiosk", streams=1, characters_per_minute=1)
        async with asyncio.TaskGroup() as group:
            for _ in range(40):
                group.create_task(speak(admission, 1, caller=limited, characters=50))
            await asyncio.sleep(0.5)
            assert (admission.running, admission.waiting, admission.full) == (40, 0, False)
        admission.spend(limited, 1_000)
        admission.draining = True
        assert (await refusal_of(admission)).reason == "draining"

    play(scene)


def test_xtts_streaming_server_20_one_too_many_is_refused_at_once_and_costs_nothing(play):
    async def scene(clock):
        admission = door(clock, 1, queue_limit=2, queue_timeout_s=60)
        async with asyncio.TaskGroup() as group:
            for _ in range(3):
                group.create_task(speak(admission, 1))
            await asyncio.sleep(0.5)
            assert admission.full
            before = clock.now_ms()
            refusal = await refusal_of(admission)
            assert (refusal.reason, refusal.retry_after_s, refusal.retryable) == ("queue_full", 60, True)
            assert clock.now_ms() == before
            assert (admission.running, admission.waiting) == (1, 2)
        assert not admission.full

    play(scene)


def test_pocket_tts_4_every_one_of_a_crowd_is_spoken_or_refused(play):
    async def scene(clock):
        admission, log = door(clock, 2, queue_limit=5, queue_timeout_s=30), []
        tasks = [asyncio.create_task(speak(admission, 1, log=log, name=n)) for n in range(12)]
        ends = await asyncio.gather(*tasks, return_exceptions=True)
        assert [getattr(end, "reason", "spoken") for end in ends] == ["spoken"] * 7 + ["queue_full"] * 5
        assert log == list(range(7))

    play(scene)


def test_vllm_omni_5365_those_who_are_taken_start_in_time_and_those_who_wait_are_told(play):
    """Ten come at once to a predictor for two: nobody waits in silence, nobody waits longer than the queue's time."""

    async def scene(clock):
        admission = door(clock, 2, queue_limit=4, queue_timeout_s=3)
        places = {}

        async def come(name):
            started = clock.now_ms()
            try:
                await speak(admission, 2, on_queued=places.setdefault(name, []).append)
                return "spoken", clock.now_ms() - started - 2_000
            except Busy as refusal:
                return refusal.reason, clock.now_ms() - started

        ends = await asyncio.gather(*(come(name) for name in range(10)))
        assert [end[0] for end in ends] == ["spoken"] * 4 + ["queue_timeout"] * 2 + ["queue_full"] * 4
        assert [round(end[1]) for end in ends] == [0, 0, 2_000, 2_000, 3_000, 3_000, 0, 0, 0, 0]
        assert [bool(places[name]) for name in range(10)] == [False] * 2 + [True] * 4 + [False] * 4
        assert places[4][0].position == 3
        assert places[4][-1].position == 1

    play(scene)


@pytest.mark.parametrize("timeout_s", [0, 0.01, 7.5])
def test_a_wait_has_an_end(play, timeout_s):
    async def scene(clock):
        admission = door(clock, 1, queue_timeout_s=timeout_s)
        async with asyncio.TaskGroup() as group:
            group.create_task(speak(admission, 60))
            await asyncio.sleep(0)
            before = clock.now_ms()
            refusal = await refusal_of(admission)
            assert (refusal.reason, refusal.retry_after_s) == ("queue_timeout", timeout_s)
            assert clock.now_ms() - before == pytest.approx(timeout_s * 1000)
            assert (admission.running, admission.waiting) == (1, 0)

    play(scene)


def test_who_drains_refuses_newcomers_and_those_in_line_and_keeps_those_inside(play):
    async def scene(clock):
        admission = door(clock, 1)
        inside = asyncio.create_task(speak(admission, 5))
        await asyncio.sleep(0)
        in_line = asyncio.create_task(speak(admission, 5))
        await asyncio.sleep(1)
        before = clock.now_ms()
        admission.draining = True
        assert admission.full
        for refused in (in_line, asyncio.create_task(speak(admission, 5))):
            with pytest.raises(Busy, match="shutting down") as caught:
                await refused
            assert caught.value.reason == "draining"
        assert clock.now_ms() == before
        assert (admission.running, admission.waiting) == (1, 0)
        await inside

    play(scene)


@pytest.mark.parametrize("cancel_first", [True, False])
def test_one_who_leaves_as_the_seat_comes_passes_it_on(play, cancel_first):
    async def scene(clock):
        admission = door(clock, 1)
        async with AsyncExitStack() as seat:
            await seat.enter_async_context(admission.admit(ANYONE, voice="mira"))
            leaver = asyncio.create_task(speak(admission, 1))
            patient = asyncio.create_task(speak(admission, 1))
            await asyncio.sleep(0.1)
            assert admission.waiting == 2
            if cancel_first:
                leaver.cancel()
        if not cancel_first:
            leaver.cancel()
        seat = await patient
        assert seat.waited_ms == pytest.approx(100)
        assert leaver.cancelled()
        assert (admission.running, admission.waiting) == (0, 0)

    play(scene)


def test_a_thousand_who_leave_at_once_leave_nothing(play):
    async def scene(clock):
        admission = door(clock, 4, queue_limit=1_000)
        tasks = [asyncio.create_task(speak(admission, 1)) for _ in range(1_000)]
        await asyncio.sleep(0)
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        assert (admission.running, admission.waiting) == (0, 0)
        await speak(admission, 1)

    play(scene)


# What those in line are told


def test_places_are_told_at_once_and_as_they_move_but_no_more_often_than_needed(play):
    async def scene(clock):
        admission, places = door(clock, 1, queue_timeout_s=30), []
        async with asyncio.TaskGroup() as group:
            for _ in range(3):
                group.create_task(speak(admission, 2))
            await asyncio.sleep(0)
            group.create_task(speak(admission, 2, on_queued=lambda place: places.append((clock.now_ms(), place))))
            await asyncio.sleep(0)
            assert [place.position for _, place in places] == [3]
            assert places[0][1].budget_ms == 30_000
        positions = [place.position for _, place in places]
        assert positions == sorted(positions, reverse=True)
        assert set(positions) == {1, 2, 3}
        gaps = [later[0] - earlier[0] for earlier, later in itertools.pairwise(places)]
        assert min(gaps) >= 249
        budgets = [place.budget_ms for _, place in places]
        assert budgets == sorted(budgets, reverse=True)

    play(scene)


@pytest.mark.parametrize(("seats", "lasts_s"), [(1, 1.0), (4, 3.0), (2, 0.25)])
def test_the_expected_start_comes_from_how_long_utterances_last(play, seats, lasts_s):
    async def scene(clock):
        admission = door(clock, seats, queue_limit=100, queue_timeout_s=1_000)
        for _ in range(30):
            await asyncio.gather(*(speak(admission, lasts_s) for _ in range(seats)))
        first, starts = {}, {}

        async def come(name):
            await speak(admission, lasts_s, on_queued=lambda place: first.setdefault(name, place.expected_ms))

        async def note(name):
            before = clock.now_ms()
            await come(name)
            starts[name] = clock.now_ms() - before - lasts_s * 1000

        await asyncio.gather(*(note(name) for name in range(seats * 5)))
        told = [name for name in starts if name in first]
        assert len(told) == seats * 4
        for name in told:
            assert first[name] == pytest.approx(starts[name], rel=0.2, abs=lasts_s * 1000)

    play(scene)


def test_an_expectation_that_fails_is_told_anew(play):
    async def scene(clock):
        admission, places = door(clock, 1, queue_timeout_s=60), []
        for _ in range(20):
            await speak(admission, 1)
        long = asyncio.create_task(speak(admission, 20))
        await asyncio.sleep(0)
        await speak(admission, 1, on_queued=lambda place: places.append((clock.now_ms(), place)))
        await long
        assert len(places) > 5
        for (told_ms, place), (next_ms, _) in itertools.pairwise(places):
            assert next_ms <= told_ms + place.expected_ms + 1_000

    play(scene)


def test_nobody_ready_is_told_as_the_whole_wait(play):
    async def scene(clock):
        admission, places = door(clock, 0, queue_timeout_s=8), []
        await refusal_of(admission, on_queued=places.append)
        assert (places[0].position, places[0].expected_ms, places[0].budget_ms) == (1, 8_000, 8_000)

    play(scene)


@pytest.mark.parametrize("at", [0, 1])
def test_a_listener_that_breaks_breaks_its_own_utterance_only(play, at, caplog):
    async def scene(clock):
        admission, heard = door(clock, 1), []

        def listen(place):
            heard.append(place)
            if len(heard) > at:
                raise KeyError("the socket is gone")

        async with asyncio.TaskGroup() as group:
            group.create_task(speak(admission, 2))
            group.create_task(speak(admission, 2))
            await asyncio.sleep(0)
            broken = asyncio.create_task(speak(admission, 2, on_queued=listen))
            other = group.create_task(speak(admission, 2))
            with pytest.raises(KeyError):
                await broken
        assert other.result().waited_ms == pytest.approx(4_000)
        assert (admission.running, admission.waiting) == (0, 0)

    with caplog.at_level(logging.ERROR):
        play(scene)
    assert not caplog.records


# Keys


def test_the_key_with_the_fewest_seats_goes_first(play):
    async def scene(clock):
        admission, log = door(clock, 2), []
        async with asyncio.TaskGroup() as group:
            for name in ("a1", "a2", "a3", "a4", "b1", "a5", "c1", "b2"):
                group.create_task(speak(admission, 1, caller=Caller(name[0]), log=log, name=name))
        # a1 and a2 found seats. Then, two by two: b and c have none; a is first of those who came.
        assert log == ["a1", "a2", "b1", "c1", "a3", "b2", "a4", "a5"]

    play(scene)


def test_seats_that_are_held_count_however_long_ago_they_were_given(play):
    async def scene(clock):
        admission, log = door(clock, 3, queue_timeout_s=60), []
        async with asyncio.TaskGroup() as group:
            for name, for_s in (("a1", 30), ("a2", 30), ("b1", 1), ("a3", 1), ("b2", 1), ("b3", 1), ("a4", 1)):
                group.create_task(speak(admission, for_s, caller=Caller(name[0]), log=log, name=name))
        assert log == ["a1", "a2", "b1", "b2", "b3", "a3", "a4"]

    play(scene)


def test_a_flood_of_one_key_leaves_the_line_open_to_others(play):
    async def scene(clock):
        admission, log = door(clock, 1, queue_limit=4, queue_timeout_s=60), []
        flood = [
            asyncio.create_task(speak(admission, 1, caller=Caller("flood"), log=log, name=f"f{n}")) for n in range(5)
        ]
        await asyncio.sleep(0.5)
        assert admission.full
        other = asyncio.create_task(speak(admission, 1, caller=Caller("guest"), log=log, name="guest"))
        await asyncio.sleep(0)
        late = await asyncio.gather(speak(admission, 1, caller=Caller("flood")), return_exceptions=True)
        assert late[0].reason == "queue_full"
        ends = await asyncio.gather(*flood, other, return_exceptions=True)
        assert [getattr(end, "reason", "spoken") for end in ends] == ["spoken"] * 4 + ["queue_full", "spoken"]
        assert log == ["f0", "guest", "f1", "f2", "f3"]

    play(scene)


def test_a_keys_streams_are_counted_with_those_that_wait(play):
    async def scene(clock):
        admission = door(clock, 2)
        kiosk, guest = Caller("kiosk", streams=3), Caller("guest")
        async with asyncio.TaskGroup() as group:
            for _ in range(3):
                group.create_task(speak(admission, 1, caller=kiosk))
            await asyncio.sleep(0.5)
            with pytest.raises(RateLimited) as caught:
                await speak(admission, 1, caller=kiosk)
            assert (caught.value.reason, caught.value.status, caught.value.close_code) == ("rate_limited", 429, 4429)
            assert 0 < caught.value.retry_after_s < 60
            group.create_task(speak(admission, 1, caller=guest))
        await speak(admission, 1, caller=kiosk)

    play(scene)


def test_a_keys_characters_are_counted_over_every_minute(play):
    async def scene(clock):
        admission = door(clock, 9)
        kiosk = Caller("kiosk", characters_per_minute=100)
        await speak(admission, 1, caller=kiosk, characters=60)
        await asyncio.sleep(20)
        admission.spend(kiosk, 40)
        with pytest.raises(RateLimited) as caught:
            admission.spend(kiosk, 1)
        await speak(admission, 1, characters=1_000)
        await asyncio.sleep(caught.value.retry_after_s + 0.001)
        await speak(admission, 1, caller=kiosk, characters=60)
        with pytest.raises(RateLimited):
            await speak(admission, 1, caller=kiosk, characters=1)

    play(scene)


def test_a_refused_text_is_not_counted(play):
    async def scene(clock):
        admission = door(clock, 1, queue_limit=1, queue_timeout_s=1)
        kiosk = Caller("kiosk", characters_per_minute=100)
        async with asyncio.TaskGroup() as group:
            group.create_task(speak(admission, 30, caller=kiosk, characters=10))
            await asyncio.sleep(0)
            for _ in range(5):
                assert (await refusal_of(admission, caller=kiosk, characters=90)).reason == "queue_timeout"
            left = asyncio.create_task(speak(admission, 30, caller=kiosk, characters=90))
            await asyncio.sleep(0.1)
            left.cancel()
            await asyncio.wait([left])
            admission.spend(kiosk, 90)

    play(scene)
