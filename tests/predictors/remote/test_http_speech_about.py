"""What speech servers tell of themselves: whether they are ready, their voices and models."""

import pytest

from vivavoce.errors import Busy, PredictorFailed

from .speech_events import SPEECH, health


@pytest.mark.parametrize(
    ("voices", "names"),
    [
        ({"voices": ["aiden", "vivian"], "uploaded_voices": [{"name": "mine", "consent": "yes"}]}, "aiden vivian mine"),
        ({"voices": [{"id": "af_heart", "name": "Heart"}, {"id": "bm_lewis", "name": "Lewis"}]}, "af_heart bm_lewis"),
        ({"object": "list", "data": [{"voice_id": "ef_dora", "language": "es"}]}, "ef_dora"),
        (["one", {"name": "two"}, 3, {}, {"name": ""}], "one two"),
        ({"voices": None}, ""),
        ("what", ""),
    ],
)
async def test_kokoro_fastapi_462_voices_of_every_shape(predict, kit, voices, names) -> None:
    predictor, _ = await predict(
        lambda asked: asked.whole(kit.wav(kit.tone(0.1), 16_000), Content_Type="audio/wav"),
        routes={"/health": health, "/v1/audio/voices": lambda asked: asked.whole(voices)},
    )
    info = await predictor.probe()
    assert [voice.name for voice in info.voices] == names.split()
    assert predictor.rate_hz("any") == 16_000


async def test_a_model_is_asked_for_by_the_name_that_is_listed(predict, kit) -> None:
    models = {"object": "list", "data": [{"id": "whisper-1"}, {"id": "k2-fsa/OmniVoice"}]}
    predictor, server = await predict(
        lambda asked: asked.whole(kit.wav(kit.tone(0.1)), Content_Type="audio/wav"),
        routes={"/health": health, "/v1/models": lambda asked: asked.whole(models)},
        model="tts",
    )
    info = await predictor.probe()
    assert (info.model, info.design) == ("k2-fsa/OmniVoice", True)
    await kit.heard(predictor.synthesize(kit.job(voice="", language="ar", instruct="male")))
    asked = server.of(SPEECH)[-1].json
    assert (asked["model"], asked["language"], "voice" in asked) == ("k2-fsa/OmniVoice", "arb", False)


async def test_it_is_ready_once_it_has_spoken(predict, kit) -> None:
    works = False

    async def answer(asked) -> None:
        await (asked.whole(kit.wav(kit.tone(0.1))) if works else asked.whole({"error": "weights are loading"}, 500))

    predictor, server = await predict(answer, routes={"/health": health})
    for _ in range(2):
        with pytest.raises(PredictorFailed, match="weights are loading"):
            await predictor.probe()
    works = True
    await predictor.probe()
    await predictor.probe()
    assert len(server.of(SPEECH)) == 3
    server.routes["/health"] = lambda asked: asked.whole({"status": "unhealthy"}, 503)
    with pytest.raises(Busy):
        await predictor.probe()
    server.routes["/health"] = health
    await predictor.probe()
    assert len(server.of(SPEECH)) == 4


async def test_a_server_without_a_health_page_is_up(predict, kit) -> None:
    predictor, _ = await predict(lambda asked: asked.whole({"error": "voice is required"}, 400))
    assert (await predictor.probe()).voices == ()
