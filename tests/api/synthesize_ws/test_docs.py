"""docs/protocol.md knows every message, field, error and close code that there is."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from vivavoce import errors
from vivavoce.api import synthesize_ws, ws_session, ws_wire
from vivavoce.speech import messages, protocol, replies
from vivavoce.speech.events import Outcome
from vivavoce.speech.messages import MAX_LEAD_MS, MIN_LEAD_MS

DOCS = (Path(__file__).parents[3] / "docs" / "protocol.md").read_text()
# What no client of this door can meet: settings, files of users, sound on this machine, and doors over HTTP.
ELSEWHERE = {
    *["BadLexicon", "ConfigError", "PlaybackFailed", "RequestTimeout", "Forbidden", "BadRequest"],
    *["BusyReason", "VivavoceError"],
}


@pytest.mark.parametrize("kind", messages._MODELS)
def test_every_message_of_the_client_and_its_fields(kind):
    assert f"`{kind}`" in DOCS
    for field in messages._MODELS[kind].model_fields:
        assert f"`{field}`" in DOCS, field


def test_every_message_of_the_server_and_its_fields():
    source = inspect.getsource(replies)
    kinds = {*re.findall(r'type="(\w+)"', source), *re.findall(r'"type": "(\w+)"', source), "accepted"}
    assert len(kinds) == 11
    for name in kinds | set(re.findall(r"^        (\w+)=", source, re.MULTILINE)) - {"type"}:
        assert f"`{name}`" in DOCS or f"{name}" in DOCS.split("### `done`")[0], name


@pytest.mark.parametrize("name", sorted(set(errors.__all__) - ELSEWHERE))
def test_every_error(name):
    kind = getattr(errors, name)
    assert f"`{kind.code}`" in DOCS


def test_every_close_code():
    sources = "".join(inspect.getsource(module) for module in (synthesize_ws, ws_session, ws_wire, protocol))
    codes = {int(code) for code in re.findall(r"\b(1[0-9]{3}|4[0-9]{3})\b", sources) if code not in ("1000", "1006")}
    codes |= {1000, 1002, 1009, errors.Busy.close_code, errors.InputTooLarge.close_code, errors.Unauthorized.close_code}
    codes -= {protocol.AUDIO_FRAME_BYTES, 1_024}
    table = DOCS.split("## Close codes")[1].split("## Errors")[0]
    assert {int(code) for code in re.findall(r"^\| (\d{4}) ", table, re.MULTILINE)} == codes


def test_every_outcome_and_every_limit():
    for outcome in Outcome.__args__:
        assert f"`{outcome}`" in DOCS
    assert f"{MIN_LEAD_MS:.0f} to {MAX_LEAD_MS:.0f}" in DOCS
    assert f"up to {protocol.MAX_UTTERANCES} run at once" in DOCS
    assert f"more than {protocol.MAX_BAD_MESSAGES} bad messages" in DOCS
