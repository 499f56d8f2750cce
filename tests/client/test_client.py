"""The client against a server that breaks at chosen moments."""

from __future__ import annotations

import asyncio
import json
import struct
from contextlib import aclosing

import pytest

from vivavoce.client import (
    Audio,
    ConnectionLost,
    Done,
    Patience,
    Resumed,
    Segment,
    Started,
    Words,
    connect,
)
from vivavoce.errors import Busy, EmptyInput, PredictorFailed, Unauthorized, UnknownModel, UnknownVoice

TEXT = "Six ducks crossed the road. A bus waited for them! Did anyone see that? Nobody did."


async def speak(server, tools, text=TEXT, *, urls=None, patience=None, **options):
    async with connect(urls or server.url, patience=patience or tools.QUICK) as client:
        options = {"sample_rate": tools.RATE_HZ, "word_timestamps": True} | options
        return [event async for event in client.speak(text, **options)]


def check_whole(tools, events, text=TEXT):
    """Nothing is lost, nothing is told twice, and the sound has no word less than the text."""
    words = [word for event in events if isinstance(event, Words) for word in event.words]
    assert [(word.start, word.end) for word in words] == tools.spans(text)
    assert [word.text for word in words] == [text[start:end] for start, end in tools.spans(text)]
    starts = [word.start_ms for word in words]
    assert starts == sorted(starts)
    pcm = b"".join(event.pcm for event in events if isinstance(event, Audio))
    for start, end in tools.spans(text):
        assert tools.pcm_of(text[start:end]) in pcm
    done = events[-1]
    assert isinstance(done, Done) and done.outcome == "ok"
    assert sum(isinstance(event, Started) for event in events) == 1
    assert done.audio_bytes == len(pcm)
    return pcm


async def test_a_text_is_spoken(scripted, tools):
    server = await scripted()
    events = await speak(server, tools)
    assert check_whole(tools, events) == tools.whole_sound(TEXT)
    assert [event.text for event in events if isinstance(event, Segment)][1] == "A bus waited for them! "
    assert events[-1].resumes == 0 and events[-1].ttfa_ms == 5.0
    assert server.connections == 1 and server.opened[0]["framing"] == "header"


async def test_words_are_kept_from_who_did_not_ask_for_them(scripted, tools):
    events = await speak(await scripted(), tools, word_timestamps=False)
    assert not [event for event in events if isinstance(event, Words)]
    assert [event for event in events if isinstance(event, Audio)]


MOMENTS = (-2, -1, 0, 1, 3, 8, 17, 10_000)
BREAKS = [(how, at) for how in ("abort", "close 1000", "close 1011", "going_away") for at in MOMENTS]
BREAKS += [("predictor", at) for at in MOMENTS[:-1]]


@pytest.mark.parametrize(("how", "at"), BREAKS)
async def test_whatever_breaks_whenever_the_voice_goes_on(scripted, tools, how, at):
    server = await scripted(cuts=[tools.Cut(at, how)])
    events = await speak(server, tools)
    check_whole(tools, events)
    if 0 <= at < 10_000:
        (resumed,) = [event for event in events if isinstance(event, Resumed)]
        assert resumed.resumes == events[-1].resumes == 1
        second = server.opened[1]
        assert second["type"] == "resume" and second["token"] == ("farewell" if how == "going_away" else "t1")
        assert second["text"] == TEXT[second["offset"] :] and second["offset"] == resumed.offset


async def test_it_breaks_again_and_again(scripted, tools):
    cuts = [tools.Cut(at) for at in (4, 0, 2, 6, 3, 5, 7, 9)]
    server = await scripted(cuts=list(cuts))
    events = await speak(server, tools, TEXT * 3, patience=tools.QUICK)
    check_whole(tools, events, TEXT * 3)
    assert server.connections > len(cuts) // 2


