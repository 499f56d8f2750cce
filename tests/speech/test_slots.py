"""Who gets a slot: the order, the exceptions to it, and that none is ever lost."""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Callable
from contextlib import aclosing

import pytest

from vivavoce.engines.base import Phrase
from vivavoce.errors import Busy
from vivavoce.predictors.base import Deadline, Job
from vivavoce.speech import Listener, ScheduledPredictor, Slots, Ticket


async def settled() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


class Bench:
    """Jobs of 10 ms each, by name; remembers the order in which they got their slots."""

    def __init__(self, clock, capacity: int = 1) -> None:
        self.clock = clock
        self.capacity = capacity
        self.slots = Slots(lambda: self.capacity, clock)
        self.order: list[str] = []
        self.tasks: list[asyncio.Task[None]] = []

    def ask(self, name: str, deadline: Deadline | None, duration_ms: float = 10) -> asyncio.Task[None]:
        async def work() -> None:
            async with self.slots.hold(deadline):
                self.order.append(name)
                await asyncio.sleep(duration_ms / 1000)

        task = asyncio.ensure_future(work())
        self.tasks.append(task)
        return task

    async def end(self) -> list[str]:
        await asyncio.gather(*self.tasks, return_exceptions=True)
        assert self.slots.busy == self.slots.waiting == 0
        return [name for name in self.order if name != "first"]

    def running(self, left_ms: float) -> Ticket:
        """A listener who runs dry that long from now."""
        listener = Listener(self.clock, due_ms=0)
        listener.sent(left_ms)
        return Ticket(listener)

    def new(self, due_in_ms: float) -> Ticket:
        return Ticket(Listener(self.clock, due_ms=self.clock.now_ms() + due_in_ms))


@pytest.fixture
def bench(virtual, virtual_clock) -> Callable[..., list[str]]:
    """Runs a scene on one slot that is taken at first; gives the order of what was asked for."""

    def run(scene: Callable[[Bench], None], capacity: int = 1) -> list[str]:
        async def play() -> list[str]:
            made = Bench(virtual_clock, capacity)
            made.ask("first", None)
            await settled()
            scene(made)
            return await made.end()

        return virtual(play())

    return run


def test_the_earliest_deadline_goes_first_whatever_the_order_of_asking(bench) -> None:
    def scene(at: Bench) -> None:
        for name, left_ms in (("c", 900), ("a", 100), ("d", 4_000), ("b", 500)):
            at.ask(name, at.running(left_ms))

    assert bench(scene) == ["a", "b", "c", "d"]


def test_new_streams_go_before_what_is_made_ahead(bench) -> None:
    def scene(at: Bench) -> None:
        at.ask("ahead", at.running(4_000))
        at.ask("new", at.new(150))

    assert bench(scene) == ["new", "ahead"]


@pytest.mark.parametrize("overdue_ms", [0, 100, 1_500])
def test_a_running_stream_about_to_run_dry_goes_before_new_ones_however_late_they_are(bench, overdue_ms) -> None:
    def scene(at: Bench) -> None:
        for index in range(3):
            at.ask(f"new {index}", at.new(-overdue_ms))
        at.ask("urgent", at.running(200))

    assert bench(scene) == ["urgent", "new 0", "new 1", "new 2"]


def test_who_is_dry_already_goes_before_who_is_about_to_be(bench) -> None:
    def scene(at: Bench) -> None:
        at.ask("soon", at.running(100))
        at.ask("dry", lambda: at.clock.now_ms() - 500)

    assert bench(scene) == ["dry", "soon"]


def test_among_new_streams_the_one_due_first_then_the_one_that_asked_first(bench) -> None:
    def scene(at: Bench) -> None:
        at.ask("later", at.new(120))
        at.ask("first of two", at.new(-80))
        at.ask("second of two", at.new(-80))
        at.ask("earliest", at.new(-90))

    assert bench(scene) == ["earliest", "first of two", "second of two", "later"]


def test_a_job_without_a_deadline_is_due_at_once_like_a_new_stream(bench) -> None:
    def scene(at: Bench) -> None:
        at.ask("ahead", at.running(4_000))
        at.ask("plain", None)
        at.ask("urgent", at.running(50))

    assert bench(scene) == ["urgent", "plain", "ahead"]


