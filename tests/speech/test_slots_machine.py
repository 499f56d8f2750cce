"""Slots under any sequence of events: none is lost, none is given twice, none lies idle while somebody waits."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from vivavoce.speech import Slots


class Machine(RuleBasedStateMachine):
    """Jobs ask, run and rest until told, leave at any moment; the capacity moves."""

    new_loop: Callable[[], asyncio.AbstractEventLoop]
    new_clock: Callable[[asyncio.AbstractEventLoop], object]

    def __init__(self) -> None:
        super().__init__()
        self.loop = type(self).new_loop()
        self.clock = type(self).new_clock(self.loop)
        self.capacity = 2
        self.slots = Slots(lambda: self.capacity, self.clock, limit=6, timeout_s=50)  # type: ignore[arg-type]
        self.tasks: list[asyncio.Task[None]] = []
        self.waiting: list[asyncio.Task[None]] = []
        self.running: dict[asyncio.Task[None], asyncio.Queue[str]] = {}

    def turn(self) -> None:
        async def idle() -> None:
            for _ in range(6):
                await asyncio.sleep(0)

        self.loop.run_until_complete(idle())
        self.waiting = [task for task in self.waiting if not task.done() and task not in self.running]
        self.running = {task: orders for task, orders in self.running.items() if not task.done()}

    @rule(due_ms=st.one_of(st.none(), st.floats(-1e6, 1e6), st.just(float("nan"))))
    def ask(self, due_ms: float | None) -> None:
        orders: asyncio.Queue[str] = asyncio.Queue()

        async def work() -> None:
            me = asyncio.current_task()
            assert me is not None
            with contextlib.suppress(Exception):
                async with self.slots.hold(None if due_ms is None else lambda: due_ms) as hold:
                    self.running[me] = orders
                    while await orders.get() == "rest":
                        del self.running[me]
                        self.waiting.append(me)
                        await hold.give_way()
                        self.running[me] = orders

        self.tasks.append(self.loop.create_task(work()))
        self.waiting.append(self.tasks[-1])
        self.turn()

    @precondition(lambda self: self.running)
    @rule(index=st.integers(0, 50))
    def rest(self, index: int) -> None:
        list(self.running.values())[index % len(self.running)].put_nowait("rest")
        self.turn()

    @precondition(lambda self: self.running)
    @rule(index=st.integers(0, 50))
    def end(self, index: int) -> None:
        list(self.running.values())[index % len(self.running)].put_nowait("end")
        self.turn()

    @precondition(lambda self: self.waiting)
    @rule(index=st.integers(0, 50))
    def give_up(self, index: int) -> None:
        self.waiting[index % len(self.waiting)].cancel()
        self.turn()

    @precondition(lambda self: self.running)
    @rule(index=st.integers(0, 50))
    def break_off(self, index: int) -> None:
        list(self.running)[index % len(self.running)].cancel()
        self.turn()

    @precondition(lambda self: self.running and self.waiting)
    @rule(ends=st.integers(0, 50), leaves=st.integers(0, 50), apart=st.integers(0, 3))
    def give_up_around_a_grant(self, ends: int, leaves: int, apart: int) -> None:
        orders = list(self.running.values())[ends % len(self.running)]
        leaving = self.waiting[leaves % len(self.waiting)]

        async def both() -> None:
            orders.put_nowait("end")
            for _ in range(apart):
                await asyncio.sleep(0)
            leaving.cancel()

        self.loop.run_until_complete(both())
        self.turn()

    @rule(capacity=st.integers(0, 5))
    def resize(self, capacity: int) -> None:
        self.capacity = capacity
        self.slots.capacity_changed()
        self.turn()

    @rule(duration_s=st.floats(0, 40))
    def wait(self, duration_s: float) -> None:
        self.loop.run_until_complete(asyncio.sleep(duration_s))
        self.turn()

    @invariant()
    def nobody_is_forgotten(self) -> None:
        assert len(self.running) + len(self.waiting) == sum(not task.done() for task in self.tasks)

    @invariant()
    def books_are_true(self) -> None:
        assert self.slots.busy == len(self.running)
        assert self.slots.waiting == len(self.waiting)
        assert not self.waiting or self.slots.busy >= self.capacity

    def teardown(self) -> None:
        for task in (*self.waiting, *self.running):
            task.cancel()
        self.turn()
        assert self.slots.busy == self.slots.waiting == 0
        self.loop.close()


@pytest.mark.timeout(120)
def test_no_slot_is_lost_given_twice_or_left_idle(virtual_loop, virtual_clock) -> None:
    Machine.new_loop = virtual_loop
    Machine.new_clock = type(virtual_clock)
    checks = [HealthCheck.too_slow, HealthCheck.filter_too_much]
    run_state_machine_as_test(
        Machine,
        settings=settings(max_examples=80, stateful_step_count=40, deadline=None, suppress_health_check=checks),
    )
