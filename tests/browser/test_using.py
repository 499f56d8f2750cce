"""The page in the hands of different people: with a keyboard, a screen reader, a phone."""

from __future__ import annotations

import io
import wave
from pathlib import Path

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser


def test_the_keyboard_alone_is_enough(stage, studio) -> None:
    page = stage.page
    studio.script.word_ms = 300
    order = []
    for _ in range(9):
        page.keyboard.press("Tab")
        order.append(stage.js("document.activeElement.id"))
    assert order == ["text", "language", "voice", "speed", "design", "live-typing", "speak", "format", "download"]
    page.locator("#text").focus()
    page.keyboard.press("ControlOrMeta+A")
    page.keyboard.type("typed and spoken without a mouse")
    page.keyboard.press("Control+Enter")
    stage.expect_status("Speaking.")
    assert stage.js("document.activeElement.id") == "text"
    page.keyboard.press("Escape")
    stage.expect_status("Stopped.")
    page.keyboard.press("Meta+Enter")
    stage.expect_status("Speaking.")
    page.locator("#stop").focus()
    page.keyboard.press("Space")
    stage.expect_status("Stopped.")
    assert stage.js("document.activeElement.id") == "speak"
    page.keyboard.press("Enter")
    stage.expect_status("Finished.")
    assert [request["input"] for request in studio.requests] == ["typed and spoken without a mouse"] * 3


def test_where_the_focus_is_can_be_seen(stage) -> None:
    page = stage.page
    for _ in range(18):
        page.keyboard.press("Tab")
        name = stage.js("document.activeElement.outerHTML.slice(0, 60)")
        seen = stage.js("""() => {
          const style = getComputedStyle(document.activeElement);
          const card = getComputedStyle(document.activeElement.closest(".card") ?? document.body);
          return (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2) || card.boxShadow.includes("0px 0px 0px 1px");
        }""")
        assert seen, name


def test_every_control_has_a_name_and_the_page_its_landmarks(stage) -> None:
    stage.js("document.getElementById('key-form').hidden = false")
    nameless = stage.js("""() => [...document.querySelectorAll("button, select, input, textarea, a")]
      .filter((control) => !(control.labels?.length || control.textContent.trim() || control.ariaLabel))
      .map((control) => control.outerHTML)""")
    assert nameless == []
    unsaid = "[aria-label]:not([role], button, input, select, textarea, a, section, aside, ul, dl, fieldset)"
    assert stage.js(f"() => [...document.querySelectorAll('{unsaid}')].map((one) => one.outerHTML)") == []
    tree = stage.page.locator("body").aria_snapshot()
    for part in [
        "banner",
        "main",
        "contentinfo",
        'textbox "Text to speak"',
        'combobox "Language"',
        'combobox "Voice"',
        'switch "Describe the voice"',
        'switch "Speak as I type"',
        'heading "Timeline"',
        'complementary "Live',
        'slider "Speed',
        "status",
    ]:
        assert part in tree, part
    assert stage.js("document.documentElement.lang") == "en"
    assert stage.js("document.querySelectorAll('h1').length") == 1
    assert stage.js("new Set([...document.querySelectorAll('[id]')].map((e) => e.id)).size") == stage.js(
        "document.querySelectorAll('[id]').length"
    )


def test_keys_that_belong_to_an_input_method_do_not_stop_the_speech(stage, studio) -> None:
    studio.script.word_ms = 400
    stage.say("written with an input method")
    stage.expect_status("Speaking.")
    press = "(composing) => document.getElementById('text').dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true, isComposing: composing }))"
    stage.page.evaluate(press, True)
    stage.page.wait_for_timeout(100)
    assert stage.js("__vivavoce.speaker.state") == "speaking"
    stage.page.evaluate(press, False)
    stage.expect_status("Stopped.")


