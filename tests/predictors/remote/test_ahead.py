import asyncio
import socket

import pytest

from vivavoce.predictors import ahead
from vivavoce.predictors.addresses import Place
from vivavoce.predictors.patience import Patience
from vivavoce.predictors.upstream import Upstream


async def answer(asked) -> None:
    await asked.whole({"said": asked.body.decode()})


@pytest.fixture
async def upstream(monkeypatch):
    monkeypatch.setattr(ahead, "_IN_A_ROW", 2)
    monkeypatch.setattr(ahead, "_CLOSE_S", 5.0)
    monkeypatch.setattr(ahead, "_IDLE_S", 5.0)
    made = Upstream(connect_timeout_s=1.0)
    yield made
    await made.aclose()


async def say(upstream: Upstream, url: str, text: str) -> bytes:
    async with upstream.request("POST", url, Patience(3.0), body=text.encode()) as reply:
        return await reply.whole()


async def test_whoever_asks_again_soon_finds_a_connection(serve, upstream, kit) -> None:
    server = await serve({"": answer})
    await say(upstream, server.url, "the tide")
    await say(upstream, server.url, "comes in")
    await kit.until(lambda: server.connections == 3)
    await say(upstream, server.url, "at noon")
    assert [asked.body for asked in server.asked] == [b"the tide", b"comes in", b"at noon"]
    assert server.connections == 3
    await kit.until(lambda: server.connections == 4)


async def test_whoever_asks_now_and_then_opens_none(serve, upstream, kit, monkeypatch) -> None:
    monkeypatch.setattr(ahead, "_CLOSE_S", 0.0)
    server = await serve({"": answer})
    for text in ("one", "two", "three"):
        await say(upstream, server.url, text)
    await asyncio.sleep(0.02)
    assert server.connections == 3


async def test_a_few_in_a_row_open_none(serve, upstream, monkeypatch) -> None:
    monkeypatch.undo()
    server = await serve({"": answer})
    for number in range(ahead._IN_A_ROW - 1):
        await say(upstream, server.url, f"number {number}")
    await asyncio.sleep(0.02)
    assert server.connections == ahead._IN_A_ROW - 1


async def test_one_that_nobody_wants_is_closed(serve, upstream, kit, monkeypatch) -> None:
    monkeypatch.setattr(ahead, "_IDLE_S", 0.05)
    server = await serve({"": answer})
    await say(upstream, server.url, "gone")
    await say(upstream, server.url, "quiet")
    await kit.until(lambda: server.connections == 3)
    await kit.until(lambda: server.open == 0)
    assert await say(upstream, server.url, "back") == b'{"said": "back"}'


async def test_probes_leave_it_to_speech(serve, upstream, kit) -> None:
    server = await serve({"": answer})
    await say(upstream, server.url, "left")
    await say(upstream, server.url, "right")
    await kit.until(lambda: server.connections == 3)
    await upstream.get(server.url, 1.0)
    assert server.connections == 4


async def test_kserve_1663_one_that_was_closed_meanwhile_is_not_asked(serve, upstream, kit) -> None:
    server = await serve({"": answer})
    await say(upstream, server.url, "up")
    await say(upstream, server.url, "down")
    await kit.until(lambda: (server.connections, server.open) == (3, 1))
    for connection in list(server._tasks):
        connection.cancel()
    await kit.until(lambda: server.open == 0)
    await asyncio.sleep(0.01)
    assert await say(upstream, server.url, "again") == b'{"said": "again"}'
    assert [asked.body for asked in server.asked] == [b"up", b"down", b"again"]


async def test_closing_leaves_nothing_open(serve, upstream, kit) -> None:
    server = await serve({"": answer})
    await say(upstream, server.url, "in")
    await say(upstream, server.url, "out")
    await kit.until(lambda: server.connections == 3)
    await upstream.aclose()
    await kit.until(lambda: server.open == 0)


async def test_a_connection_whose_end_was_not_heard_yet_is_not_used(upstream) -> None:
    """A predictor that dies between two phrases: the next one finds nobody there, not a connection that breaks off."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        place = Place.of(f"http://127.0.0.1:{listener.getsockname()[1]}/infer")
        for dies in (False, True):
            await upstream._ahead._connect(place)
            connection, _ = listener.accept()
            if dies:
                connection.close()
            taken = upstream._ahead.take(place)
            assert (taken is None) == dies
            connection.close()