async def test_pipecat_5361_text_that_was_sent_and_never_sounded_is_spoken_once(scripted, tools):
    for at in (-2, -1, 0, 1):
        server = await scripted(cuts=[tools.Cut(at)])
        events = await speak(server, tools, "Your order has left the warehouse.")
        pcm = check_whole(tools, events, "Your order has left the warehouse.")
        assert tools.voiced(pcm) == tools.voiced(tools.whole_sound("Your order has left the warehouse."))
        assert len(server.opened) == 2


async def test_nexent_2747_a_server_that_closes_well_before_the_sound_is_whole_is_no_end(scripted, tools):
    text = " ".join(f"Line {number} of the report is read aloud." for number in range(40))
    server = await scripted(cuts=[tools.Cut(60, "close 1000")])
    async with connect(server.url, patience=tools.QUICK) as client:
        events = []
        async for event in client.speak(text, sample_rate=tools.RATE_HZ, word_timestamps=True):
            events.append(event)
            if isinstance(event, Audio) and len(events) % 10 == 0:
                await asyncio.sleep(0.005)  # a slow reader
    check_whole(tools, events, text)
    assert events[-1].resumes == 1


async def test_a_done_that_came_before_all_of_its_sound_is_no_end(scripted, tools):
    server = await scripted()
    lies = [True]

    async def lose_sound(socket):
        send, held = socket.send, []

        async def lossy(message):
            if isinstance(message, bytes) and lies:
                held.append(message)
                if len(held) == 9:
                    return  # lost on the way
            if '"done"' in str(message):
                lies.clear()
            await send(message)

        socket.send = lossy

    server.on_connect = lose_sound
    events = await speak(server, tools)
    check_whole(tools, events)
    assert events[-1].resumes == 1


async def test_ours_spot_notice_the_stream_goes_on_at_another_gateway(scripted, tools):
    first = await scripted(cuts=[tools.Cut(9, "going_away")])
    second = await scripted()
    events = await speak(first, tools, urls=[first.url, second.url])
    check_whole(tools, events)
    assert [len(first.opened), len(second.opened)] == [1, 1]
    assert second.opened[0]["token"] == "farewell" and second.opened[0]["offset"] > 0


async def test_a_dead_gateway_is_passed_over(scripted, tools):
    living = await scripted()
    events = await speak(living, tools, urls=["ws://127.0.0.1:1", living.url])
    check_whole(tools, events)


async def test_a_server_that_falls_silent_is_left(scripted, tools):
    server = await scripted(cuts=[tools.Cut(6, "silence")])
    patience = Patience(quiet_s=0.05, silent_s=0.05, first_wait_s=0.01)
    check_whole(tools, await speak(server, tools, patience=patience))


async def test_a_server_that_is_only_quiet_is_not_left(scripted, tools):
    server = await scripted()

    async def queue(socket):
        opening = json.loads(await socket.recv())
        pings = 0
        while pings < 3:
            pings += json.loads(await socket.recv())["type"] == "ping"
            await socket.send('{"type":"pong"}')
        server.opened.append(opening)
        await server.speak(socket, opening)
        await socket.wait_closed()
        return True

    server.on_connect = queue
    events = await speak(server, tools, patience=Patience(quiet_s=0.03, silent_s=1.0))
    check_whole(tools, events)
    assert server.connections == 1 and events[-1].resumes == 0


async def test_a_token_of_another_secret_makes_the_rest_a_text_of_its_own(scripted, tools):
    server = await scripted(cuts=[tools.Cut(5), tools.Cut(-2, "error bad_token")])
    events = await speak(server, tools)
    check_whole(tools, events)
    third = server.opened[2]
    assert third["type"] == "synthesize" and third["text"] == TEXT[server.opened[1]["offset"] :]


async def test_busy_is_honoured_and_the_text_then_spoken(scripted, tools):
    server = await scripted(cuts=[tools.Cut(-1, "busy"), tools.Cut(-1, "busy")])
    loop = asyncio.get_running_loop()
    began_s = loop.time()
    check_whole(tools, await speak(server, tools))
    assert len(server.opened) == 3 and server.connections == 1
    assert loop.time() - began_s >= 0.06  # never sooner than the server said, twice


