"""Whose the silence is: the writer's, or the server's."""

from __future__ import annotations

import pytest

from .test_worklet import run

pytestmark = pytest.mark.browser


TURNS = """async ([before, steps]) => {
  const [{ Saying }, { Inbox }] = await Promise.all([import("/saying.js"), import("/inbox.js")]);
  const [inbox, told] = [new Inbox(), []];
  const [write, flush, end, cancel] = Array(4).fill(() => {});
  const speech = { write, flush, end, cancel, [Symbol.asyncIterator]: () => inbox[Symbol.asyncIterator]() };
  const playback = { rateHz: 24000, firstSoundMs: null, rest: () => told.push("rest"), expect: () => told.push("more") };
  const player = { prepare: async () => {}, play: async () => playback };
  const saying = new Saying(0, () => {});
  const running = saying.run({ say: async () => speech }, player, { text: before, stream: true });
  inbox.push({ type: "start", sample_rate: 24000 });
  const happens = {
    spoken: (end) => ["segment", "segment_end"].forEach((type) => inbox.push({ type, index: end, text: "", end, audio_ms: 9 })),
    write: (text) => saying.write(text),
    flush: () => saying.flush(),
    end: () => saying.end(),
  };
  const settled = () => new Promise((resolve) => setTimeout(resolve, 0));
  await settled();
  for (const [step, value] of steps) {
    told.push(step);
    happens[step](value);
    await settled();
  }
  inbox.close(null);
  await running;
  return told.join(" ");
}"""


@pytest.fixture(scope="module")
def stage(workshop):
    return workshop


def test_a_pause_of_the_writer_is_no_underrun(stage) -> None:
    script = """
      send({ type: "begin", rateHz: 24000 });
      for (let part = 0; part < 3; part += 1) {
        send({ type: "write", samples: new Int16Array(2400).fill(1000) });
        if (part < 2) send({ type: "rest" });
        for (let block = 0; block < 200; block += 1) render();
      }
      send({ type: "end" });
      for (let block = 0; block < 100; block += 1) render();
      return [processor.underruns, messages("progress").at(-1).consumed, messages("drained").length];
    """
    assert run(stage, 48_000, script) == [0, 7_200, 1]


@pytest.mark.parametrize(("expected_while", "underruns"), [("sounding", 1), ("silent", 0)])
def test_a_rest_ends_where_more_is_expected_but_not_the_silence_that_it_has_made(
    stage, expected_while, underruns
) -> None:
    script = """
      send({ type: "begin", rateHz: 24000 });
      send({ type: "write", samples: new Int16Array(2400).fill(1000) });
      send({ type: "rest" });
      for (let block = 0; block < 200; block += 1) {
        if (block === MOMENT) send({ type: "more" });
        render();
      }
      send({ type: "write", samples: new Int16Array(24000).fill(1000) });
      send({ type: "end" });
      for (let block = 0; block < 600; block += 1) render();
      return [processor.underruns, messages("drained").length];
    """
    moment = {"sounding": "5", "silent": "100"}[expected_while]
    assert run(stage, 48_000, script.replace("MOMENT", moment)) == [underruns, 1]


def test_silence_while_a_sentence_is_in_the_making_is_the_writer_s(stage) -> None:
    """And the server's as soon as there is something that it could say."""
    for before, steps, told in [
        ("All said. ", [("spoken", 10)], "spoken rest"),
        ("One. Tw", [("spoken", 5)], "spoken rest"),
        ("One. Two. Th", [("spoken", 5)], "spoken"),
        ("One. Tw", [("flush", None), ("spoken", 5)], "flush more spoken"),
        ("One. Tw", [("spoken", 5), ("write", "o thr"), ("write", "ee. ")], "spoken rest write write more"),
        ("One. Tw", [("spoken", 5), ("flush", None), ("spoken", 7)], "spoken rest flush more spoken rest"),
        ("One. Tw", [("end", None), ("spoken", 5)], "end spoken"),
        ("一。二", [("spoken", 2), ("write", "。")], "spoken rest write more"),
    ]:
        assert stage.page.evaluate(TURNS, [before, steps]) == told, (before, steps)
