"""POST /v1/audio/speech on scripted voices."""

from __future__ import annotations

import base64
import io
import itertools
import json
import wave

import numpy as np
import pytest

from vivavoce.engines.base import Chunk, WordTime
from vivavoce.errors import ModelCorrupt, PredictorFailed, VoiceNotInstalled

URL = "/v1/audio/speech"
OUTCOMES = ("ok", "cancelled", "client_gone", "shed", "error")
FORMATS = {
    "mp3": "audio/mpeg",
    "opus": "audio/ogg; codecs=opus",
    "aac": "audio/aac",
    "flac": "audio/flac",
    "wav": "audio/wav",
    "pcm": "audio/pcm",
}


def ask(text="The kettle is on. Come and sit down.", **fields):
    return {"model": "tts-1", "voice": "mira", "input": text, **fields}


def events_of(response):
    lines = response.text.split("\n\n")
    assert lines.pop() == ""
    assert all(line.startswith("data: ") for line in lines)
    return [json.loads(line.removeprefix("data: ")) for line in lines]


def audio_of(events):
    return b"".join(base64.b64decode(event["audio"]) for event in events if event["type"] == "speech.audio.delta")


@pytest.mark.parametrize("name", FORMATS)
async def test_every_format_chunked_and_whole(client, name):
    chunked = await client.post(URL, json=ask(response_format=name, stream=True))
    whole = await client.post(URL, json=ask(response_format=name, stream=False))
    for response in (chunked, whole):
        assert response.status_code == 200
        assert response.headers["content-type"] == FORMATS[name]
        assert len(response.content) > 1_000
    assert "content-length" not in chunked.headers
    assert whole.headers["content-length"] == str(len(whole.content))


@pytest.mark.parametrize("rate_hz", [8_000, 16_000, 22_050, 24_000, 44_100, 48_000])
async def test_openai_tts_68_a_whole_wav_has_exact_lengths(client, rate_hz):
    response = await client.post(URL, json=ask(response_format="wav", sample_rate=rate_hz))
    with wave.open(io.BytesIO(response.content)) as file:
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (rate_hz, 1, 2)
        assert 44 + file.getnframes() * 2 == len(response.content)
        assert len(file.readframes(file.getnframes())) == file.getnframes() * 2
    assert response.headers["x-sample-rate"] == str(rate_hz)


async def test_pocket_tts_229_a_streamed_wav_says_that_its_length_is_unknown(client):
    response = await client.post(URL, json=ask(response_format="wav", stream=True))
    assert response.content[4:8] == response.content[40:44] == b"\xff\xff\xff\xff"


async def test_kokoro_fastapi_94_one_header_for_many_sentences(client):
    text = "First we boil it. Then we pour it. After that we wait. At last we drink it."
    response = await client.post(URL, json=ask(text, response_format="wav", stream=True))
    assert response.content.count(b"RIFF") == 1
    assert response.content.count(b"WAVE") == 1


@pytest.mark.parametrize("stream", [True, False])
async def test_kokoro_fastapi_463_a_wav_is_its_header_and_the_pcm(client, stream):
    wav = await client.post(URL, json=ask(response_format="wav", stream=stream))
    pcm = await client.post(URL, json=ask(response_format="pcm", stream=stream))
    assert wav.content[44:] == pcm.content
    assert len(pcm.content) % 2 == 0


async def test_voicemode_353_opus_comes_in_ogg_and_says_so(client):
    response = await client.post(URL, json=ask(response_format="opus"))
    assert response.content.startswith(b"OggS")
    assert response.headers["content-type"] == "audio/ogg; codecs=opus"


@pytest.mark.parametrize("name", ["mp3", "flac", "opus", "aac"])
async def test_mlx_audio_898_one_encoder_for_the_whole_response(client, name):
    text = "One sentence here. Another sentence there. A third one to end with."
    pcm = await client.post(URL, json=ask(text, response_format="pcm"))
    file = await client.post(URL, json=ask(text, response_format=name))
    assert _seconds(file.content) == pytest.approx(len(pcm.content) / 48_000, abs=0.15)


