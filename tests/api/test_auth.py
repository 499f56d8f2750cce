"""Every door asks for a key: requests, sockets, and pages of other origins."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import io
import json
import logging

import httpx
import pytest
import websockets
from websockets.asyncio.client import connect as dial

from vivavoce.logs import configure_logs

KEY = "front-desk-key"
KEYS = f'{{"front-desk": "{KEY}", "back office": {{"key": "back-key", "streams": 1, "characters_per_minute": 40}}}}'
SYNTHESIZE = {"type": "synthesize", "text": "The lamp is lit.", "request_id": "r1"}


def as_subprotocol(key: str) -> str:
    return "vivavoce.key." + base64.urlsafe_b64encode(key.encode()).decode().rstrip("=")


@pytest.fixture
def keys(tmp_path):
    path = tmp_path / "keys.json"
    path.write_text(KEYS)
    return path


@pytest.fixture
def locked(build, keys):
    return build(api_keys_file=keys, token_secret="a secret for all the tests", cors_origins="https://app.example/")


@contextlib.asynccontextmanager
async def socket(port, *protocols, path="/ws/synthesize", **options):
    offered = ("vivavoce.v1", *protocols)
    async with dial(f"ws://127.0.0.1:{port}{path}", subprotocols=offered, proxy=None, **options) as opened:
        yield opened


async def speak(opened, order=SYNTHESIZE):
    await opened.send(json.dumps(order))
    told = []
    async for frame in opened:
        if isinstance(frame, str):
            told.append(json.loads(frame))
            if told[-1]["type"] == "done":
                return told
    raise AssertionError(f"closed with {opened.close_code} after {told}")


async def refusal(port, *protocols, **options):
    """What a socket hears that is refused: its messages, then its close code."""
    heard = []
    async with socket(port, *protocols, **options) as opened:
        with contextlib.suppress(websockets.ConnectionClosed):
            await opened.send(json.dumps(SYNTHESIZE))
        with contextlib.suppress(websockets.ConnectionClosed):
            while True:
                heard.append(json.loads(await opened.recv()))
    return heard, opened.close_code, opened.subprotocol


# Sockets


@pytest.mark.parametrize("path", ["/ws/synthesize", "/v1/audio/speech", "/v1/anything", "/", "/health"])
async def test_speaches_521_a_socket_without_a_key_is_told_why_and_closed_before_any_work(
    locked, running, predictor, path
):
    async with running(locked) as port:
        heard, code, chosen = await refusal(port, path=path)
    assert [(message["type"], message["code"], message["retryable"]) for message in heard] == [
        ("error", "invalid_api_key", False)
    ]
    assert (code, chosen) == (4401, "vivavoce.v1")
    assert predictor.jobs == []


@pytest.mark.parametrize(
    ("protocols", "headers"),
    [
        (["vivavoce.key.wrong"], {}),
        (["vivavoce.key."], {}),
        ([as_subprotocol("front-desk")], {}),
        ([as_subprotocol(KEY + "x")], {}),
        ([KEY], {}),
        (["vivavoce.token.vvt_e30.e30"], {}),
        ([], {"Authorization": "Bearer nope"}),
        ([], {"Authorization": f"Basic {KEY}"}),
        ([], {"X-API-Key": KEY.upper()}),
        ([as_subprotocol(KEY)], {"Authorization": "Bearer nope"}),
    ],
)
async def test_speaches_522_a_wrong_key_opens_no_socket_wherever_it_stands(
    locked, running, predictor, protocols, headers
):
    async with running(locked) as port:
        heard, code, _ = await refusal(port, *protocols, additional_headers=headers)
    assert ([message["code"] for message in heard], code) == (["invalid_api_key"], 4401)
    assert predictor.jobs == []


async def test_a_key_in_the_address_is_not_looked_at(locked, running):
    async with running(locked) as port:
        for query in (f"?key={KEY}", f"?api_key={KEY}", f"?token={KEY}", f"?authorization=Bearer%20{KEY}"):
            assert (await refusal(port, path="/ws/synthesize" + query))[1] == 4401


@pytest.mark.parametrize(
    ("protocols", "headers"),
    [
        ([as_subprotocol(KEY)], {}),
        ([], {"Authorization": f"Bearer {KEY}"}),
        ([], {"authorization": f"bearer   {KEY}"}),
        ([], {"X-API-Key": KEY}),
    ],
)
async def test_a_key_opens_a_socket_and_its_limits_come_along(locked, running, protocols, headers):
    async with running(locked) as port, socket(port, *protocols, additional_headers=headers) as opened:
        assert opened.subprotocol == "vivavoce.v1"
        assert (await speak(opened))[-1]["outcome"] == "ok"


async def test_a_keys_own_limits_hold_on_the_socket(locked, running):
    async with running(locked) as port, socket(port, as_subprotocol("back-key")) as opened:
        assert (await speak(opened))[-1]["outcome"] == "ok"
        told = await speak(opened, {**SYNTHESIZE, "text": "This text is longer than what is left of the minute."})
        assert [message["type"] for message in told] == ["accepted", "busy", "done"]
        assert (told[1]["reason"], told[2]["outcome"]) == ("rate_limited", "shed")
        assert told[1]["retry_after_ms"] > 0


async def test_an_open_server_asks_sockets_for_nothing(app, running):
    async with running(app) as port, socket(port) as opened:
        assert (await speak(opened))[-1]["outcome"] == "ok"


# Origins


@pytest.mark.parametrize(
    ("origin", "host", "good"),
    [
        (None, None, True),
        ("http://door.example", "door.example", True),
        ("https://door.example", "door.example", True),
        ("https://Door.Example:443", "door.example", True),
        ("http://door.example:8000", "door.example:8000", True),
        ("http://[::1]:8000", "[::1]:8000", True),
        ("https://app.example", "door.example", True),
        ("https://APP.example", "door.example", True),
        ("http://app.example", "door.example", False),
        ("https://app.example:8443", "door.example", False),
        ("https://app.example.evil.example", "door.example", False),
        ("https://evil.example", "door.example", False),
        ("http://door.example:8001", "door.example:8000", False),
        ("http://door.example.", "door.example", False),
        ("null", "door.example", False),
        ("", "door.example", False),
        ("door.example", "door.example", False),
        ("file://", "", False),
        ("http://[", "[", False),
        ("http://door.example:x", "door.example:x", False),
    ],
)
async def test_a_socket_of_a_foreign_page_is_refused_before_it_is_one(build, running, predictor, origin, host, good):
    app = build(cors_origins="https://app.example/")
    headers = {name: value for name, value in (("Origin", origin), ("Host", host)) if value is not None}
    async with running(app) as port:
        status = await handshake(port, headers)
    assert status == (101 if good else 403)
    assert predictor.jobs == []


async def handshake(port, headers):
    lines = {
        "Host": f"127.0.0.1:{port}",
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": base64.b64encode(b"sixteen letters!").decode(),
        **headers,
    }
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    writer.write(f"GET /ws/synthesize HTTP/1.1\r\n{head}\r\n".encode())
    status = int((await reader.readline()).split()[1])
    writer.transport.abort()
    return status


async def test_a_browsers_word_that_the_page_is_ours_holds_behind_a_proxy_that_changes_the_host(app, running):
    asked = {"Origin": "https://voice.example", "Host": "10.0.0.7:8000"}
    async with running(app) as port:
        for site, status in (("same-origin", 101), ("cross-site", 403), ("same-site", 403), ("none", 403)):
            assert await handshake(port, {**asked, "Sec-Fetch-Site": site}) == status


@pytest.mark.parametrize("path", ["/v1/audio/speech", "/v2/models/tts/infer", "/v2/repository/models/tts/unload"])
@pytest.mark.parametrize("kind", ["text/plain;charset=UTF-8", "application/x-www-form-urlencoded", None])
async def test_a_form_that_a_foreign_page_sends_does_nothing(build, connect, predictor, path, kind):
    """It needs no answer to do harm, so that no answer for other sites is not enough."""
    app = build(cors_origins="https://app.example", model_name="tts")
    headers = {"Content-Type": kind} if kind else {}
    async with connect(app) as client:
        for origin in ("https://evil.example", "null"):
            reply = await client.post(path, content=b"{}", headers={**headers, "Origin": origin})
            assert reply.status_code == 403
        for origin in ("https://app.example", "http://door"):
            reply = await client.post(path, content=b"{}", headers={**headers, "Origin": origin})
            assert reply.status_code != 403
    assert predictor.jobs == []


async def test_any_origin_may_where_the_operator_says_so(build, running):
    async with running(build(cors_origins="*")) as port:
        assert await handshake(port, {"Origin": "https://anything.example"}) == 101


async def test_a_foreign_page_is_refused_even_with_a_key(locked, running):
    async with running(locked) as port:
        with pytest.raises(websockets.InvalidStatus) as caught:
            async with socket(port, as_subprotocol(KEY), origin="https://evil.example"):
                pass
        assert caught.value.response.status_code == 403


# Tokens


@pytest.fixture
async def client(locked, connect):
    async with connect(locked) as opened:
        yield opened


ASK = {"voice": "mira", "input": "Knock, knock."}


async def test_a_token_opens_every_door_for_a_while(locked, client, running):
    made = await client.post("/v1/tokens", headers={"Authorization": f"Bearer {KEY}"})
    assert made.status_code == 200
    assert made.headers["cache-control"] == "no-store"
    reply = made.json()
    assert set(reply) == {"token", "expires_in", "expires_at"}
    assert reply["expires_in"] == 300
    token = reply["token"]
    for headers in ({"Authorization": f"Bearer {token}"}, {"X-API-Key": token}):
        assert (await client.post("/v1/audio/speech", json=ASK, headers=headers)).status_code == 200
    async with running(locked) as port:
        async with socket(port, f"vivavoce.token.{token}") as opened:
            assert (await speak(opened))[-1]["outcome"] == "ok"
        async with socket(port, additional_headers={"Authorization": f"Bearer {token}"}) as opened:
            assert (await speak(opened))[-1]["outcome"] == "ok"


async def test_a_token_mints_no_token(client):
    made = await client.post("/v1/tokens", headers={"X-API-Key": KEY})
    again = await client.post("/v1/tokens", headers={"X-API-Key": made.json()["token"]})
    assert (again.status_code, again.json()["error"]["code"]) == (403, "forbidden")


@pytest.mark.parametrize("headers", [{}, {"X-API-Key": "wrong"}, {"Authorization": "Bearer vvt_e30.e30"}])
async def test_nobody_gets_a_token_without_a_key(client, headers):
    assert (await client.post("/v1/tokens", headers=headers)).status_code == 401


async def test_an_open_server_gives_tokens_too_so_that_a_page_needs_one_way_only(app, connect):
    async with connect(app) as open_client:
        token = (await open_client.post("/v1/tokens")).json()["token"]
        headers = {"Authorization": f"Bearer {token}"}
        assert (await open_client.post("/v1/audio/speech", json=ASK, headers=headers)).status_code == 200


async def test_a_key_and_its_tokens_share_the_keys_limits(client):
    key = {"X-API-Key": "back-key"}
    token = {"X-API-Key": (await client.post("/v1/tokens", headers=key)).json()["token"]}
    first = await client.post("/v1/audio/speech", json={**ASK, "input": "Twenty-six letters, or so."}, headers=key)
    assert first.status_code == 200
    for headers in (key, token):
        late = await client.post("/v1/audio/speech", json={**ASK, "input": "And twenty more of them."}, headers=headers)
        assert late.status_code == 429
        assert late.json()["error"]["code"] == "rate_limited"
        assert late.json()["error"]["type"] == "rate_limit_error"
        assert 1 <= int(late.headers["retry-after"]) <= 61
    other = await client.post(
        "/v1/audio/speech", json={**ASK, "input": "Others may go on."}, headers={"X-API-Key": KEY}
    )
    assert other.status_code == 200


async def test_keys_are_read_again_while_the_server_runs(locked, client, keys, monkeypatch):
    ring = locked.state.services.keyring
    assert (await client.get("/v1/models", headers={"X-API-Key": "tomorrow"})).status_code == 401
    keys.write_text('{"tomorrow": "tomorrow"}')
    monkeypatch.setattr(ring, "_looked_s", -10.0)
    assert (await client.get("/v1/models", headers={"X-API-Key": "tomorrow"})).status_code == 200
    assert (await client.get("/v1/models", headers={"X-API-Key": KEY})).status_code == 401


@pytest.mark.parametrize("path", ["/v2/models", "/v2", "/v1/tokens", "/v1/audio/voices"])
async def test_a_prefix_that_a_proxy_adds_hides_no_door(locked, path):
    transport = httpx.ASGITransport(locked, root_path="/voice")
    async with httpx.AsyncClient(transport=transport, base_url="http://door") as behind:
        assert (await behind.get("/voice" + path)).status_code == 401


# Nothing of it is logged


@pytest.mark.parametrize("level", ["debug", "info"])
async def test_neither_keys_nor_tokens_reach_the_log(locked, client, running, written, level):
    log = written(level)
    token = (await client.post("/v1/tokens", headers={"X-API-Key": KEY})).json()["token"]
    await client.post("/v1/audio/speech", json=ASK, headers={"Authorization": f"Bearer {token}"})
    await client.get("/v1/models", headers={"Authorization": "Bearer guessed-key"})
    elsewhere = {"logger": logging.Logger("the client")}
    async with running(locked) as port:
        for name in (as_subprotocol(KEY), f"vivavoce.token.{token}"):
            async with socket(port, name, **elsewhere) as opened:
                await speak(opened)
        await refusal(port, as_subprotocol("guessed-key"), **elsewhere)
    lines = log.getvalue()
    assert lines.count("/ws/synthesize") >= 3
    for secret in (KEY, "guessed-key", token, as_subprotocol(KEY), as_subprotocol("guessed-key")):
        assert secret not in lines


@pytest.fixture
def written():
    """`written(level)`: everything that a server at that level writes to its log from now on."""
    root, uvicorn = logging.getLogger(), logging.getLogger("uvicorn")
    before = (root.handlers[:], root.level, uvicorn.level)

    def begin(level):
        stream = io.StringIO()
        configure_logs(level, "json", stream)
        return stream

    yield begin
    root.handlers[:] = before[0]
    root.setLevel(before[1])
    uvicorn.setLevel(before[2])
