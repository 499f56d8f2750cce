"""Speech over the WebSocket: nothing stale, nothing lost, nothing said twice."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser


@pytest.fixture
def stage(open_stage, studio):
    stage = open_stage(studio.url)
    stage.page.wait_for_selector("#health[data-health=well]")
    return stage


def messages(studio, kind: str):
    return [message for message in studio.said if message["type"] == kind]


def rendered_ms(stage) -> float:
    return stage.js("1000 * __vivavoce.player.framesRendered / __vivavoce.player.context.sampleRate")


def test_two_texts_share_one_connection_and_ask_for_framed_speech_at_one_rate(stage, studio) -> None:
    studio.script.word_ms = 60
    for text in ("first of two", "second of two"):
        stage.say(text)
        stage.expect_status("Finished.")
    assert studio.connections == 1
    first, second = studio.requests
    assert [first["text"], second["text"]] == ["first of two", "second of two"]
    assert first["request_id"] != second["request_id"]
    for request in (first, second):
        wanted = {"framing": "header", "format": "pcm", "sample_rate": 24_000, "word_timestamps": True, "stream": False}
        assert {name: request[name] for name in wanted} == wanted


def test_what_is_heard_is_told_from_the_clock_of_the_sound(stage, studio) -> None:
    studio.script.lead_ms = 300
    stage.say("seven words that all are told of")
    stage.expect_status("Finished.")
    told = [message["ms"] for message in messages(studio, "played")]
    assert len(told) >= 3
    assert told == sorted(told)
    assert told[-1] <= 7 * 150
    assert told[-1] > 500


def test_cancel_is_silent_at_once_and_nothing_stale_is_ever_played(stage, studio) -> None:
    """The server goes on sending frames of what was cancelled, into the next text."""
    studio.script.gap_s = lambda index: 0.05
    studio.script.stale_frames = 5
    stage.say(" ".join(["old"] * 50))
    stage.until_loud()
    stage.page.keyboard.press("Escape")
    stage.expect_status("Stopped.")
    stage.until_silent()
    stage.until("__vivavoce.doors.client.stale >= 5")
    before = rendered_ms(stage)
    studio.script.stale_frames = 0
    stage.say("new words only")
    stage.expect_status("Finished.")
    assert rendered_ms(stage) - before == pytest.approx(3 * 150, abs=25)
    assert len(messages(studio, "cancel")) == 1
    assert studio.connections == 1


def test_a_new_text_cancels_the_old_one_first(stage, studio) -> None:
    studio.script.gap_s = lambda index: 0.2
    stage.say("this will not be said to its end")
    stage.until_loud()
    stage.say("this will")
    stage.expect_status("Finished.")
    assert [message["type"] for message in studio.said if message["type"] != "played"] == [
        "synthesize",
        "cancel",
        "synthesize",
    ]


@pytest.mark.parametrize(
    "text",
    ["one two three four five six seven eight", "eins 👋🏽 drei, vier. Fünf! Und 🎈 sieben acht"],
    ids=["plain", "beyond-the-basic-plane"],
)
def test_a_lost_connection_goes_on_at_the_right_word(open_stage, studio, text: str) -> None:
    """Half of the word after the cut was received too: it is forgotten, and said once, whole."""
    stage = open_stage(studio.url, expect_errors=True)
    stage.page.wait_for_selector("#health[data-health=well]")
    studio.script.word_ms = 300
    studio.script.drops = [2]
    stage.record_lit()
    stage.say(text)
    stage.expect_status("Finished.")
    assert stage.js("lit") == text.split()
    words = text.split()
    assert rendered_ms(stage) == pytest.approx(300 * len(words), abs=40)
    assert stage.js("__vivavoce.speaker.figures.gaps") == 0
    resumed = messages(studio, "resume")
    assert len(resumed) == 1
    assert resumed[0]["token"].startswith("token-")
    assert resumed[0]["text"].split() == words[3:]
    assert text[len(text) - len(resumed[0]["text"]) :] == resumed[0]["text"]
    assert resumed[0]["offset"] == len(text) - len(resumed[0]["text"])
    assert resumed[0]["before"] == text[: resumed[0]["offset"]][-100:]
    assert resumed[0]["silence_ms"] == 0
    assert studio.connections == 2
    expect(stage.page.locator("#timeline .summary")).to_contain_text("went on after 1 lost connection")


def test_connections_that_are_lost_again_and_again_lose_no_word(open_stage, studio) -> None:
    stage = open_stage(studio.url, expect_errors=True)
    stage.page.wait_for_selector("#health[data-health=well]")
    studio.script.word_ms = 250
    studio.script.drops = [1, 0, 2]
    stage.record_lit()
    text = "Nine small words. Said to the end. Though broken."
    stage.say(text)
    stage.expect_status("Finished.", timeout_ms=15_000)
    assert stage.js("lit") == text.split()
    assert [message["text"].split()[0] for message in messages(studio, "resume")] == ["words.", "Said", "end."]


def test_a_connection_lost_in_the_queue_waits_again_and_says_it_all(open_stage, studio) -> None:
    stage = open_stage(studio.url, expect_errors=True)
    stage.page.wait_for_selector("#health[data-health=well]")
    studio.script.places = (4, 3)
    studio.script.drops_in_queue = 1
    stage.record_told()
    stage.say("not lost in the line")
    stage.expect_status("Finished.")
    assert "No connection yet. Trying again…" in stage.js("told")
    assert [request["type"] for request in studio.requests] == ["synthesize", "synthesize"]
    assert stage.js("__vivavoce.speaker.figures.lengthMs") == 5 * 150


def test_a_server_that_leaves_politely_is_left_for_the_next_one(stage, studio) -> None:
    studio.script.word_ms = 250
    studio.script.goes_after = 3
    stage.record_lit()
    stage.say("a drain in the middle costs nobody a word")
    stage.expect_status("Finished.")
    assert stage.js("lit") == ["a", "drain", "in", "the", "middle", "costs", "nobody", "a", "word"]
    (resumed,) = messages(studio, "resume")
    assert (resumed["token"], resumed["text"]) == ("token-of-farewell", "middle costs nobody a word")


def test_a_server_that_does_not_know_the_token_says_the_rest_all_the_same(open_stage, studio) -> None:
    stage = open_stage(studio.url, expect_errors=True)
    stage.page.wait_for_selector("#health[data-health=well]")
    studio.script.word_ms = 250
    studio.script.drops = [1]
    studio.script.forgets_tokens = True
    stage.record_lit()
    stage.say("the 🎈 rest is said without a token")
    stage.expect_status("Finished.")
    assert stage.js("lit") == ["the", "🎈", "rest", "is", "said", "without", "a", "token"]
    assert [request["type"] for request in studio.requests] == ["synthesize", "resume", "synthesize"]
    assert studio.requests[-1]["text"] == "rest is said without a token"


def test_the_place_in_the_queue_is_told_as_it_moves(stage, studio) -> None:
    studio.script.places = (3, 2, 1)
    stage.record_told()
    stage.say("worth the wait")
    stage.expect_status("Finished.")
    assert stage.js("told").index("Waiting for a free place: number 3 in the queue, about 3 s.") == 1
    assert "Waiting for a free place: number 2 in the queue, about 2 s." in stage.js("told")
    assert "Waiting for a free place: next in the queue, about 1 s." in stage.js("told")


@pytest.mark.parametrize(
    ("busy", "told"),
    [
        (
            {"reason": "queue_full", "retry_after_ms": 2_400, "queue_depth": 64},
            "The server is busy speaking for others. Try again in 3 s.",
        ),
        (
            {"reason": "rate_limited", "retry_after_ms": 9_000, "queue_depth": 0},
            "This API key has used up what it may speak for now. Try again in 9 s.",
        ),
    ],
)
def test_a_refusal_says_when_to_try_again(stage, studio, busy, told: str) -> None:
    studio.script.busy = busy
    stage.say("not now")
    expect(stage.page.get_by_role("alert")).to_have_text(told)
    stage.expect_status("Not finished.")
    assert len(studio.requests) == 1
    studio.script.busy = None
    stage.say("but now")
    stage.expect_status("Finished.")


def test_an_error_of_the_server_lets_what_came_be_heard(stage, studio) -> None:
    studio.script.error_after = 3
    stage.say("one two three four five")
    expect(stage.page.get_by_role("alert")).to_have_text("The engine lost its voice.")
    stage.expect_status("Not finished.")
    assert rendered_ms(stage) == pytest.approx(3 * 150, abs=5)


def test_where_no_socket_passes_the_http_door_speaks(open_stage, studio) -> None:
    studio.script.sockets = False
    stage = open_stage(studio.url, expect_errors=True)
    stage.page.wait_for_selector("#health[data-health=well]")
    stage.record_lit()
    stage.say("said over plain HTTP")
    stage.expect_status("Finished.")
    assert stage.js("lit") == ["said", "over", "plain", "HTTP"]
    assert studio.requests[-1]["stream_format"] == "sse"
    assert messages(studio, "synthesize") == []


@pytest.mark.parametrize("tokens", [True, False], ids=["token", "key"])
def test_the_key_opens_the_socket_without_standing_in_its_address(open_stage, studio, tokens: bool) -> None:
    """A short-lived token where the server mints them, so that no proxy's log holds the key."""
    studio.script.key, studio.script.tokens = "s3same/open+1", tokens
    stage = open_stage(studio.url, expect_errors=True)
    asked: list[str] = []
    stage.page.on("websocket", lambda socket: asked.append(socket.url))
    key = stage.page.get_by_label("API key")
    key.fill("s3same/open+1")
    key.press("Enter")
    stage.page.wait_for_selector("#health[data-health=well]")
    stage.say("let in")
    stage.expect_status("Finished.")
    offered = [one["subprotocols"] for one in studio.headers if "subprotocols" in one][-1]
    assert offered.startswith("vivavoce.v1,vivavoce.")
    assert (".token." in offered) is tokens
    assert "s3same" not in offered
    assert {url.rpartition("/")[2] for url in asked} == {"synthesize"}


def test_a_socket_that_wants_another_key_asks_for_it(open_stage, studio) -> None:
    stage = open_stage(studio.url, expect_errors=True)
    stage.page.wait_for_selector("#health[data-health=well]")
    studio.script.key, studio.script.tokens = "new", False
    stage.say("said after all")
    key = stage.page.get_by_label("API key")
    expect(key).to_be_focused()
    key.fill("new")
    key.press("Enter")
    stage.expect_status("Finished.")