def test_downloads_come_after_listeners_however_far_behind_they_are(bench) -> None:
    def scene(at: Bench) -> None:
        late = Listener(at.clock, due_ms=0)
        late.sent(0.001)
        at.ask("late download", Ticket(late, is_download=True))
        at.ask("new download", Ticket(Listener(at.clock, due_ms=at.clock.now_ms() + 150), is_download=True))
        at.ask("new", at.new(100))
        at.ask("urgent", at.running(500))
        at.ask("ahead", at.running(4_000))

    assert bench(scene) == ["urgent", "new", "new download", "late download", "ahead"]


def test_a_pause_of_the_writer_makes_a_stream_new_again(virtual, virtual_clock) -> None:
    async def run() -> None:
        listener = Listener(virtual_clock, due_ms=0)
        ticket = Ticket(listener)
        listener.sent(100)
        assert not ticket.is_new
        since_ms = virtual_clock.now_ms()
        await asyncio.sleep(5)
        listener.text_came(since_ms)
        assert ticket.is_new

    virtual(run())


def test_deadlines_are_asked_anew_at_every_grant(virtual, virtual_clock) -> None:
    async def run() -> list[str]:
        at, moved = Bench(virtual_clock), Listener(virtual_clock, due_ms=0)
        moved.sent(2_000)
        at.ask("first", None, 500)
        await settled()
        at.ask("moved", Ticket(moved))
        at.ask("steady", at.running(1_500))
        await asyncio.sleep(0.3)
        moved.played(2_000)
        return await at.end()

    assert virtual(run()) == ["moved", "steady"]


@pytest.mark.parametrize("strange", [math.nan, math.inf])
def test_a_deadline_that_is_none_comes_last_and_is_served(bench, strange: float) -> None:
    def scene(at: Bench) -> None:
        at.ask("strange", lambda: strange)
        at.ask("ahead", at.running(60_000))

    assert bench(scene) == ["ahead", "strange"]


def test_nobody_starves_behind_an_endless_row_of_urgent_ones(virtual, virtual_clock) -> None:
    """Not even what is never due; and the urgent keep three slots in four."""

    async def run() -> tuple[float, int, int]:
        at, stopped = Bench(virtual_clock), False

        async def endless() -> None:
            while not stopped:
                await at.ask("urgent", at.running(1))

        rows = [asyncio.ensure_future(endless()) for _ in range(5)]
        await settled()
        began_ms = virtual_clock.now_ms()
        patient = [at.ask("patient", lambda: math.inf) for _ in range(20)]
        await patient[0]
        first_ms = virtual_clock.now_ms() - began_ms
        before = len(at.order)
        await asyncio.gather(*patient[1:])
        between = at.order[before:]
        stopped = True
        await asyncio.gather(*rows)
        return first_ms, between.count("urgent"), between.count("patient")

    first_ms, urgent, patient = virtual(run())
    assert first_ms <= 2_100
    assert patient == 19
    assert urgent >= 3 * (patient - 1)


def test_capacity_that_grows_is_given_away_at_once(virtual, virtual_clock) -> None:
    async def run() -> None:
        at = Bench(virtual_clock, capacity=0)
        for index in range(5):
            at.ask(str(index), None, 1_000)
        await settled()
        assert (at.slots.busy, at.slots.waiting) == (0, 5), "nobody is ready, so everybody waits"
        at.capacity = 3
        at.slots.capacity_changed()
        await settled()
        assert (at.slots.busy, at.slots.waiting) == (3, 2)
        await at.end()

    virtual(run())


def test_capacity_that_shrinks_lets_running_jobs_end_and_starts_no_others(virtual, virtual_clock) -> None:
    async def run() -> None:
        at = Bench(virtual_clock, capacity=4)
        for index in range(8):
            at.ask(str(index), None, 100)
        await settled()
        assert at.slots.busy == 4
        at.capacity = 1
        at.slots.capacity_changed()
        await asyncio.sleep(0.15)
        assert (at.slots.busy, at.slots.waiting) == (1, 3)
        await at.end()

    virtual(run())


