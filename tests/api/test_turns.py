"""Whose turn it is."""

from __future__ import annotations

import asyncio

import pytest

from vivavoce.api.turns import Turns
from vivavoce.errors import Busy


async def hold(turns, entered, leave):
    async with turns.take():
        entered.set()
        await leave.wait()


async def settle():
    for _ in range(5):
        await asyncio.sleep(0)


async def test_turns_come_in_order_of_arrival():
    turns, order = Turns(1, 8, 5), []

    async def visit(name):
        async with turns.take():
            order.append(name)
            await asyncio.sleep(0)

    await asyncio.gather(*(visit(n) for n in range(6)))
    assert order == list(range(6))
    assert (turns.running, turns.waiting) == (0, 0)


async def test_no_more_than_the_limit_run():
    turns, most, running = Turns(3, 50, 5), 0, 0

    async def visit():
        nonlocal most, running
        async with turns.take():
            running += 1
            most = max(most, running)
            await asyncio.sleep(0)
            running -= 1

    await asyncio.gather(*(visit() for _ in range(30)))
    assert most == 3


async def test_a_full_queue_refuses_at_once():
    turns, leave = Turns(1, 0, 60), asyncio.Event()
    async with asyncio.TaskGroup() as group:
        entered = asyncio.Event()
        group.create_task(hold(turns, entered, leave))
        await entered.wait()
        assert turns.full
        with pytest.raises(Busy) as caught:
            async with turns.take():
                pass
        assert caught.value.retry_after_s == 60
        leave.set()
    assert not turns.full


async def test_a_wait_has_an_end():
    turns, leave = Turns(1, 5, 0.01), asyncio.Event()
    async with asyncio.TaskGroup() as group:
        entered = asyncio.Event()
        group.create_task(hold(turns, entered, leave))
        await entered.wait()
        with pytest.raises(Busy):
            async with turns.take():
                pass
        assert (turns.running, turns.waiting) == (1, 0)
        leave.set()
    assert turns.running == 0


@pytest.mark.parametrize("cancel_first", [True, False])
async def test_one_who_leaves_as_the_turn_comes_passes_it_on(cancel_first):
    turns, leave = Turns(1, 5, 60), asyncio.Event()
    entered, later, go = asyncio.Event(), asyncio.Event(), asyncio.Event()
    first = asyncio.ensure_future(hold(turns, entered, leave))
    await entered.wait()
    leaver = asyncio.ensure_future(hold(turns, asyncio.Event(), go))
    patient = asyncio.ensure_future(hold(turns, later, go))
    await settle()
    assert turns.waiting == 2
    if cancel_first:
        leaver.cancel()
        leave.set()
        await asyncio.sleep(0)
    else:
        leave.set()
        await first
        leaver.cancel()
    await settle()
    assert later.is_set()
    go.set()
    await asyncio.gather(first, leaver, patient, return_exceptions=True)
    assert (turns.running, turns.waiting) == (0, 0)


async def test_draining_refuses_newcomers_and_keeps_those_inside():
    turns = Turns(2, 2, 1)
    async with turns.take():
        turns.draining = True
        with pytest.raises(Busy, match="shutting down"):
            async with turns.take():
                pass
        assert turns.running == 1
    assert turns.running == 0
