"""Tokens that let speech go on."""

from __future__ import annotations

import base64
import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vivavoce.errors import BadToken
from vivavoce.speech import Utterance
from vivavoce.speech.resume import ResumeTokens
from vivavoce.speech.seal import Seal
from vivavoce.text import Lexicon

SECRET = b"a secret that all gateways share"
DOOR = {
    "request_id": "r-17",
    "caller": "kiosk",
    "format": "pcm",
    "framing": "header",
    "word_timestamps": True,
    "voice_asked": "nova",
}
SPOKEN = Utterance(voice="mira", language="de-DE", speed=1.25, rate_hz=16_000, instruct="female, low pitch", offset=12)


class WallClock:
    def __init__(self):
        self.at_s = 1_900_000_000.0

    def __call__(self):
        return self.at_s


@pytest.fixture
def wall():
    return WallClock()


def test_any_gateway_with_the_same_secret_reads_what_was_asked_for(wall):
    token = ResumeTokens(SECRET, 900, wall).sign(SPOKEN, **DOOR)
    resumed = ResumeTokens(SECRET, 900, wall).read(token, "kiosk")
    assert resumed.utterance == SPOKEN
    assert (resumed.request_id, resumed.format, resumed.framing) == ("r-17", "pcm", "header")
    assert (resumed.word_timestamps, resumed.voice_asked) == (True, "nova")


def test_the_lexicon_is_the_servers_own(wall):
    tokens = ResumeTokens(SECRET, 900, wall)
    spoken = replace(SPOKEN, lexicon=Lexicon.parse('[words]\n"NASA" = "nassa"\n'))
    assert tokens.read(tokens.sign(spoken, **DOOR), "kiosk").utterance == SPOKEN


def test_a_pause_to_begin_with_is_no_setting(wall):
    tokens = ResumeTokens(SECRET, 900, wall)
    token = tokens.sign(replace(SPOKEN, opening_rest_ms=300.0), **DOOR)
    assert tokens.read(token, "kiosk").utterance == SPOKEN


@pytest.mark.parametrize(("passed_s", "good"), [(0, True), (899, True), (900, False), (86_400, False)])
def test_a_token_ages(wall, passed_s, good):
    tokens = ResumeTokens(SECRET, 900, wall)
    token = tokens.sign(SPOKEN, **DOOR)
    wall.at_s += passed_s
    if good:
        assert tokens.read(token, "kiosk").utterance == SPOKEN
    else:
        with pytest.raises(BadToken, match="too old"):
            tokens.read(token, "kiosk")


@pytest.mark.parametrize("thief", ["", "Kiosk", "night shift"])
def test_a_token_is_its_callers_own(wall, thief):
    tokens = ResumeTokens(SECRET, 900, wall)
    with pytest.raises(BadToken, match="another caller"):
        tokens.read(tokens.sign(SPOKEN, **DOOR), thief)


def test_another_secret_or_another_purpose_opens_nothing(wall):
    tokens = ResumeTokens(SECRET, 900, wall)
    note = Seal(SECRET, "vivavoce resume 1").open(tokens.sign(SPOKEN, **DOOR))
    for forger in (Seal(b"another secret", "vivavoce resume 1"), Seal(SECRET, "vivavoce token 1")):
        with pytest.raises(BadToken, match="none of this server's"):
            tokens.read(forger.close(note), "kiosk")


@pytest.mark.parametrize(
    "junk", ["", ".", "..", "a.b", "x" * 100_000, "e30.e30", "schlüssel.e30", "\ud800.", "\x00" * 9]
)
def test_junk_is_a_bad_token(wall, junk):
    with pytest.raises(BadToken) as caught:
        ResumeTokens(SECRET, 900, wall).read(junk, "kiosk")
    assert caught.value.param == "token"


def _flip(token, index):
    replacement = "A" if token[index] != "A" else "B"
    return token[:index] + replacement + token[index + 1 :]


@given(st.data())
def test_no_changed_token_opens(data):
    wall = WallClock()
    tokens = ResumeTokens(SECRET, 900, wall)
    token = tokens.sign(SPOKEN, **DOOR)
    changed = data.draw(
        st.one_of(
            st.integers(0, len(token) - 1).map(lambda i: _flip(token, i)),
            st.integers(0, len(token) - 1).map(lambda i: token[:i]),
            st.text(max_size=4).filter(bool).map(lambda tail: token + tail),
            st.text(max_size=200),
        )
    )
    with pytest.raises(BadToken):
        tokens.read(changed, "kiosk")


def test_later_words_cannot_be_put_into_a_signed_token(wall):
    tokens = ResumeTokens(SECRET, 900, wall)
    body, signature = tokens.sign(SPOKEN, **DOOR).split(".")
    note = json.loads(base64.urlsafe_b64decode(body + "=="))
    note[0] = "night shift"
    forged = base64.urlsafe_b64encode(json.dumps(note).encode()).rstrip(b"=").decode()
    with pytest.raises(BadToken):
        tokens.read(f"{forged}.{signature}", "night shift")


@given(st.binary(max_size=200), st.sampled_from(["a", "b"]))
def test_a_seal_gives_back_what_it_closed_and_travels_anywhere(note, purpose):
    sealed = Seal(SECRET, purpose).close(note)
    assert Seal(SECRET, purpose).open(sealed) == note
    assert set(sealed) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.")