def test_capacity_that_grew_unannounced_is_found_by_whoever_asks_next(virtual, virtual_clock) -> None:
    async def run() -> None:
        at = Bench(virtual_clock, capacity=1)
        for index in range(3):
            at.ask(str(index), None, 1_000)
        await settled()
        at.capacity = 4
        at.ask("next", None)
        await settled()
        assert (at.slots.busy, at.slots.waiting) == (4, 0)
        await at.end()

    virtual(run())


def test_leaving_while_waiting_takes_nothing_and_loses_nothing(virtual, virtual_clock) -> None:
    async def run() -> list[str]:
        at = Bench(virtual_clock)
        at.ask("first", None)
        await settled()
        leaving = at.ask("leaving", at.running(1))
        at.ask("staying", at.running(500))
        await settled()
        leaving.cancel()
        await settled()
        assert (at.slots.busy, at.slots.waiting) == (1, 1)
        return await at.end()

    assert virtual(run()) == ["staying"]


@pytest.mark.parametrize("leaves_first", [True, False])
def test_leaving_in_the_moment_of_the_grant_passes_the_slot_on(virtual, virtual_clock, leaves_first: bool) -> None:
    async def run() -> list[str]:
        at, gate = Bench(virtual_clock), asyncio.Event()

        async def holder() -> None:
            async with at.slots.hold(None):
                await gate.wait()
                if leaves_first:
                    leaving.cancel()
            leaving.cancel()

        holding = asyncio.ensure_future(holder())
        await settled()
        leaving = at.ask("leaving", at.running(1))
        at.ask("staying", at.running(500))
        await settled()
        gate.set()
        await holding
        return await at.end()

    assert virtual(run()) == ["staying"]


def test_a_failing_job_gives_its_slot_back(virtual, virtual_clock) -> None:
    async def run() -> None:
        slots = Slots(lambda: 1, virtual_clock)
        for _ in range(3):
            with pytest.raises(ZeroDivisionError):
                async with slots.hold(None):
                    raise ZeroDivisionError
        assert slots.busy == slots.waiting == 0

    virtual(run())


def test_the_waiting_list_is_bounded_and_says_so(virtual, virtual_clock) -> None:
    async def run() -> None:
        slots = Slots(lambda: 1, virtual_clock, limit=3)

        async def hold() -> None:
            async with slots.hold(None):
                await asyncio.sleep(1)

        tasks = [asyncio.ensure_future(hold()) for _ in range(4)]
        await settled()
        with pytest.raises(Busy) as refused:
            async with slots.hold(None):
                pass
        assert refused.value.retry_after_s
        assert (slots.busy, slots.waiting) == (1, 3)
        await asyncio.gather(*tasks)
        assert slots.busy == slots.waiting == 0

    virtual(run())


def test_a_wait_that_is_too_long_ends_as_busy(virtual, virtual_clock) -> None:
    async def run() -> None:
        slots = Slots(lambda: 0, virtual_clock, timeout_s=30)
        began_ms = virtual_clock.now_ms()
        with pytest.raises(Busy):
            async with slots.hold(None):
                pass
        assert virtual_clock.now_ms() - began_ms == pytest.approx(30_000)
        assert slots.busy == slots.waiting == 0

    virtual(run())


def test_a_ticket_knows_when_its_slot_came_and_how_long_it_waited(virtual, virtual_clock) -> None:
    async def run() -> None:
        at = Bench(virtual_clock)
        at.ask("first", None, 250)
        await settled()
        ticket, asked_ms = at.new(0), virtual_clock.now_ms()
        at.ask("second", ticket)
        await at.end()
        assert ticket.waited_ms == pytest.approx(250, abs=1)
        assert ticket.slot_ms == pytest.approx(asked_ms + 250, abs=1)

    virtual(run())


@pytest.mark.parametrize(("left_ms", "gives_way"), [(5_000, True), (50, False)])
@pytest.mark.parametrize("other", ["urgent", "new"])
def test_a_long_job_that_can_rest_gives_way_where_it_has_time(
    virtual, virtual_clock, left_ms: float, gives_way: bool, other: str
) -> None:
    async def run() -> None:
        at = Bench(virtual_clock)
        mine = at.running(left_ms)
        async with at.slots.hold(mine) as hold:
            theirs = at.running(10) if other == "urgent" else at.new(0)
            at.ask(other, theirs)
            at.ask("no hurry", at.running(6_000))
            await settled()
            await hold.give_way()
            assert at.slots.busy == 1
            assert at.order == [other] * gives_way
        await at.end()
        assert mine.waited_ms == pytest.approx(10 * gives_way, abs=0.1)

    virtual(run())


