"""A key's limits hold at the V2 door too."""

from __future__ import annotations

import pytest

from vivavoce.api.v2_door import SlotGate
from vivavoce.errors import Busy, RateLimited
from vivavoce.speech.admission import Caller

KEY = "a-kiosk-in-the-hall"
INFER = "/v2/models/tts/infer"


def asking(text: str) -> dict:
    return {"inputs": [{"name": "text", "shape": [1], "datatype": "BYTES", "data": [text]}]}


@pytest.fixture
def called_by(build, connect, tmp_path):
    """`called_by(limits, …settings)`: the app, and a client whose key has those limits."""

    def make(limits: str = "", **settings):
        keys = tmp_path / "keys.toml"
        keys.write_text(f'[keys.kiosk]\nkey = "{KEY}"\n{limits}\n')
        app = build(api_keys_file=keys, **settings)
        app.state.services.has_spoken()
        return app, connect(app, headers={"authorization": f"Bearer {KEY}"})

    return make


def test_a_caller_with_a_limit_takes_no_more_slots_than_that():
    gate = SlotGate(lambda: 3)
    kiosk, other = Caller("kiosk", streams=1), Caller("other")
    seat = gate.take(kiosk)
    with pytest.raises(RateLimited):
        gate.take(kiosk)
    gate.take(other)
    seat.release()
    seat.release()
    assert gate.busy == 1
    gate.take(kiosk)
    gate.take(other)
    with pytest.raises(Busy, match="All 3 slots"):
        gate.take(other)
    assert gate.busy == 3


def test_without_slots_there_is_none_to_take():
    with pytest.raises(Busy, match="no slot"):
        SlotGate(lambda: 0).take()


async def test_a_key_over_its_streams_is_told_when_to_come_again(called_by):
    app, connection = called_by("streams = 1")
    async with connection as client:
        seat = app.state.v2.gate.take(Caller("kiosk"))
        refused = await client.post(INFER, json=asking("Two at once."))
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
        assert isinstance(refused.json()["error"], str)
        seat.release()
        assert (await client.post(INFER, json=asking("One at a time."))).status_code == 200


async def test_a_key_over_its_characters_is_refused_and_holds_no_slot(called_by, sample):
    app, connection = called_by("characters_per_minute = 30")
    async with connection as client:
        assert (await client.post(INFER, json=asking("Twenty characters!!!"))).status_code == 200
        refused = await client.post("/v2/models/tts/generate", json={"text_input": "Twenty characters more."})
        assert refused.status_code == 429
        assert int(refused.headers["retry-after"]) > 1
    assert app.state.v2.gate.busy == 0
    assert sample(app, "tts_busy_total", reason="rate_limited") == 1


async def test_the_kill_switch_takes_every_key_at_its_word(called_by):
    app, connection = called_by("streams = 1\ncharacters_per_minute = 1", admission_enabled=False)
    async with connection as client:
        app.state.v2.gate.take(Caller("kiosk"))
        assert (await client.post(INFER, json=asking("Anything goes."))).status_code == 200


async def test_a_browsers_token_speaks_and_unloads_nothing(called_by):
    app, connection = called_by()
    async with connection as client:
        token = (await client.post("/v1/tokens")).json()["token"]
        client.headers["authorization"] = f"Bearer {token}"
        for call in ("unload", "load"):
            assert (await client.post(f"/v2/repository/models/tts/{call}")).status_code == 403
        assert (await client.post(INFER, json=asking("Only speaking."))).status_code == 200
    assert app.state.v2.ready
