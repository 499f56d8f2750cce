"""Whatever a predictor gives, an utterance ends in one defined way, and what is heard is whole."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable

import numpy as np
import pytest

from vivavoce.engines.base import Chunk, Origin, WordTime
from vivavoce.errors import PredictorFailed
from vivavoce.predictors.base import Deadline, Job
from vivavoce.speech import Audio, Finished, Listener, SegmentEnd, SegmentStart, Timeline, Utterance, speak_utterance

RATE_HZ = 16_000
VOICE = Utterance(voice="any", rate_hz=RATE_HZ, join_short=False)


def tone(duration_ms: float, rate_hz: int = RATE_HZ) -> np.ndarray:
    return (0.3 * np.sin(2 * np.pi * 300 * np.arange(int(duration_ms * rate_hz / 1000)) / rate_hz)).astype(np.float32)


class Odd:
    """Says for each job what the script says for its number; the last line goes on for ever."""

    slots = 1

    def __init__(self, *script: Callable[[], object], rate_hz: int = RATE_HZ) -> None:
        self.script = script
        self.rate = rate_hz
        self.jobs = 0
        self.open = 0

    def streams(self, voice: str) -> int:
        return 1

    def rate_hz(self, voice: str) -> int:
        return self.rate

    async def synthesize(self, job: Job, deadline: Deadline | None = None) -> AsyncGenerator[Chunk]:
        lines = self.script[min(self.jobs, len(self.script) - 1)]()
        self.jobs += 1
        self.open += 1
        try:
            for line in lines:  # type: ignore[attr-defined]
                if isinstance(line, Exception):
                    raise line
                await asyncio.sleep(0)
                yield line
        finally:
            self.open -= 1


def plain() -> list[Chunk]:
    return [Chunk(tone(300)), Chunk(tone(300))]


async def hear(predictor: Odd, text: str = "One of them. Two of them.") -> tuple[np.ndarray, list[object], Timeline]:
    timeline = Timeline(0.0)
    events = [event async for event in speak_utterance(text, VOICE, predictor, timeline=timeline)]
    assert predictor.open == 0
    assert [type(event) for event in events].count(Finished) == 1 and isinstance(events[-1], Finished)
    return np.concatenate([e.samples for e in events if isinstance(e, Audio)]), events, timeline


def loud_ms(sound: np.ndarray) -> float:
    """How long it sounds, pauses left out, in windows of 10 ms."""
    window = RATE_HZ // 100
    windows = sound[: sound.size // window * window].reshape(-1, window)
    return float((np.abs(windows).max(axis=1) > 0.05).sum() * 10)


@pytest.mark.parametrize("rate_hz", [8_000, 11_025, 24_000, 44_100, 48_000])
async def test_a_rate_that_is_known_only_now_plays_as_long_and_as_high(rate_hz: int) -> None:
    def other() -> list[Chunk]:
        return [Chunk(tone(300, rate_hz), rate_hz=rate_hz), Chunk(tone(300, rate_hz), rate_hz=rate_hz)]

    sound, _, _ = await hear(Odd(other))
    assert loud_ms(sound) == pytest.approx(1_200, abs=40)
    voiced = sound[np.abs(sound) > 1e-4]
    crossings = int((np.diff(np.signbit(voiced).astype(int)) == 1).sum())
    assert crossings == pytest.approx(300 * 1.2, rel=0.05)


async def test_a_rate_is_told_once_and_holds_for_the_rest_of_the_job() -> None:
    sound, _, _ = await hear(Odd(lambda: [Chunk(tone(300, 8_000), rate_hz=8_000), Chunk(tone(300, 8_000))]))
    assert loud_ms(sound) == pytest.approx(1_200, abs=40)


async def test_another_endpoint_with_another_rate_goes_on_in_mid_job() -> None:
    """What began at one rate ends at another: nothing is lost, nothing is slower, and it counts as a retry."""

    def moved() -> list[Chunk]:
        return [
            Chunk(tone(300), rate_hz=RATE_HZ, origin=Origin("http://a", "floor", "node-1", "m")),
            Chunk(tone(300, 24_000), rate_hz=24_000, origin=Origin("http://b", "burst", "node-2", "m", 2)),
        ]

    sound, events, timeline = await hear(Odd(moved, plain))
    assert loud_ms(sound) == pytest.approx(1_200, abs=50)
    assert timeline.retries == 1
    ends = [event for event in events if isinstance(event, SegmentEnd)]
    assert ends[0].origin == Origin("http://b", "burst", "node-2", "m", 2)
    assert ends[1].origin is None


@pytest.mark.parametrize("endpoint", ["http://a", "http://b"])
async def test_a_second_try_counts_once_whichever_endpoint_it_is_at(endpoint: str) -> None:
    """Where it was made may be told before there is sound, and more than once."""
    again = Origin(endpoint, attempt=2)

    def told_early() -> list[Chunk]:
        return [
            Chunk(np.zeros(0, np.float32), origin=Origin("http://a")),
            Chunk(np.zeros(0, np.float32), origin=again),
            Chunk(tone(600, 24_000), rate_hz=24_000, origin=again),
        ]

    sound, _, timeline = await hear(Odd(told_early), "Just one of them.")
    assert loud_ms(sound) == pytest.approx(600, abs=30)
    assert timeline.retries == 1


@pytest.mark.parametrize("rate_hz", [-1, 1, 1_000, 10_000_000])
async def test_a_rate_that_cannot_be_is_the_predictors_failure(rate_hz: int) -> None:
    predictor = Odd(lambda: [Chunk(tone(100), rate_hz=rate_hz)])
    with pytest.raises(PredictorFailed, match="sample rate"):
        await hear(predictor)
    assert predictor.open == 0


async def test_empty_chunks_are_no_sound_and_no_harm() -> None:
    def sparse() -> list[Chunk]:
        nothing = Chunk(np.zeros(0, np.float32))
        return [nothing, Chunk(tone(300)), nothing, nothing, Chunk(tone(300)), nothing]

    sound, events, timeline = await hear(Odd(sparse))
    assert loud_ms(sound) == pytest.approx(1_200, abs=30)
    assert all(event.samples.size for event in events if isinstance(event, Audio))
    assert timeline.first_audio_ms is not None


async def test_words_that_come_without_sound_are_told_once() -> None:
    def ahead() -> list[Chunk]:
        words = (WordTime(0, 4, 0, 250), WordTime(5, 8, 250, 600))
        return [Chunk(np.zeros(0, np.float32), words), Chunk(tone(600))]

    _, events, _ = await hear(Odd(ahead), "Just one.")
    assert [word.text for e in events if isinstance(e, Audio) for word in e.words] == ["Just", "one"]


@pytest.mark.parametrize(
    "nothing",
    [list, lambda: [Chunk(np.zeros(0, np.float32))], lambda: [Chunk(np.zeros(8_000, np.float32))]],
    ids=["no chunk", "an empty chunk", "silence"],
)
async def test_no_sound_for_one_sentence_leaves_it_out_and_for_all_of_them_is_a_failure(nothing) -> None:
    sound, events, timeline = await hear(Odd(plain, nothing, plain), "One of them. Two of them. Three of them.")
    assert loud_ms(sound) == pytest.approx(1_200, abs=30)
    assert len(timeline.segments) == sum(isinstance(event, SegmentEnd) for event in events) == 3
    predictor = Odd(nothing)
    with pytest.raises(PredictorFailed, match="no sound"):
        await hear(predictor)
    assert predictor.open == 0


@pytest.mark.parametrize("at", [0, 1, 2])
async def test_a_failure_before_or_after_the_first_sound_comes_after_what_was_made(at: int) -> None:
    lines: list[object] = [*plain()]
    lines.insert(at, PredictorFailed("the node is gone"))
    predictor, heard, ends = Odd(lambda: lines), 0.0, 0
    timeline = Timeline(0.0)
    with pytest.raises(PredictorFailed, match="gone"):
        async for event in speak_utterance("One of them. Two.", VOICE, predictor, timeline=timeline):
            heard += loud_ms(event.samples) if isinstance(event, Audio) else 0
            ends += isinstance(event, SegmentEnd | Finished)
    assert ends == 0
    assert predictor.open == 0
    assert predictor.jobs == 1
    assert (heard > 0) == (at > 0) == (timeline.first_audio_ms is not None)
    assert timeline.ended_ms is not None


@pytest.mark.parametrize(
    "samples",
    [
        np.full(4_800, np.nan, np.float32),
        np.full(4_800, np.inf, np.float32),
        (tone(300) * 1e30).astype(np.float32),
        tone(300).reshape(-1, 1),
        tone(300).astype(np.float64),
        tone(300)[::-1],
        np.ones(1, np.float32),
    ],
    ids=["nan", "inf", "huge", "a column", "doubles", "backwards", "one sample"],
)
async def test_samples_that_cannot_be_are_never_passed_on(samples: np.ndarray) -> None:
    sound, _, _ = await hear(Odd(lambda: [Chunk(tone(300)), Chunk(samples), Chunk(tone(300))]))
    assert sound.dtype == np.float32 and sound.ndim == 1
    assert np.isfinite(sound).all()
    assert np.abs(sound).max() <= 1.0
    assert loud_ms(sound) >= 1_100


def test_a_late_chunk_is_an_underrun_and_nothing_worse(virtual, virtual_clock) -> None:
    class Late(Odd):
        async def synthesize(self, job: Job, deadline: Deadline | None = None) -> AsyncGenerator[Chunk]:
            yield Chunk(tone(300))
            await asyncio.sleep(7)
            yield Chunk(tone(300))

    async def run() -> tuple[Timeline, float]:
        now_ms = virtual_clock.now_ms()
        timeline, listener = Timeline(now_ms), Listener(virtual_clock, due_ms=now_ms + 150)
        events = speak_utterance(
            "Just one.", VOICE, Late(plain), clock=virtual_clock, timeline=timeline, listener=listener
        )
        return timeline, sum([loud_ms(event.samples) async for event in events if isinstance(event, Audio)])

    timeline, heard_ms = virtual(run())
    assert timeline.underruns == 1
    assert heard_ms == pytest.approx(600, abs=30)


async def test_segments_stay_in_order_whatever_each_of_them_gives() -> None:
    def slow() -> list[Chunk]:
        return [Chunk(tone(20)) for _ in range(30)]

    text = "One of them here. Two of them here. Three of them here. Four of them here."
    _, events, _ = await hear(Odd(slow, list, plain, slow), text)
    marks = [(type(e).__name__, e.index) for e in events if isinstance(e, SegmentStart | SegmentEnd)]
    assert marks == [(name, index) for index in range(4) for name in ("SegmentStart", "SegmentEnd")]
