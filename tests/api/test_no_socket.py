"""WebSockets where there are none, on ports that have none at all."""

from __future__ import annotations

import json

import pytest

from vivavoce.api.admin import create_admin_app


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/ws/synthesize", "There is no WebSocket at /ws/synthesize."),
        ("/stats/stream", "There is no WebSocket at /stats/stream, which answers plain HTTP."),
    ],
)
async def test_a_port_without_one_says_no_more_than_that(app, path, message):
    said = []

    async def send(part):
        said.append(part)

    scope = {"type": "websocket", "path": path, "raw_path": path.encode(), "headers": [], "subprotocols": []}
    await create_admin_app(app.state.services)({**scope, "query_string": b"", "scheme": "ws"}, None, send)
    start, body = said
    assert (start["type"], start["status"]) == ("websocket.http.response.start", 404)
    assert body["type"] == "websocket.http.response.body"
    assert json.loads(body["body"])["error"]["message"] == message
