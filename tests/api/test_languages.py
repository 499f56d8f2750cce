"""Which languages there are, and voices described instead of named."""

from __future__ import annotations

import pytest

DESIGN = "/v1/voices/design"


async def test_all_languages_are_listed_and_the_spoken_ones_come_first(client):
    body = (await client.get("/v1/languages")).json()
    listed = body["languages"]
    assert len(listed) == 646
    assert [entry["id"] for entry in listed[:2]] == ["en", "de"]
    assert {entry["id"] for entry in listed if entry["speakable"]} == {"en", "de"}
    assert listed[0]["voices"] == 1
    assert listed[0]["needs"] == ""
    assert "OmniVoice" in listed[2]["needs"]


async def test_every_speakable_language_is_one_that_a_request_may_name(client):
    listed = (await client.get("/v1/languages")).json()["languages"]
    for entry in (entry for entry in listed if entry["speakable"]):
        ask = {"input": "Hello there.", "language": entry["tag"], "response_format": "pcm"}
        assert (await client.post("/v1/audio/speech", json=ask)).status_code == 200


async def test_the_vocabulary_is_told(client):
    design = (await client.get("/v1/languages")).json()["design"]
    assert design["native"] is False
    assert [category["name"] for category in design["categories"]] == [
        "gender",
        "age",
        "pitch",
        "style",
        "accent",
        "dialect",
    ]


async def test_a_design_becomes_the_nearest_voice_and_says_what_it_cannot_be(client):
    reply = (await client.post(DESIGN, json={"instruct": "Elderly, FEMALE", "language": "en"})).json()
    assert reply["instruct"] == "female, elderly"
    assert reply["native"] is False
    assert reply["voice"]["id"] == "mira"
    assert "is female" in reply["why"]
    assert "cannot be elderly" in reply["why"]


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"instruct": "male, female"}, "instruct"),
        ({"instruct": 7}, "instruct"),
        ({"instruct": "british accent", "language": "de"}, "instruct"),
        ({"instruct": "male", "language": "sw"}, "language"),
        ({"instruct": "male", "language": ["en"]}, "language"),
    ],
)
async def test_what_cannot_be_designed_is_a_clear_error(client, body, param):
    reply = await client.post(DESIGN, json=body)
    assert reply.status_code == 400
    assert reply.json()["error"]["param"] == param


@pytest.mark.parametrize(
    ("fields", "voice"),
    [
        ({"instructions": "female"}, "mira"),
        ({"instructions": "male", "language": "de"}, "otto"),
        ({"instructions": "Speak like a tired pirate"}, "mira"),
        ({"instructions": "male", "voice": "mira"}, "mira"),
    ],
)
async def test_instructions_that_are_a_design_choose_the_voice(client, predictor, fields, voice):
    reply = await client.post("/v1/audio/speech", json={"input": "Sail on.", "response_format": "pcm", **fields})
    assert reply.status_code == 200
    assert [job.voice for job in predictor.jobs] == [voice]
