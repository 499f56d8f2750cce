"""Type while it speaks (open-webui#16451, #30422: no waiting for the whole text)."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

TAKE = """async ([before, steps]) => {
  const { Typist } = await import("/typist.js");
  const typist = new Typist(before, before.length);
  return steps.map(([text, all]) => {
    typist.edit(text);
    return typist.take(all);
  });
}"""


@pytest.fixture
def box(stage):
    """The empty box, with the switch on."""
    stage.page.get_by_label("Text to speak").fill("")
    stage.page.get_by_role("switch", name="Speak as I type").check()
    stage.expect_status("Type: what you write is spoken.")
    return stage.page.get_by_label("Text to speak")


def spoken(studio) -> str:
    return "".join(one.get("text", "") for one in studio.said if one["type"] in ("synthesize", "text"))


def test_open_webui_16451_the_first_words_are_heard_while_the_last_are_typed(stage, box, studio) -> None:
    stage.record_lit()
    box.press_sequentially("Heard while it is ", delay=40)
    stage.until_loud()
    assert stage.js("__vivavoce.speaker.state") == "speaking"
    box.press_sequentially("being written. ", delay=40)
    assert spoken(studio) == "Heard while it is being written. "
    stage.until("lit.at(-1) === 'written.'")
    assert stage.js("lit") == ["Heard", "while", "it", "is", "being", "written."]
    assert len(studio.requests) == 1
    assert studio.requests[0]["stream"] is True
    assert stage.js("__vivavoce.speaker.figures.gaps") == 0


def test_a_word_in_the_making_waits_until_the_writer_rests(stage, box, studio) -> None:
    box.press_sequentially("one tw", delay=30)
    stage.page.wait_for_timeout(200)
    assert spoken(studio) == "one "
    stage.until("__vivavoce.speaker.figures?.lengthMs === 300", timeout_ms=5_000)
    assert spoken(studio) == "one tw"
    assert [one["type"] for one in studio.said if one["type"] != "played"][-2:] == ["text", "flush"]


def test_switching_it_off_says_the_rest_and_ends(stage, box, studio) -> None:
    box.press_sequentially("last words", delay=30)
    stage.page.get_by_role("switch", name="Speak as I type").uncheck()
    stage.expect_status("Finished.")
    assert spoken(studio) == "last words"
    assert studio.said[-1]["type"] in ("end", "played")


def test_text_is_added_behind_what_was_there_and_only_that_is_spoken(stage, studio) -> None:
    box = stage.page.get_by_label("Text to speak")
    box.fill("Not this 🎈. ")
    stage.page.get_by_role("switch", name="Speak as I type").check()
    box.press("ControlOrMeta+End")
    stage.record_lit()
    box.press_sequentially("But this ", delay=30)
    stage.until("lit.length === 2")
    assert stage.js("lit") == ["But", "this"]
    assert spoken(studio) == "But this "


def test_stop_stops_and_the_next_word_begins_anew(stage, box, studio) -> None:
    studio.script.word_ms = 500
    box.press_sequentially("these are several words ", delay=20)
    stage.until_loud()
    stage.page.keyboard.press("Escape")
    stage.expect_status("Stopped.")
    stage.until_silent()
    box.press_sequentially("then more ", delay=20)
    stage.until_loud()
    assert [request["stream"] for request in studio.requests] == [True, True]
    assert spoken(studio) == "these are several words then more "


def test_a_lost_connection_loses_nothing_of_what_is_typed(open_stage, studio) -> None:
    stage = open_stage(studio.url, expect_errors=True)
    stage.page.wait_for_selector("#health[data-health=well]")
    box = stage.page.get_by_label("Text to speak")
    box.fill("")
    stage.page.get_by_role("switch", name="Speak as I type").check()
    studio.script.drops = [1]
    studio.script.word_ms = 300
    stage.record_lit()
    box.press_sequentially("here it breaks off but nobody hears it ", delay=40)
    stage.until("lit.at(-1) === 'it'")
    stage.until("lit.length >= 8")
    assert stage.js("lit") == ["here", "it", "breaks", "off", "but", "nobody", "hears", "it"]


def test_a_refusal_is_not_asked_for_again_with_every_key(stage, box, studio) -> None:
    studio.script.busy = {"reason": "queue_full", "retry_after_ms": 5_000, "queue_depth": 9}
    box.press_sequentially("nobody has time for these words", delay=20)
    expect(stage.page.get_by_role("alert")).to_have_text("The server is busy speaking for others. Try again in 5 s.")
    assert len(studio.requests) == 1


def test_where_no_socket_passes_typing_says_so_and_speak_still_works(open_stage, studio) -> None:
    studio.script.sockets = False
    stage = open_stage(studio.url, expect_errors=True)
    stage.page.wait_for_selector("#health[data-health=well]")
    switch = stage.page.get_by_role("switch", name="Speak as I type")
    switch.check()
    stage.page.get_by_label("Text to speak").press_sequentially("x y ")
    expect(stage.page.get_by_role("alert")).to_contain_text("needs a WebSocket")
    switch.uncheck()
    stage.say("said all the same")
    stage.expect_status("Finished.")


def test_the_whole_box_is_said_at_once_with_the_switch_on_too(stage, studio) -> None:
    stage.page.get_by_label("Text to speak").fill("All of this now.")
    stage.page.get_by_role("switch", name="Speak as I type").check()
    stage.record_lit()
    stage.page.get_by_role("button", name="Speak", exact=True).click()
    stage.until("lit.at(-1) === 'now.'", timeout_ms=3_000)
    assert [one["type"] for one in studio.said[:2]] == ["synthesize", "flush"]
    assert (studio.requests[0]["text"], studio.requests[0]["stream"]) == ("All of this now.", True)


def test_only_whole_words_are_taken_and_nothing_twice(stage) -> None:
    steps = [
        *(("old Hel", False), ("old Hello", False), ("old Hello w", False), ("old Hello wor", True), ("old Hello world.", False)),
        *(("old Hello world.\n", False), ("old Hello world.\n漢字", False)),
    ]  # fmt: skip
    assert stage.page.evaluate(TAKE, ["old ", steps]) == ["", "", "Hello ", "wor", "", "ld.\n", "漢字"]


def test_edits_before_what_was_said_are_not_said_again(stage) -> None:
    steps = [("one two ", False), ("ONE two ", False), ("ONE two three ", False), ("ONE three ", False), ("ONE three four ", False)]  # fmt: skip
    assert stage.page.evaluate(TAKE, ["", steps]) == ["one two ", "", "three ", "", "four "]


def test_where_typing_begins_a_word_begins(stage) -> None:
    got = stage.page.evaluate(
        """async (pairs) => {
          const { newFrom } = await import("/typist.js");
          return pairs.map(([before, after]) => newFrom(before, after));
        }""",
        [["a b", "a bc"], ["a b", "a b c"], ["a b", "a "], ["a b", "a b "], ["", "x"], ["same", "same"], ["a b", "z"]],
    )
    assert got == [2, 3, None, None, 0, None, 0]