async def test_busy_for_too_long_is_raised_with_its_reason(scripted, tools):
    server = await scripted(cuts=[tools.Cut(-1, "busy")] * 20)
    with pytest.raises(Busy) as refused:
        await speak(server, tools, patience=Patience(tries=3, first_wait_s=0.01))
    assert refused.value.reason == "queue_full" and refused.value.retry_after_s == 0.03
    assert len(server.opened) == 3


async def test_a_busy_server_is_left_for_a_free_one(scripted, tools):
    busy, free = await scripted(cuts=[tools.Cut(-1, "busy")] * 20), await scripted()
    check_whole(tools, await speak(busy, tools, urls=[busy.url, free.url]))
    assert len(busy.opened) == len(free.opened) == 1


@pytest.mark.parametrize(("at", "code", "kind"), [(-2, "unknown_voice", UnknownVoice), (3, "empty_input", EmptyInput)])
async def test_what_never_changes_is_raised_at_once(scripted, tools, at, code, kind):
    server = await scripted(cuts=[tools.Cut(at, f"error {code}")])
    if kind is EmptyInput:
        events = await speak(server, tools)  # after some sound: what was left had nothing to say
        assert events[-1].outcome == "ok"
        return
    with pytest.raises(kind):
        await speak(server, tools)
    assert len(server.opened) == 1


async def test_a_predictor_that_never_recovers_is_raised(scripted, tools):
    server = await scripted(cuts=[tools.Cut(0, "predictor")] * 50)
    with pytest.raises(PredictorFailed):
        await speak(server, tools)
    assert len(server.opened) == tools.QUICK.tries


async def test_no_server_at_all(tools):
    with pytest.raises(ConnectionLost):
        await speak(None, tools, urls="ws://127.0.0.1:1", patience=Patience(tries=2, first_wait_s=0.01))


async def test_a_wrong_key_is_told_after_the_handshake(scripted, tools):
    async def refuse(socket):
        await socket.send(
            json.dumps({"type": "error", "code": "invalid_api_key", "message": "Who?", "retryable": False})
        )
        await socket.close(4401)
        return True

    server = await scripted(on_connect=refuse)
    with pytest.raises(Unauthorized, match="Who"):
        await speak(server, tools)
    assert server.connections == 1


async def test_keys_go_into_the_header_and_tokens_where_browsers_put_them(scripted, tools):
    seen = []

    async def look(socket):
        headers = socket.request.headers
        seen.append((headers.get("Authorization"), headers.get("Sec-WebSocket-Protocol"), socket.request.path))

    server = await scripted(on_connect=look, cuts=[tools.Cut(3)])
    fresh = iter(["t-one", "t-two"])

    async def token():
        return next(fresh)

    async with connect(server.url, key="k-1", token=token, patience=tools.QUICK) as client:
        check_whole(
            tools, [event async for event in client.speak(TEXT, sample_rate=tools.RATE_HZ, word_timestamps=True)]
        )
    assert [auth for auth, _, _ in seen] == ["Bearer k-1"] * 2
    assert ["t-one" in seen[0][1], "t-two" in seen[1][1]] == [True, True]
    assert all(path == "/ws/synthesize" for _, _, path in seen)


async def test_what_speaks_another_protocol_is_named(tools):
    from websockets.asyncio.server import serve

    async def echo(socket):
        await socket.wait_closed()

    async with serve(echo, "127.0.0.1", 0) as listener:
        url = f"ws://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
        with pytest.raises(UnknownModel, match="vivavoce"):
            await speak(None, tools, urls=url)


async def test_streamed_text_with_a_break_in_the_middle(scripted, tools):
    server = await scripted(cuts=[tools.Cut(4)])
    spoken = asyncio.Event()

    async def written():
        for piece in ("Six ducks ", "crossed the road. ", None, "A bus waited ", "for them! "):
            yield piece
        spoken.set()
        yield "Did anyone see that? Nobody did."

    events = await speak(server, tools, written())
    check_whole(tools, events)
    assert spoken.is_set() and any(message["type"] == "flush" for message in server.heard)


