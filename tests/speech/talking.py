"""Saying something to a conversation, and what comes of it."""

from __future__ import annotations

import json
from typing import Any

from vivavoce.errors import BadToken
from vivavoce.speech import Timeline, Utterance
from vivavoce.speech.actions import Action, Begin, Send
from vivavoce.speech.ask import Ask
from vivavoce.speech.protocol import Conversation
from vivavoce.speech.resume import Resumed

LIMIT = 200


def read_token(token: str) -> Resumed:
    if token != "good":
        raise BadToken("no such token", param="token")
    utterance = Utterance(voice="mira", language="en-US", speed=1.25, rate_hz=16_000)
    return Resumed(utterance, "r7", "pcm", "header", True, "alloy")


def told(actions: list[Action]) -> list[Any]:
    """Actions in a short form: messages as they are on the wire."""
    return [json.loads(action.frame) if isinstance(action, Send) else action for action in actions]


def say(talk: Conversation, kind: str, **fields: Any) -> list[Any]:
    return told(talk.receive(json.dumps({"type": kind, **fields})))


def begin(talk: Conversation, **fields: Any) -> Ask:
    accepted, action = say(talk, "synthesize", **{"text": "Three herons stood in the reeds.", **fields})
    assert accepted["type"] == "accepted"
    assert isinstance(action, Begin)
    assert action.ask.request_id == accepted["request_id"]
    return action.ask


def error_of(said: list[Any]) -> dict[str, Any]:
    (error,) = said
    assert error["type"] == "error"
    return error


def finish(talk: Conversation, generation: int, outcome: Any = "ok") -> dict[str, Any]:
    (frame,) = talk.ended(generation, outcome, Timeline(0.0, ended_ms=5.0), 0.0)
    return json.loads(frame)
