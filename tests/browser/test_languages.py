"""646 languages, found by whatever a person types for them."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser


@pytest.fixture
def field(stage):
    return stage.page.get_by_role("combobox", name="Language")


def options(stage) -> list[str]:
    return stage.js(
        "() => [...document.querySelectorAll('[role=option]')].map((one) => one.firstChild.textContent.trim())"
    )


def test_all_646_are_there_and_those_spoken_here_come_first(stage, field) -> None:
    expect(field).to_have_value("English")
    field.click()
    listed = options(stage)
    assert len(listed) == 646
    assert listed[:3] == ["English", "German", "Abadi"]
    groups = stage.page.get_by_role("listbox").get_by_role("group")
    expect(groups.first).to_have_accessible_name("Spoken here")
    expect(groups.last).to_have_accessible_name("Needs a predictor that serves OmniVoice")
    expect(stage.page.locator("#language-count")).to_have_text("646 languages")


FOUND = {
    "swah": "Swahili",
    "yue": "Cantonese",
    "pt": "Portuguese",
    "espan": "Spanish",
    "TÜRKÇE": "Turkish",
    "Deutsch": "German",
    "日本": "Japanese",
    "zul": "Zulu",
    "français": "French",
    "german": "German",
}


def test_a_language_is_found_by_its_name_its_own_name_or_its_code(stage, field) -> None:
    for typed, first in FOUND.items():
        field.fill(typed)
        listed = options(stage)
        assert listed[0] == first
        assert len(listed) < 60


def test_what_is_chosen_stands_below_the_name_of_its_group(stage, field) -> None:
    """Options must never lie on the name that stays above them, nor it on the option the keyboard is at."""
    seen = """() => {
      const list = document.getElementById("language-list").getBoundingClientRect();
      const at = (x, y) => document.elementFromPoint(x, y);
      const active = document.querySelector(".option.active").getBoundingClientRect();
      return [at(list.left + 40, list.top + 12).className,
        ...[active.top + 2, active.bottom - 2].map((y) => at(list.left + 40, y).closest(".option")?.className)];
    }"""
    field.click()
    for _ in range(40):
        field.press("ArrowDown")
    assert stage.js(seen) == ["group-name", "option active", "option active"]
    for _ in range(20):
        field.press("ArrowUp")
    assert stage.js(seen) == ["group-name", "option active", "option active"]
    field.fill("Swahili")
    field.press("Enter")
    field.click()
    assert stage.js(seen) == ["group-name", "option active", "option active"]


def test_a_search_without_a_result_says_so_and_leaves_the_choice(stage, field) -> None:
    field.fill("klingonish")
    expect(stage.page.get_by_role("listbox")).to_have_text("No such language.")
    field.press("Enter")
    field.press("Escape")
    expect(field).to_have_value("English")


def test_the_keyboard_moves_chooses_and_leaves(stage, field, studio) -> None:
    page = stage.page
    page.locator("#text").focus()
    page.keyboard.press("Tab")
    expect(field).to_be_focused()
    assert field.get_attribute("aria-expanded") == "false"
    page.keyboard.press("ArrowDown")
    assert field.get_attribute("aria-expanded") == "true"
    active = "() => document.getElementById(document.getElementById('language').getAttribute('aria-activedescendant'))"
    assert stage.js(f"({active})().textContent").startswith("English")
    assert stage.js(f"({active})().ariaSelected") == "true"
    page.keyboard.press("ArrowDown")
    assert stage.js(f"({active})().textContent").startswith("German")
    page.keyboard.press("PageDown")
    page.keyboard.press("PageUp")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(field).to_have_value("German")
    assert field.get_attribute("aria-expanded") == "false"
    page.keyboard.type("fr")
    page.keyboard.press("Escape")
    expect(field).to_have_value("German")
    expect(field).to_be_focused()
    assert page.locator("#voice").input_value() == "de"
    stage.say("auf Deutsch")
    stage.expect_status("Finished.")
    assert (studio.requests[-1]["voice"], studio.requests[-1]["language"]) == ("de", "de")


def test_escape_in_the_list_does_not_stop_the_speech(stage, field, studio) -> None:
    studio.script.word_ms = 300
    stage.say("goes on while someone looks at the languages")
    stage.expect_status("Speaking.")
    field.click()
    field.press("Escape")
    assert stage.js("__vivavoce.speaker.state") == "speaking"
    field.press("Escape")
    stage.expect_status("Stopped.")


def test_a_language_that_nobody_here_speaks_says_what_it_needs_and_asks_for_nothing(stage, field, studio) -> None:
    field.fill("yoru")
    stage.page.get_by_role("option", name="Yoruba yo").click()
    expect(field).to_have_value("Yoruba")
    expect(stage.page.locator("#voice-hint")).to_have_text("Yoruba needs a predictor that serves OmniVoice.")
    assert stage.page.locator("#voice").is_disabled()
    stage.page.get_by_role("button", name="Speak").click()
    stage.expect_status("Yoruba needs a predictor that serves OmniVoice.")
    assert studio.requests == []
    field.fill("english")
    field.press("Enter")
    stage.say("back again")
    stage.expect_status("Finished.")


def test_the_list_is_named_and_counted_for_a_screen_reader(stage, field) -> None:
    field.fill("span")
    tree = stage.page.locator(".combobox").aria_snapshot()
    assert 'combobox "Language" [expanded]' in tree
    assert 'listbox "Languages"' in tree
    assert 'option "Spanish es"' in tree
    count = stage.page.locator("#language-count")
    assert count.get_attribute("aria-live") == "polite"
    assert count.inner_text().endswith(("language", "languages"))
