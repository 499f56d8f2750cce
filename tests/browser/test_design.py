"""A voice described instead of chosen."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser


def fields(stage) -> list[str]:
    return stage.js("() => [...document.querySelectorAll('#design-form select')].map((one) => one.name)")


def choose(stage, **choices: str) -> None:
    for name, value in choices.items():
        stage.page.locator(f"#design-{name}").select_option(value)


def test_one_choice_a_category_becomes_an_instruct_and_the_nearest_voice_speaks(stage, studio) -> None:
    page = stage.page
    form = page.locator("#design-form")
    expect(form).to_be_hidden()
    page.get_by_role("switch", name="Describe the voice").check()
    expect(form).to_be_visible()
    assert fields(stage) == ["gender", "age", "pitch", "style", "accent"]
    assert page.locator("#design-accent option").count() == 11
    choose(stage, accent="british accent", gender="female", age="middle-aged")
    expect(form.locator(".instruct")).to_have_text("female, middle-aged, british accent")
    expect(form.locator(".why")).to_have_text("bf_emma comes nearest.")
    assert page.locator("#voice").is_disabled()
    assert page.locator("#voice").input_value() == "bf_emma"
    stage.say("as described")
    stage.expect_status("Finished.")
    request = studio.requests[-1]
    assert (request["voice"], request["language"], request.get("instruct")) == ("bf_emma", "en-GB", None)
    page.get_by_role("switch", name="Describe the voice").uncheck()
    expect(form).to_be_hidden()
    assert page.locator("#voice").is_enabled()


def test_the_voice_chosen_before_comes_back(stage) -> None:
    page = stage.page
    voice, switch = page.locator("#voice"), page.get_by_role("switch", name="Describe the voice")
    voice.select_option("af_heart")
    for gender in ("female", "male"):
        switch.check()
        choose(stage, gender=gender)
        expect(voice).to_have_value("bf_emma")
        switch.uncheck()
        expect(voice).to_have_value("af_heart")
    voice.select_option("hibari")
    switch.check()
    expect(voice).to_have_value("bf_emma")
    language = page.get_by_role("combobox", name="Language")
    language.fill("german")
    language.press("Enter")
    switch.uncheck()
    expect(voice).to_have_value("de")


def test_where_the_engine_designs_the_design_itself_is_sent(open_stage, studio) -> None:
    studio.script.native_design = True
    stage = open_stage(studio.url)
    stage.page.wait_for_selector("#health[data-health=well]")
    stage.page.get_by_role("switch", name="Describe the voice").check()
    choose(stage, gender="male", pitch="very low pitch", style="whisper")
    expect(stage.page.locator(".why")).to_have_text("Designed.")
    expect(stage.page.locator(".instruct")).to_have_text("male, very low pitch, whisper")
    stage.say("made to order")
    stage.expect_status("Finished.")
    request = studio.requests[-1]
    assert (request["instruct"], request["language"]) == ("male, very low pitch, whisper", "en")
    assert "voice" not in request


def test_accents_are_for_english_and_dialects_for_chinese(open_stage, studio) -> None:
    studio.script.voices.append({"name": "xiao", "language": "zh", "engine": "kokoro", "ready": True})
    stage = open_stage(studio.url)
    stage.page.wait_for_selector("#health[data-health=well]")
    stage.page.get_by_role("switch", name="Describe the voice").check()
    choose(stage, gender="female", accent="indian accent")
    for typed, last in (("chinese", "dialect"), ("german", "style"), ("english", "accent")):
        language = stage.page.get_by_role("combobox", name="Language")
        language.fill(typed)
        language.press("Enter")
        assert fields(stage)[-1] == last
        if last == "dialect":
            choose(stage, dialect="四川话")
            expect(stage.page.locator(".instruct")).to_have_text("女，四川话")
        else:
            wanted = "female, indian accent" if last == "accent" else "female"
            expect(stage.page.locator(".instruct")).to_have_text(wanted)


def test_every_category_is_named_and_any_is_the_beginning(stage) -> None:
    stage.page.get_by_role("switch", name="Describe the voice").check()
    tree = stage.page.locator("#design-form").aria_snapshot()
    assert 'group "Describe the voice"' in tree
    for name in ("Gender", "Age", "Pitch", "Style", "Accent"):
        assert f'combobox "{name}"' in tree
    assert stage.page.locator("#design-pitch option").all_inner_texts() == [
        *("Any", "Very low", "Low", "Moderate", "High", "Very high")
    ]
    expect(stage.page.locator(".instruct")).to_have_text("any voice")


def test_a_server_without_a_vocabulary_does_not_offer_it(open_stage, studio) -> None:
    stage = open_stage("about:blank", expect_errors=True)
    stage.page.route("**/v1/languages", lambda route: route.fulfill(status=404, body="{}"))
    stage.page.goto(studio.url)
    stage.page.wait_for_selector("#health[data-health=well]")
    expect(stage.page.get_by_role("switch", name="Describe the voice")).to_be_hidden()
    field = stage.page.get_by_role("combobox", name="Language")
    field.click()
    expect(stage.page.locator("#language-list [role=option]")).to_have_text(["English en", "German de"])
    stage.page.keyboard.press("Escape")
    stage.say("without it")
    stage.expect_status("Finished.")
