"""Calls of the V2 door: a body that asks for speech, and what came back."""

from __future__ import annotations

import json

import httpx

from vivavoce.predictors.v2_wire import HEADER_LENGTH, InferResponse

INFER = "/v2/models/tts/infer"
SENTENCE = "The harbour lights came on one by one."


def body_of(text: object, shape=(1,), **more) -> dict:
    return {"inputs": [{"name": "text", "shape": list(shape), "datatype": "BYTES", "data": text}], **more}


def read(reply: httpx.Response) -> InferResponse:
    assert reply.status_code == 200, reply.text
    return InferResponse.decode(reply.content, reply.headers.get(HEADER_LENGTH))


def events(reply: httpx.Response) -> list[dict]:
    assert reply.headers["content-type"] == "text/event-stream; charset=utf-8"
    lines = [line for line in reply.text.split("\n\n") if line]
    assert all(line.startswith("data: ") for line in lines)
    return [json.loads(line[6:]) for line in lines]