def _seconds(data):
    import av

    with av.open(io.BytesIO(data)) as container:
        return sum(frame.samples / frame.sample_rate for frame in container.decode(audio=0))


async def test_events_carry_the_same_bytes(client):
    plain = await client.post(URL, json=ask(response_format="pcm"))
    told = await client.post(URL, json=ask(response_format="pcm", stream_format="sse"))
    assert told.headers["content-type"].startswith("text/event-stream")
    events = events_of(told)
    assert audio_of(events) == plain.content
    assert [event["type"] for event in events[:-1]] == ["speech.audio.delta"] * (len(events) - 1)
    assert events[-1]["type"] == "speech.audio.done"
    usage = events[-1]["usage"]
    assert usage["total_tokens"] == usage["input_tokens"] + usage["output_tokens"]
    assert all("words" not in event for event in events)


@pytest.mark.parametrize("name", FORMATS)
async def test_events_in_every_format(client, name):
    plain = await client.post(URL, json=ask(response_format=name, stream=True))
    told = await client.post(URL, json=ask(response_format=name, stream_format="sse"))
    assert audio_of(events_of(told)) == plain.content


@pytest.mark.parametrize("name", ["pcm", "mp3"])
async def test_deepgram_js_394_words_come_no_later_than_their_sound(client, name):
    text = "Blue boats wait. The tide turns at noon."
    response = await client.post(URL, json=ask(text, response_format=name, stream_format="sse", word_timestamps=True))
    words, sent_ms = [], 0.0
    for event in events_of(response)[:-1]:
        if name == "pcm":
            assert all(word["end_ms"] >= sent_ms - 0.1 for word in event["words"])
        words += event["words"]
        sent_ms += len(base64.b64decode(event["audio"])) / 48
    whole = ["Blue", "boats", "wait", "The", "tide", "turns", "at", "noon"]
    assert [text[word["start"] : word["end"]] for word in words] == whole
    assert [word["word"] for word in words] == whole
    assert all(a["end_ms"] <= b["start_ms"] + 0.1 for a, b in itertools.pairwise(words))
    assert all(word["exact"] is True for word in words)


async def test_kokoro_fastapi_314_word_times_in_a_header(client):
    response = await client.post(URL, json=ask("Grüße from Köln.", response_format="wav", word_timestamps=True))
    value = response.headers["x-word-timestamps"]
    assert value.isascii()
    assert [word["word"] for word in json.loads(value)] == ["Grüße", "from", "Köln"]
    assert set(json.loads(value)[0]) >= {"word", "start_ms", "end_ms", "start", "end"}


async def test_word_times_too_long_for_a_header_are_left_out_and_say_so(client):
    text = " ".join(f"Sentence number {n} is here." for n in range(30))
    response = await client.post(URL, json=ask(text, response_format="wav", word_timestamps=True))
    assert response.headers["x-word-timestamps-omitted"] == "true"
    assert "x-word-timestamps" not in response.headers


async def test_word_times_of_a_chunked_reply_are_left_out_and_say_so(client):
    response = await client.post(URL, json=ask(word_timestamps=True, stream=True))
    assert response.headers["x-word-timestamps-omitted"] == "true"


@pytest.mark.parametrize("text", ["", "  ", "\n\n", "!?", "…", "😀😀", "🎉 !", "—", "\u200b\u200b", "...", "()[]"])
@pytest.mark.parametrize("fields", [{}, {"stream_format": "sse"}, {"response_format": "wav"}])
async def test_airi_454_nothing_to_say_is_an_error_and_calls_no_engine(client, predictor, text, fields):
    response = await client.post(URL, json=ask(text, **fields))
    assert response.status_code == 400
    assert response.json()["error"]["code"] == "empty_input"
    assert response.json()["error"]["param"] == "input"
    assert predictor.jobs == []


