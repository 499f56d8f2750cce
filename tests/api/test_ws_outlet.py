"""One connection's frames leave in the order in which they were handed over, whoever sends them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest

from vivavoce.api.presence import ClientGone
from vivavoce.api.ws_outlet import Outlet, Stalled


class Wire:
    """A WebSocket that takes a frame whenever it is `open`."""

    def __init__(self) -> None:
        self.open = asyncio.Event()
        self.open.set()
        self.fault: Exception | None = None
        self.sent: list[str | bytes] = []
        self.lost: list[Exception] = []

    async def send(self, message: dict[str, str | bytes]) -> None:
        await self.open.wait()
        if self.fault is not None:
            raise self.fault
        self.sent.append(message.get("text") or message["bytes"])


@contextlib.asynccontextmanager
async def outlet_on(wire: Wire, stall_timeout_s: float = 5.0) -> AsyncIterator[Outlet]:
    outlet = Outlet(wire, stall_timeout_s, on_lost=wire.lost.append, on_sent=lambda: None)
    writer = asyncio.create_task(outlet.run())
    try:
        yield outlet
    finally:
        writer.cancel()
        await asyncio.wait([writer])


async def turns(count: int = 5) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def test_a_frame_leaves_at_once_where_nothing_waits() -> None:
    wire = Wire()
    async with outlet_on(wire) as outlet:
        await outlet.send(["first", b"\1"])
        assert wire.sent == ["first", b"\1"]


async def test_answers_leave_in_order_with_speech() -> None:
    wire = Wire()
    async with outlet_on(wire) as outlet:
        outlet.post(["accepted"])
        outlet.post(["start"])
        await outlet.send(["segment", b"sound"])
        outlet.post(["done"])
        await outlet.flush(1.0)
    assert wire.sent == ["accepted", "start", "segment", b"sound", "done"]


async def test_what_comes_while_a_client_does_not_read_waits_behind() -> None:
    wire = Wire()
    wire.open.clear()
    async with outlet_on(wire) as outlet, asyncio.TaskGroup() as group:
        group.create_task(outlet.send([b"one", b"two"]))
        await turns()
        outlet.post(["pong"])
        await turns()
        group.create_task(outlet.send([b"three"]))
        await turns()
        assert wire.sent == []
        wire.open.set()
        await outlet.flush(1.0)
        assert wire.sent == [b"one", b"two", "pong", b"three"]


@pytest.mark.parametrize("is_first", [True, False])
async def test_what_was_cancelled_before_it_left_never_leaves(is_first: bool) -> None:
    wire = Wire()
    wire.open.clear()
    async with outlet_on(wire) as outlet:
        if not is_first:
            outlet.post(["accepted"])
            await turns()
        speaking = asyncio.create_task(outlet.send([b"stale"]))
        await turns()
        speaking.cancel()
        outlet.post(["done"])
        await turns()
        wire.open.set()
        await outlet.flush(1.0)
    assert wire.sent == (["done"] if is_first else ["accepted", "done"])


@pytest.mark.parametrize("is_posted", [True, False])
async def test_a_client_that_has_left_is_told_of_once(is_posted: bool) -> None:
    wire = Wire()
    wire.fault = RuntimeError("closed")
    async with outlet_on(wire) as outlet:
        if is_posted:
            outlet.post(["pong"])
            await turns()
        for _ in range(2):
            with pytest.raises(ClientGone):
                await outlet.send([b"sound"])
        outlet.post(["pong"])
        await outlet.flush(1.0)
        assert [type(error) for error in wire.lost] == [ClientGone]
    assert wire.sent == []


@pytest.mark.parametrize("is_posted", [True, False])
async def test_a_client_that_reads_nothing_is_given_up(is_posted: bool) -> None:
    wire = Wire()
    wire.open.clear()
    async with outlet_on(wire, stall_timeout_s=0.02) as outlet:
        if is_posted:
            outlet.post(["pong"])
        speaking = asyncio.create_task(outlet.send([b"sound"]))
        await turns()
        await outlet.flush(5.0)
        assert [type(error) for error in wire.lost] == [Stalled]
        speaking.cancel()
        await asyncio.wait([speaking])
    assert wire.sent == []


async def test_a_thousand_answers_that_nobody_reads_are_enough() -> None:
    wire = Wire()
    wire.open.clear()
    async with outlet_on(wire) as outlet:
        for _ in range(1_002):
            outlet.post(["pong"])
        assert [type(error) for error in wire.lost] == [Stalled]
