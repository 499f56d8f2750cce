"""What every request meets before its route: keys, limits, names, and an answer whatever happens."""

from __future__ import annotations

import contextlib
import json
import logging

import pytest

from vivavoce.api.errors import body_of
from vivavoce.errors import Busy

URL = "/v1/audio/speech"
GUARDED = [
    ("POST", URL),
    ("GET", "/v1/models"),
    ("GET", "/v1/audio/voices"),
    ("POST", "/v1/text/explain"),
    ("GET", "/v1"),
]
ASK = {"model": "tts-1", "voice": "mira", "input": "Knock, knock."}


# Keys


@pytest.fixture
def locked(build, tmp_path):
    file = tmp_path / "keys"
    file.write_text("# the night shift\n\nnight-key\n  spare-key  \n")
    return build(api_keys="day-key, other-key", api_keys_file=file)


@pytest.mark.parametrize(("method", "path"), [*GUARDED, ("GET", "/v1/nothing"), ("DELETE", URL)])
@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer wrong"},
        {"Authorization": "Bearer "},
        {"Authorization": "Basic day-key"},
        {"Authorization": "day-key"},
        {"X-API-Key": "DAY-KEY"},
        {"X-API-Key": "day-key, other-key"},
        {"Authorization": "Bearer schl\u00fcssel".encode("latin-1")},
    ],
)
async def test_nothing_under_v1_opens_without_a_key(locked, connect, predictor, method, path, headers):
    async with connect(locked) as client:
        response = await client.request(method, path, headers=headers, json=ASK)
    assert response.status_code == 401
    assert response.json()["error"]["code"] == "invalid_api_key"
    assert response.json()["error"]["type"] == "invalid_request_error"
    assert response.headers["www-authenticate"] == "Bearer"
    assert predictor.jobs == []


@pytest.mark.parametrize("key", ["day-key", "other-key", "night-key", "spare-key"])
async def test_every_key_opens(locked, connect, key):
    async with connect(locked) as client:
        for headers in ({"Authorization": f"Bearer {key}"}, {"authorization": f"bearer  {key}"}, {"X-API-Key": key}):
            assert (await client.post(URL, json=ASK, headers=headers)).status_code == 200


@pytest.mark.parametrize("path", ["/", "/health", "/ready", "/metrics", "/app.js"])
async def test_the_page_and_the_health_stay_open(locked, connect, path):
    async with connect(locked) as client:
        assert (await client.get(path)).status_code != 401


async def test_the_key_is_asked_before_the_body_is_read(locked):
    sent = []

    async def receive():
        raise AssertionError("the body was read")

    async def send(message):
        sent.append(message)

    scope = {
        "type": "http",
        "method": "POST",
        "path": URL,
        "raw_path": URL.encode(),
        "query_string": b"",
        "headers": [(b"content-length", b"10")],
        "http_version": "1.1",
        "scheme": "http",
        "server": ("door", 80),
    }
    await locked(scope, receive, send)
    assert sent[0]["status"] == 401


async def test_keys_never_reach_the_log(locked, connect, caplog):
    with caplog.at_level(logging.DEBUG):
        async with connect(locked) as client:
            await client.post(URL, json=ASK, headers={"Authorization": "Bearer day-key"})
            await client.post(URL, json=ASK, headers={"Authorization": "Bearer guessed-key"})
    assert "day-key" not in caplog.text
    assert "guessed-key" not in caplog.text
    assert "day-key" not in repr(locked.state.services.settings)


# Bodies


async def test_a_long_body_is_refused_by_its_length_alone(build, connect):
    async with connect(build(max_body_bytes=2_000)) as client:
        response = await client.post(URL, json={**ASK, "input": "z" * 3_000})
    assert response.status_code == 413
    assert response.json()["error"]["code"] == "input_too_large"


