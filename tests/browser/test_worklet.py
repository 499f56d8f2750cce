"""The player's arithmetic, run sample by sample without waiting for a clock."""

from __future__ import annotations

import json

import pytest

from vivavoce.api import create_app
from vivavoce.config import Settings

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def stage(workshop):
    return workshop


RATES_HZ = [8_000, 16_000, 22_050, 24_000, 44_100, 48_000, 96_000]

# Loads the worklet's module into the page, with an audio thread's names around it.
MODULE = """
  globalThis.sampleRate ??= RATE;
  globalThis.sampleRate = RATE;
  globalThis.currentTime = 0;
  globalThis.AudioWorkletProcessor = class { port = { sent: [], postMessage(m) { this.sent.push(m); } }; };
  globalThis.registerProcessor = () => {};
  const { Ring, StreamProcessor } = await import("/player-worklet.js");
  const capacity = 1 << 20;
  const processor = new StreamProcessor({ processorOptions: { capacity } });
  const send = (message) => processor.port.onmessage({ data: { id: 1, ...message } });
  const render = () => {
    const block = new Float32Array(128);
    processor.process([], [[block]]);
    currentTime += 128 / RATE;
    return block;
  };
  const messages = (type) => processor.port.sent.filter((message) => message.type === type);
"""


def run(stage, rate_hz: int, script: str):
    return stage.js(f"async () => {{ {MODULE.replace('RATE', str(rate_hz))} {script} }}")


PLAY_TONE = """
  send({ type: "begin", rateHz: FROM });
  const tone = Int16Array.from({ length: FROM }, (_, n) => Math.round(16384 * Math.sin(2 * Math.PI * 1000 * n / FROM)));
  send({ type: "write", samples: tone });
  send({ type: "end" });
  const out = [];
  while (messages("drained").length === 0) out.push(...render());
  // Correlate the middle with a 1 kHz sine and cosine at the device's rate; the remainder is distortion.
  const from = Math.round(RATE * 0.2), count = Math.round(RATE * 0.5);
  let sine = 0, cosine = 0, power = 0;
  for (let n = from; n < from + count; n += 1) {
    const angle = 2 * Math.PI * 1000 * n / RATE;
    sine += out[n] * Math.sin(angle);
    cosine += out[n] * Math.cos(angle);
    power += out[n] ** 2;
  }
  const amplitude = 2 * Math.hypot(sine, cosine) / count;
  const rest = Math.max(0, power / count - amplitude ** 2 / 2);
  return { amplitude, rest: Math.sqrt(rest), frames: processor.frames };
"""


@pytest.mark.parametrize("device_hz", RATES_HZ)
@pytest.mark.parametrize("stream_hz", [24_000, 16_000, 44_100])
def test_pcm_player_5_a_tone_keeps_its_pitch_and_length_on_every_device(stage, stream_hz: int, device_hz: int) -> None:
    got = run(stage, device_hz, PLAY_TONE.replace("FROM", str(stream_hz)).replace("RATE", str(device_hz)))
    assert got["amplitude"] == pytest.approx(0.5, abs=0.002)
    assert got["rest"] < 0.0005
    assert got["frames"] == pytest.approx(device_hz, abs=2)


def test_a_stop_or_a_gap_never_clicks(stage) -> None:
    script = """
      send({ type: "begin", rateHz: 24000 });
      send({ type: "write", samples: new Int16Array(24000).fill(20000) });
      const out = [];
      for (let block = 0; block < 200; block += 1) out.push(...render());
      send({ type: "stop" });
      for (let block = 0; block < 20; block += 1) out.push(...render());
      const steps = out.slice(1).map((value, n) => Math.abs(value - out[n]));
      return { step: Math.max(...steps), peak: Math.max(...out), tail: out.slice(-1500).every((value) => value === 0) };
    """
    got = run(stage, 48_000, script)
    assert got["peak"] == pytest.approx(20_000 / 32_768, abs=0.001)
    assert got["step"] < 0.02
    assert got["tail"]


