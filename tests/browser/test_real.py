"""The page and the real server with the voice that comes in hibari's wheel: nothing here is scripted."""

from __future__ import annotations

import json
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


@pytest.mark.parametrize(("blocked", "outcome"), [(False, "cancelled"), (True, "client_gone")], ids=["socket", "http"])
def test_stop_frees_the_server(open_stage, server: str, blocked: bool, outcome: str) -> None:
    stage = open_stage(server, expect_errors=True, before="delete window.WebSocket;" if blocked else "")
    stage.page.wait_for_selector("#health[data-health=well]")
    before = metric(server, "tts_utterances_total", outcome=outcome)
    stage.say("This goes on, and on, for a long while. " * 100)
    stage.expect_status("Speaking.")
    stage.page.keyboard.press("Escape")
    stage.expect_status("Stopped.")
    for _ in range(100):
        if metric(server, "tts_utterances_total", outcome=outcome) == before + 1:
            break
        stage.page.wait_for_timeout(50)
    assert metric(server, "tts_utterances_total", outcome=outcome) == before + 1
    assert metric(server, "tts_streams_active") == 0
    stage.until_silent()


def test_a_connection_cut_twice_in_mid_speech_loses_no_word_and_says_none_twice(open_stage, server: str) -> None:
    stage = open_stage("about:blank", expect_errors=True)
    asked: list[dict[str, Any]] = []
    cuts = [3, 2]

    def between(socket: Any) -> None:
        upstream = socket.connect_to_server()
        frames, cut = 0, False

        def down(message: str | bytes) -> None:
            nonlocal frames, cut
            frames += isinstance(message, bytes)
            if cut:
                return
            if cuts and frames > cuts[0]:
                cuts.pop(0)
                cut = True
                socket.close(code=1012)
                upstream.close()
            else:
                socket.send(message)

        def up(message: str | bytes) -> None:
            asked.append(json.loads(message))
            upstream.send(message)

        upstream.on_message(down)
        socket.on_message(up)

    stage.page.route_web_socket("**/ws/synthesize", between)
    stage.page.goto(server)
    stage.page.wait_for_selector("#health[data-health=well]")
    stage.record_lit()
    text = "The ferry leaves at nine in the morning. Bring a coat, for the wind is cold! Tea is served below."
    stage.say(text)
    stage.expect_status("Finished.", timeout_ms=30_000)
    assert cuts == []
    assert [message["type"] for message in asked if message["type"] != "played"] == ["synthesize", "resume", "resume"]
    assert [word.strip(".,!") for word in stage.js("lit")] == [word.strip(".,!") for word in text.split()]
    resumed = [message for message in asked if message["type"] == "resume"]
    assert all(text[message["offset"] :] == message["text"] for message in resumed)


def test_text_is_spoken_while_it_is_typed(stage) -> None:
    box = stage.page.get_by_label("Text to speak")
    box.fill("")
    stage.page.get_by_role("switch", name="Speak as I type").check()
    stage.record_lit()
    box.press_sequentially("Good morning everyone. ", delay=20)
    stage.until("lit.at(-1)?.startsWith('everyone')")
    box.press_sequentially("The second sentence follows. ", delay=20)
    stage.until("lit.at(-1)?.startsWith('follows')")
    stage.page.get_by_role("switch", name="Speak as I type").uncheck()
    stage.expect_status("Finished.")
    assert [word.strip(".") for word in stage.js("lit")] == "Good morning everyone The second sentence follows".split()  # noqa: SIM905


def test_the_numbers_of_what_was_just_said_are_on_the_page(stage, server: str) -> None:
    stage.say("One sentence to be counted. And another one.")
    stage.expect_status("Finished.", timeout_ms=30_000)
    spoken = f"{round(metric(server, 'tts_utterances_total', outcome='ok')):,}"
    expect(stage.page.locator("#count-ok")).to_have_text(spoken)
    expect(stage.page.locator("#now-ttfa")).to_have_text(re.compile(r"^\d"))
    assert stage.js("document.querySelector('#chart-streams .line').getAttribute('d').length") > 0
    assert stage.page.locator("#timeline .legend li").count() == 6
    rows = stage.page.locator("#timeline tbody tr")
    expect(rows).to_have_count(2)
    assert all("–" not in row for row in rows.all_inner_texts())


def test_646_languages_and_a_described_voice(stage) -> None:
    language = stage.page.get_by_role("combobox", name="Language")
    language.click()
    assert stage.page.locator("#language-list [role=option]").count() == 646
    language.press("Escape")
    stage.page.get_by_role("switch", name="Describe the voice").check()
    stage.page.locator("#design-gender").select_option("female")
    expect(stage.page.locator(".instruct")).to_have_text("female")
    expect(stage.page.locator(".why")).to_have_text(re.compile("nearest voice"))
    stage.say("Said by whoever comes nearest.")
    stage.expect_status("Finished.", timeout_ms=30_000)


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
