"""The client against the real server: real sockets that break, tokens that another server honours, a drain."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import socket
import sys
import wave
from collections.abc import AsyncGenerator, AsyncIterator

import numpy as np
import pytest
import uvicorn

from vivavoce.api import create_app
from vivavoce.api.server import uvicorn_config
from vivavoce.api.services import WARM_UP_TEXT
from vivavoce.client import Audio, Done, Queued, Resumed, SegmentEnded, Started, Words, connect
from vivavoce.config import Settings
from vivavoce.engines.base import Chunk, Voice, WordTime
from vivavoce.engines.catalog import Catalog
from vivavoce.errors import OutOfRange, PredictorFailed, Unauthorized, UnknownVoice

RATE_HZ = 24_000
WORD_MS = 120.0
TEXT = (
    "Ferries leave the pier at noon. Tickets are sold on board, and dogs travel free! "
    "Who needs a seat by the window? Please say so early."
)
SECRET = "one secret for both of the gateways"


class Voices:
    name = "steps"
    rate_hz = RATE_HZ
    native_speed = True
    word_times = "exact"

    def voices(self):
        return (Voice("mira", "en-US", "female"),)

    ready_voices = voices

    def speaks(self, voice, language):
        return language.startswith("en")

    def load(self, voice):
        pass


class StepPredictor:
    """Says each word as a tone of its own, one a chunk; fails, or holds, before the word of that number."""

    slots = 4

    def __init__(self):
        self.spoken = []
        self.speeds = []
        self.fail_at = self.hold_at = None
        self.gate = asyncio.Event()

    def streams(self, voice):
        return 4

    def rate_hz(self, voice):
        return RATE_HZ

    async def synthesize(self, job, deadline=None) -> AsyncGenerator[Chunk]:
        if job.phrase.text.strip() in WARM_UP_TEXT:
            yield Chunk(np.full(RATE_HZ, 0.3, np.float32))
            return
        words = list(re.finditer(r"\S+", job.phrase.text))
        self.speeds.append((job.phrase.text, job.speed))
        for index, word in enumerate(words):
            if len(self.spoken) == self.fail_at:
                self.fail_at = None
                raise PredictorFailed("the scripted engine broke")
            if len(self.spoken) == self.hold_at:
                await self.gate.wait()
            self.spoken.append(word[0])
            frames = int(WORD_MS * RATE_HZ / 1000)
            tone = 0.3 * np.sin(np.arange(frames) * 2 * np.pi * 300 / RATE_HZ)
            at_ms = index * WORD_MS
            yield Chunk(tone.astype(np.float32), (WordTime(*word.span(), at_ms, at_ms + WORD_MS),))
            await asyncio.sleep(0.001)


class QuietServer(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self):
        yield


@pytest.fixture
async def gateway() -> AsyncIterator:
    """`port, app, predictor = await gateway(…)`: a real server; keyword arguments are settings."""
    async with contextlib.AsyncExitStack() as stack:

        async def start(**settings):
            predictor = StepPredictor()
            chosen = {"default_voice": "mira", "cache_mb": 0, "token_secret": SECRET, **settings}
            app = create_app(Settings(**chosen), catalog=Catalog([Voices()]), predictor=predictor)
            config = uvicorn_config(app, app.state.services.settings)
            config.timeout_graceful_shutdown = 1
            server = QuietServer(config)
            listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
            task = asyncio.create_task(server.serve(sockets=[listener]))

            async def stop():
                server.should_exit = True
                await task

            stack.push_async_callback(stop)
            async with asyncio.timeout(20):
                while not (server.started and app.state.services.spoken):  # noqa: ASYNC110 - no event tells
                    await asyncio.sleep(0.002)
            return listener.getsockname()[1], app, predictor

        yield start


@pytest.fixture
async def fragile() -> AsyncIterator:
    """`url, wires = await fragile(port, budgets)`: a TCP proxy that cuts each connection after so many bytes of reply."""
    async with contextlib.AsyncExitStack() as stack:

        async def start(port, budgets):
            wires = []

            async def relay(reader, writer):
                left = budgets.pop(0) if budgets else None
                wires.append(left)
                near = await asyncio.open_connection("127.0.0.1", port)
                upward = asyncio.create_task(copy(reader, near[1], None))
                try:
                    await copy(near[0], writer, left)
                finally:
                    upward.cancel()
                    near[1].transport.abort()
                    writer.transport.abort()
                    await asyncio.wait([upward])

            server = await asyncio.start_server(relay, "127.0.0.1", 0)
            stack.push_async_callback(server.wait_closed)
            stack.callback(server.close)
            return f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}", wires

        yield start


async def copy(reader, writer, budget):
    while data := await reader.read(4_096 if budget is None else min(4_096, budget)):
        writer.write(data)
        await writer.drain()
        if budget is not None:
            budget -= len(data)
            if budget <= 0:
                return


async def speak(url, tools, text=TEXT, **options):
    async with connect(url, patience=tools.QUICK) as client:
        return [event async for event in client.speak(text, word_timestamps=True, **options)]


def check_whole(events, text=TEXT):
    words = [word for event in events if isinstance(event, Words) for word in event.words]
    assert [word.text for word in words] == [word.strip(".,!?") for word in text.split()]
    assert [text[word.start : word.end] for word in words] == [word.text for word in words]
    starts = [word.start_ms for word in words]
    assert starts == sorted(starts)
    assert isinstance(events[-1], Done) and events[-1].outcome == "ok"
    assert events[-1].audio_bytes == sum(len(event.pcm) for event in events if isinstance(event, Audio))
    return words


async def test_a_text_is_spoken(gateway, tools):
    port, _, _ = await gateway()
    events = await speak(f"ws://127.0.0.1:{port}", tools)
    check_whole(events)
    assert isinstance(events[0], Started) and events[-1].resumes == 0
    assert [event.index for event in events if isinstance(event, SegmentEnded)] == [0, 1, 2, 3]


@pytest.mark.parametrize("budget", [300, 900, 2_500, 20_000, 45_000, 80_000, 120_000])
async def test_wherever_the_wire_is_cut_no_word_is_lost_and_none_repeated(gateway, fragile, tools, budget):
    port, _, predictor = await gateway()
    url, wires = await fragile(port, [budget])
    events = await speak(url, tools)
    words = check_whole(events)
    assert wires[0] == budget and len(wires) == 2
    audio_ms = events[-1].audio_ms
    assert audio_ms > len(words) * WORD_MS - 1
    if any(isinstance(event, Resumed) for event in events):
        assert len(predictor.spoken) < 2 * len(words)


def pauses_ms(events):
    """The silences of a speech that a listener takes for the end of a sentence."""
    pcm = np.frombuffer(b"".join(event.pcm for event in events if isinstance(event, Audio)), "<i2")
    gaps = np.diff(np.flatnonzero(np.abs(pcm) > 100)) * 1000 / RATE_HZ
    return gaps[gaps > 50]


async def test_wherever_the_wire_is_cut_sentences_keep_the_pause_between_them(gateway, fragile, tools):
    port, _, predictor = await gateway()
    text = TEXT.replace(",", "")
    whole = pauses_ms(await speak(f"ws://127.0.0.1:{port}", tools, text))
    assert len(whole) == 3
    assert whole.min() > 250
    fresh = 0
    for budget in range(30_000, 120_000, 3_000):
        predictor.spoken.clear()
        url, _ = await fragile(port, [budget])
        events = await speak(url, tools, text)
        np.testing.assert_allclose(pauses_ms(events), whole, atol=60, err_msg=str(budget))
        resumed = next(event for event in events if isinstance(event, Resumed))
        fresh += text[: resumed.offset].endswith((". ", "! ", "? "))
    assert fresh > 3  # enough of them went on between two sentences


async def test_a_storm_of_cuts_is_survived(gateway, fragile, tools):
    port, _, _ = await gateway()
    url, wires = await fragile(port, [20_000] * 12)
    check_whole(await speak(url, tools))
    assert len(wires) > 4


async def test_another_gateway_with_the_same_secret_goes_on(gateway, fragile, tools):
    first, second = await gateway(), await gateway()
    url, _ = await fragile(first[0], [40_000] + [0] * 50)
    events = await speak([url, f"ws://127.0.0.1:{second[0]}"], tools)
    check_whole(events)
    assert second[2].spoken and len(second[2].spoken) < len(TEXT.split())


async def test_another_gateway_with_another_secret_goes_on_too(gateway, fragile, tools):
    first, second = await gateway(), await gateway(token_secret="quite another secret than theirs")
    url, _ = await fragile(first[0], [40_000] + [0] * 50)
    check_whole(await speak([url, f"ws://127.0.0.1:{second[0]}"], tools))
    assert second[2].spoken


async def test_ours_a_drained_gateway_hands_the_voice_over(gateway, tools):
    first, second = await gateway(), await gateway()
    first[2].hold_at = 8
    events = []
    async with connect([f"ws://127.0.0.1:{port}" for port in (first[0], second[0])], patience=tools.QUICK) as client:
        async for event in client.speak(TEXT, word_timestamps=True):
            events.append(event)
            if isinstance(event, Audio) and len(first[2].spoken) == 8:
                first[1].state.services.admission.draining = True
                farewell = asyncio.create_task(first[1].state.services.connections.going_away(0))
    await farewell
    words = check_whole(events)
    assert events[-1].resumes == 1
    assert set(second[2].spoken) and len(words) == len(TEXT.split())


async def test_pipecat_5361_a_predictor_that_dies_in_mid_sentence_costs_no_word(gateway, tools):
    for fail_at in (0, 1, 5, 9):
        port, _, predictor = await gateway()
        predictor.fail_at = fail_at
        check_whole(await speak(f"ws://127.0.0.1:{port}", tools))


async def test_text_arrives_while_the_wire_breaks(gateway, fragile, tools):
    port, _, _ = await gateway()
    url, wires = await fragile(port, [30_000, 30_000])

    async def written():
        for word in re.findall(r"\S+\s*", TEXT):
            yield word
            await asyncio.sleep(0.002)

    check_whole(await speak(url, tools, written()))
    assert len(wires) >= 2


async def test_a_pace_that_markup_set_holds_after_the_break(gateway, fragile, tools):
    port, _, predictor = await gateway()
    text = '<prosody rate="50%">Slow and steady wins the race. So they all say, and so it was.</prosody> Then he ran.'
    url, wires = await fragile(port, [60_000])
    events = await speak(url, tools, text)
    words = [word.text for event in events if isinstance(event, Words) for word in event.words]
    plain = re.sub("<[^>]*>", "", text)
    assert words == re.findall(r"\w+", plain)
    assert len(wires) == 2 and events[-1].resumes == 1
    speeds = set(predictor.speeds)
    assert len(speeds) > 2 and all(speed == (1.0 if "ran" in phrase else 0.5) for phrase, speed in speeds), speeds


async def test_a_cancel_frees_the_seat(gateway, tools):
    port, app, predictor = await gateway()
    predictor.hold_at = 4
    async with connect(f"ws://127.0.0.1:{port}", patience=tools.QUICK) as client:
        events = []
        async for event in client.speak(TEXT):
            events.append(event)
            if isinstance(event, Audio):
                await client.cancel()
        assert [type(event) for event in events[-2:]] == [Audio, Done]
        assert events[-1].outcome == "cancelled"
        async with asyncio.timeout(5):
            while app.state.services.admission.running:  # noqa: ASYNC110 - no event tells
                await asyncio.sleep(0.002)
        predictor.hold_at = None
        check_whole([event async for event in client.speak(TEXT, word_timestamps=True)])


async def test_whoever_waits_is_told_its_place_and_spoken_in_the_end(gateway, tools):
    port, app, predictor = await gateway(warm_capacity=1)
    predictor.hold_at = 2
    url = f"ws://127.0.0.1:{port}"
    first = asyncio.create_task(speak(url, tools))
    async with asyncio.timeout(5):
        while not app.state.services.admission.running:  # noqa: ASYNC110 - no event tells
            await asyncio.sleep(0.002)
    async with connect(url, patience=tools.QUICK) as client:
        events = []
        async for event in client.speak(TEXT, word_timestamps=True):
            if isinstance(event, Queued):
                predictor.gate.set()
            events.append(event)
    check_whole(await first)
    check_whole(events)
    assert any(isinstance(event, Queued) and event.position == 1 for event in events)


async def test_a_slow_reader_loses_nothing_and_hurts_nobody(gateway, tools):
    port, _, _ = await gateway()
    url, events = f"ws://127.0.0.1:{port}", []
    async with connect(url, patience=tools.QUICK) as client:
        async for event in client.speak(TEXT * 3, word_timestamps=True, lead_ms=15_000):
            events.append(event)
            await asyncio.sleep(0.002)
    check_whole(events, TEXT * 3)
    assert events[-1].resumes == 0


async def test_server_errors_arrive_as_themselves(gateway, tools):
    port, _, _ = await gateway()
    url = f"ws://127.0.0.1:{port}"
    with pytest.raises(UnknownVoice):
        await speak(url, tools, voice="nobody")
    with pytest.raises(OutOfRange):
        await speak(url, tools, speed=99.0)


async def test_keys(gateway, tools):
    port, _, _ = await gateway(api_keys=("right",))
    url = f"ws://127.0.0.1:{port}"
    async with connect(url, key="right", patience=tools.QUICK) as client:
        check_whole([event async for event in client.speak(TEXT, word_timestamps=True)])
    for wrong in ({"key": "wrong"}, {}, {"token": "forged"}):
        with pytest.raises(Unauthorized):
            async with connect(url, patience=tools.QUICK, **wrong) as client:
                async for _ in client.speak(TEXT):
                    pass


async def test_the_command_line_speaks_through_a_server(gateway, tmp_path):
    port, _, predictor = await gateway()
    target = tmp_path / "spoken.wav"
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "vivavoce", "say", "--json", "-o", str(target), TEXT),
        env={"VIVAVOCE_SERVER": f"ws://127.0.0.1:1,127.0.0.1:{port}", "PATH": ""},
        stdout=asyncio.subprocess.PIPE,
    )
    said, _ = await process.communicate()
    assert process.returncode == 0
    facts = json.loads(said)
    assert [word["text"] for word in facts["words"]] == [word.strip(".,!?") for word in TEXT.split()]
    assert "Ferries" in predictor.spoken and facts["resumes"] == 0
    with wave.open(str(target)) as wav:
        assert wav.getnframes() / RATE_HZ * 1000 == pytest.approx(facts["audio_ms"], abs=1)
