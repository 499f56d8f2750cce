"""The page, and the doors that only tell something."""

from __future__ import annotations

import pytest

from vivavoce.api.page import WEB
from vivavoce.errors import VoiceNotInstalled

OPENAI_VOICES = "alloy ash ballad cedar coral echo fable marin nova onyx sage shimmer verse".split()  # noqa: SIM905


@pytest.mark.parametrize(
    ("path", "kind"),
    [("/", "text/html"), ("/index.html", "text/html"), ("/app.js", "text/javascript"), ("/style.css", "text/css")],
)
async def test_the_page_and_its_files(client, path, kind):
    response = await client.get(path)
    assert response.status_code == 200
    assert response.headers["content-type"].startswith(kind)
    assert "default-src 'self'" in response.headers["content-security-policy"]
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers["cache-control"] == "no-cache"
    again = await client.get(path, headers={"If-None-Match": response.headers["etag"]})
    assert again.status_code == 304
    head = await client.head(path)
    assert (head.status_code, head.content) == (200, b"")


@pytest.mark.parametrize(
    "path",
    [
        "/../config.py",
        "/..%2f..%2fconfig.py",
        "/%2e%2e/config.py",
        "/....//config.py",
        "/%2fetc%2fpasswd",
        "//etc/passwd",
    ],
)
async def test_kokoro_fastapi_070_no_path_leads_out_of_the_page(client, path):
    response = await client.get(path)
    assert response.status_code == 404
    assert b"Settings" not in response.content


async def test_kokoro_fastapi_072_ranges_are_not_answered(client):
    ranges = ",".join(f"{n}-{n + 1}" for n in range(0, 20_000, 2))
    response = await client.get("/app.js", headers={"Range": f"bytes={ranges}"})
    assert response.status_code == 200
    assert response.content == (WEB / "app.js").read_bytes()


async def test_health_is_not_well_before_it_has_spoken(app, client):
    assert (await client.get("/health")).status_code == 503
    assert (await client.get("/ready")).json() == {"status": "starting"}
    await app.state.services.warm_up()
    assert (await client.get("/health")).json() == {"status": "healthy"}
    assert (await client.head("/health")).status_code == 200
    assert (await client.get("/ready")).json() == {"status": "ready"}


async def test_health_says_why_it_is_not_well(build, connect, predictor):
    app = build(default_voice="ghost")
    await app.state.services.warm_up()
    async with connect(app) as client:
        response = await client.get("/health")
        assert response.status_code == 503
        assert response.json()["error"]["code"] == VoiceNotInstalled.code
        assert "models pull ghost" in response.json()["error"]["message"]
        assert (
            await client.post("/v1/audio/speech", json={"input": "Other voices work.", "voice": "mira"})
        ).status_code == 200
        assert (await client.get("/health")).status_code == 200


async def test_health_recovers_when_the_voice_arrives(build, engine, monkeypatch, caplog, until):
    from vivavoce.api import services

    monkeypatch.setattr(services, "WARM_UP_RETRY_S", 0.0)
    app = build(default_voice="ghost")
    async with app.router.lifespan_context(app):
        await until(lambda: app.state.services.fault is not None)
        assert not app.state.services.spoken
        engine.ready_voices = engine.voices
        await until(lambda: app.state.services.spoken)
    assert caplog.text.count("the default voice cannot speak") == 1


async def test_ready_tells_draining_and_full_apart(app, client, predictor):
    await app.state.services.warm_up()
    admission = app.state.services.admission
    predictor.seats = admission.queue_limit = 0
    refused = await client.post("/v1/audio/speech", json={"input": "Too many."})
    assert refused.status_code == 503
    assert "Retry-After" in refused.headers
    assert (await client.get("/ready")).json() == {"status": "full"}
    admission.draining = True
    response = await client.get("/ready")
    assert (response.status_code, response.json()) == (503, {"status": "draining"})
    assert (await client.post("/v1/audio/speech", json={"input": "Too late."})).status_code == 503
    assert (await client.get("/health")).status_code == 200


async def test_metrics_name_no_engine(client):
    await client.post("/v1/audio/speech", json={"input": "Count me."})
    response = await client.get("/metrics")
    assert response.headers["content-type"].startswith("text/plain; version=0.0.4")
    for name in (
        "tts_ttfa_seconds_bucket",
        "tts_rtf_ratio_sum",
        "tts_utterances_total",
        "tts_streams_active",
        "tts_slots",
    ):
        assert f"\n{name}" in response.text
    assert "hibari" not in response.text
    assert "scripted" not in response.text


