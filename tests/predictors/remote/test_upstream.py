import asyncio
import gc
import socket

import pytest

from vivavoce.errors import Busy, PredictorFailed
from vivavoce.predictors.addresses import Addresses, Place
from vivavoce.predictors.exchange import Exchange, Headers
from vivavoce.predictors.faults import BrokenOff, OutOfPatience, Unreachable
from vivavoce.predictors.patience import Patience
from vivavoce.predictors.upstream import Upstream


@pytest.fixture
async def upstream():
    made = Upstream(connect_timeout_s=1.0)
    yield made
    await made.aclose()


async def ask(upstream, url, **kw):
    async with upstream.request("POST", url, Patience(3.0), **kw) as reply:
        return await reply.whole()


async def echo(asked) -> None:
    await asked.whole({"path": asked.path, "headers": asked.headers, "body": asked.body.decode()})


async def test_what_is_asked(serve, upstream) -> None:
    server = await serve({"": echo})
    keyed = Upstream(key="s3cret\r\nX-Evil: 1")
    for client, path in ((upstream, "/v2/models/a%2Fb/infer?x=1"), (keyed, "/ä b/")):
        await ask(client, f"{server.url}{path}", body=b"hello", headers={"X-One": "two\r\nX-Evil: 3"})
    plain, odd = server.asked
    assert (plain.method, plain.path, plain.body) == ("POST", "/v2/models/a%2Fb/infer?x=1", b"hello")
    assert plain.headers["host"] == f"127.0.0.1:{server.port}"
    assert plain.headers["connection"] == "close"
    assert plain.headers["x-one"] == "two  X-Evil: 3"
    assert odd.path == "/%C3%A4%20b/"
    assert odd.headers["authorization"] == "Bearer s3cret  X-Evil: 1"
    assert "x-evil" not in odd.headers


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("http://h", Place("h", 80, False, "h", "/")),
        ("https://h:8443/a/b?c=d", Place("h", 8443, True, "h:8443", "/a/b?c=d")),
        ("http://[fd00::1]:80/x", Place("fd00::1", 80, False, "[fd00::1]:80", "/x")),
    ],
)
def test_places(url, place) -> None:
    assert Place.of(url) == place


@pytest.mark.parametrize("url", ["ftp://h", "h:80", "http://", ""])
def test_no_places(url) -> None:
    with pytest.raises(ValueError, match="no http URL"):
        Place.of(url)


async def test_a_name_is_looked_up_now_and_then_and_every_address_has_its_turn(serve, upstream, monkeypatch) -> None:
    server = await serve({"/": echo})
    loop, looked_up, opened = asyncio.get_running_loop(), [], []
    now_s, connect = [loop.time()], loop.create_connection

    async def getaddrinfo(host, port, **kw):
        looked_up.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in ("127.0.0.1", "127.0.0.9")]

    async def create_connection(factory, host, port, **kw):
        opened.append(host)
        if host != "127.0.0.1":
            raise ConnectionRefusedError
        return await connect(factory, host, port, **kw)

    monkeypatch.setattr(loop, "getaddrinfo", getaddrinfo)
    monkeypatch.setattr(loop, "create_connection", create_connection)
    monkeypatch.setattr(loop, "time", lambda: now_s[0])
    addresses, place = Addresses(), Place.of(f"http://pods.example:{server.port}/")
    for _ in range(4):
        (await addresses.connect(place)).close()
    assert looked_up == ["pods.example"]
    assert opened == ["127.0.0.9", "127.0.0.1", "127.0.0.1", "127.0.0.9", "127.0.0.1", "127.0.0.1"]
    now_s[0] += 6
    (await addresses.connect(place)).close()
    assert looked_up == ["pods.example"] * 2


async def test_a_name_that_nobody_knows_is_unreachable(upstream, monkeypatch) -> None:
    async def getaddrinfo(host, port, **kw):
        raise socket.gaierror("unknown")

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", getaddrinfo)
    with pytest.raises(Unreachable) as caught:
        await ask(upstream, "http://nobody.example:80/")
    assert not caught.value.is_silent


async def test_a_machine_that_takes_no_connection_is_silent(monkeypatch) -> None:
    async def create_connection(*args, **kw):
        await asyncio.Event().wait()

    monkeypatch.setattr(asyncio.get_running_loop(), "create_connection", create_connection)
    with pytest.raises(Unreachable) as caught:
        await ask(Upstream(connect_timeout_s=0.02), "http://127.0.0.1:80/")
    assert caught.value.is_silent
    with pytest.raises(OutOfPatience):
        async with Upstream(connect_timeout_s=5.0).request("GET", "http://127.0.0.1:80/", Patience(0.02)):
            pass


