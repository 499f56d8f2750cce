"""Every voice of the catalog through the door; needs Kokoro's weights."""

from __future__ import annotations

import asyncio
import json

import httpx
import pytest

from vivavoce.api import create_app
from vivavoce.config import Settings
from vivavoce.engines.aliases import VOICE_ALIASES
from vivavoce.engines.catalog import default_catalog

pytestmark = [pytest.mark.models, pytest.mark.slow]


@pytest.fixture
async def client():
    catalog = default_catalog()
    if not all(voice.ready for voice in catalog.voices() if voice.engine == "kokoro"):
        pytest.skip("Kokoro's weights are not on this machine: vivavoce models pull kokoro")
    app = create_app(Settings(cache_mb=0), catalog=catalog)
    transport = httpx.ASGITransport(app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://door") as client,
    ):
        client.app = app
        yield client


async def ask(client, **fields):
    return await client.post(
        "/v1/audio/speech", json={"model": "tts-1", "response_format": "wav", **fields}, timeout=60
    )


async def test_kokoro_fastapi_479_every_openai_voice_is_another_voice(client):
    said = {}
    for voice in VOICE_ALIASES:
        response = await ask(client, voice=voice, input="Yes, of course.")
        assert response.status_code == 200, response.text
        said[voice] = response.content
    assert len(set(said.values())) == len(VOICE_ALIASES)


@pytest.mark.parametrize(
    ("language", "text", "words"),
    [
        ("es", "La lluvia cae despacio.", ["La", "lluvia", "cae", "despacio"]),
        ("fr", "Le jardin est fermé.", ["Le", "jardin", "est", "fermé"]),
        ("it", "Il treno parte adesso.", ["Il", "treno", "parte", "adesso"]),
    ],
)
async def test_kokoro_fastapi_314_word_times_in_every_language(client, language, text, words):
    response = await ask(client, language=language, input=text, word_timestamps=True)
    if response.status_code == 503:
        pytest.skip(response.json()["error"]["message"])
    assert response.status_code == 200, response.text
    told = json.loads(response.headers["x-word-timestamps"])
    assert [word["word"] for word in told] == words
    assert all(0 <= word["start_ms"] <= word["end_ms"] for word in told)


async def test_faster_qwen3_tts_130_a_slow_voice_stops_when_nobody_listens(client):
    asked = asyncio.ensure_future(ask(client, voice="nova", input="A long and winding sentence goes on and on. " * 30))
    while client.app.state.services.admission.running == 0:  # noqa: ASYNC110
        await asyncio.sleep(0)
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked
    assert client.app.state.services.admission.running == 0