async def test_ten_megabytes_without_a_length_are_never_held(app, running, wire, predictor):
    async with running(app) as port, wire(port) as raw:
        raw.writer.write(f"POST {URL} HTTP/1.1\r\nHost: d\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
        piece = b"ffff\r\n" + b"{" * 0xFFFF + b"\r\n"
        for _ in range(160):
            raw.writer.write(piece)
        await raw.writer.drain()
        status, headers = await raw.head()
        assert status == 413
        assert json.loads(await raw.reader.readexactly(int(headers["content-length"])))["error"]["code"]
    assert predictor.jobs == []


async def test_ten_megabytes_with_a_length_are_refused_before_they_come(app, running, wire):
    async with running(app) as port, wire(port) as raw:
        raw.writer.write(f"POST {URL} HTTP/1.1\r\nHost: d\r\nContent-Length: 10000000\r\n\r\n".encode())
        assert (await raw.head())[0] == 413


async def test_a_body_that_never_comes_is_not_waited_for(build, running, wire):
    async with running(build(body_timeout_s=0.05)) as port, wire(port) as raw:
        raw.writer.write(f"POST {URL} HTTP/1.1\r\nHost: d\r\nContent-Length: 50\r\n\r\n{{".encode())
        status, headers = await raw.head()
        assert status == 408
        body = json.loads(await raw.reader.readexactly(int(headers["content-length"])))
        assert body["error"]["code"] == "request_timeout"


@pytest.mark.parametrize("path", [URL, "/v1/text/explain"])
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"not json",
        b'{"input": "a",}',
        b'{"input": "\xff\xfe"}',
        b'{"input": "caf\xe9"}',
        '{"input": "hello"}'.encode("utf-16"),
        b"[]",
        b'["input", "a"]',
        b'"text"',
        b"12",
        b"null",
        b"true",
        b'{"input": "a", "speed": NaN}',
        b'{"input": "a", "speed": -Infinity}',
        b'{"input": ' + b"[" * 100_000 + b"}",
        b'{"input": "a", "speed": ' + b"9" * 5_000 + b"}",
        b'{"input": "\\ud8"}',
        b'{"input": "a\nb"}',
    ],
)
async def test_a_body_that_is_no_json_object_is_a_bad_request(client, path, body):
    response = await client.post(path, content=body, headers={"Content-Type": "application/json"})
    assert response.status_code == 400
    assert response.json()["error"]["code"] in ("invalid_request", "out_of_range")
    assert response.json()["error"]["type"] == "invalid_request_error"


@pytest.mark.parametrize("content_type", [None, "application/json", "application/json; charset=utf-8", "text/plain"])
async def test_the_body_is_json_whatever_it_is_called(client, content_type):
    headers = {"Content-Type": content_type} if content_type else {}
    content = b"\xef\xbb\xbf" + json.dumps({**ASK, "stream": None, "voice": None}).encode()
    assert (await client.post(URL, content=content, headers=headers)).status_code == 200


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"])
async def test_a_form_of_another_site_is_refused(client, kind):
    headers = {"Content-Type": kind, "Sec-Fetch-Site": "cross-site"}
    response = await client.post(URL, content=json.dumps(ASK), headers=headers)
    assert response.status_code == 403


# Names, routes, origins


async def test_a_sane_request_id_comes_back(client):
    response = await client.get("/v1/models", headers={"X-Request-Id": "trace-17:b.2"})
    assert response.headers["x-request-id"] == "trace-17:b.2"


@pytest.mark.parametrize("identity", ["", "a b", "x" * 200, "a;b", "<script>"])
async def test_any_other_request_id_is_replaced(client, identity):
    response = await client.post(URL, json={**ASK, "voice": "nobody"}, headers={"X-Request-Id": identity})
    assert response.headers["x-request-id"].startswith("req_")


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/v1/nothing", 404, "not_found"),
        ("POST", "/v1/nothing", 404, "not_found"),
        ("POST", "/nothing", 404, "not_found"),
        ("DELETE", "/", 404, "not_found"),
        ("POST", "/v1/audio/transcriptions", 404, "not_found"),
        ("GET", "/v1/audio/speech", 405, "method_not_allowed"),
        ("PUT", "/v1/models", 405, "method_not_allowed"),
        ("POST", "/v1/audio/voices", 405, "method_not_allowed"),
        ("POST", "/health", 405, "method_not_allowed"),
        ("GET", "/v1/models/nobody", 404, "model_not_found"),
        ("GET", "/docs", 404, "not_found"),
        ("GET", "/debug", 404, "not_found"),
        ("GET", "/v1/audio/voices?shape=9", 400, "invalid_request"),
        ("GET", "/v1/audio/voices?all=perhaps", 400, "invalid_request"),
    ],
)
async def test_every_error_wears_the_envelope(client, method, path, status, code):
    response = await client.request(method, path)
    assert response.status_code == status
    assert response.headers["content-type"] == "application/json"
    error = response.json()["error"]
    assert set(error) == {"message", "type", "param", "code"}
    assert error["code"] == code
    if status == 405:
        assert response.headers["allow"]