async def test_heads_before_the_head_are_no_reply(serve, upstream) -> None:
    async def patient(asked) -> None:
        await asked.raw(b"HTTP/1.1 100 Continue\r\nX-A: early\r\n\r\n")
        await asked.raw(b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nX-A: real\r\n")
        await asked.raw(b"Content-Length: 2\r\n\r\nok")

    server = await serve({"/": patient})
    async with upstream.request("GET", server.url, Patience(3.0)) as reply:
        assert (await reply.whole(), reply.headers["x-a"], reply.status) == (b"ok", "real", 200)


async def test_a_second_reply_behind_the_first_is_not_ours(serve) -> None:
    async def two(asked) -> None:
        await asked.raw(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 500 No\r\nContent-Length: 1\r\n\r\nX")

    server = await serve({"/": two})
    keeping = Upstream(keep_alive=True)
    for _ in range(2):
        assert await ask(keeping, server.url) == b"ok"
    await keeping.aclose()


async def test_what_lies_unread_is_bounded(serve, upstream, kit) -> None:
    sent = 0

    async def flood(asked) -> None:
        nonlocal sent
        await asked.head(Transfer_Encoding="chunked")
        while True:
            await asked.chunk(bytes(65_536))
            sent += 65_536

    server = await serve({"/": flood})
    async with upstream.request("GET", server.url, Patience(3.0)) as reply:
        await reply.some()
        before = -1
        while before != sent:
            before = sent
            await asyncio.sleep(0.05)
        gc.collect()  # what other tests left behind
        (exchange,) = [one for one in gc.get_objects() if type(one) is Exchange and one._buffered_bytes]
        assert 200_000 < exchange._buffered_bytes < 800_000
        assert sent < 12_000_000
        for _ in range(8):
            await reply.some()
        await kit.until(lambda: sent > before)
    await kit.until(lambda: server.open == 0)


async def test_kept_connections_are_few_and_go_with_the_upstream(serve, kit) -> None:
    server = await serve({"/": echo})
    keeping = Upstream(keep_alive=True)
    await asyncio.gather(*(ask(keeping, server.url) for _ in range(100)))
    await kit.until(lambda: server.open <= 64)
    assert server.open > 1
    await keeping.aclose()
    await kit.until(lambda: server.open == 0)


async def test_a_kept_connection_is_not_used_for_another_door_nor_when_it_is_old(serve, monkeypatch) -> None:
    one, two = await serve({"/": echo}), await serve({"/": echo})
    keeping = Upstream(keep_alive=True)
    for server in (one, two, one, two):
        await ask(keeping, server.url)
    assert (one.connections, two.connections) == (1, 1)
    monkeypatch.setattr("vivavoce.predictors.upstream._IDLE_S", -1.0)
    for _ in range(3):
        await ask(keeping, one.url)
    assert one.connections == 3
    await keeping.aclose()


async def test_kept_connections_to_those_who_left_are_closed(serve, kit, monkeypatch) -> None:
    one, two = await serve({"/": echo}), await serve({"/": echo})
    keeping = Upstream(keep_alive=True)
    monkeypatch.setattr("vivavoce.predictors.upstream._IDLE_S", 0.0)
    await ask(keeping, one.url)
    monkeypatch.setattr("vivavoce.predictors.upstream._IDLE_S", 30.0)
    await ask(keeping, two.url)
    await kit.until(lambda: (one.open, two.open) == (0, 1))
    assert len(keeping._idle) == 1
    await keeping.aclose()


async def test_a_refusal_keeps_its_connection_too(serve) -> None:
    server = await serve({"/": lambda asked: asked.whole({"error": "full"}, 503)})
    keeping = Upstream(keep_alive=True)
    for _ in range(3):
        with pytest.raises(Busy, match="full"):
            await ask(keeping, server.url)
    assert server.connections == 1
    await keeping.aclose()


async def test_an_error_whose_body_never_ends_is_still_that_error(serve, upstream) -> None:
    async def endless(asked) -> None:
        await asked.head(500, Transfer_Encoding="chunked")
        while True:
            await asked.chunk(b"x" * 10_000)

    server = await serve({"/": endless})
    with pytest.raises(PredictorFailed, match="500"):
        await ask(upstream, server.url)


async def test_a_connection_that_is_lost_says_when(serve, upstream) -> None:
    async def early(asked) -> None:
        asked.reset()

    async def late(asked) -> None:
        await asked.head(Content_Length="5")
        await asked.raw(b"ab")
        await asyncio.sleep(0.01)
        asked.reset()

    server = await serve({"/early": early, "/late": late})
    for path, said in (("early", "before it answered"), ("late", "while it was speaking")):
        with pytest.raises(BrokenOff, match=said):
            await ask(upstream, f"{server.url}/{path}")


def test_headers_in_any_case() -> None:
    headers = Headers()
    for name, value in ((b"X-Slots", b" 4 "), (b"x-slots", b"9"), (b"X-Node", b"n\xe9")):
        headers.add(name, value)
    assert (headers["x-SLOTS"], headers.get("X-NODE"), headers.get("none"), len(headers)) == ("4", "né", None, 2)
    assert "X-Slots" in headers
