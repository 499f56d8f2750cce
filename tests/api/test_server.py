"""Where the server listens, whom it serves, and how it stops."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request

import pytest

from vivavoce.api import serve
from vivavoce.config import Settings
from vivavoce.errors import ConfigError


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7", "build-box"])
def test_beyond_this_machine_only_with_keys(host):
    with pytest.raises(ConfigError, match="VIVAVOCE_API_KEYS"):
        serve(Settings(host=host))


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "[::1]", "127.0.0.9"])
def test_this_machine_needs_no_keys(host):
    Settings(host=host).check_bind()


def test_open_doors_have_to_be_asked_for():
    Settings(host="0.0.0.0", allow_open=True).check_bind()
    Settings(host="0.0.0.0", api_keys="k").check_bind()


def test_a_port_that_is_taken_is_named():
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(ConfigError, match=rf"port {port} on 127\.0\.0\.1 is taken"):
            serve(Settings(port=port))


def test_an_address_that_is_not_this_machines_is_named():
    with pytest.raises(ConfigError, match=r"cannot listen on 192\.0\.2\.7"):
        serve(Settings(host="192.0.2.7", allow_open=True))


SERVE = """
import gc
from vivavoce.api import serve
from vivavoce.config import Settings
serve(Settings.load(port=0))
print("stopped, not collected:", gc.get_freeze_count() > 10_000, flush=True)
"""


@pytest.mark.skipif(os.name == "nt", reason="signals are POSIX")
@pytest.mark.parametrize(("keys", "style"), [("", "text"), ("front-door", "text"), ("", "json")])
def test_it_says_where_it_speaks_once_it_does_and_stops_when_told(keys, style):
    environment = {**os.environ, "VIVAVOCE_API_KEYS": keys, "VIVAVOCE_LOG_FORMAT": style}
    with subprocess.Popen(
        [sys.executable, "-c", SERVE], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        try:
            where = process.stderr.readline()
            if style == "json":
                url, whom = json.loads(where)["url"], json.loads(where)["served"]
            else:
                url, whom = where.removeprefix("vivavoce speaks at ").strip(), process.stderr.readline()
            with urllib.request.urlopen(f"{url}/health", timeout=10) as response:
                assert response.status == 200
            process.send_signal(signal.SIGTERM)
            assert process.wait(20) == 0
            assert process.stdout.read() == "stopped, not collected: True\n"
            rest = process.stderr.read()
        finally:
            process.kill()
    assert ("need a key" in whom) == bool(keys)
    assert ("only this machine" in whom) == (not keys)
    assert "front-door" not in whom + rest
    assert "Traceback" not in rest


async def test_an_utterance_that_runs_may_finish_when_the_server_stops(app, predictor, running, wire, until):
    predictor.hold_at = 1
    predictor.chunk_ms = 500.0
    async with wire_later(wire) as connect:
        async with running(app) as port:
            raw = await connect(port)
            await raw.post({"input": "Let me finish this sentence.", "response_format": "pcm"})
            assert (await raw.head())[0] == 200
            app.state.services.admission.draining = True
            async with wire(port) as late:
                await late.post({"input": "Too late."})
                status, headers = await late.head()
                assert (status, headers["retry-after"]) == (503, "1")
            predictor.gate.set()
        assert (await raw.reader.read()).endswith(b"0\r\n\r\n")


class wire_later:
    """A connection that outlives the server it was made to."""

    def __init__(self, wire):
        self.wire = wire
        self.context = None

    async def __aenter__(self):
        async def connect(port):
            self.context = self.wire(port)
            return await self.context.__aenter__()

        return connect

    async def __aexit__(self, *error):
        await self.context.__aexit__(*error)


@pytest.mark.parametrize(
    ("fields", "hold_at"), [({"response_format": "pcm"}, 1), ({"stream": False}, 0), ({"stream_format": "sse"}, 1)]
)
async def test_when_the_time_to_finish_ends_a_reply_breaks_off_and_nothing_is_said_to_have_crashed(
    app, predictor, running, wire, until, caplog, sample, fields, hold_at
):
    predictor.hold_at = hold_at
    predictor.chunk_ms = 500.0
    async with wire_later(wire) as connect:
        async with running(app, grace_s=0) as port:
            raw = await connect(port)
            await raw.post({"input": "This will never be finished in time.", **fields})
            if hold_at:
                assert (await raw.head())[0] == 200
            await until(lambda: predictor.active)
            app.state.services.admission.draining = True
        if not hold_at:
            assert (await raw.head())[0] == 503
            assert json.loads(await raw.reader.read())["error"]["code"] == "busy"
        else:
            assert not (await raw.reader.read()).endswith(b"0\r\n\r\n")
    assert sample(app, "tts_utterances_total", door="openai", outcome="cancelled") == 1
    assert "Exception in ASGI application" not in caplog.text
    assert "Traceback" not in caplog.text
