"""Seats under load: who has been sent the end still listens, and a number that promised too much corrects itself."""

from __future__ import annotations

import asyncio

import pytest

from vivavoce.speech.admission import Admission, Caller
from vivavoce.speech.slots import Slots

ANYONE = Caller()


@pytest.fixture(scope="session")
def play(virtual, virtual_clock):
    """`play(scene)` runs `await scene(clock)` in virtual time."""
    return lambda scene: virtual(scene(virtual_clock))


async def speak(admission, for_s, caller=ANYONE, linger_ms=0.0):
    async with admission.admit(caller, voice="mira") as seat:
        await asyncio.sleep(for_s)
        seat.linger_ms = linger_ms
        return seat


def test_a_listener_counts_until_the_end_is_heard(play):
    async def scene(clock):
        admission = Admission(clock, streams=lambda _voice: 1)
        await speak(admission, 1, linger_ms=4_000)
        assert admission.running == 0
        seat = await speak(admission, 0)
        assert seat.waited_ms == pytest.approx(4_000)

    play(scene)


def test_a_key_may_ask_for_more_while_it_listens(play):
    async def scene(clock):
        admission = Admission(clock, streams=lambda _voice: 9)
        kiosk = Caller("kiosk", streams=1)
        await speak(admission, 1, kiosk, linger_ms=4_000)
        assert (await speak(admission, 1, kiosk)).waited_ms == 0

    play(scene)


def test_whoever_is_cut_off_counts_no_longer(play):
    async def scene(clock):
        admission = Admission(clock, streams=lambda _voice: 1)
        leaving = asyncio.create_task(speak(admission, 60, linger_ms=4_000))
        await asyncio.sleep(1)
        leaving.cancel()
        await asyncio.wait([leaving])
        assert (await speak(admission, 0)).waited_ms == 0

    play(scene)


def test_while_somebody_waits_too_long_for_a_first_sound_nobody_else_is_seated(play):
    async def scene(clock):
        pressed = True
        admission = Admission(clock, streams=lambda _voice: 100, is_pressed=lambda: pressed)
        first = asyncio.create_task(speak(admission, 100))
        await asyncio.sleep(0.1)
        assert admission.running == 1, "whoever comes to an empty server is seated"
        others = [asyncio.create_task(speak(admission, 100)) for _ in range(20)]
        await asyncio.sleep(2)
        assert (admission.running, admission.waiting) == (1, 20)
        pressed = False
        await asyncio.sleep(0.3)
        assert 1 < admission.running < 5, "the next ones come one by one"
        await asyncio.sleep(3)
        assert (admission.running, admission.waiting) == (21, 0)
        for task in (first, *others):
            task.cancel()
        await asyncio.wait([first, *others])
        assert admission.running == 0

    play(scene)


def test_pressed_is_who_waits_longer_than_jobs_take(play):
    async def scene(clock):
        slots = Slots(lambda: 1, clock)

        async def job(for_s):
            async with slots.hold():
                await asyncio.sleep(for_s)

        async with asyncio.TaskGroup() as group:
            group.create_task(job(1.0))
            await asyncio.sleep(0.01)
            group.create_task(job(0.01))
            await asyncio.sleep(0.1)
            assert not slots.is_pressed(150)
            await asyncio.sleep(0.1)
            assert slots.is_pressed(150)
            assert not slots.is_pressed(500)
        assert not slots.is_pressed(0)

    play(scene)


def test_the_expected_start_grows_while_nobody_gets_up(play):
    async def scene(clock):
        places = []
        admission = Admission(clock, streams=lambda _voice: 1, queue_timeout_s=60)
        for _ in range(30):
            await speak(admission, 0.5)
        async with asyncio.TaskGroup() as group:
            group.create_task(speak(admission, 20))
            await asyncio.sleep(0)

            async def wait():
                async with admission.admit(ANYONE, voice="mira", on_queued=places.append):
                    pass

            group.create_task(wait())
        assert places[0].expected_ms < 2_000
        assert places[-1].expected_ms > 10_000
        assert [place.expected_ms for place in places] == sorted(place.expected_ms for place in places)

    play(scene)