def test_only_a_gap_that_was_heard_counts(stage) -> None:
    """Two dry spells before more speech are two gaps; the silence before a late `end` is none."""
    script = """
      send({ type: "begin", rateHz: 24000 });
      for (let part = 0; part < 3; part += 1) {
        send({ type: "write", samples: new Int16Array(16000).fill(1000) });
        for (let block = 0; block < 400; block += 1) render();
      }
      const before = processor.underruns;
      send({ type: "end" });
      for (let block = 0; block < 300; block += 1) render();
      return [before, processor.underruns, messages("drained").length, messages("progress").at(-1).consumed];
    """
    assert run(stage, 48_000, script) == [2, 2, 1, 48_000]


def test_messages_of_a_stopped_stream_are_not_heard(stage) -> None:
    script = """
      send({ type: "begin", rateHz: 24000 });
      send({ type: "stop" });
      send({ type: "begin", rateHz: 24000, id: 2 });
      send({ type: "write", samples: new Int16Array(9000).fill(30000), id: 1 });
      send({ type: "end", id: 1 });
      let peak = 0;
      for (let block = 0; block < 50; block += 1) peak = Math.max(peak, ...render());
      return [peak, messages("drained").length];
    """
    assert run(stage, 48_000, script) == [0, 0]


def test_a_stream_of_nothing_ends_at_once(stage) -> None:
    script = """
      send({ type: "begin", rateHz: 24000 });
      send({ type: "end" });
      render();
      return [messages("drained").length, messages("started").length];
    """
    assert run(stage, 44_100, script) == [1, 0]


def test_the_buffer_grows_after_an_underrun_and_slowly_shrinks_again(stage) -> None:
    script = """
      const { Cushion } = await import("/player-worklet.js");
      send({ type: "begin", rateHz: 24000 });
      const cushions = [];
      for (let part = 0; part < 7; part += 1) {
        send({ type: "write", samples: new Int16Array(60000).fill(1000) });
        for (let block = 0; block < 1300; block += 1) render();
        cushions.push(processor.cushion.seconds);
      }
      const most = processor.cushion.seconds;
      processor.cushion.shrink(Cushion.HALF_LIFE_S);
      const half = processor.cushion.seconds;
      processor.cushion.shrink(1e6);
      return { cushions, most, half, least: processor.cushion.seconds, told: messages("progress").at(-1).cushionS };
    """
    got = run(stage, 48_000, script)
    assert got["cushions"][0] == pytest.approx(0.03, abs=0.001)
    assert got["cushions"][1] == pytest.approx(0.25, rel=0.1)
    assert got["cushions"][2] == pytest.approx(0.5, rel=0.1)
    assert got["cushions"] == sorted(got["cushions"])
    assert got["most"] == pytest.approx(2, rel=0.1)
    assert got["told"] == pytest.approx(got["most"], rel=0.01)
    assert got["half"] == pytest.approx(got["most"] / 2)
    assert got["least"] == 0.03


def test_speech_that_is_there_is_not_kept_waiting_for_a_full_buffer(stage) -> None:
    """A server may send no more until it hears that something was played."""
    script = """
      processor.cushion.seconds = 2;
      send({ type: "begin", rateHz: 24000 });
      send({ type: "write", samples: new Int16Array(4800).fill(1000) });
      let blocks = 0;
      while (messages("started").length === 0 && blocks < 1000) { render(); blocks += 1; }
      return blocks * 128 / 48000;
    """
    assert run(stage, 48_000, script) == pytest.approx(1.0, abs=0.01)


def test_a_cut_forgets_what_is_not_played_yet_and_goes_on_with_what_comes(stage) -> None:
    script = """
      send({ type: "begin", rateHz: 24000 });
      send({ type: "write", samples: new Int16Array(24000).fill(8000) });
      for (let block = 0; block < 30; block += 1) render();
      send({ type: "cut", to: 12000 });
      send({ type: "write", samples: new Int16Array(4800).fill(-8000) });
      send({ type: "end" });
      const out = [];
      while (messages("drained").length === 0) out.push(...render());
      return { total: processor.frames, below: out.filter((value) => value < -0.2).length, underruns: processor.underruns };
    """
    got = run(stage, 48_000, script)
    assert got["total"] == pytest.approx(2 * 16_800, abs=2)
    assert got["below"] == pytest.approx(2 * 4_800, abs=40)
    assert got["underruns"] == 0


