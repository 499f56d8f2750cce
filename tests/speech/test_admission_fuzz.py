"""Admission under any sequence of comings, goings and changes of what the predictors can do."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vivavoce.errors import Busy
from vivavoce.speech.admission import LOOK_EVERY_S, Admission, Caller

VOICES = ("mira", "otto", "kokoro")
CALLERS = (Caller("a"), Caller("b"), Caller("c", streams=4), Caller("d", characters_per_minute=60))
TIMEOUT_S = 10.0


@pytest.fixture(scope="session")
def play(virtual, virtual_clock):
    """`play(scene)` runs `await scene(clock)` in virtual time."""
    return lambda scene: virtual(scene(virtual_clock))


come = st.tuples(
    st.just("come"), st.sampled_from(CALLERS), st.sampled_from(VOICES), st.floats(0.05, 12), st.integers(0, 30)
)
leave = st.tuples(st.just("leave"), st.integers(0, 60))
pause = st.tuples(st.just("pause"), st.floats(0.01, 6))


def turn(least):
    """The predictors of a voice come or go; not everybody says so."""
    return st.tuples(st.just("turn"), st.sampled_from(VOICES), st.integers(least, 5), st.booleans())


def steps(least):
    return st.lists(st.one_of(come, come, come, leave, pause, turn(least)), min_size=12, max_size=60)


class Model:
    """Runs a script against an Admission, and checks what it does against the plainest possible bookkeeping."""

    def __init__(self, clock, queue_limit, fifo):
        self.clock = clock
        self.streams = dict.fromkeys(VOICES, 3)
        self.admission = Admission(
            clock, streams=lambda voice: self.streams[voice], queue_limit=queue_limit, queue_timeout_s=TIMEOUT_S
        )
        self.fifo = fifo
        self.seats = Counter()
        self.of_key = Counter()
        self.in_line = defaultdict(list)
        self.ends = []
        self.tasks = []

    async def visit(self, name, caller, voice, for_s, characters):
        line, came_ms = self.in_line[caller.name], self.clock.now_ms()
        line.append(name)
        places = []
        try:
            async with self.admission.admit(caller, voice=voice, characters=characters, on_queued=places.append):
                assert not self.fifo or line[0] == name, "overtaken by its own key"
                self.check_share(caller.name)
                line.remove(name)
                self.seats[voice] += 1
                self.of_key[caller.name] += 1
                self.check_weight()
                try:
                    # No two end at the same moment: which of them was first would be hard to tell.
                    await asyncio.sleep(for_s + name * 0.00314159)
                finally:
                    self.seats[voice] -= 1
                    self.of_key[caller.name] -= 1
            self.ends.append("spoken")
        except Busy as refusal:
            self.ends.append(refusal.reason)
        finally:
            if name in line:
                line.remove(name)
                assert self.clock.now_ms() - came_ms <= TIMEOUT_S * 1000 + 1, "waited for ever"
            for place in places:
                assert place.position >= 1
                assert place.expected_ms >= 0
                assert 0 <= place.budget_ms <= TIMEOUT_S * 1000

    def check_weight(self):
        """Of the voices that somebody can speak; what the others weigh is what they weighed when it was last looked at."""
        weights = [self.seats[voice] / streams for voice, streams in self.streams.items() if streams]
        assert sum(weights) <= 1.000001

    def check_share(self, mine):
        """Nobody is seated while another, whom somebody could speak for, has fewer seats and waits."""
        if all(self.streams.values()):
            for name, line in self.in_line.items():
                assert not line or self.of_key[mine] <= self.of_key[name], f"{name} was next"

    async def run(self, script):
        for index, (what, *how) in enumerate(script):
            if what == "come":
                self.tasks.append(asyncio.create_task(self.visit(index, *how)))
            elif what == "leave" and self.tasks:
                self.tasks[how[0] % len(self.tasks)].cancel()
            elif what == "pause":
                await asyncio.sleep(how[0])
            elif what == "turn":
                voice, streams, told = how
                self.streams[voice] = streams
                if told:
                    self.admission.capacity_changed()
                else:
                    await asyncio.sleep(2 * LOOK_EVERY_S)
            for _ in range(6):
                await asyncio.sleep(0)
            waiting = sum(map(len, self.in_line.values()))
            assert (self.admission.running, self.admission.waiting) == (self.of_key.total(), waiting)
            assert self.admission.waiting <= self.admission.queue_limit
        failures = await asyncio.gather(*self.tasks, return_exceptions=True)
        for failure in failures:
            if failure is not None and not isinstance(failure, asyncio.CancelledError):
                raise failure
        assert (self.admission.running, self.admission.waiting) == (0, 0)
        assert set(self.ends) <= {"spoken", "queue_full", "queue_timeout", "rate_limited"}


@settings(max_examples=150, deadline=None)
@given(script=steps(least=1), queue_limit=st.integers(0, 8))
def test_weights_stay_within_one_and_keys_get_their_share_in_order(play, script, queue_limit):
    async def scene(clock):
        await Model(clock, queue_limit, fifo=True).run(script)

    play(scene)


@settings(max_examples=150, deadline=None)
@given(script=steps(least=0), queue_limit=st.integers(0, 8))
def test_every_wait_ends_and_nothing_leaks_while_predictors_die_and_return(play, script, queue_limit):
    async def scene(clock):
        await Model(clock, queue_limit, fifo=False).run(script)

    play(scene)


@settings(max_examples=60, deadline=None)
@given(
    backlogs=st.lists(st.integers(4, 12), min_size=2, max_size=5), streams=st.integers(1, 6), for_s=st.floats(0.1, 3)
)
def test_keys_that_ask_for_as_much_as_they_can_are_spoken_in_turn(play, backlogs, streams, for_s):
    """However much more one of them asks for."""

    async def scene(clock):
        admission = Admission(clock, streams=lambda _voice: streams, queue_limit=1_000, queue_timeout_s=10_000)
        order = []

        async def visit(name):
            async with admission.admit(Caller(name), voice="mira"):
                order.append(name)
                await asyncio.sleep(for_s)

        async with asyncio.TaskGroup() as group:
            for index, backlog in enumerate(backlogs):
                for _ in range(backlog):
                    group.create_task(visit(str(index)))
        least = min(backlogs)
        # Until the smallest backlog is gone, nobody is further ahead than by the seats that were free at first, and by
        # those of the round that is being given away.
        served = Counter()
        for name in order:
            served[name] += 1
            if max(served.values()) >= least:
                break
            assert max(served.values()) - min(served[str(i)] for i in range(len(backlogs))) <= 2 * streams

    play(scene)