def test_leaving_while_resting_gives_nothing_back_twice(virtual, virtual_clock) -> None:
    async def run() -> None:
        at = Bench(virtual_clock)

        async def rest() -> None:
            async with at.slots.hold(at.running(5_000)) as hold:
                at.ask("new", at.new(0), 1_000)
                await settled()
                await hold.give_way()

        resting = asyncio.ensure_future(rest())
        await asyncio.sleep(0.5)
        assert (at.slots.busy, at.slots.waiting) == (1, 1)
        resting.cancel()
        await settled()
        assert (at.slots.busy, at.slots.waiting) == (1, 0)
        await at.end()

    virtual(run())


def test_a_job_that_rests_is_not_turned_away_by_a_full_waiting_list(virtual, virtual_clock) -> None:
    async def run() -> None:
        at = Bench(virtual_clock)
        at.slots = Slots(lambda: 1, virtual_clock, limit=2, timeout_s=0.001)
        async with at.slots.hold(at.running(5_000)) as hold:
            tasks = [at.ask(str(index), at.new(0), 500) for index in range(2)]
            await settled()
            await hold.give_way()
            assert tasks[0].done()
        await at.end()

    virtual(run())


def test_a_thousand_random_cancels_leave_every_slot_free(virtual, virtual_clock, simulated) -> None:
    """At any moment: before the slot, while waiting, in the moment of the grant, while running."""

    async def run() -> None:
        chance, capacity = random.Random(11), 3
        inner = simulated(slots=3)
        slots = Slots(lambda: capacity, virtual_clock)
        predictor = ScheduledPredictor(inner, slots)

        async def speak(index: int) -> None:
            listener = Listener(virtual_clock, due_ms=virtual_clock.now_ms())
            listener.sent(chance.choice([0, 50, 5_000]))
            chunks = predictor.synthesize(Job(Phrase("twenty letters or so"), "any"), Ticket(listener))
            async with aclosing(chunks):
                async for _ in chunks:
                    pass

        async def leave(index: int) -> None:
            task = asyncio.ensure_future(speak(index))
            await asyncio.sleep(chance.choice([0, 0, 0.001, 0.04, 0.08, 0.12, 1.0]))
            for _ in range(chance.randrange(3)):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

        for _ in range(20):
            capacity = chance.randrange(5)
            await asyncio.gather(*(leave(index) for index in range(50)))
            capacity = 3
            slots.capacity_changed()
        assert slots.busy == slots.waiting == inner.running == 0
        await speak(0)
        assert inner.most_stepping <= 4

    virtual(run())


def test_a_scheduled_predictor_is_its_inner_one_and_never_more_at_once(virtual, virtual_clock, simulated) -> None:
    async def run() -> None:
        inner = simulated(slots=2)
        slots = Slots(lambda: inner.slots, virtual_clock)
        predictor = ScheduledPredictor(inner, slots)
        assert (predictor.slots, predictor.streams("any"), predictor.rate_hz("any")) == (2, 20, 8_000)

        async def count() -> int:
            return len([chunk async for chunk in predictor.synthesize(Job(Phrase("Hello out there."), "any"))])

        assert await asyncio.gather(*(count() for _ in range(9))) == [3] * 9
        assert inner.most_stepping == 2
        assert slots.busy == slots.waiting == 0

    virtual(run())


def test_sglang_omni_665_a_job_that_is_never_read_holds_no_slot(virtual, virtual_clock, simulated) -> None:
    async def run() -> None:
        slots = Slots(lambda: 1, virtual_clock)
        chunks = ScheduledPredictor(simulated(), slots).synthesize(Job(Phrase("Hello."), "any"))
        await chunks.aclose()
        begun = ScheduledPredictor(simulated(), slots).synthesize(Job(Phrase("Hello."), "any"))
        await anext(begun)
        assert slots.busy == 1
        await begun.aclose()
        assert slots.busy == slots.waiting == 0

    virtual(run())
