"""The page in Firefox, where there is one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .conftest import RECORD_LIT
from .firefox import ESCAPE, Firefox, firefox_path, running

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def firefox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Firefox]:
    path = firefox_path()
    if path is None:
        pytest.skip("no Firefox here: install firefox-esr, or set FIREFOX to its path")
    with running(path, tmp_path_factory.mktemp("firefox")) as firefox:
        yield firefox


@pytest.fixture
def page(firefox, studio) -> Firefox:
    firefox.complaints.clear()
    firefox.open(studio.url)
    firefox.until("document.getElementById('health').dataset.health === 'well'")
    return firefox


def write(page: Firefox, text: str) -> None:
    page.js(f"document.getElementById('text').value = {text!r}")


def expect_status(page: Firefox, words: str) -> None:
    page.until(f"document.getElementById('status').textContent === {words!r}")


def test_a_text_is_heard_to_its_end_word_by_word(page) -> None:
    page.js(f"({RECORD_LIT})()")
    write(page, "heard in another browser too")
    page.click("#speak")
    expect_status(page, "Finished.")
    assert page.js("lit") == ["heard", "in", "another", "browser", "too"]
    figures = page.js("__vivavoce.speaker.figures")
    assert (figures["lengthMs"], figures["gaps"]) == (5 * 150, 0)
    heard_s = page.js("__vivavoce.player.framesRendered / __vivavoce.player.context.sampleRate")
    assert heard_s == pytest.approx(0.75, abs=0.01)
    assert page.complaints == []


def test_escape_is_silence(page, studio) -> None:
    studio.script.word_ms = 500
    write(page, "one two three four five six")
    page.click("#speak")
    expect_status(page, "Speaking.")
    page.press(ESCAPE)
    expect_status(page, "Stopped.")
    page.until("!__vivavoce.speaker.active")
    assert page.js("document.activeElement.id") == "speak"
    assert page.complaints == []


def test_a_lost_connection_goes_on_at_the_right_word(page, studio) -> None:
    studio.script.word_ms = 300
    studio.script.drops = [2]
    page.js(f"({RECORD_LIT})()")
    text = "one two three four five six"
    write(page, text)
    page.click("#speak")
    expect_status(page, "Finished.")
    assert page.js("lit") == text.split()
    assert [request["text"] for request in studio.requests if request["type"] == "resume"] == ["four five six"]


def test_what_is_typed_is_spoken_and_a_language_is_found(page, studio) -> None:
    page.click("#language")
    page.press("swah\ue007")
    assert page.js("document.getElementById('language').value") == "Swahili"
    page.press("albarradas\ue007")
    field = (
        "({ value, selectionStart, selectionEnd, scrollLeft }) => [value, selectionEnd - selectionStart, scrollLeft]"
    )
    name = page.js(f"({field})(document.getElementById('language'))")
    assert name == ["Santa Catarina Albarradas Zapotec", 33, 0]
    page.press("german\ue007")
    write(page, "")
    page.click("#live-typing")
    page.press("Ein Satz. ")
    expect_status(page, "Speaking.")
    page.click("#live-typing")
    expect_status(page, "Finished.")
    assert page.complaints == []
