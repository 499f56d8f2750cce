"""What the V2 door tells of itself: health, metadata, the repository, statistics."""

from __future__ import annotations

import pytest

from vivavoce.errors import PredictorFailed

from .v2_calls import INFER, SENTENCE, body_of


async def test_the_server_tells_its_extensions(door):
    about = (await door.get("/v2")).json()
    assert about["name"] == "vivavoce"
    assert {"binary_tensor_data", "generate", "vivavoce_stream"} <= set(about["extensions"])
    assert (await door.get("/v2/")).json() == about


async def test_live_before_ready_and_ready_once_it_has_spoken(app, connect):
    async with connect(app) as client:
        assert (await client.get("/v2/health/live")).json() == {"live": True}
        for path in ("/v2/health/ready", "/v2/models/tts/ready"):
            early = await client.get(path)
            assert (early.status_code, list(early.json())) == (503, ["error"])
            assert early.headers["x-slots"] == "2"
        refused = await client.post(INFER, json=body_of([SENTENCE]))
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
        app.state.services.has_spoken()
        assert (await client.get("/v2/health/ready")).json() == {"ready": True, "live": True}
        assert (await client.get("/v2/models/tts/ready")).json() == {"name": "tts", "ready": True}
        assert (await client.get("/v2/models/tts/versions/1/ready")).status_code == 200
        assert (await client.head("/v2/health/ready")).status_code == 200


async def test_the_health_reply_tells_what_a_pool_wants_to_know(build, connect, predictor):
    predictor.slots = 7
    app = build(tier="burst", node_name="node\r\nX-Evil: ü1")
    app.state.services.has_spoken()
    async with connect(app) as client:
        headers = (await client.get("/v2/health/ready")).headers
    told = {name: headers[name] for name in ("x-slots", "x-streams", "x-tier", "x-node", "x-model")}
    assert told == {
        "x-slots": "7",
        "x-streams": "64",
        "x-tier": "burst",
        "x-node": "nodeX-Evil: 1",
        "x-model": "scripted",
    }


@pytest.mark.parametrize("path", ["/v2/models/tts", "/v2/models/tts/versions/1"])
async def test_the_models_metadata_has_its_tensors_and_its_voices(door, path):
    about = (await door.get(path)).json()
    assert (about["name"], about["versions"]) == ("tts", ["1"])
    assert {tensor["name"]: tensor["datatype"] for tensor in about["inputs"]}["text"] == "BYTES"
    assert about["outputs"][0] == {"name": "audio", "datatype": "INT16", "shape": [-1]}
    assert [voice["name"] for voice in about["vivavoce"]["voices"]] == ["mira", "otto"]
    assert about["vivavoce"]["design"] is False
    assert about["vivavoce"]["languages"]


async def test_models_configuration_and_repository(door):
    assert (await door.get("/v2/models")).json() == {"models": ["tts"]}
    config = (await door.get("/v2/models/tts/config")).json()
    assert (config["name"], config["max_batch_size"]) == ("tts", 0)
    assert config["input"][0] == {"name": "text", "data_type": "TYPE_STRING", "dims": [1]}
    index = await door.post("/v2/repository/index")
    assert index.json() == [{"name": "tts", "version": "1", "state": "READY", "reason": ""}]


async def test_an_unloaded_model_refuses_until_it_is_loaded_again(door):
    assert (await door.post("/v2/repository/models/tts/unload")).json() == {"name": "tts", "unload": True}
    assert (await door.get("/v2/health/ready")).status_code == 503
    assert (await door.post(INFER, json=body_of([SENTENCE]))).status_code == 503
    assert (await door.post("/v2/repository/index", json={"ready": True})).json() == []
    assert (await door.post("/v2/repository/index", json={})).json()[0]["state"] == "UNAVAILABLE"
    assert (await door.post("/v2/repository/models/tts/load", json={"parameters": {}})).status_code == 200
    assert (await door.post(INFER, json=body_of([SENTENCE]))).status_code == 200
    assert (await door.post("/v2/repository/models/other/load")).status_code == 404


async def test_a_page_of_another_site_cannot_unload_or_infer(door):
    foreign = {"sec-fetch-site": "cross-site", "content-type": "text/plain"}
    for path in ("/v2/repository/models/tts/unload", INFER, "/v2/models/tts/generate"):
        assert (await door.post(path, content=b"{}", headers=foreign)).status_code == 403
    del foreign["content-type"]
    assert (await door.post("/v2/repository/models/tts/unload", headers=foreign)).status_code == 403
    assert (await door.get("/v2/health/ready")).status_code == 200


async def test_statistics_count_what_went_well_and_what_did_not(door, predictor):
    await door.post(INFER, json=body_of([SENTENCE]))
    predictor.fail_at, predictor.fail_with = 0, PredictorFailed("broken")
    await door.post(INFER, json=body_of([SENTENCE]))
    for path in ("/v2/models/tts/stats", "/v2/models/stats", "/v2/models/tts/versions/1/stats"):
        stats = (await door.get(path)).json()["model_stats"][0]
        assert stats["inference_count"] == 1
        assert stats["inference_stats"]["success"]["count"] == 1
        assert stats["inference_stats"]["fail"]["count"] == 1
