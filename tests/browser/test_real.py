"""The page and the real server with the voice that comes in hibari's wheel: nothing here is scripted."""

from __future__ import annotations

import re
import urllib.request
import wave
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from vivavoce.api import create_app
from vivavoce.config import Settings

pytest.importorskip("hibari")

pytestmark = pytest.mark.browser

SENTENCE = "The parcel for Mr. Okafor weighs 2.5 kg, and it cost $14.20 to send from Lyon on Monday."


@pytest.fixture(scope="module")
def server(serving: Callable[[Any], Any]) -> Iterator[str]:
    with serving(create_app(Settings.load(max_input_chars=5_000))) as url:
        yield url


@pytest.fixture
def stage(open_stage, server):
    stage = open_stage(server, expect_errors=True)
    stage.page.wait_for_selector("#health[data-health=well]")
    return stage


def metric(server: str, name: str, **labels: str) -> float:
    text = urllib.request.urlopen(server + "metrics").read().decode()
    found = re.findall(rf"^{name}(?:{{(.*?)}})? (\S+)$", text, re.M)
    wanted = {f'{key}="{value}"' for key, value in labels.items()}
    return sum(float(value) for given, value in found if wanted <= set(given.split(",")))


def test_a_sentence_is_spoken_and_every_word_of_it_lit(stage) -> None:
    stage.record_lit()
    stage.say(SENTENCE)
    stage.until("__vivavoce.player.current?.heardMs > 300")
    assert stage.js("__vivavoce.player.context.state") == "running"
    stage.until("__vivavoce.speaker.state === 'speaking'")
    levels = [stage.loudness() for _ in range(40) if not stage.page.wait_for_timeout(25)]
    assert max(levels) > 0.05
    stage.expect_status("Finished.", timeout_ms=30_000)
    figures = stage.js("__vivavoce.speaker.figures")
    assert 4_000 < figures["lengthMs"] < 12_000
    assert 0 < figures["firstSoundMs"] < figures["lengthMs"]
    assert figures["gaps"] == 0
    rendered_ms = stage.js("1000 * __vivavoce.player.framesRendered / __vivavoce.player.context.sampleRate")
    assert rendered_ms == pytest.approx(figures["lengthMs"], abs=5)
    assert stage.js("__vivavoce.speaker.exact") is True
    words = "The parcel for Mr Okafor weighs 2.5 kg and it cost $14.20 to send from Lyon on Monday"
    lit = " ".join(stage.js("lit"))
    assert re.sub(r"[.,](?= |$)", "", lit) == words


def test_a_file_is_exactly_as_long_as_what_was_heard(stage, tmp_path: Path) -> None:
    stage.say("Keep these few words for later.")
    stage.expect_status("Finished.", timeout_ms=30_000)
    heard_ms = stage.js("__vivavoce.speaker.figures.lengthMs")
    with stage.page.expect_download() as download:
        stage.page.get_by_role("button", name="Download").click()
    download.value.save_as(tmp_path / "speech.wav")
    with wave.open(str(tmp_path / "speech.wav")) as reader:
        assert (reader.getframerate(), reader.getnchannels(), reader.getsampwidth()) == (24_000, 1, 2)
        frames = reader.getnframes()
        assert len(reader.readframes(frames + 1)) == 2 * frames
    assert frames / 24 == pytest.approx(heard_ms, abs=1)


@pytest.mark.parametrize(
    ("name", "magic"), [("mp3", (b"ID3", b"\xff")), ("opus", (b"OggS",)), ("flac", (b"fLaC",)), ("aac", (b"\xff",))]
)
def test_every_format_can_be_kept(stage, tmp_path: Path, name: str, magic: tuple[bytes, ...]) -> None:
    stage.page.get_by_label("Text to speak").fill("In any format.")
    stage.page.get_by_label("File format").select_option(name)
    with stage.page.expect_download() as download:
        stage.page.get_by_role("button", name="Download").click()
    assert download.value.suggested_filename == f"speech.{name}"
    download.value.save_as(tmp_path / "speech")
    assert (tmp_path / "speech").read_bytes().startswith(magic)


def test_stop_frees_the_server(stage, server: str) -> None:
    before = metric(server, "tts_utterances_total", outcome="client_gone")
    stage.say("This goes on, and on, for a long while. " * 100)
    stage.expect_status("Speaking.")
    stage.page.keyboard.press("Escape")
    stage.expect_status("Stopped.")
    for _ in range(100):
        if metric(server, "tts_utterances_total", outcome="client_gone") == before + 1:
            break
        stage.page.wait_for_timeout(50)
    assert metric(server, "tts_utterances_total", outcome="client_gone") == before + 1
    assert metric(server, "tts_streams_active") == 0
    stage.until_silent()


def test_what_will_be_spoken_names_the_rule_behind_each_change(stage) -> None:
    stage.page.get_by_label("Text to speak").fill("It cost $5.3 million. [pause:1s] **Really**?")
    stage.page.get_by_text("What will be spoken").click()
    changed = stage.page.locator(".part.changed", has_text="five point three million dollars")
    expect(changed.locator(".rule")).to_have_text("currency")
    changed.hover()
    assert stage.page.locator(".mirror .now").inner_text() == "$5.3 million"
    expect(stage.page.locator(".part.changed", has_text="pause 1 s")).to_be_visible()
    assert stage.page.locator("s.part").first.inner_text().startswith("**")
    stage.page.get_by_label("Text to speak").fill("😀")
    expect(stage.page.locator("#explain-body")).not_to_contain_text("million")


def test_a_text_that_is_too_long_is_refused_in_words(stage) -> None:
    stage.say("word " * 1_100)
    expect(stage.page.get_by_role("alert")).to_contain_text("5000")
    stage.expect_status("Not finished.")


def test_a_server_with_keys_gives_its_page_freely_and_its_voice_for_a_key(open_stage, serving) -> None:
    with serving(create_app(Settings.load(api_keys="open-sesame,other"))) as url:
        stage = open_stage(url, expect_errors=True)
        key = stage.page.get_by_label("API key")
        expect(key).to_be_focused()
        key.fill("other")
        key.press("Enter")
        stage.page.wait_for_selector("#health[data-health=well]")
        stage.say("Let in.")
        stage.expect_status("Finished.", timeout_ms=30_000)
