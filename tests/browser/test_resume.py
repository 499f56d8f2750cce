"""Where speech goes on after a break, worked out without a server."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def stage(workshop):
    return workshop


TEXT = "Say “hi”, twice: $5 or 👋🏽 bye."

REST = """async ([text, words, ms, whole, from, silenceMs]) => {
  const { Received } = await import("/resume.js");
  const received = new Received();
  received.add(words.map(([start, end, start_ms, end_ms]) => ({ start, end, start_ms, end_ms })));
  received.extend(ms);
  if (whole) received.complete();
  const { cutMs, rest } = received.restOf(text, from, silenceMs);
  return [rest.offset, cutMs, rest.text, rest.before, rest.silence_ms];
}"""

WORDS = [[0, 3, 0, 100], [5, 7, 120, 200], [10, 15, 220, 400]]


# What was received, and from it: where to go on, where to cut, and how much of the pause there is left.
CASES = {
    "in the first word": (WORDS, 90, False, (0, 0, 0)),
    "in the second word": (WORDS, 150, False, (5, 120, 20)),
    "between words": (WORDS, 210, False, (10, 210, 10)),
    "in a later word": (WORDS, 397, False, (10, 220, 20)),
    "a sample short is whole": (WORDS, 399.5, False, (17, 399.5, 0)),
    "in a word not told yet": (WORDS, 460, False, (17, 400, 0)),
    "at the end of a segment": (WORDS, 460, True, (17, 460, 0)),
    "nothing at all": ([], 0, False, (0, 0, 0)),
    "sound without words": ([], 300, False, (0, 0, 0)),
    "money keeps its sign": ([*WORDS, [17, 19, 400, 500]], 500, True, (20, 500, 0)),
    "before the word after a pause": ([*WORDS, [17, 19, 700, 800]], 750, False, (17, 700, 300)),
    "at the end": ([[23, 25, 0, 300], [26, 29, 300, 500]], 500, True, (30, 500, 0)),
}


def test_the_first_word_that_was_not_heard_whole(stage) -> None:
    for name, (words, ms, whole, (offset, cut_ms, silence_ms)) in CASES.items():
        got = stage.page.evaluate(REST, [TEXT, words, ms, whole, 0, 0])
        assert got == [offset, cut_ms, TEXT[offset:], TEXT[:offset], silence_ms], name


def test_a_leg_without_a_sound_begins_again_where_it_began(stage) -> None:
    """With as much of the pause there as there was before."""
    assert stage.page.evaluate(REST, [TEXT, [], 0, False, 17, 70]) == [17, 0, TEXT[17:], TEXT[:17], 70]
    assert stage.page.evaluate(REST, [TEXT, [[17, 19, 90, 200]], 120, False, 17, 70])[-1] == 160


def test_a_server_needs_no_more_of_the_text_before_than_its_end(stage) -> None:
    text = "Far away. " * 50
    before = stage.page.evaluate(REST, [text, [[490, 493, 0, 100]], 40, False, 480, 0])[3]
    assert before == text[:490][-100:]


def test_waits_between_tries_grow_and_differ(stage) -> None:
    """Clients that were cut off together must not come back together."""
    got = stage.js("""async () => {
      const { Client } = await import("/client.js");
      const waits = [];
      const timeout = setTimeout;
      window.setTimeout = (action, ms) => timeout(action, ms > 3000 ? 0 : (waits.push(ms), 0));
      class Never { constructor() { queueMicrotask(() => this.onclose?.({ code: 1006 })); } close() {} }
      const run = async (random) => {
        waits.length = 0;
        const client = new Client(location.href, { Socket: Never, random });
        try { for await (const event of client.speak({ text: "x" })); } catch (error) { return [error.code, [...waits]]; }
      };
      const both = [await run(() => 0), await run(() => 1)];
      window.setTimeout = timeout;
      return both;
    }""")
    assert [code for code, _ in got] == ["connection_failed"] * 2
    assert got[0][1][:4] == [250, 500, 1000, 2000]
    assert got[1][1][:4] == [125, 250, 500, 1000]


def test_a_frame_that_is_none_and_a_message_that_is_none_are_passed_over(stage) -> None:
    got = stage.js("""async () => {
      const { frameOf, messageOf } = await import("/wire.js");
      const buffer = new ArrayBuffer(16 + 5);
      const view = new DataView(buffer);
      view.setUint32(0, 4_000_000_000, true);
      view.setBigUint64(8, 5_000_000_000n, true);
      view.setInt16(16, -2, true);
      view.setInt16(18, 300, true);
      const frame = frameOf(buffer);
      return [
        [frame.generation, frame.offset, ...frame.samples],
        [frameOf(new ArrayBuffer(15)), messageOf("{"), messageOf("null"), messageOf("[1]"), messageOf('{"type":1}')],
        messageOf('{"type":"pong"}').type,
      ];
    }""")
    assert got == [[4_000_000_000, 5_000_000_000, -2, 300], [None] * 5, "pong"]