async def test_a_source_that_fails_is_raised_and_the_utterance_cancelled(scripted, tools):
    server = await scripted()

    async def failing():
        yield "So far "
        raise LookupError("no more words")

    with pytest.raises(LookupError, match="no more words"):
        await speak(server, tools, failing())


async def test_a_source_far_ahead_has_to_wait(scripted, tools, monkeypatch):
    monkeypatch.setattr("vivavoce.client.writer.UNHEARD_CHARACTERS", 500)
    taken = 0

    async def endless():
        nonlocal taken
        while True:
            taken += 1
            yield "word " * 10

    server = await scripted()
    async with connect(server.url, patience=tools.QUICK) as client:
        events = client.speak(endless(), sample_rate=tools.RATE_HZ)
        async with aclosing(events):
            assert isinstance(await anext(events), Started)
            await asyncio.sleep(0.05)
    assert taken <= 12


async def test_nothing_follows_a_cancel_but_done(scripted, tools):
    server = await scripted()
    server_speak = server.speak

    async def until_cancelled(socket, opening):
        await socket.send(json.dumps({"type": "accepted", "request_id": opening["request_id"]}))
        start = {"type": "start", "request_id": opening["request_id"], "generation": 7, "sample_rate": tools.RATE_HZ}
        await socket.send(json.dumps(start | {"resume_token": "t"}))
        await socket.send(struct.pack("<IIQ", 7, 0, 0) + bytes(800))
        while json.loads(await socket.recv())["type"] != "cancel":
            pass
        await socket.send(struct.pack("<IIQ", 7, 0, 400) + bytes(800))  # was on its way already
        end = {"type": "done", "request_id": opening["request_id"], "outcome": "cancelled", "bytes": 1_600}
        await socket.send(json.dumps(end))

    server.speak = until_cancelled
    async with connect(server.url, patience=tools.QUICK) as client:
        events = []
        async for event in client.speak(TEXT, sample_rate=tools.RATE_HZ):
            events.append(event)
            if isinstance(event, Audio):
                await client.cancel()
        assert [type(event) for event in events] == [Started, Audio, Done]
        assert events[-1].outcome == "cancelled"
        server.speak = server_speak
        again = [event async for event in client.speak(TEXT, sample_rate=tools.RATE_HZ, word_timestamps=True)]
        check_whole(tools, again)
    assert server.connections == 1


async def test_stale_frames_of_an_utterance_that_was_left_are_never_heard(scripted, tools):
    server = await scripted()
    async with connect(server.url, patience=tools.QUICK) as client:
        async for event in client.speak("Forget about all of this. " * 20, sample_rate=tools.RATE_HZ):
            if isinstance(event, Audio):
                break
        events = [event async for event in client.speak(TEXT, sample_rate=tools.RATE_HZ, word_timestamps=True)]
    assert check_whole(tools, events) == tools.whole_sound(TEXT)
    assert any(message["type"] == "cancel" for message in server.heard)
    assert server.connections == 1


async def test_another_text_takes_the_place_of_the_one_before(scripted, tools):
    server = await scripted(cuts=[tools.Cut(4, "silence")])
    async with connect(server.url, patience=Patience(quiet_s=5, silent_s=5)) as client:
        first = []
        sounding = asyncio.Event()

        async def listen():
            async for event in client.speak(TEXT, sample_rate=tools.RATE_HZ):
                first.append(event)
                if isinstance(event, Audio):
                    sounding.set()

        listener = asyncio.create_task(listen())
        await sounding.wait()
        replacing = client.speak("Stop.", sample_rate=tools.RATE_HZ)
        getting = asyncio.create_task(anext(replacing))
        await asyncio.wait_for(listener, 2)
        assert isinstance(first[-1], Done) and first[-1].outcome == "cancelled"
        getting.cancel()
        await asyncio.wait([getting])


