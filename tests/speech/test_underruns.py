"""Many listeners on one predictor: nobody runs dry while there is enough for all, whatever else is asked for."""

from __future__ import annotations

import asyncio
import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vivavoce.speech import Audio, Listener, ScheduledPredictor, Slots, Timeline, Utterance, speak_utterance

VOICE = Utterance(voice="any", rate_hz=8_000)
WORDS = ("a", "while", "ago", "some", "of", "them", "went", "far", "into", "those", "woods", "where", "nobody", "lived")


def a_text(chance: random.Random, sentences: int) -> str:
    said = []
    for _ in range(sentences):
        words = [chance.choice(WORDS) for _ in range(chance.randint(3, 35))]
        said.append(" ".join(words).capitalize() + ".")
    return " ".join(said)


class House:
    """A predictor and all who want something from it."""

    def __init__(self, clock, simulated, seed: int, **options: object) -> None:
        self.clock = clock
        self.chance = random.Random(seed)
        self.inner = simulated(**options)
        self.slots = Slots(lambda: self.inner.slots, clock)
        self.predictor = ScheduledPredictor(self.inner, self.slots, can_rest=True)
        self.heard: list[Timeline] = []
        self.downloaded = 0

    async def listen(self, begins_s: float, sentences: int) -> None:
        await asyncio.sleep(begins_s)
        now_ms = self.clock.now_ms()
        timeline, listener = Timeline(now_ms), Listener(self.clock, due_ms=now_ms + 150)
        self.heard.append(timeline)
        text = a_text(self.chance, sentences)
        async for _ in speak_utterance(
            text, VOICE, self.predictor, clock=self.clock, timeline=timeline, listener=listener, lead_ms=5_000
        ):
            pass

    async def download(self, begins_s: float, sentences: int) -> None:
        await asyncio.sleep(begins_s)
        async for event in speak_utterance(a_text(self.chance, sentences), VOICE, self.predictor, clock=self.clock):
            self.downloaded += isinstance(event, Audio)

    @property
    def underruns(self) -> int:
        return sum(timeline.underruns for timeline in self.heard)

    def slowest_first_audio_ms(self, share: float = 1.0) -> float:
        times = sorted(timeline.ttfa_ms for timeline in self.heard if timeline.ttfa_ms is not None)
        assert len(times) == len(self.heard)
        return times[int(share * (len(times) - 1))]


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    seed=st.integers(0, 10_000),
    slots=st.integers(1, 4),
    rtf=st.floats(0.05, 0.2),
    spread_s=st.sampled_from([0.0, 3.0, 10.0]),
)
def test_at_six_tenths_of_the_load_nobody_runs_dry(
    virtual, virtual_clock, simulated, seed: int, slots: int, rtf: float, spread_s: float
) -> None:
    async def run() -> House:
        house = House(virtual_clock, simulated, seed, slots=slots, rtf=rtf)
        async with asyncio.TaskGroup() as group:
            for _ in range(max(1, int(0.6 * slots / rtf))):
                group.create_task(house.listen(house.chance.uniform(0, spread_s), 6))
        return house

    house = virtual(run())
    assert house.underruns == 0
    assert house.slots.busy == house.slots.waiting == 0


@pytest.mark.parametrize(("slots", "rtf"), [(2, 0.1), (1, 0.15), (4, 0.3)])
def test_a_flood_of_downloads_starves_no_listener(virtual, virtual_clock, simulated, slots: int, rtf: float) -> None:
    """Eighty downloads at once and eighty more while people listen, though they are new and overdue."""

    async def run() -> House:
        house = House(virtual_clock, simulated, 7, slots=slots, rtf=rtf)
        async with asyncio.TaskGroup() as group:
            listening = [
                group.create_task(house.listen(house.chance.uniform(0, 5), 8)) for _ in range(int(0.6 * slots / rtf))
            ]
            flood = [group.create_task(house.download(6.0, 4)) for _ in range(80)]
            flood += [group.create_task(house.download(6 + index * 0.1, 4)) for index in range(80)]
            await asyncio.wait(listening)
            assert house.downloaded, "they are served beside the listeners"
            for task in flood:
                task.cancel()
        return house

    house = virtual(run())
    assert house.underruns == 0
    assert house.slots.busy == house.slots.waiting == 0


def test_new_listeners_hear_something_soon_beside_long_downloads(virtual, virtual_clock, simulated) -> None:
    async def run() -> House:
        house = House(virtual_clock, simulated, 3, slots=2, rtf=0.01)
        async with asyncio.TaskGroup() as group:
            flood = [group.create_task(house.download(0, 200)) for _ in range(20)]
            await asyncio.sleep(3)
            listening = [group.create_task(house.listen(index * 0.1, 3)) for index in range(60)]
            await asyncio.wait(listening)
            for task in flood:
                task.cancel()
        return house

    house = virtual(run())
    assert house.underruns == 0
    assert house.slowest_first_audio_ms(0.95) <= 300


def test_too_many_listeners_are_told_so_by_their_own_numbers(virtual, virtual_clock, simulated) -> None:
    """At twice the load somebody runs dry; it shows, and everybody is still spoken to the end."""

    async def run() -> House:
        house = House(virtual_clock, simulated, 5, slots=1, rtf=0.2)
        async with asyncio.TaskGroup() as group:
            for _ in range(10):
                group.create_task(house.listen(0, 5))
        return house

    house = virtual(run())
    assert house.underruns > 0
    assert all(timeline.ended_ms and len(timeline.segments) >= 4 for timeline in house.heard)


def test_a_predictor_that_dies_and_comes_back_interrupts_nobody_who_has_enough(
    virtual, virtual_clock, simulated
) -> None:
    async def run() -> House:
        house = House(virtual_clock, simulated, 9, slots=2, rtf=0.05)
        async with asyncio.TaskGroup() as group:
            for index in range(12):
                group.create_task(house.listen(index * 0.2, 8))
            await asyncio.sleep(7)
            house.inner.slots = 0
            await asyncio.sleep(2)
            house.inner.slots = 2
            house.slots.capacity_changed()
        return house

    assert virtual(run()).underruns == 0
