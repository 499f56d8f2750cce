"""What Whisper base writes down is what was to be said."""

import asyncio

import pytest

from server import Server
from speech_client import Connection
from wer import Errors, compare, normalize
from whisper import Whisper, read_wav

pytestmark = [pytest.mark.models, pytest.mark.slow, pytest.mark.timeout(600)]

COLORS = ("The silver spoon lies beside the yellow plate.", "Seven green bottles are standing on the wall.")
WEATHER = ("Heavy clouds are moving over the distant hills.", "A strong wind blows from the northern coast.")


async def say(server: Server, text: str, voice: str = "heart"):
    """Speech for a text as samples and their rate."""
    async with await Connection.open(server.port) as connection:
        answer = await connection.speak(model="tts-1", voice=voice, input=text, response_format="wav")
    assert answer.status == 200, answer.body
    return read_wav(answer.body)


async def test_clean_sentences_survive_the_round_trip(server: Server, whisper: Whisper, sentences: list[str]) -> None:
    assert len(set(sentences)) == 60
    counted, wrong = [], []
    for text in sentences[::5]:
        heard = whisper.hear(*await say(server, text))
        counted.append(compare(text, heard))
        wrong += [(text, heard)] if counted[-1].errors else []
    total = Errors(sum(each.errors for each in counted), sum(each.words for each in counted))
    assert total.words > 100
    assert total.rate <= 0.02, wrong


@pytest.mark.parametrize(
    "text",
    [
        "Yes.",
        "Good night.",
        "First we boil the water. Then we add the rice. Last of all comes the pepper.",
        "The list has four parts: bread, butter, sugar, and lemons.",
        "She said: it is late; we should go home, and nobody disagreed.",
        "Is it far? Not really. You can see the tower from here!",
    ],
)
async def test_no_word_is_lost_at_a_seam(server: Server, whisper: Whisper, text: str) -> None:
    heard = whisper.hear(*await say(server, text))
    assert compare(text, heard).errors == 0, heard


async def test_a_long_sentence_keeps_its_last_words(server: Server, whisper: Whisper) -> None:
    """Public case 18: epub2tts-kokoro#5, KokoroSharp#9."""
    text = (
        "When the old ferry finally reached the island, with its lamps already lit, its decks crowded with families, "
        "and its captain leaning out of the window, the people on the shore, who had been waiting since the early "
        "afternoon, began to wave their hats, to call the names of their friends, and to push their small boats into "
        "the water, because nobody wanted to spend another night without fresh bread, lamp oil, and news."
    )
    assert 350 < len(text) < 450
    samples, rate_hz = await say(server, text)
    heard = whisper.hear(samples, rate_hz)
    assert compare(text, heard).rate <= 0.03, heard
    last = whisper.hear(samples[-4 * rate_hz :], rate_hz)
    assert normalize(last)[-4:] == ["lamp", "oil", "and", "news"], last


@pytest.mark.parametrize("voice", ["heart", "af_heart"])
async def test_alltalk_63_two_texts_at_once_do_not_mix(server: Server, whisper: Whisper, voice: str) -> None:
    """Public case 64: two texts in parallel, each heard whole and with its own words only."""
    pairs = list(zip(COLORS, WEATHER, strict=True))
    for pair in pairs:
        answers = await asyncio.gather(*(say(server, text, voice) for text in pair))
        for text, answer in zip(pair, answers, strict=True):
            heard = whisper.hear(*answer)
            assert compare(text, heard).errors == 0, heard
