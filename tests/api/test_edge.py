"""What surrounds every request and every connection: names, headers, lines, and an end whatever happens."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import logging

import pytest
from fastapi import FastAPI, WebSocket
from websockets import ConnectionClosed, InvalidStatus
from websockets.asyncio.client import connect as dial

from vivavoce.api.edge import Edge
from vivavoce.logs import configure_logs, request_id

SECRETS = ("zanzibar", "front-desk-key", "ZnJvbnQtZGVzay1rZXk")
LEDGER = "The zanzibar ledger is closed. Zanzibar again, and again."


def socket(port, path="/ws/synthesize", **options):
    options.setdefault("subprotocols", ["vivavoce.v1"])
    return dial(f"ws://127.0.0.1:{port}{path}", proxy=None, logger=logging.Logger("the client"), **options)


@pytest.fixture
def written():
    """Everything that a server at INFO writes to its log."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    stream = io.StringIO()
    configure_logs("info", "json", stream)
    yield lambda: [json.loads(line) for line in stream.getvalue().splitlines()]
    root.handlers[:] = handlers
    root.setLevel(level)


# Names


@pytest.mark.parametrize(
    ("asked", "kept"), [("trace-17:b.2", True), ("", False), ("a b", False), ("x" * 200, False), ("<script>", False)]
)
async def test_a_socket_has_a_request_id_and_its_lines_carry_it(app, running, written, asked, kept):
    async with running(app) as port, socket(port, additional_headers={"X-Request-Id": asked}) as opened:
        identity = opened.response.headers["X-Request-Id"]
        await opened.send(json.dumps({"type": "synthesize", "text": "Who is it?"}))
        async for frame in opened:
            if isinstance(frame, str) and json.loads(frame)["type"] == "done":
                break
    assert (identity == asked) == kept
    assert kept or identity.startswith("req_")
    of_socket = [line for line in written() if (line["request_id"] or "").startswith(identity)]
    assert [line["message"] for line in of_socket] == ["utterance", "connection"]
    assert [line["request_id"] for line in of_socket] == [f"{identity}.1", identity]
    assert of_socket[-1]["path"] == "/ws/synthesize"
    assert of_socket[-1]["code"] == 1000
    assert request_id.get() == ""


async def test_sockets_that_overlap_keep_their_names_apart(app, running, written):
    def named(name):
        return socket(port, additional_headers={"X-Request-Id": name})

    async with running(app) as port, named("one") as one, named("two") as two:
        for opened in (two, one):
            await opened.send(json.dumps({"type": "synthesize", "text": "Hello there."}))
            async for frame in opened:
                if isinstance(frame, str) and json.loads(frame)["type"] == "done":
                    break
    lines = [(line["request_id"], line["message"]) for line in written()]
    assert lines[-4:] == [("two.1", "utterance"), ("one.1", "utterance"), ("two", "connection"), ("one", "connection")]


@pytest.mark.parametrize(
    ("path", "options", "status", "code"),
    [
        ("/ws/synthesize", {"origin": "https://evil.example"}, 403, "forbidden"),
        ("/ws/nothing", {}, 404, "not_found"),
    ],
)
async def test_a_socket_that_is_refused_is_told_why_and_logged_as_refused(
    app, running, written, path, options, status, code
):
    async with running(app) as port:
        with pytest.raises(InvalidStatus) as refused:
            async with socket(port, path, **options):
                pass
    reply = refused.value.response
    assert (reply.status_code, json.loads(reply.body)["error"]["code"]) == (status, code)
    (line,) = written()
    assert (line["message"], line["path"], line["status"]) == ("connection refused", path, status)
    assert line["request_id"] == reply.headers["X-Request-Id"]


# Headers


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/health"),
        ("GET", "/ready"),
        ("GET", "/metrics"),
        ("GET", "/stats"),
        ("GET", "/v1/models"),
        ("POST", "/v1/audio/speech"),
        ("POST", "/v1/tokens"),
        ("GET", "/v2/health/live"),
        ("GET", "/v1/nothing"),
        ("DELETE", "/v1/models"),
        ("GET", "/"),
        ("GET", "/nothing.js"),
    ],
)
@pytest.mark.parametrize("key", ["", "front-desk-key"])
async def test_every_reply_has_the_headers_that_keep_browsers_safe(build, connect, method, path, key):
    async with connect(build(api_keys=key)) as client:
        headers = (await client.request(method, path, json={"input": "Lock up."} if method == "POST" else None)).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "no-referrer"
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["cache-control"] in ("no-store", "no-cache")
    assert "server" not in headers
    assert headers["x-request-id"]
    for name in ("content-security-policy", "x-request-id", "cache-control"):
        assert len(headers.get_list(name)) == 1


# Ends


def odd_app(**handlers):
    """An app with one socket that does as told, behind the Edge."""
    app = FastAPI()

    class Drains:
        draining = handlers.get("draining", False)

    class Services:
        admission = Drains()
        spoken, fault = True, None

    app.state.services = Services()
    app.add_api_websocket_route("/ws/odd", handlers["socket"])
    app.add_middleware(Edge)
    return app


async def test_a_fault_closes_the_socket_with_1011_and_leaves_no_text_in_the_log(running, written):
    async def breaks(websocket: WebSocket):
        await websocket.accept()
        raise KeyError(await websocket.receive_text())

    async with running(odd_app(socket=breaks)) as port, socket(port, "/ws/odd", subprotocols=None) as opened:
        await opened.send("zanzibar")
        with pytest.raises(ConnectionClosed):
            await opened.recv()
        assert opened.close_code == 1011
    lines = written()
    assert any("KeyError" in line.get("traceback", "") for line in lines)
    assert "zanzibar" not in json.dumps(lines)
    assert (lines[-1]["message"], lines[-1]["code"]) == ("connection", 1011)