@pytest.mark.parametrize("width", [320, 390, 768])
def test_nothing_runs_off_a_small_screen(open_stage, studio, width: int) -> None:
    phone = {"viewport": {"width": width, "height": 844}, "is_mobile": True, "has_touch": True}
    stage = open_stage(studio.url, **phone)
    stage.page.wait_for_selector("#health[data-health=well]")
    text = "A-very-long-word-" + "x" * 300 + " and more"
    stage.page.get_by_label("Text to speak").fill(text)
    stage.page.get_by_text("What will be spoken").tap()
    stage.page.wait_for_selector(".segments")
    stage.page.get_by_role("switch", name="Describe the voice").tap()
    stage.page.locator("#language").tap()
    assert stage.page.locator("#language-list [role=option]").count() == 646
    assert stage.js("document.documentElement.scrollWidth") <= width
    stage.page.keyboard.press("Escape")
    small = stage.js("""() => [...document.querySelectorAll("button, select, input")]
      .filter((control) => control.offsetParent && !control.classList.contains("copy"))
      .filter((control) => (control.closest("label") ?? control).offsetHeight < 44)
      .map((control) => control.id)""")
    assert small == []
    cut = stage.js(
        """() => ["language", "voice"].filter((id) => document.getElementById(id).scrollWidth > document.getElementById(id).clientWidth)"""
    )
    assert cut == []
    stage.page.get_by_role("button", name="Speak").tap()
    stage.expect_status("Speaking.")
    stage.page.get_by_role("button", name="Stop").tap()
    stage.expect_status("Stopped.")


def test_the_lit_text_lies_exactly_on_the_written_text(open_stage, studio) -> None:
    """Both are laid out alike, so that nothing jumps when speech begins: same box, same height, however long."""
    for width in (360, 1200):
        stage = open_stage(studio.url, viewport={"width": width, "height": 700})
        stage.page.get_by_label("Text to speak").fill("Several words, then more of them. " * 60 + "\n\nAnd an end.\n")
        boxes = stage.js("""() => [document.querySelector(".mirror"), document.querySelector("textarea")]
          .map((element) => [element.getBoundingClientRect().toJSON(), element.scrollHeight])""")
        assert boxes[0] == boxes[1]
        assert stage.js("getComputedStyle(document.querySelector('.mirror')).font") == stage.js(
            "getComputedStyle(document.querySelector('textarea')).font"
        )


def test_a_text_from_right_to_left_begins_on_the_right_and_its_words_are_lit_there(stage, studio) -> None:
    studio.script.word_ms = 600
    stage.record_lit()
    stage.say("صباح الخير يا جار.\nGuten Morgen.")
    stage.page.wait_for_selector(".now.lit")
    word, box, style = stage.js("""() => {
      const [word, box] = [".mirror .now", ".mirror"].map((one) => document.querySelector(one).getBoundingClientRect());
      return [word.toJSON(), box.toJSON(), getComputedStyle(document.getElementById("text")).unicodeBidi];
    }""")
    assert box["right"] - word["right"] < 40
    assert style == "plaintext"
    stage.until("document.querySelector('.now.lit')?.textContent === 'Guten'")
    left = stage.js("document.querySelector('.now').getBoundingClientRect().left")
    assert left - box["left"] < 40
    stage.page.keyboard.press("Escape")
    stage.page.get_by_text("What will be spoken").click()
    stage.page.wait_for_selector(".segments li")
    ways = "[...document.querySelectorAll('#timeline tbody th, .segments li')].map((one) => getComputedStyle(one).direction)"
    assert stage.js(ways) == ["rtl", "ltr", "rtl"]
    assert stage.js("getComputedStyle(document.querySelector('.segments li')).textAlign") == "start"
    assert stage.js("lit")[:2] == ["صباح", "الخير"]


def test_a_long_text_scrolls_along_inside_its_box(open_stage, studio) -> None:
    stage = open_stage(studio.url, viewport={"width": 800, "height": 600})
    studio.script.word_ms = 20
    stage.say("word " * 400)
    stage.expect_status("Speaking.")
    where = stage.js("scrollY")
    stage.until("document.getElementById('editor').scrollTop > 200")
    assert stage.js("scrollY") == where
    stage.expect_status("Finished.", timeout_ms=20_000)


def test_less_motion_where_the_user_asks_for_it(open_stage, studio) -> None:
    stage = open_stage(studio.url, reduced_motion="reduce")
    stage.js("""() => {
      window.drawn = 0;
      const fill = CanvasRenderingContext2D.prototype.fill;
      CanvasRenderingContext2D.prototype.fill = function () { drawn += this.globalAlpha > 0.3; return fill.call(this); };
    }""")
    stage.say("calm words only")
    stage.expect_status("Finished.")
    assert stage.js("drawn") == 0
    assert stage.js("getComputedStyle(document.getElementById('speak')).transitionDuration") == "0s"


