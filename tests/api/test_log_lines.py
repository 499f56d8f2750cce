"""What the log says of WebSockets: whose line it is, how it ended, never what was said. Public case 122."""

from __future__ import annotations

import contextlib
import io
import json
import logging

import pytest
from websockets.exceptions import ConnectionClosed

from vivavoce.logs import configure_logs

SECRET = "Quokkas"
TEXT = f"{SECRET} meet at the pier. They bring a kazoo."


@pytest.fixture
def lines():
    """Everything that is logged at INFO and above, as JSON."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    stream = io.StringIO()
    configure_logs("info", "json", stream)
    yield lambda: [json.loads(line) for line in stream.getvalue().splitlines()]
    root.handlers[:] = handlers
    root.setLevel(level)


async def speak(client, predictor):
    await client.ask(TEXT)
    await client.until("done")


async def cancel(client, predictor):
    predictor.hold_at = 1
    await client.ask(TEXT)
    await client.until("audio")
    await client.tell("cancel")
    await client.until("done")


async def stream_in_pieces(client, predictor):
    await client.tell("synthesize", stream=True)
    for piece in TEXT.split(" "):
        await client.tell("text", text=f"{piece} ")
    await client.tell("end")
    await client.until("done")


async def vanish(client, predictor):
    predictor.hold_at = 1
    await client.ask(TEXT)
    await client.until("audio")
    client.vanish()


async def break_the_engine(client, predictor):
    predictor.fail_at, predictor.fail_with = 1, RuntimeError(f"cannot say {TEXT!r}")
    await client.ask(TEXT)
    await client.until("done")


async def send_what_is_no_json(client, predictor):
    for frame in (f'{{"type": "synthesize", "text": "{TEXT}"', f'["{TEXT}"]', TEXT):
        with contextlib.suppress(ConnectionClosed):
            await client.socket.send(frame)
            await client.until("error")


async def send_odd_fields(client, predictor):
    for fields in ({"voice": TEXT}, {"language": TEXT}, {"speed": TEXT}, {"instruct": TEXT}, {"text": [TEXT]}):
        await client.tell("synthesize", **{"text": "Hello.", **fields})
        await client.until("error")
    await client.tell(TEXT)
    await client.until("error")


async def resume_with_a_forged_token(client, predictor):
    await client.tell("resume", token=TEXT, text=TEXT, offset=3)
    await client.until("error")


SCENES = [
    *(speak, cancel, stream_in_pieces, vanish, break_the_engine),
    *(send_what_is_no_json, send_odd_fields, resume_with_a_forged_token),
]


@pytest.mark.parametrize("scene", SCENES)
async def test_livekit_review_no_text_of_a_websocket_is_logged_at_info(
    app, predictor, running, talk, lines, until, scene
):
    async with running(app) as port, talk(port) as client:
        with contextlib.suppress(AssertionError):  # a connection that is closed for what was sent
            await scene(client, predictor)
        await until(lambda: not app.state.services.metrics.running())
    assert lines()
    assert SECRET.lower() not in json.dumps(lines()).lower()


async def test_every_utterance_has_one_line_with_its_outcome_and_its_own_name(app, predictor, running, talk, lines):
    async with running(app) as port:
        async with talk(port) as client:
            await speak(client, predictor)
            await speak(client, predictor)
        async with talk(port) as client:
            await cancel(client, predictor)
    told = [line for line in lines() if line["message"] == "utterance"]
    assert [line["outcome"] for line in told] == ["ok", "ok", "cancelled"]
    assert {line["door"] for line in told} == {"websocket"}
    assert all(line["request_id"] for line in told)
    assert told[0]["ttfa_ms"] >= 0
    assert told[0]["audio_ms"] > 0
    assert len({line["request_id"] for line in told}) == 3


async def test_every_line_of_a_request_says_whose_it_is(app, predictor, running, talk, lines, until):
    async with running(app) as port:
        begun = len(lines())
        async with talk(port) as client:
            await break_the_engine(client, predictor)
        await until(lambda: not app.state.services.connections.count)
    of_requests = lines()[begun:]
    assert any(line["level"] == "error" for line in of_requests)
    assert all(line["request_id"] for line in of_requests), of_requests