async def test_a_client_that_leaves_is_no_error(running, written, until):
    async def listens(websocket: WebSocket):
        await websocket.accept()
        while True:
            await websocket.receive_text()

    async with running(odd_app(socket=listens)) as port:
        async with socket(port, "/ws/odd", subprotocols=None) as opened:
            await opened.send("hello")
        await until(lambda: any(line["message"] == "connection" for line in written()))
    assert {line["level"] for line in written()} == {"info"}


@pytest.mark.parametrize(("draining", "code"), [(True, 1012), (False, 1011)])
async def test_a_socket_that_is_cut_when_the_server_stops_is_closed_with_1012(draining, code):
    started, sent = asyncio.Event(), []

    async def waits(websocket: WebSocket):
        await websocket.accept()
        started.set()
        if not draining:
            raise RuntimeError("broke")
        await asyncio.Event().wait()

    async def receive():
        return {"type": "websocket.connect"}

    async def send(message):
        sent.append(message)

    scope = {
        "type": "websocket",
        "path": "/ws/odd",
        "raw_path": b"/ws/odd",
        "query_string": b"",
        "headers": [],
        "scheme": "ws",
        "server": ("door", 80),
        "subprotocols": [],
    }
    serving = asyncio.create_task(odd_app(socket=waits, draining=draining)(scope, receive, send))
    await started.wait()
    await asyncio.sleep(0)
    serving.cancel()
    await asyncio.wait([serving])
    assert [message["type"] for message in sent] == ["websocket.accept", "websocket.close"]
    assert sent[-1]["code"] == code


# Redaction


async def test_livekit_review_nothing_that_a_user_says_or_knows_is_in_the_log_at_info(
    build, connect, running, written, predictor
):
    """Every door, spoken, broken, refused and not understood, with everything that is logged looked through."""
    app = build(api_keys="front-desk-key", max_input_chars=200)
    key = {"Authorization": "Bearer front-desk-key"}
    async with connect(app) as client:
        token = (await client.post("/v1/tokens", headers=key)).json()["token"]
        for fails in (None, 0):
            predictor.fail_at, predictor.fail_with = fails, KeyError("zanzibar is in the message")
            for delivery in ({"stream": False}, {"stream_format": "sse"}):
                body = {"voice": "mira", "input": LEDGER, **delivery}
                await client.post("/v1/audio/speech", json=body, headers=key)
        for body in ({"input": ["zanzibar"]}, {"input": "zanzibar " * 99}, {"input": LEDGER, "voice": "zanzibar"}):
            await client.post("/v1/audio/speech", json=body, headers={"X-API-Key": token})
        await client.post("/v1/text/explain", json={"input": LEDGER}, headers=key)
        await client.post(
            "/v1/audio/speech?input=zanzibar&key=front-desk-key", content=b'{"input": "zanzibar', headers=key
        )
        await client.post("/v2/models/tts/infer", json={"zanzibar": "zanzibar"}, headers=key)
        await client.post("/v1/audio/speech", json={"input": LEDGER}, headers={"X-API-Key": "zanzibar"})
    predictor.fail_at = None
    async with running(app) as port:
        for offered in (f"vivavoce.token.{token}", "vivavoce.key.ZnJvbnQtZGVzay1rZXk"):
            resume = await say_everything(port, offered, predictor)
        for offered in ("vivavoce.key.emFuemliYXI", f"vivavoce.token.{token}"):
            async with socket(port, subprotocols=["vivavoce.v1", offered]) as opened:
                with contextlib.suppress(ConnectionClosed):
                    await opened.send('{"type": "synthesize", "text": "zanzibar')
                    while True:
                        await opened.recv()
            assert opened.close_code in (4400, 4401)
    lines = written()
    everything = json.dumps(lines, ensure_ascii=False).lower()
    for secret in (*SECRETS, token, resume):
        assert secret.lower() not in everything
    told = {(line["message"], line.get("door") or line.get("path")) for line in lines}
    assert {("utterance", "openai"), ("connection", "/ws/synthesize"), ("request", "/v1/audio/speech")} <= told
    assert len([line for line in lines if line["message"] == "utterance"]) >= 9


async def say_everything(port, offered, predictor):
    """Speak, be misunderstood, stream, cancel, resume and break off on one socket; gives the last resume token."""
    token = ""
    async with socket(
        port, f"/ws/synthesize?text=zanzibar&key={SECRETS[1]}", subprotocols=["vivavoce.v1", offered]
    ) as ws:

        async def say(*messages):
            nonlocal token
            for message in messages:
                await ws.send(message if isinstance(message, str) else json.dumps(message))
            async for frame in ws:
                told = json.loads(frame) if isinstance(frame, str) else {}
                token = told.get("resume_token", token)
                if told.get("type") in ("done", "error"):
                    break

        await say({"type": "synthesize", "text": LEDGER, "word_timestamps": True})
        await say({"type": "synthesize", "text": LEDGER, "voice": "zanzibar"})
        await say({"type": "zanzibar", "zanzibar": "zanzibar"})
        await say({"type": "synthesize", "stream": True}, {"type": "text", "text": LEDGER}, {"type": "end"})
        await say({"type": "synthesize", "stream": True}, {"type": "text", "text": "Zanzibar."}, {"type": "cancel"})
        await say({"type": "resume", "token": token, "text": "Zanzibar again.", "offset": 31})
        await say({"type": "resume", "token": "zanzibar"})
        predictor.fail_at, predictor.fail_with = 0, KeyError("zanzibar is in the message")
        await say({"type": "synthesize", "text": LEDGER})
        predictor.fail_at = None
    return token