@pytest.mark.parametrize(
    ("fields", "status", "code", "param"),
    [
        ({"voice": "nobody"}, 400, "unknown_voice", "voice"),
        ({"voice": "../../etc/passwd"}, 400, "unknown_voice", "voice"),
        ({"voice": "mira\x00"}, 400, "unknown_voice", "voice"),
        ({"voice": "\ud800"}, 400, "unknown_voice", "voice"),
        ({"voice": "ghost"}, 503, "voice_not_installed", "voice"),
        ({"model": "gpt-9"}, 404, "model_not_found", "model"),
        ({"language": "tlh"}, 400, "unsupported_language", "language"),
        ({"language": "de"}, 400, "unsupported_language", "language"),
        ({"lang_code": "z"}, 400, "unsupported_language", "language"),
        ({"response_format": "au"}, 400, "unsupported_format", "response_format"),
        ({"sample_rate": 96_000}, 400, "unsupported_format", "sample_rate"),
        ({"speed": 9}, 400, "out_of_range", "speed"),
        ({"input": "y" * 100_001}, 413, "input_too_large", "input"),
    ],
)
async def test_what_cannot_be_is_refused_in_the_envelope(client, predictor, fields, status, code, param):
    response = await client.post(URL, content=json.dumps(ask(**fields)))
    assert response.status_code == status
    error = response.json()["error"]
    assert set(error) == {"message", "type", "param", "code"}
    assert (error["code"], error["param"]) == (code, param)
    assert error["message"]
    assert predictor.jobs == []


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"{", "invalid_request"),
        (b"[]", "invalid_request"),
        (json.dumps(ask("...")).encode(), "empty_input"),
        (json.dumps(ask(voice="nobody")).encode(), "unknown_voice"),
        (json.dumps(ask(voice="ghost")).encode(), "voice_not_installed"),
        (json.dumps(ask("w" * 1_100_000)).encode(), "input_too_large"),
    ],
)
async def test_ray_64077_a_refused_request_is_counted_once_with_its_code(client, app, sample, content, code):
    await client.post(URL, content=content)
    await client.post(URL, json=ask())
    outcomes = {name: sample(app, "tts_utterances_total", door="openai", outcome=name) for name in OUTCOMES}
    assert outcomes == {"ok": 1, "error": 1, "cancelled": 0, "client_gone": 0, "shed": 0}
    assert sample(app, "tts_errors_total", door="openai", code=code) == 1


async def test_a_voice_that_is_not_here_says_how_to_get_it(client):
    response = await client.post(URL, json=ask(voice="ghost"))
    assert "models pull ghost" in response.json()["error"]["message"]


async def test_the_voice_and_language_that_were_asked_for_speak(client, predictor):
    await client.post(URL, json=ask("Guten Morgen.", voice="otto", language="de"))
    assert (predictor.jobs[0].voice, predictor.jobs[0].phrase.language) == ("otto", "de")
    await client.post(URL, json={"input": "Guten Abend.", "language": "de-DE"})
    assert predictor.jobs[1].voice == "otto"
    await client.post(URL, json={"input": "Good evening."})
    assert predictor.jobs[2].voice == "mira"


async def test_vllm_omni_says_default_and_auto_and_languages_by_name(client, predictor):
    for fields in ({"voice": "Default", "language": "Auto"}, {"voice": "default"}, {"language": " auto "}):
        await client.post(URL, json={"input": f"It says {fields}.", **fields})
        assert (predictor.jobs[-1].voice, predictor.jobs[-1].phrase.language) == ("mira", "en-US")
    await client.post(URL, json={"input": "Guten Tag.", "voice": "default", "language": "German"})
    assert (predictor.jobs[-1].voice, predictor.jobs[-1].phrase.language) == ("otto", "de")


async def test_markup_can_ask_for_another_speed_of_the_whole(client, predictor):
    await client.post(URL, json=ask("Slowly now.", speed=0.5))
    assert predictor.jobs[0].speed == 0.5


@pytest.mark.parametrize(
    "text", ["Lone \ud83d surrogate.", "Null \x00 and bell \x07.", "a\u202eb\u200d c", "\ufeffHello"]
)
async def test_hostile_characters_do_not_break_anything(client, text):
    response = await client.post(URL, content=json.dumps(ask(text, response_format="wav")).encode())
    assert response.status_code == 200


