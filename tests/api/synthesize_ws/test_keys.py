"""Keys, their limits, and addresses where nobody speaks."""

from __future__ import annotations

import base64
import json
import logging
from typing import Any

import httpx
import pytest
from websockets.exceptions import InvalidStatus

KEY = "an-open-sesame"


@pytest.fixture
def keys(tmp_path: Any) -> Any:
    file = tmp_path / "keys.toml"
    file.write_text(
        f'[keys.plenty]\nkey = "{KEY}"\n'
        '[keys.single]\nkey = "one-at-a-time"\nstreams = 1\n'
        '[keys.frugal]\nkey = "few-words"\ncharacters_per_minute = 60\n'
    )
    return file


@pytest.mark.parametrize(
    "options",
    [
        {"additional_headers": {"Authorization": f"Bearer {KEY}"}},
        {"additional_headers": {"X-API-Key": KEY}},
        {
            "subprotocols": [
                "vivavoce.v1",
                "vivavoce.key." + base64.urlsafe_b64encode(KEY.encode()).decode().rstrip("="),
            ]
        },
    ],
)
async def test_a_key_opens_the_door_however_it_is_sent(build, serve, keys, options):
    async with serve(build(api_keys_file=keys)) as door, door.connect(**options) as client:
        assert client.socket.subprotocol == "vivavoce.v1"
        assert (await client.speak("Open."))[-1]["outcome"] == "ok"


@pytest.mark.parametrize("path", ["/ws/synthesize", f"/ws/synthesize?key={KEY}&api_key={KEY}&token={KEY}"])
async def test_no_key_or_one_in_the_address_closes_with_4401(build, predictor, serve, keys, path):
    async with serve(build(api_keys_file=keys)) as door, door.connect(path) as client:
        code, heard = await client.closed()
        assert (code, heard[-1]["code"]) == (4401, "invalid_api_key")
    assert predictor.jobs == []


async def test_a_foreign_page_is_refused_before_the_handshake(app, serve):
    async with serve(app) as door:
        with pytest.raises(InvalidStatus) as refused:
            async with door.connect(origin="https://elsewhere.example"):
                pass
        assert refused.value.response.status_code == 403


async def test_a_key_that_asks_for_too_much_at_once_is_told(build, predictor, serve, keys, until):
    predictor.hold_at = 0
    options = {"additional_headers": {"X-API-Key": "one-at-a-time"}}
    async with serve(build(api_keys_file=keys)) as door, door.connect(**options) as client:
        await client.say("synthesize", request_id="a", text="The one that I may have.", framing="header")
        await until(lambda: predictor.active == 1)
        await client.say("synthesize", request_id="b", text="One too many.", framing="header")
        busy = (await client.until("busy"))[-1]
        assert (busy["request_id"], busy["reason"]) == ("b", "rate_limited")
        assert busy["retry_after_ms"] > 0
        assert (await client.until("done"))[-1]["outcome"] == "shed"
        predictor.gate.set()
        assert (await client.until("done"))[-1]["outcome"] == "ok"


async def test_whoever_does_not_stop_asking_for_too_much_is_closed_with_4429(build, predictor, serve, keys, until):
    predictor.hold_at = 0
    app, options = build(api_keys_file=keys), {"additional_headers": {"X-API-Key": "one-at-a-time"}}
    async with serve(app) as door, door.connect(**options) as first, door.connect(**options) as second:
        await first.say("synthesize", text="The one that I may have.")
        await until(lambda: predictor.active == 1)
        for _ in range(20):
            assert (await second.speak("Now? "))[-1]["outcome"] == "shed"
        await second.say("synthesize", text="Now? ")
        code, heard = await second.closed()
        assert (code, heard[-1]["type"]) == (4429, "done")
        predictor.gate.set()
        assert (await first.until("done"))[-1]["outcome"] == "ok"


async def test_streamed_text_counts_towards_the_keys_characters(build, predictor, serve, keys):
    options = {"additional_headers": {"X-API-Key": "few-words"}}
    async with serve(build(api_keys_file=keys)) as door, door.connect(**options) as client:
        await client.say("synthesize", text="Thirty characters, more or less. ", stream=True)
        await client.until("segment_end")
        await client.say("text", text="And thirty more, which is too much of it. ")
        heard = await client.until("done")
        error = next(m for m in heard if isinstance(m, dict) and m["type"] == "error")
        assert (error["code"], error["retryable"]) == ("rate_limited", True)
        assert error["retry_after_ms"] > 0
        assert heard[-1]["outcome"] == "error"
        await client.say("text", text="And more. ")
        await client.say("synthesize", text="Once more, with more of it than there is left for now.")
        assert (await client.until("busy"))[-1]["reason"] == "rate_limited"
        assert (await client.until("done"))[-1]["outcome"] == "shed"


async def test_a_token_of_another_caller_is_refused(build, serve, keys):
    plenty = {"additional_headers": {"X-API-Key": KEY}}
    other = {"additional_headers": {"X-API-Key": "few-words"}}
    async with serve(build(api_keys_file=keys)) as door:
        async with door.connect(**plenty) as client:
            await client.say("synthesize", text="Mine alone.")
            token = (await client.until("start"))[-1]["resume_token"]
            await client.until("done")
        async with door.connect(**other) as client:
            await client.say("resume", token=token, text="rest.")
            assert (await client.hear())["code"] == "bad_token"


async def test_no_text_is_in_the_log(app, predictor, serve, until, caplog):
    with caplog.at_level(logging.INFO):
        async with serve(app) as door, door.connect() as client:
            await client.speak("The password is swordfish.", word_timestamps=True)
            await client.say("synthesize", text="Swordfish again. ", stream=True, voice="swordfish")
            await client.until("done")
            await client.say("text", text="swordfish", request_id="swordfish")
            await client.say("swordfish", text="swordfish")
            await client.socket.send("swordfish")
            await client.closed()
        await until(lambda: door.idle)
    assert caplog.records
    assert "swordfish" not in caplog.text.lower()


@pytest.mark.parametrize("path", ["/ws", "/ws/", "/ws/synthesize/", "/ws/nothing", "/", "/health", "/v1/audio/speech"])
async def test_a_websocket_where_there_is_none_is_told_so_and_where_one_is(app, serve, path, until):
    async with serve(app) as door:
        with pytest.raises(InvalidStatus) as refused:
            async with door.connect(path):
                pass
        reply = refused.value.response
        assert reply.status_code == 404
        assert reply.headers["Content-Type"] == "application/json"
        assert reply.headers["X-Request-Id"]
        assert reply.headers["X-Content-Type-Options"] == "nosniff"
        told = ", which answers plain HTTP" if path in ("/health", "/v1/audio/speech") else ""
        message = f"There is no WebSocket at {path}{told}. There is one at /ws/synthesize."
        error = {"message": message, "type": "invalid_request_error", "param": None, "code": "not_found"}
        assert json.loads(reply.body) == {"error": error}
        await until(lambda: door.idle)


async def test_a_browser_that_opens_the_address_gets_an_answer(app, serve):
    async with serve(app) as door, httpx.AsyncClient() as client:
        reply = await client.get(f"http://127.0.0.1:{door.port}/ws/synthesize")
        assert (reply.status_code, reply.headers["upgrade"]) == (426, "websocket")
        assert "WebSocket" in reply.json()["error"]["message"]
