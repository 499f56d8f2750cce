"""What a user is told when something goes wrong."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser


def error_of(status: int, code: str, message: str, **headers: str):
    return status, {"error": {"message": message, "type": "x", "param": None, "code": code}}, headers


def alert(stage):
    return stage.page.get_by_role("alert")


@pytest.fixture
def stage(open_stage, studio):
    """Speech over HTTP, as where no socket passes. Refusals are errors in the browser's console, rightly."""
    studio.script.sockets = False
    stage = open_stage(studio.url, expect_errors=True)
    stage.page.wait_for_selector("#health[data-health=well]")
    return stage


@pytest.mark.parametrize(
    ("refusal", "told"),
    [
        (error_of(503, "busy", "no slot", **{"Retry-After": "3"}), "The server is busy speaking for others. Try again in 3 s."),
        (error_of(503, "busy", "no slot"), "The server is busy speaking for others. Try again in a moment."),
        (error_of(413, "input_too_large", "The input has 9 characters; the limit is 8."), "The input has 9 characters; the limit is 8."),
        (error_of(503, "voice_not_installed", "Get it with vivavoce models pull kokoro."), "Get it with vivavoce models pull kokoro."),
        ((500, {"detail": "not our envelope"}, {}), "The server answered 500."),
    ],
    ids=["busy", "busy-without-a-time", "too-large", "not-installed", "not-our-envelope"],
)  # fmt: skip
def test_a_refusal_is_told_in_plain_words(stage, studio, refusal, told: str) -> None:
    studio.script.refusal = refusal
    stage.say("please speak")
    expect(alert(stage)).to_have_text(told)
    stage.expect_status("Not finished.")
    assert stage.page.locator("#stop").is_disabled()
    studio.script.refusal = None
    stage.say("please speak")
    expect(alert(stage)).to_be_hidden()
    stage.expect_status("Finished.")


def test_an_error_in_mid_speech_lets_what_came_be_heard(stage, studio) -> None:
    studio.script.error_after = 4
    stage.say("one two three four five six")
    expect(alert(stage)).to_have_text("The engine lost its voice.")
    stage.expect_status("Not finished.")
    heard_s = stage.js("__vivavoce.player.framesRendered / __vivavoce.player.context.sampleRate")
    assert heard_s == pytest.approx(4 * 0.15, abs=0.01)


def test_a_stream_without_an_end_is_not_called_finished(stage, studio) -> None:
    studio.script.break_after = 2
    stage.say("one two three four")
    expect(alert(stage)).to_have_text("The server cannot be reached. Is it still running?")
    stage.expect_status("Not finished.")


def test_no_server_at_all(stage) -> None:
    stage.page.route("**/v1/audio/speech", lambda route: route.abort())
    stage.say("anyone there")
    expect(alert(stage)).to_have_text("The server cannot be reached. Is it still running?")
    stage.expect_status("Not finished.")


def test_a_slow_stream_is_counted_in_gaps_and_heard_to_its_end(stage, studio) -> None:
    studio.script.gap_s = lambda index: 0.7 if index in (3, 7) else 0.0
    stage.say("one two three four five six seven eight nine ten")
    stage.expect_status("Finished.")
    expect(stage.page.locator("#gaps")).to_have_text("2")
    assert stage.js("__vivavoce.speaker.figures.lengthMs") == 1500


def test_a_player_that_cannot_load_is_an_error_and_can_be_tried_again(open_stage, studio) -> None:
    studio.script.missing = "/player-worklet.js"
    stage = open_stage(studio.url, expect_errors=True)
    stage.say("hello")
    expect(alert(stage)).to_have_text("The page could not load its player. Try again, or load the page anew.")
    stage.expect_status("Not finished.")
    studio.script.missing = None
    stage.say("hello again")
    stage.expect_status("Finished.")
    expect(alert(stage)).to_be_hidden()


def test_a_key_is_asked_for_kept_in_this_tab_only_and_tried_again(open_stage, studio) -> None:
    studio.script.key, studio.script.sockets = "sesame", False
    stage = open_stage(studio.url, expect_errors=True)
    key = stage.page.get_by_label("API key")
    expect(key).to_be_focused()
    assert key.get_attribute("type") == "password"
    key.fill("wrong")
    key.press("Enter")
    expect(stage.page.locator("#health")).to_have_text("Needs a key")
    expect(stage.page.locator("#error")).to_have_text("This server does not know that API key.")
    expect(key).to_be_focused()
    key.fill("sesame")
    key.press("Enter")
    expect(stage.page.locator("#health")).to_have_text("4 voices ready")
    expect(key).to_be_hidden()
    expect(alert(stage)).to_be_hidden()
    stage.say("open now")
    stage.expect_status("Finished.")
    assert studio.headers[-1]["authorization"] == "Bearer sesame"
    kept = "[...Array(sessionStorage.length).keys()].map((n) => sessionStorage.getItem(sessionStorage.key(n)))"
    assert stage.js(kept) == ["sesame"]
    assert stage.js("localStorage.length") == 0
    assert stage.js("document.cookie") == ""
    stage.page.reload()
    expect(stage.page.locator("#health")).to_have_text("4 voices ready")


def test_a_key_that_expires_between_two_speeches_is_asked_for_and_the_text_is_then_spoken(stage, studio) -> None:
    studio.script.key = "new"
    stage.say("said after all")
    key = stage.page.get_by_label("API key")
    expect(key).to_be_focused()
    assert "$VIVAVOCE_KEY" not in stage.page.locator("#curl").inner_text()
    key.fill("new")
    key.press("Enter")
    stage.expect_status("Finished.")
    assert [request["input"] for request in studio.requests] == ["said after all"] * 2
    expect(stage.page.get_by_role("button", name="Speak")).to_be_focused()
    snippet = stage.page.locator("#curl").inner_text()
    assert "$VIVAVOCE_KEY" in snippet
    assert "new" not in snippet


def test_a_wrong_key_on_the_way_does_not_forget_what_was_to_be_spoken(stage, studio) -> None:
    studio.script.key = "new"
    stage.say("said after two tries")
    key = stage.page.get_by_label("API key")
    expect(key).to_be_focused()
    key.fill("old")
    key.press("Enter")
    expect(alert(stage)).to_have_text("This server does not know that API key.")
    expect(key).to_be_focused()
    key.fill("new")
    key.press("Enter")
    stage.expect_status("Finished.")
    assert {request["input"] for request in studio.requests} == {"said after two tries"}


@pytest.mark.parametrize("key", ["ключ", "two\nlines", "naïve 🔑"])
def test_a_key_that_no_header_can_carry_is_refused_in_words(open_stage, studio, key: str) -> None:
    studio.script.key = "sesame"
    stage = open_stage(studio.url, expect_errors=True)
    field = stage.page.get_by_label("API key")
    expect(field).to_be_focused()
    stage.js(f"() => {{ document.getElementById('key').value = {key!r}; }}")
    field.press("Enter")
    expect(alert(stage)).to_be_visible()
    expect(field).to_be_visible()
    assert stage.page.locator("#health").inner_text() == "Needs a key"