async def test_a_cancel_while_nothing_is_connected_ends_at_once(scripted, tools):
    server = await scripted(cuts=[tools.Cut(3)])
    refused = []

    async def only_once(socket):
        refused.append(socket)
        if len(refused) > 1:
            await socket.close(1013)
            return True

    server.on_connect = only_once
    async with connect(server.url, patience=Patience(first_wait_s=60, longest_wait_s=60, give_up_s=600)) as client:
        events = []
        sounding = asyncio.Event()

        async def listen():
            async for event in client.speak(TEXT, sample_rate=tools.RATE_HZ):
                events.append(event)
                if isinstance(event, Audio):
                    sounding.set()

        listener = asyncio.create_task(listen())
        await sounding.wait()
        await asyncio.sleep(0.02)
        await client.cancel()
        await asyncio.wait_for(listener, 2)
    assert events[-1].outcome == "cancelled"


async def test_what_was_played_is_told_in_the_time_of_the_leg(scripted, tools):
    server = await scripted(cuts=[tools.Cut(6)])
    async with connect(server.url, patience=tools.QUICK) as client:
        at_ms = 0.0
        async for event in client.speak(TEXT, sample_rate=tools.RATE_HZ):
            if isinstance(event, Audio):
                at_ms = event.start_ms
            if isinstance(event, Resumed):
                base_ms = event.at_ms
                await client.played(base_ms + 0.0)
    told = [message["ms"] for message in server.heard if message["type"] == "played"]
    assert told == [0.0] and at_ms > base_ms > 0


async def test_playback_is_reported_by_the_clock(scripted, tools, monkeypatch):
    monkeypatch.setattr("vivavoce.client.speech._REPORT_EVERY_MS", 0.0)
    server = await scripted()
    await speak(server, tools, report_playback=True)
    told = [message["ms"] for message in server.heard if message["type"] == "played"]
    assert told and told == sorted(told)


async def test_one_connection_serves_text_after_text(scripted, tools):
    server = await scripted()
    async with connect(server.url, patience=tools.QUICK) as client:
        for _ in range(20):
            events = [event async for event in client.speak(TEXT, sample_rate=tools.RATE_HZ, word_timestamps=True)]
            check_whole(tools, events)
    assert server.connections == 1
    assert len({message["request_id"] for message in server.opened}) == 20


async def test_livekit_2166_five_hundred_clients_leave_nothing_behind(scripted, tools):
    import gc

    server = await scripted(frame_bytes=4_000)

    async def one():
        await speak(server, tools, "Come and go.")

    async def rounds(count):
        for _ in range(count):
            await asyncio.gather(*(one() for _ in range(10)))
        await asyncio.sleep(0.05)
        gc.collect()
        return len(gc.get_objects()), len(asyncio.all_tasks())

    objects, tasks = await rounds(5)
    server.heard.clear()
    server.opened.clear()
    more_objects, more_tasks = await rounds(50)
    assert more_tasks <= tasks + 1
    kept = sum(len(message) for message in server.heard) * 10 + sum(len(message) for message in server.opened) * 10
    assert more_objects - objects < 2_000 + kept


@pytest.mark.parametrize("code", [4408, 1012, None])
async def test_a_connection_that_was_closed_between_two_texts_is_replaced_unnoticed(scripted, tools, code):
    sockets = []

    async def keep(socket):
        sockets.append(socket)

    server = await scripted(on_connect=keep)
    async with connect(server.url, patience=tools.QUICK) as client:
        for _ in range(3):
            events = [event async for event in client.speak(TEXT, sample_rate=tools.RATE_HZ, word_timestamps=True)]
            check_whole(tools, events)
            assert not any(isinstance(event, Resumed) for event in events)
            if code is None:
                sockets[-1].transport.abort()
            else:
                await sockets[-1].close(code)
    assert server.connections == 3


async def test_several_clients_speak_at_once_without_mixing(scripted, tools):
    server = await scripted(cuts=[tools.Cut(at) for at in (2, 9, 4, 14, 7)])
    texts = [f"Table {name} orders soup. It also wants bread, butter and {name} spoons." for name in range(8)]
    heard = await asyncio.gather(*(speak(server, tools, text) for text in texts))
    for text, events in zip(texts, heard, strict=True):
        check_whole(tools, events, text)
