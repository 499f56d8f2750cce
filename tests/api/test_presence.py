"""Noticing that a client has left."""

from __future__ import annotations

import asyncio

import pytest

from vivavoce.api.presence import ClientGone, Presence


class Client:
    """The receiving half of a request whose body has been read."""

    def __init__(self):
        self.left = asyncio.Event()

    async def receive(self):
        await self.left.wait()
        return {"type": "http.disconnect"}


async def test_work_is_cancelled_when_the_client_leaves():
    client, cleaned = Client(), False
    with pytest.raises(ClientGone):
        async with Presence(client.receive):
            client.left.set()
            try:
                await asyncio.Event().wait()
            finally:
                cleaned = True
    assert cleaned
    assert asyncio.current_task().cancelling() == 0


async def test_work_that_ends_first_ends_in_peace():
    client = Client()
    async with Presence(client.receive):
        await asyncio.sleep(0)
    assert len(asyncio.all_tasks()) == 1


async def test_after_done_a_departure_means_nothing():
    client = Client()
    async with Presence(client.receive) as presence:
        presence.done()
        client.left.set()
        await asyncio.sleep(0)
        await asyncio.sleep(0)


@pytest.mark.parametrize("error", [ValueError, TimeoutError])
async def test_the_works_own_errors_pass(error):
    with pytest.raises(error):
        async with Presence(Client().receive):
            raise error


async def test_a_cancelled_server_stays_cancelled():
    started = asyncio.Event()

    async def work():
        async with Presence(Client().receive):
            started.set()
            await asyncio.Event().wait()

    task = asyncio.ensure_future(work())
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
