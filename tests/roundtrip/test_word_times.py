"""Word times agree with the waveform they come with: silence lies between words, and pauses move the words after."""

import itertools

import numpy as np
import pytest

from server import Server
from speech_client import Connection
from told import RATE_HZ, Told, speak_with_words

pytestmark = pytest.mark.slow

PAUSED = (
    "When the rain stopped, the children ran outside, and the dog followed them.",
    "Open the window. Close the door. Then sit down, please.",
    "Apples, pears, cherries, and a melon: that is all we bought.",
    "He waited; nobody came. So he left, whistling, with his coat over one arm.",
    "The first line\n\nThe second line\n\nAnd a third one.",
    "Wait. [pause:1s] Now go on, [pause:400ms] slowly.",
    "It costs $5.30, or 4,20 €; at 7:45 p.m., however, it was cheaper.",
    "She wrote to three offices: one in Paris, one in Rome, and one in Oslo.",
)


async def told(server: Server, text: str, voice: str = "heart") -> Told:
    """Speech with its words."""
    async with await Connection.open(server.port) as connection:
        return await speak_with_words(connection, text, voice)


@pytest.mark.parametrize("text", PAUSED)
async def test_every_pause_falls_between_two_words(server: Server, text: str) -> None:
    speech = await told(server, text)
    found = speech.pauses()
    assert found, "no pause, nothing was tested"
    assert [pause for pause in found if not pause.between_words] == []


@pytest.mark.models
@pytest.mark.parametrize("voice", ["af_heart", "am_michael"])
@pytest.mark.parametrize("text", PAUSED[:4])
async def test_every_pause_of_kokoro_falls_between_two_words(server: Server, text: str, voice: str) -> None:
    found = (await told(server, text, voice)).pauses()
    assert found, "no pause, nothing was tested"
    assert [pause for pause in found if not pause.between_words] == []


@pytest.mark.parametrize("text", PAUSED)
async def test_words_are_in_order_inside_the_audio_and_point_into_the_text(server: Server, text: str) -> None:
    speech = await told(server, text)
    length_ms = len(speech.samples) / RATE_HZ * 1000
    assert speech.words
    assert all(word["exact"] for word in speech.words)
    assert all(word["word"] == text[word["start"] : word["end"]] for word in speech.words)
    starts = [word["start_ms"] for word in speech.words]
    assert starts == sorted(starts)
    assert all(0 <= word["start_ms"] <= word["end_ms"] <= length_ms + 1 for word in speech.words)


async def test_kokoro_fastapi_274_a_pause_moves_the_words_after_it(server: Server) -> None:
    """Public case 33."""
    plain = await told(server, "Ready, steady, off we go.")
    paused = await told(server, "Ready, [pause:2s] steady, off we go.")
    assert len(paused.samples) > len(plain.samples) + RATE_HZ
    after = next(word for word in paused.words if word["word"].startswith("steady"))
    before = next(word for word in paused.words if word["word"].startswith("Ready"))
    assert after["start_ms"] - before["end_ms"] >= 1_950


@pytest.mark.parametrize("text", ["Maybe — if you insist — we try again.", "They came – all of them – by bus."])
async def test_kokoro_fastapi_249_a_dash_is_a_pause(server: Server, text: str) -> None:
    """Public case 25: the words around a dash are further apart than other neighbours."""
    words = (await told(server, text)).words
    gaps = {
        (before["word"], after["word"]): after["start_ms"] - before["end_ms"]
        for before, after in itertools.pairwise(words)
    }
    around = [gap for (before, after), gap in gaps.items() if text.split(before)[1].lstrip()[0] in "—–"]
    others = [gap for gap in gaps.values() if gap not in around]
    assert len(around) == 2
    assert min(around) >= 100 > max(others)


async def test_the_words_sound_where_they_are_said_to(server: Server) -> None:
    speech = await told(server, "Bread, milk, and honey.")
    loudest = np.abs(speech.samples).max()
    for word in speech.words:
        heard = speech.samples[int(word["start_ms"] * RATE_HZ / 1000) : int(word["end_ms"] * RATE_HZ / 1000)]
        assert np.abs(heard).max() > 0.05 * loudest, word