@pytest.mark.parametrize("delivery", [{"stream": True}, {"stream": False}, {"stream_format": "sse"}])
@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (PredictorFailed("It broke."), 502, "predictor_failed"),
        (VoiceNotInstalled("Not here."), 503, "voice_not_installed"),
        (ModelCorrupt("The file is not what its checksum says."), 500, "model_corrupt"),
        (RuntimeError("secret detail"), 500, "internal_error"),
    ],
)
async def test_what_fails_before_the_first_sound_has_a_status(client, predictor, delivery, error, status, code):
    predictor.fail_at, predictor.fail_with = 0, error
    response = await client.post(URL, json=ask(**delivery))
    assert response.status_code == status
    assert response.json()["error"]["code"] == code
    assert "secret" not in response.text
    assert predictor.active == 0


@pytest.mark.parametrize("delivery", [{"stream": True}, {"stream": False}, {"stream_format": "sse"}])
async def test_words_without_any_sound_are_no_beginning(client, predictor, delivery, monkeypatch):
    async def mute(job, deadline=None):
        yield Chunk(np.zeros(24_000, np.float32), (WordTime(0, len(job.phrase.text), 0.0, 900.0),))

    monkeypatch.setattr(predictor, "synthesize", mute)
    response = await client.post(URL, json=ask(response_format="pcm", **delivery))
    assert (response.status_code, response.json()["error"]["code"]) == (502, "predictor_failed")


async def test_kokoro_fastapi_331_a_failure_in_the_midst_of_events_is_an_event(client, predictor, app, sample):
    predictor.fail_at, predictor.fail_with = 2, PredictorFailed("The engine stumbled.")
    response = await client.post(URL, json=ask(stream_format="sse", response_format="pcm"))
    assert response.status_code == 200
    *deltas, last = events_of(response)
    assert deltas
    assert last["type"] == "speech.audio.error"
    assert last["error"]["code"] == "predictor_failed"
    assert last["partial_audio"] is True
    assert sample(app, "tts_utterances_total", door="openai", outcome="error") == 1
    assert sample(app, "tts_errors_total", door="openai", code="predictor_failed") == 1


async def test_a_whole_reply_that_fails_in_its_midst_still_has_a_status(client, predictor):
    predictor.fail_at, predictor.fail_with = 2, PredictorFailed("The engine stumbled.")
    response = await client.post(URL, json=ask(stream=False))
    assert response.status_code == 502


async def test_a_whole_reply_has_a_limit(build, connect):
    async with connect(build(max_whole_mb=0.05)) as client:
        response = await client.post(URL, json=ask(response_format="wav"))
        assert response.status_code == 413
        assert "stream" in response.json()["error"]["message"]
        assert (await client.post(URL, json=ask(response_format="wav", stream=True))).status_code == 200


async def test_ray_64077_every_utterance_is_counted_once(client, app, sample):
    for fields in ({}, {"stream": False}, {"stream_format": "sse"}, {"response_format": "wav"}):
        await client.post(URL, json=ask(**fields))
    assert sample(app, "tts_utterances_total", door="openai", outcome="ok") == 4
    assert sample(app, "tts_ttfa_seconds_count", door="openai") == 4
    assert sample(app, "tts_rtf_ratio_count", door="openai") == 4
    assert sample(app, "tts_streams_active", door="openai") == 0
    assert sample(app, "tts_audio_seconds_total", door="openai") > 4


async def test_a_phrase_spoken_before_is_not_made_again(build, connect, predictor):
    async with connect(build(cache_mb=8)) as client:
        first = await client.post(URL, json=ask(response_format="pcm"))
        made = len(predictor.jobs)
        second = await client.post(URL, json=ask(response_format="pcm"))
        assert len(predictor.jobs) == made > 0
        assert second.content == first.content
        metrics = (await client.get("/metrics")).text
    assert f"tts_cache_hits_total {made}.0" in metrics
    assert f"tts_cache_misses_total {made}.0" in metrics


async def test_accept_and_range_are_ignored(client):
    headers = {"Accept": "application/octet-stream", "Range": "bytes=0-9"}
    response = await client.post(URL, json=ask(response_format="wav"), headers=headers)
    assert response.status_code == 200
    assert response.content.startswith(b"RIFF")
