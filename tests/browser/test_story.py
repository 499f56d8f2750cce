"""What the timeline tells of an utterance that had to wait, or that went on elsewhere."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.browser

STEPS = """async (before) => {
  const { Story } = await import("/story.js");
  const story = new Story();
  const timeline = { received: 0, admitted: 1, first_segment: 2, slot: 3, first_audio: 2300 };
  story.begin(1000);
  for (const type of before) story.add({ type, atMs: 1040 });
  story.add({ type: "start", atMs: 1050 });
  story.add({ type: "audio", atMs: 1060 });
  story.add({ type: "done", atMs: 9000, timeline });
  return [story.lostMs, story.steps(90).map(({ name, startMs, endMs }) => [name, startMs, endMs])];
}"""


def test_tries_in_vain_to_connect_again_are_one_lost_connection(workshop) -> None:
    lost, _ = workshop.page.evaluate(STEPS, ["start", "audio", "lost", "lost", "lost", "start", "lost", "lost"])
    assert lost == [40, 40]


def test_the_server_that_said_the_end_is_not_asked_about_a_beginning_it_did_not_see(workshop) -> None:
    _, steps = workshop.page.evaluate(STEPS, ["start", "audio", "lost"])
    assert steps == [["Server and network", 0, 40], ["Loudspeaker", 40, 90]]
    _, steps = workshop.page.evaluate(STEPS, ["lost"])
    assert [name for name, *_ in steps] == ["Admission", "First segment", "Slot", "Synthesis", "Network", "Loudspeaker"]


HEARD = """async ([told, asked]) => {
  const { Story } = await import("/story.js");
  const story = new Story();
  for (const [soundMs, sinceMs] of told) story.heard(soundMs, sinceMs);
  return asked.map((soundMs) => story.heardAtMs(soundMs, 100));
}"""


def test_what_follows_a_pause_is_heard_after_it(workshop) -> None:
    """Small differences between the clocks are none."""
    told = [(0, 0), (500, 510), (1000, 1030), (1010, 1300), (1010, 1900), (1100, 1990), (3000, 3880), (3010, 4300)]
    heard = workshop.page.evaluate(HEARD, [told, [0, 1000, 1020, 2000, 3020]])
    assert heard == [100, 1100, 2010, 2990, 4410]


def test_the_bars_of_what_was_heard_stand_after_the_pause(stage, studio) -> None:
    studio.script.word_ms = 200
    studio.script.gap_s = lambda number: 1.5 if number == 2 else 0.0
    stage.say("Two words then. Rest of it.")
    stage.expect_status("Finished.")
    assert stage.js("__vivavoce.speaker.figures.gaps") == 1
    (first, _), (second, _) = stage.js("""() => {
      const { story, figures } = __vivavoce.speaker;
      const scale = story.endMs(figures.firstSoundMs) / 1000;
      return [...document.querySelectorAll("#timeline .sounded")]
        .map((bar) => ["x", "width"].map((name) => Number(bar.getAttribute(name)) * scale));
    }""")
    assert second - first > 1_400
