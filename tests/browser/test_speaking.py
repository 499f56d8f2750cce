"""From a click to a sound, and back to silence."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

COUNT_CONTEXTS = """
  window.contextsMade = 0;
  window.AudioContext = class extends AudioContext {
    constructor(...options) { super(...options); window.contextsMade += 1; window.contextOptions = options[0]; }
  };
"""


def test_a_click_is_heard_while_speech_is_still_being_made(stage, studio) -> None:
    studio.script.gap_s = lambda index: 0.1
    stage.say("one two three four five six seven eight nine ten eleven twelve")
    stage.expect_status("Speaking.")
    assert studio.deltas_sent < 12
    assert stage.js("__vivavoce.player.context.state") == "running"
    stage.until_loud()
    stage.expect_status("Finished.")
    rendered_s = stage.js("__vivavoce.player.framesRendered / __vivavoce.player.context.sampleRate")
    assert rendered_s == pytest.approx(12 * 0.15, abs=0.01)


def test_the_figures_tell_first_sound_length_and_factor(stage, studio) -> None:
    studio.script.first_delay_s = 0.2
    stage.say("just a few words here")
    stage.expect_status("Finished.")
    shown = stage.page.locator("#first-sound").inner_text()
    assert shown.endswith(("ms", "s"))
    assert stage.js("__vivavoce.speaker.figures.firstSoundMs") >= 200
    expect(stage.page.locator("#length")).to_have_text("750 ms")
    assert float(stage.page.locator("#rtf").inner_text()) > 0
    expect(stage.page.locator("#gaps")).to_have_text("0")


def test_the_first_sound_is_timed_from_the_click_itself(stage, studio) -> None:
    """A page busy right after the click must not flatter the number."""
    stage.js("""() => document.getElementById("speak").addEventListener("click", () => {
      const until = performance.now() + 300;
      while (performance.now() < until);
    }, { capture: true })""")
    stage.say("short and sweet")
    stage.expect_status("Finished.")
    assert stage.js("__vivavoce.speaker.figures.firstSoundMs") >= 300


@pytest.mark.parametrize(
    "text",
    [
        "Every word lights up in turn",
        "👋🏽 hello 🎈 round é voilà 🧵 done",
        "first line\n\nsecond  line, with gaps\tand tabs\n",
    ],
    ids=["plain", "beyond-the-basic-plane", "lines-and-gaps"],
)
def test_words_are_lit_in_the_order_they_are_heard(stage, text: str) -> None:
    stage.record_lit()
    stage.say(text)
    stage.expect_status("Finished.")
    assert stage.js("lit") == text.split()
    assert stage.page.locator(".mirror .now").inner_text() == ""


def test_a_word_is_lit_when_it_is_heard_not_when_it_arrives(stage, studio) -> None:
    studio.script.word_ms = 400
    stage.say("alpha beta gamma delta")
    stage.until("document.querySelector('.mirror .now').textContent === 'gamma'")
    heard_ms = stage.js("__vivavoce.player.current.heardMs")
    assert studio.deltas_sent == 4
    assert 800 <= heard_ms < 1200


def test_stop_is_silent_at_once_and_frees_the_server(stage, studio) -> None:
    studio.script.gap_s = lambda index: 0.05
    stage.say(" ".join(["word"] * 60))
    stage.until_loud()
    stage.page.get_by_role("button", name="Stop").click()
    stage.expect_status("Stopped.")
    stage.until_silent()
    before = stage.js("__vivavoce.player.framesRendered")
    stage.page.wait_for_timeout(200)
    assert stage.js("__vivavoce.player.framesRendered") == before
    assert stage.loudness() == 0
    sent = studio.deltas_sent
    stage.page.wait_for_timeout(300)
    assert studio.deltas_sent <= sent + 1 < 60
    assert studio.left == 1


def test_stop_before_the_first_sound_keeps_it_from_coming(stage, studio) -> None:
    studio.script.first_delay_s = 0.4
    stage.say("never to be heard")
    stage.expect_status("Making the first sound…")
    stage.page.keyboard.press("Escape")
    stage.expect_status("Stopped.")
    stage.page.wait_for_timeout(700)
    assert stage.js("__vivavoce.player.framesRendered") == 0
    stage.expect_status("Stopped.")


def test_speak_while_speaking_starts_again(stage, studio) -> None:
    stage.record_lit()
    studio.script.word_ms = 300
    stage.say("old words that go on and on")
    stage.until("lit.includes('words')")
    stage.say("new ones")
    stage.expect_status("Finished.")
    assert stage.js("lit").count("new") == 1
    assert stage.js("lit").index("new") == stage.js("lit").index("ones") - 1
    assert stage.js("lit")[-1] == "ones"
    assert len(studio.requests) == 2


def test_an_edit_while_speaking_ends_the_light_but_not_the_sound(stage, studio) -> None:
    studio.script.word_ms = 250
    stage.say("some words to be heard to their end")
    stage.page.wait_for_selector(".editor[data-mode=speaking] .now.lit")
    stage.page.get_by_label("Text to speak").press_sequentially("x")
    assert stage.page.locator("#editor").get_attribute("data-mode") == "edit"
    stage.expect_status("Finished.")


def test_utsuwa_146_the_context_is_resumed_inside_the_click(open_stage, studio) -> None:
    """Where the page may not sound before a gesture, the click on Speak is enough."""
    stage = open_stage(studio.url)
    assert stage.js("__vivavoce.player.context") is None
    stage.js("""() => {
      window.resumedInside = [];
      const resume = AudioContext.prototype.resume;
      AudioContext.prototype.resume = function () {
        resumedInside.push(window.event?.type ?? "none");
        return resume.call(this);
      };
      document.addEventListener("pointerdown", () => {}, { once: true });
    }""")
    stage.js("""() => __vivavoce.player.prepare().then(() => __vivavoce.player.context.suspend())""")
    stage.say("heard on a phone too")
    stage.expect_status("Speaking.")
    assert stage.js("__vivavoce.player.context.state") == "running"
    assert stage.js("resumedInside[0]") == "click"


HELD = "Your browser holds the sound back. Press Speak once more, and see that a loudspeaker is there."


def test_a_browser_that_holds_the_sound_back_is_not_silence_without_a_word(open_stage, studio) -> None:
    stage = open_stage(studio.url)
    stage.js("""() => {
      window.resume = AudioContext.prototype.resume;
      AudioContext.prototype.resume = () => new Promise(() => {});
      return __vivavoce.player.prepare().then(() => __vivavoce.player.context.suspend());
    }""")
    stage.say("held back for now")
    stage.expect_status(HELD)
    stage.record_told()
    stage.js("() => { __vivavoce.speaker.dispatchEvent(new Event('change')); }")
    stage.page.wait_for_timeout(100)
    assert stage.js("told") == []
    stage.js("() => { AudioContext.prototype.resume = resume; }")
    stage.say("and free again")
    stage.expect_status("Finished.")


def test_pcm_player_8_ten_speeches_share_one_context_at_the_device_s_own_rate(open_stage, studio) -> None:
    stage = open_stage(studio.url, before=COUNT_CONTEXTS)
    studio.script.word_ms = 60
    for number in range(10):
        stage.say(f"time {number}")
        stage.expect_status("Finished.")
    assert stage.js("contextsMade") == 1
    assert stage.js("contextOptions.sampleRate === undefined")
    assert len(studio.requests) == 10


def test_deepgram_demo_73_every_replay_has_the_same_rate_and_length(stage, studio) -> None:
    lengths = []
    for _ in range(3):
        before = stage.js("__vivavoce.player.framesRendered")
        stage.say("again and again")
        stage.expect_status("Finished.")
        assert stage.js("__vivavoce.player.current.rateHz") == 24_000
        lengths.append(stage.js("__vivavoce.player.framesRendered") - before)
    assert len(set(lengths)) == 1
    assert {request["sample_rate"] for request in studio.requests} == {24_000}


def test_blank_text_asks_for_words_and_sends_nothing(stage, studio) -> None:
    stage.say(" \n ")
    stage.expect_status("Type something to say first.")
    assert stage.js("document.activeElement.id") == "text"
    assert studio.requests == []
    assert stage.page.locator("#stop").is_disabled()


def test_kokoro_fastapi_overflow_a_long_text_over_http_never_fills_memory(open_stage, studio) -> None:
    """Half an hour that arrives faster than it is heard is held back, not stored."""
    studio.script.sockets = False
    stage = open_stage(studio.url, expect_errors=True)
    stage.page.wait_for_selector("#health[data-health=well]")
    studio.script.word_ms = 1000
    studio.script.repeat = 1800
    stage.say("on")
    stage.until("__vivavoce.player.current?.buffered > 900_000")
    stage.page.wait_for_timeout(1000)
    sent = studio.deltas_sent
    assert sent < 1800
    stage.page.wait_for_timeout(500)
    assert studio.deltas_sent < sent + 200
    assert stage.js("__vivavoce.player.current.buffered") <= 1 << 20
    stage.page.keyboard.press("Escape")
    stage.expect_status("Stopped.")


def test_kokoro_fastapi_overflow_a_long_text_over_the_socket_never_fills_memory(stage, studio) -> None:
    """There the page tells what was heard, and the server stays no more than its lead ahead of that."""
    studio.script.word_ms = 500
    studio.script.repeat = 3600
    studio.script.lead_ms = 2_000
    stage.say("on")
    stage.until("__vivavoce.player.current?.heardMs > 1_500")
    assert 3 * 24_000 > stage.js("__vivavoce.player.current.buffered") > 1.2 * 24_000
    assert 5 <= studio.deltas_sent <= 10
    stage.page.keyboard.press("Escape")
    stage.expect_status("Stopped.")
