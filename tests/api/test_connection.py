"""The head of a request: how long it may take, how large it may be, what it may offer."""

from __future__ import annotations

import asyncio
import json
import socket

import pytest

from vivavoce.api.connection import Connection

BODY = json.dumps({"input": "Mind the step.", "response_format": "pcm"}).encode()


def head(*fields: str) -> bytes:
    lines = ["POST /v1/audio/speech HTTP/1.1", "Host: door", f"Content-Length: {len(BODY)}", *fields]
    return "\r\n".join(lines).encode() + b"\r\n\r\n"


@pytest.mark.parametrize("sent", [b"", b"POST /v1/audio/speech HT", head()[:-4], head("X-Slow: " + "y" * 900)[:-2]])
async def test_a_head_that_does_not_come_closes_the_connection(app, running, wire, monkeypatch, sent):
    monkeypatch.setattr(Connection, "head_timeout_s", 0.05)
    async with running(app) as port, wire(port) as raw:
        raw.writer.write(sent)
        assert await raw.reader.read() == b""


async def test_a_second_head_that_does_not_come_closes_the_connection_too(app, running, wire, monkeypatch):
    monkeypatch.setattr(Connection, "head_timeout_s", 0.05)
    async with running(app) as port, wire(port) as raw:
        raw.writer.write(b"GET /health HTTP/1.1\r\nHost: door\r\n\r\nGET /health HT")
        assert (await raw.reader.read()).count(b"200 OK") == 1


async def test_an_utterance_may_take_longer_than_its_head(app, predictor, running, wire, monkeypatch, until):
    monkeypatch.setattr(Connection, "head_timeout_s", 0.05)
    predictor.hold_at = 1
    async with running(app) as port, wire(port) as raw:
        raw.writer.write(head("Connection: close") + BODY)
        await until(lambda: predictor.active)
        fired = []
        asyncio.get_running_loop().call_later(0.1, fired.append, True)
        await until(lambda: fired)
        predictor.gate.set()
        assert (await raw.reader.read()).endswith(b"0\r\n\r\n")


async def test_a_head_without_end_is_cut_short(app, running, wire):
    async with running(app) as port, wire(port) as raw:
        raw.writer.write(b"GET /health HTTP/1.1\r\nHost: door\r\n")
        for index in range(200):
            raw.writer.write(f"X-Filler-{index}: {'z' * 1_000}\r\n".encode())
        assert (await raw.head())[0] == 400


@pytest.mark.parametrize(
    "offer",
    [
        ["Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABk"],
        ["connection: upgrade, close", "upgrade:h2c"],
    ],
)
@pytest.mark.parametrize("times", [1, 2])
async def test_an_offer_of_http_2_loses_no_body(app, running, wire, offer, times):
    async with running(app) as port, wire(port) as raw:
        for _ in range(times):
            raw.writer.write(head(*offer) + BODY)
            assert (await raw.head())[0] == 200
            if "close" in offer[0]:
                break
            assert (await raw.reader.readuntil(b"0\r\n\r\n")).endswith(b"0\r\n\r\n")


async def test_what_a_body_says_about_upgrades_is_left_alone(app, predictor, running, wire):
    text = "Upgrade: h2c is a header."
    async with running(app) as port, wire(port) as raw:
        await raw.post({"input": text, "response_format": "pcm"})
        assert (await raw.head())[0] == 200
    assert any("Upgrade" in job.phrase.text for job in predictor.jobs)


async def test_what_is_written_leaves_at_once_whoever_made_the_listening_socket(app, running, wire, monkeypatch):
    seen = []
    made = Connection.connection_made

    def noted(self, transport):
        made(self, transport)
        seen.append(transport.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))

    monkeypatch.setattr(Connection, "connection_made", noted)
    async with running(app) as port, wire(port) as raw:
        raw.writer.write(b"GET /health HTTP/1.1\r\nHost: door\r\nConnection: close\r\n\r\n")
        assert b"200 OK" in await raw.reader.read()
    assert seen == [1]