def test_voices_are_grouped_and_those_not_there_say_how_to_get_them(stage, studio) -> None:
    page = stage.page
    groups = stage.js("""() => [...document.querySelectorAll("#voice optgroup")].map((group) =>
      [group.label, [...group.children].map((one) => one.value + (one.disabled ? " off" : ""))])""")
    assert groups == [
        ["hibari · American English", ["hibari"]],
        ["kokoro · American English", ["af_heart", "am_adam off"]],
        ["kokoro · British English", ["bf_emma"]],
    ]
    expect(page.locator("#voice-hint")).to_have_text(
        "1 more voice is not installed yet. Get it with vivavoce models pull kokoro."
    )
    page.get_by_label("Voice", exact=True).select_option("bf_emma")
    assert 'voice="bf_emma"' in page.locator("#python").inner_text()
    page.get_by_label("Speed").fill("1")
    stage.say("in another voice")
    stage.expect_status("Finished.")
    assert studio.requests[-1]["voice"] == "bf_emma"
    assert studio.requests[-1]["speed"] == 2
    page.get_by_label("Language", exact=True).fill("German")
    page.keyboard.press("Enter")
    expect(page.locator("#voice-hint")).to_be_hidden()
    stage.say("auf Deutsch")
    stage.expect_status("Finished.")
    assert (studio.requests[-1]["voice"], studio.requests[-1]["language"]) == ("de", "de")


def test_what_will_be_spoken_is_shown_on_demand_and_points_into_the_text(stage) -> None:
    page = stage.page
    page.get_by_label("Text to speak").fill("🎈 It cost $5")
    page.get_by_text("What will be spoken").click()
    changed = page.locator(".part.changed")
    expect(changed).to_have_text("five dollarscurrency")
    changed.hover()
    assert page.locator(".mirror .now").inner_text() == "$5"
    page.mouse.move(0, 0)
    assert page.locator("#editor").get_attribute("data-mode") == "edit"
    changed.focus()
    assert page.locator(".mirror .now").inner_text() == "$5"
    page.get_by_label("Text to speak").fill("Now it is $5")
    expect(page.locator(".part").first).to_have_text("Now it is")


def test_a_download_is_the_file_the_server_made(stage, studio, tmp_path: Path) -> None:
    page = stage.page
    page.get_by_label("Text to speak").fill("keep this")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").press("Enter")
    expect(page.get_by_role("button", name="Download")).to_be_focused()
    assert download.value.suggested_filename == "speech.wav"
    saved = tmp_path / "speech.wav"
    download.value.save_as(saved)
    with wave.open(io.BytesIO(saved.read_bytes())) as reader:
        assert reader.getnframes() == 12_000
    assert studio.requests[-1]["response_format"] == "wav"
    assert studio.requests[-1]["stream"] is False
    assert "stream_format" not in studio.requests[-1]
    stage.expect_status("Saved speech.wav.")


def test_over_plain_http_from_another_machine_it_still_speaks(open_stage, studio) -> None:
    """There a browser has no AudioWorklet and no clipboard."""
    stage = open_stage(studio.url.replace("127.0.0.1", "phone.test"), expect_errors=True)
    stage.page.wait_for_selector("#health[data-health=well]")
    assert stage.js("isSecureContext") is False
    stage.record_lit()
    stage.say("heard in the kitchen too")
    stage.until_loud()
    stage.expect_status("Finished.")
    assert stage.js("lit") == ["heard", "in", "the", "kitchen", "too"]
    stage.page.get_by_role("button", name="Copy").last.click()
    expect(stage.page.get_by_role("button", name="Selected")).to_be_visible()
    assert "v1/audio/speech" in stage.js("getSelection().toString()")


def test_nothing_is_loaded_from_elsewhere(open_stage, studio) -> None:
    stage = open_stage("about:blank")
    asked: list[str] = []
    stage.page.on("request", lambda request: asked.append(request.url))
    stage.page.goto(studio.url)
    stage.say("all by myself")
    stage.expect_status("Finished.")
    assert len(asked) > 15
    assert [url for url in asked if not url.startswith(studio.url)] == []