async def test_two_servers_in_one_process_count_apart(build, connect):
    first, second = build(), build()
    async with connect(first) as client:
        await client.post("/v1/audio/speech", json={"input": "Only here."})
    async with connect(second) as client:
        assert 'outcome="ok"' not in (await client.get("/metrics")).text


@pytest.mark.parametrize("path", ["/v1", "/v1/"])
async def test_livekit_warms_up_without_a_failure(client, path):
    response = await client.get(path)
    assert response.status_code == 200
    assert "/v1/audio/speech" in response.json()["endpoints"]


async def test_models(client):
    listed = (await client.get("/v1/models")).json()
    assert listed["object"] == "list"
    ids = [model["id"] for model in listed["data"]]
    assert {"scripted", "tts-1", "tts-1-hd", "gpt-4o-mini-tts"} <= set(ids)
    for model in listed["data"]:
        assert model["object"] == "model"
        assert isinstance(model["created"], int)
        assert (await client.get(f"/v1/models/{model['id']}")).json() == model


async def test_kokoro_fastapi_462_voices_have_two_shapes_that_never_change(client):
    listed = (await client.get("/v1/audio/voices")).json()
    assert (listed["object"], listed["shape"]) == ("list", 2)
    assert [voice["id"] for voice in listed["voices"]] == ["mira", "otto"]
    mira = listed["voices"][0]
    assert (mira["name"], mira["language"], mira["engine"], mira["ready"]) == ("mira", "en-US", "scripted", True)
    for query in ("shape=1", "legacy=true"):
        assert (await client.get(f"/v1/audio/voices?{query}")).json() == {"voices": ["mira", "otto"]}
    everyone = (await client.get("/v1/audio/voices?all=true")).json()["voices"]
    ghost = next(voice for voice in everyone if voice["id"] == "ghost")
    assert ghost["ready"] is False
    assert "models pull" in ghost["hint"]


def test_kokoro_fastapi_479_openai_voice_names_are_golden():
    from vivavoce.engines.aliases import VOICE_ALIASES

    assert sorted(VOICE_ALIASES) == OPENAI_VOICES
    assert len(set(VOICE_ALIASES.values())) == len(OPENAI_VOICES)


async def test_explain_points_into_the_text(client):
    text = "It was fine. Then it rained!"
    response = await client.post("/v1/text/explain", json={"input": text})
    assert response.status_code == 200
    segments = response.json()["segments"]
    assert "".join(text[segment["start"] : segment["end"]] for segment in segments) == text
    for segment in segments:
        assert segment["text"] == text[segment["start"] : segment["end"]]
        for part in segment["parts"]:
            assert part["source"] == text[part["start"] : part["end"]]
            assert set(part) >= {"words", "rule"}


async def test_the_command_explains_alike(client):
    from vivavoce.text.explain import explanation

    text = "It cost $5.3 million in the 1990s [pause:1s] **really** 😀. Dr. Lee's <sub alias='hi'>x</sub>!"
    response = await client.post("/v1/text/explain", json={"input": text, "name_emoji": True})
    assert response.json() == explanation(text, "en", None, name_emoji=True)
    assert any(part.get("pause_ms") for segment in response.json()["segments"] for part in segment["parts"])


@pytest.mark.parametrize(
    ("body", "status", "param"),
    [
        ({}, 400, "input"),
        ({"input": 4}, 400, "input"),
        ({"input": "a", "language": ""}, 400, "language"),
        ({"input": "a" * 100_001}, 413, "input"),
    ],
)
async def test_explain_refuses_what_it_cannot_read(client, body, status, param):
    response = await client.post("/v1/text/explain", json=body)
    assert (response.status_code, response.json()["error"]["param"]) == (status, param)


async def test_explain_takes_an_empty_text(client):
    assert (await client.post("/v1/text/explain", json={"input": ""})).json()["segments"] == []


async def test_the_contract_describes_itself(client):
    schema = (await client.get("/openapi.json")).json()
    body = schema["paths"]["/v1/audio/speech"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert {"input", "voice", "response_format", "speed", "stream", "word_timestamps"} <= set(body["properties"])
