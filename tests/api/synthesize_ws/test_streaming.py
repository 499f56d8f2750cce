"""Text that arrives bit by bit, through minutes of virtual time."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

STORY = (
    "The harbour was quiet that morning. A single boat went out, and the gulls, who knew its skipper well, "
    "followed it past the lighthouse. Nobody spoke. At noon the wind turned! What was there to do? They waited. "
)


def test_vllm_omni_5316_the_first_sentence_is_spoken_before_the_text_ends(virtual, predictor):
    async def story(line: Any) -> None:
        line.say("synthesize", request_id="r1", stream=True, text="Certainly. ")
        await line.until(lambda: line.sound)
        assert not line.of("done")
        assert [segment["text"] for segment in line.of("segment")] == ["Certainly. "]
        await asyncio.sleep(5)
        line.say("text", text="Your table is by the window.")
        line.say("end")
        await line.until(lambda: line.of("done"))
        assert line.of("done")[0]["outcome"] == "ok"
        assert "".join(segment["text"] for segment in line.of("segment")) == "Certainly. Your table is by the window."

    virtual(story)
    assert len(predictor.jobs) == 2


@pytest.mark.parametrize("opening", [{"text": "Let me "}, {"text": ""}, {}])
def test_livekit_agents_6225_a_pause_of_a_minute_in_the_text_is_no_end(virtual, opening):
    async def story(line: Any) -> None:
        line.say("synthesize", stream=True, **opening)
        await asyncio.sleep(60)
        line.say("text", text="look that up. ")
        await line.until(lambda: line.sound)
        await asyncio.sleep(60)
        line.say("text", text="Here it is.")
        await asyncio.sleep(60)
        line.say("end")
        await line.until(lambda: line.of("done"))
        (done,) = line.of("done")
        assert (done["outcome"], done["underruns"]) == ("ok", 0)
        assert not line.of("error")

    virtual(story)


def test_the_first_sound_is_counted_from_the_first_text(virtual, predictor):
    predictor.step_s = 0.02

    async def story(line: Any) -> None:
        line.say("synthesize")
        await asyncio.sleep(30)
        line.say("text", text="Good evening.")
        line.say("end")
        await line.until(lambda: line.of("done"))
        (done,) = line.of("done")
        assert 0 < done["ttfa_ms"] < 1_000
        assert done["timeline"]["admitted"] == 0.0

    virtual(story)


def test_a_flush_speaks_what_is_held_back(virtual, predictor):
    async def story(line: Any) -> None:
        line.say("synthesize", text="Turn left at the next", stream=True)
        await asyncio.sleep(2)
        assert not line.sound
        line.say("flush")
        await line.until(lambda: line.sound)
        line.say("text", text=" corner, by the church.")
        line.say("end")
        await line.until(lambda: line.of("done"))
        spans = [(segment["start"], segment["end"]) for segment in line.of("segment")]
        assert spans == [(0, 21), (21, 44)]

    virtual(story)


def test_one_character_at_a_time_for_ten_minutes(virtual, predictor):
    text = STORY * 30
    step_s = 600 / len(text)
    predictor.chunks, predictor.chunk_ms = 2, 400.0

    async def story(line: Any) -> None:
        began_s = asyncio.get_running_loop().time()
        line.say("synthesize", stream=True, word_timestamps=True)
        for character in text:
            line.say("text", text=character)
            await asyncio.sleep(step_s)
        assert asyncio.get_running_loop().time() - began_s == pytest.approx(600, abs=5)
        line.say("end")
        await line.until(lambda: line.of("done"))
        (done,) = line.of("done")
        assert (done["outcome"], done["bytes"]) == ("ok", len(line.sound))
        assert "".join(segment["text"] for segment in line.of("segment")) == text
        words = [word for message in line.of("words") for word in message["words"]]
        assert [text[word["start"] : word["end"]] for word in words] == [word["word"] for word in words]
        assert len(words) == len(text.split())
        # What was said at the beginning was heard long before the end was written.
        first_end_s = line.times_s[line.heard.index(line.of("segment_end")[0])]
        assert first_end_s - began_s < 20

    virtual(story)


def test_characters_cut_in_halves_are_spoken_whole(virtual, predictor):
    async def story(line: Any) -> None:
        line.say("synthesize", stream=True)
        for unit in "A fox \ud83e", "\udd8a ran off.":
            line.incoming.put_nowait({"type": "websocket.receive", "text": json.dumps({"type": "text", "text": unit})})
        line.say("end")
        await line.until(lambda: line.of("done"))
        assert "".join(segment["text"] for segment in line.of("segment")) == "A fox 🦊 ran off."

    virtual(story)


def test_no_more_is_made_than_the_listener_needs_soon(virtual, predictor):
    predictor.chunks, predictor.chunk_ms = 4, 500.0

    async def story(line: Any) -> None:
        line.say("synthesize", text=STORY * 4, lead_ms=3_000)
        began_s = asyncio.get_running_loop().time()
        await line.until(lambda: line.of("done"))
        heard_s = asyncio.get_running_loop().time() - began_s
        (done,) = line.of("done")
        assert done["underruns"] == 0
        # All but the lead, and a phrase, was made while the listener listened.
        assert done["audio_ms"] / 1000 - 3 - 2.5 < heard_s < done["audio_ms"] / 1000

    virtual(story)


def test_patter_164_what_was_heard_is_the_clients_word_not_the_time_of_sending(virtual, predictor):
    predictor.chunks, predictor.chunk_ms, predictor.hold_at = 11, 1_400.0, 10

    async def story(line: Any) -> None:
        line.say("synthesize", text="Fourteen seconds of it, made in no time.", lead_ms=15_000)
        await line.until(lambda: len(line.sound) > 13_000 * 48)
        await asyncio.sleep(4)
        line.say("played", ms=1_500.0)
        line.say("cancel")
        await line.until(lambda: line.of("done"))
        (done,) = line.of("done")
        assert done["outcome"] == "cancelled"
        assert done["heard_ms"] == pytest.approx(1_500, abs=50)

    virtual(story)


def test_without_a_word_from_the_client_the_clock_tells_what_was_heard(virtual, predictor):
    predictor.chunks, predictor.chunk_ms, predictor.hold_at = 11, 1_000.0, 10

    async def story(line: Any) -> None:
        line.say("synthesize", text="Ten seconds of it.", lead_ms=15_000)
        await line.until(lambda: len(line.sound) > 9_000 * 48)
        await asyncio.sleep(4)
        line.say("cancel")
        await line.until(lambda: line.of("done"))
        assert line.of("done")[0]["heard_ms"] == pytest.approx(4_000, abs=100)

    virtual(story)


@pytest.mark.parametrize("ms", [0, 12.5, 10**9])
def test_a_cursor_beyond_the_sound_means_all_of_it(virtual, predictor, ms):
    predictor.hold_at = 2

    async def story(line: Any) -> None:
        line.say("synthesize", text="So be it.")
        await line.until(lambda: len(line.sound) > 300 * 48)
        line.say("played", ms=ms)
        line.say("cancel")
        await line.until(lambda: line.of("done"))
        (done,) = line.of("done")
        assert done["heard_ms"] <= done["audio_ms"] + 1
        assert done["heard_ms"] == pytest.approx(min(ms, done["audio_ms"]), abs=30)

    virtual(story)


def test_istio_16572_a_quiet_connection_lives_for_minutes_and_not_for_ever(virtual):
    async def story(line: Any) -> None:
        line.say("synthesize", text="Hello.")
        await line.until(lambda: line.of("done"))
        await asyncio.sleep(540)
        assert line.close_code is None
        line.say("synthesize", text="Still there?")
        await line.until(lambda: len(line.of("done")) == 2)
        await line.until(lambda: line.close_code is not None)
        assert line.close_code == 4408
        quiet_s = asyncio.get_running_loop().time() - line.times_s[-1]
        assert quiet_s == pytest.approx(600, abs=2)

    virtual(story)


def test_a_text_that_never_goes_on_is_given_up_after_ten_minutes(virtual):
    async def story(line: Any) -> None:
        line.say("synthesize", text="And then ", stream=True)
        await line.until(lambda: line.close_code is not None)
        assert line.close_code == 4408
        assert [done["outcome"] for done in line.of("done")] == ["cancelled"]

    virtual(story)