def test_a_cut_behind_what_was_played_takes_nothing_back(stage) -> None:
    script = """
      send({ type: "begin", rateHz: 24000 });
      send({ type: "write", samples: new Int16Array(24000).fill(8000) });
      for (let block = 0; block < 100; block += 1) render();
      const played = processor.resampler.head;
      send({ type: "cut", to: 100 });
      return [played <= processor.ring.written, processor.ring.written - played < 100];
    """
    assert run(stage, 48_000, script) == [True, True]


@pytest.mark.slow
def test_kokoro_fastapi_overflow_a_long_stream_plays_to_its_last_sample(stage) -> None:
    """Eight minutes through a ring of 1.4 s, at an odd ratio, without a gap, a drift or a lost sample."""
    script = """
      processor.ring = new Ring(1 << 15);
      send({ type: "begin", rateHz: 24000 });
      const total = 24000 * 480;
      let written = 0;
      while (written < total) {
        const samples = new Int16Array(Math.min(24000, total - written)).fill(100);
        if (written + samples.length - processor.consumed > processor.ring.mask - 1024) { render(); continue; }
        send({ type: "write", samples });
        written += samples.length;
      }
      send({ type: "end" });
      while (messages("drained").length === 0) { processor.port.sent.length = 0; render(); }
      return [processor.frames, processor.underruns, processor.ring.samples.length];
    """
    frames, underruns, stored = run(stage, 44_100, script)
    assert frames == pytest.approx(44_100 * 480, abs=2)
    assert (underruns, stored) == (0, 1 << 15)


HALF_AN_HOUR_S = 1_800

# Every render quantum of the stream, as fast as the machine goes: the server is told of playback that is as fast.
LISTEN = """
  const { Client } = await import("/client.js");
  const speech = new Client(new URL("/ws/synthesize", location)).speak(TOLD);
  const minutes = [];
  const play = (until) => {
    while (until()) {
      const block = render();
      const minute = Math.floor(processor.frames / sampleRate / 60);
      minutes[minute] = Math.max(minutes[minute] ?? 0, ...block);
    }
    processor.port.sent.length = 0;
  };
  let words = 0, end = 0, written = 0, done = null;
  for await (const event of speech) {
    if (event.type === "start") send({ type: "begin", rateHz: event.sample_rate });
    if (event.type === "words") [words, end] = [words + event.words.length, event.words.at(-1).end];
    if (event.type === "done") done = event;
    if (event.type !== "audio") continue;
    send({ type: "write", samples: event.samples });
    written += event.samples.length;
    play(() => written - processor.consumed > 24000);
    speech.played(processor.consumed / 24);
  }
  send({ type: "end" });
  play(() => messages("drained").length === 0);
  return {
    minutes, words, end, written, outcome: done.outcome, audio_ms: done.audio_ms, frames: processor.frames,
    underruns: processor.underruns, stored: processor.ring.samples.length,
  };
"""


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_kokoro_fastapi_overflow_half_an_hour_of_speech_is_streamed_and_played(open_stage, serving) -> None:
    """hibari's own voice, through the WebSocket: every word of it is told, and nothing of it is missing or repeated."""
    pytest.importorskip("hibari")
    text = " ".join(
        f"On day {day} the keeper of the lighthouse counted {day * 37 % 91} sails and {day * 11 % 23} whales, "
        "and wrote down where the wind came from."
        for day in range(1, 301)
    )
    told = {"text": text, "sample_rate": 24_000, "lead_ms": 15_000}
    with serving(create_app(Settings.load(cache_mb=0))) as url:
        stage = open_stage(url)
        stage.page.wait_for_selector("#health[data-health=well]")
        heard = run(stage, 44_100, LISTEN.replace("TOLD", json.dumps(told)))
    assert heard["outcome"] == "ok"
    assert heard["audio_ms"] > HALF_AN_HOUR_S * 1000
    assert heard["written"] == round(heard["audio_ms"] * 24)
    assert heard["frames"] == pytest.approx(heard["audio_ms"] * 44.1, abs=2)
    assert (heard["underruns"], heard["stored"]) == (0, 1 << 20)
    assert (heard["words"], heard["end"]) == (len(text.split()), len(text) - 1)
    assert min(heard["minutes"][:-1]) > 0.1 and len(heard["minutes"]) > 30
