"""Whatever is sent to the V2 door, it answers in its own words, and holds no slot afterwards."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

CALLS = ("infer", "generate", "generate_stream")
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=12),
    st.sampled_from(["text", "BYTES", "INT16", "mira", "en", "pcm", "wav", '[[0,1,"a"]]']),
)
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner))
FIELDS = st.dictionaries(
    st.sampled_from(
        [
            "voice",
            "language",
            "speed",
            "instruct",
            "sample_rate",
            "response_format",
            "audio_datatype",
            "normalized",
            "ipa",
        ]
    ),
    VALUES,
    max_size=3,
)
TENSOR = st.fixed_dictionaries(
    {
        "name": st.sampled_from(["text", "voice", "speed", "x"]) | VALUES,
        "shape": st.sampled_from([[1], [1, 1], [0], [-1], [2**62, 4]]) | VALUES,
        "datatype": st.sampled_from(["BYTES", "FP32", "INT64", "BOOL"]) | VALUES,
        "data": st.lists(SCALARS, max_size=2) | VALUES,
    },
    optional={"parameters": VALUES},
)
BODIES = st.one_of(
    VALUES,
    st.fixed_dictionaries(
        {"inputs": st.lists(TENSOR, max_size=3) | VALUES},
        optional={"parameters": FIELDS | VALUES, "outputs": VALUES, "id": VALUES},
    ),
    st.fixed_dictionaries({"text_input": st.just("One, two.") | VALUES}, optional={"parameters": FIELDS | VALUES}),
)
HEADERS = st.dictionaries(
    st.sampled_from(["inference-header-content-length", "content-encoding", "accept-encoding", "content-type"]),
    st.sampled_from(["0", "7", "-3", "99999999999999999999", "gzip", "deflate", "gzip, br", "text/plain", "\xff"]),
    max_size=2,
)


@pytest.fixture
def ready(app, predictor):
    predictor.chunks, predictor.chunk_ms = 1, 20.0
    app.state.services.has_spoken()
    return app


@given(st.sampled_from(CALLS), BODIES | st.binary(max_size=80), HEADERS)
@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_noise_is_answered_and_holds_nothing(ready, call, body, headers):
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    status, reply = asyncio.run(post(ready, f"/v2/models/tts/{call}", content, headers))
    assert status < 500
    if status != 200:
        assert isinstance(json.loads(reply)["error"], str)
    assert ready.state.v2.gate.busy == 0


async def post(app: Any, path: str, content: bytes, headers: dict[str, str]) -> tuple[int, bytes]:
    """One request without a socket, for a loop that ends with it."""
    requests = [{"type": "http.request", "body": content, "more_body": False}]
    status, reply = 0, b""

    async def receive() -> dict[str, Any]:
        if requests:
            return requests.pop()
        return await asyncio.Future()

    async def send(message: dict[str, Any]) -> None:
        nonlocal status, reply
        status = message.get("status", status)
        reply += message.get("body", b"")

    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in headers.items()],
        "server": ("door", 80),
        "client": ("somebody", 1),
    }
    async with asyncio.timeout(10):
        await app(scope, receive, send)
    return status, reply
