"""The order in which a server comes to rest, without a server."""

from __future__ import annotations

import asyncio

from vivavoce.api import drain
from vivavoce.api.drain import Drain


def draining(running, farewell=None, hurry=lambda: False):
    async def nothing(grace_s):
        pass

    return Drain(running, farewell or nothing, hurry)


async def test_it_is_over_when_the_last_has_finished_and_everybody_was_told(until):
    left, told = [3, 2, 1, 0], []

    async def farewell(grace_s):
        told.append(grace_s)
        await until(lambda: not left[0])
        told.append("all gone")

    await draining(lambda: left.pop(0) if len(left) > 1 else left[0], farewell).run(600)
    assert told == [600, "all gone"]
    assert left == [0]


async def test_it_is_over_at_the_end_of_the_grace():
    assert await draining(lambda: 1).run(0.05) == 0


async def test_a_farewell_is_waited_for_though_nothing_runs():
    gone = []

    async def farewell(grace_s):
        await asyncio.sleep(0.05)
        gone.append(True)

    await draining(lambda: 0, farewell).run(600)
    assert gone


async def test_nobody_waits_in_a_hurry():
    async def farewell(grace_s):
        await asyncio.Event().wait()

    await draining(lambda: 1, farewell, lambda: True).run(600)


async def test_a_farewell_that_fails_or_hangs_stops_nothing(monkeypatch, caplog):
    monkeypatch.setattr(drain, "_FAREWELL_S", 0.01)

    async def fails(grace_s):
        raise RuntimeError("no goodbye")

    async def hangs(grace_s):
        await asyncio.Event().wait()

    await draining(lambda: 0, fails).run(1)
    assert "the farewell failed" in caplog.text
    await draining(lambda: 0, hangs).run(0)


async def test_what_is_left_of_the_grace_is_told():
    assert await draining(lambda: 0).run(30) > 29


async def test_what_was_cut_off_is_counted_though_its_connection_is_gone_by_then(caplog):
    speaking = [1, 1]

    async def farewell(grace_s):
        await asyncio.sleep(grace_s)
        speaking.clear()

    with caplog.at_level("INFO", "vivavoce.api"):
        await draining(lambda: len(speaking), farewell).run(0.1)
    assert [record.cut_off for record in caplog.records if record.message == "drained"] == [2]