def test_only_what_may_succeed_later_says_when():
    from vivavoce.api.errors import reply_of
    from vivavoce.errors import EmptyInput, VoiceNotInstalled

    assert reply_of(Busy("Later.", retry_after_s=2.2)).headers["retry-after"] == "3"
    assert reply_of(Busy("Later.")).headers["retry-after"] == "1"
    assert "retry-after" not in reply_of(VoiceNotInstalled("Not here.")).headers
    assert reply_of(Busy("Later.")).headers["x-should-retry"] == "true"
    assert reply_of(VoiceNotInstalled("Not here.")).headers["x-should-retry"] == "false"
    assert "x-should-retry" not in reply_of(EmptyInput("Nothing.")).headers
    assert body_of(Busy("Later."))["type"] == "server_error"


async def test_no_other_site_may_call_unless_told(build, connect):
    asked = {"Origin": "https://app.example", "Access-Control-Request-Method": "POST"}
    async with connect(build()) as client:
        response = await client.post(URL, json=ASK, headers={"Origin": "https://app.example"})
        assert "access-control-allow-origin" not in response.headers
        assert "access-control-allow-origin" not in (await client.options(URL, headers=asked)).headers
    async with connect(build(cors_origins="https://app.example, https://b.example", api_keys="k")) as client:
        response = await client.options(URL, headers=asked)
        assert response.status_code == 200
        assert response.headers["access-control-allow-origin"] == "https://app.example"
        denied = await client.post(URL, json=ASK, headers={"Origin": "https://app.example"})
        assert denied.status_code == 401
        assert denied.headers["access-control-allow-origin"] == "https://app.example"
        other = await client.options(URL, headers={**asked, "Origin": "https://evil.example"})
        assert "access-control-allow-origin" not in other.headers


# Logs


@pytest.mark.parametrize("delivery", [{"stream": True}, {"stream": False}, {"stream_format": "sse"}])
@pytest.mark.parametrize("breaks", [None, 0, 2])
async def test_livekit_review_no_text_of_a_user_is_logged_at_info(client, predictor, caplog, delivery, breaks):
    predictor.fail_at = breaks
    predictor.fail_with = KeyError("zanzibar is in the message of the failure")
    with caplog.at_level(logging.INFO):
        with contextlib.suppress(AssertionError):  # how this client says that a body has no end
            await client.post(URL, json={**ASK, "input": "The zanzibar ledger. Zanzibar again.", **delivery})
        await client.post(URL, json={**ASK, "input": ["zanzibar"]})
        await client.post(URL, content=b'{"input": "zanzibar')
        await client.post(URL + "?input=zanzibar", json={**ASK, "voice": "nobody"})
    from vivavoce.logs import JsonFormatter, TextFormatter

    ours = [record for record in caplog.records if not record.name.startswith("httpx")]
    for formatter in (JsonFormatter(verbose=False), TextFormatter(verbose=False)):
        lines = "\n".join(formatter.format(record) for record in ours)
        assert "zanzibar" not in lines.lower()
        assert "/v1/audio/speech" in lines
    assert ("KeyError" in lines) == (breaks is not None)


async def test_a_path_cannot_forge_a_line(client, caplog):
    with caplog.at_level(logging.INFO):
        await client.get("/v1/nothing%0aINFO%20forged" + "x" * 500)
    path = next(record.path for record in caplog.records if record.name == "vivavoce.access")
    assert "\n" not in path
    assert len(path) <= 120
