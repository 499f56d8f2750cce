"""Whatever a client sends, in whatever order, the conversation holds."""

from __future__ import annotations

import json
import random
import string
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vivavoce.errors import BadToken, Busy, PredictorFailed
from vivavoce.speech import SegmentEnd, SegmentStart, Timeline, Utterance, Word
from vivavoce.speech.actions import Action, Begin, Close, EndText, FeedText, FlushText, MovePlayed, Send, Stop
from vivavoce.speech.protocol import AUDIO_FRAME_BYTES, MAX_UTTERANCES, Conversation
from vivavoce.speech.resume import Resumed
from vivavoce.speech.waiting import Place
from vivavoce.text import Segment, speak

TYPES = ["synthesize", "text", "flush", "end", "cancel", "played", "ping", "resume"]
FIELDS = [
    *["request_id", "text", "stream", "language", "voice", "model", "instruct", "speed", "sample_rate", "format"],
    *["word_timestamps", "framing", "lead_ms", "ms", "id", "token", "offset", "type", "extra"],
]
SPOKEN = speak("One.")


def read_token(token: str) -> Resumed:
    if not token.startswith("good"):
        raise BadToken("no", param="token")
    framing = "header" if token == "good header" else "raw"
    return Resumed(Utterance(voice="mira"), "again", "pcm", framing, False, "")


class Client:
    """Says what a client might: mostly sense, often nonsense, sometimes noise."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)

    def frame(self) -> str | bytes:
        kind = self.chance.random()
        if kind < 0.80:
            return self._dumped(self._sense())
        if kind < 0.96:
            return self._dumped(self._nonsense())
        if kind < 0.985:
            return self._broken(self._dumped(self._sense()))
        if kind < 0.995:
            return "".join(self.chance.choices(string.printable + "\ud800𝄞é", k=self.chance.randrange(40)))
        return self.chance.randbytes(self.chance.randrange(20))

    def _dumped(self, value: Any) -> str:
        return json.dumps(value, ensure_ascii=self.chance.random() < 0.5)

    def _sense(self) -> dict[str, Any]:
        pick = self.chance.choice
        kind = self.chance.choices(TYPES, [30, 30, 5, 8, 12, 6, 4, 5])[0]
        message: dict[str, Any] = {"type": kind}
        if self.chance.random() < 0.8:
            message["request_id"] = f"r{self.chance.randrange(12)}"
        if kind == "synthesize":
            message["framing"] = pick(["header", "header", "header", "raw"])
            message["text"] = pick(["Well.", "Two of them came. ", "", None])
            message["stream"] = pick([True, False, None])
            message["format"] = pick(["pcm", "pcm", "opus", None])
            message["word_timestamps"] = pick([True, False])
        elif kind == "text":
            message["text"] = pick(["and ", "so on. ", "", "é\ud83d", "\ude00!", "x" * 30])
        elif kind == "resume":
            message |= {
                "token": pick(["good", "good header", "bad"]),
                "text": "rest.",
                "offset": self.chance.randrange(9),
            }
        elif kind == "played":
            message["ms"] = self.chance.uniform(-5, 5_000)
        elif kind == "ping":
            message["id"] = pick([1, "a", None, 2.5])
        return message

    def _nonsense(self) -> Any:
        if self.chance.random() < 0.2:
            return self._value(3)
        message = self._sense()
        for _ in range(self.chance.randrange(1, 4)):
            message[self.chance.choice(FIELDS)] = self._value(2)
        return message

    def _value(self, depth: int) -> Any:
        pick = self.chance.choice
        if depth and self.chance.random() < 0.3:
            items = [self._value(depth - 1) for _ in range(self.chance.randrange(3))]
            return items if self.chance.random() < 0.5 else {pick(FIELDS): item for item in items}
        return pick([None, True, False, 0, -1, 2**70, 1.5, 1e308, "", "header", "r1", "\ud800", "\x00", "a" * 300])

    def _broken(self, frame: str) -> str:
        at = self.chance.randrange(len(frame))
        return pick_one(self.chance, [frame[:at], frame[:at] + "}" + frame[at:], frame[at:], frame * 2])


def pick_one(chance: random.Random, choices: list[str]) -> str:
    return chance.choice(choices)


class Heart:
    """Carries out what it is asked, reports at random, and checks that what is sent makes sense."""

    def __init__(self, chance: random.Random, talk: Conversation) -> None:
        self.chance = chance
        self.talk = talk
        self.open: dict[int, str] = {}
        self.over: set[int] = set()
        self.seen: Counter[str] = Counter()

    def act(self, actions: list[Action]) -> bool:
        """False once the conversation is closed."""
        for action in actions:
            self.seen[type(action).__name__] += 1
            match action:
                case Send():
                    self.hear([action.frame])
                case Begin(ask=ask):
                    assert ask.generation not in self.open
                    assert ask.generation not in self.over
                    self.open[ask.generation] = ask.request_id
                    assert len(self.open) <= MAX_UTTERANCES
                    assert len(set(self.open.values())) == len(self.open)
                case FeedText() | FlushText() | EndText() | MovePlayed():
                    assert action.generation in self.open
                    if isinstance(action, FeedText):
                        action.text.encode()
                case Stop(generation=generation):
                    if action.fault is not None:
                        self.hear(self.talk.failed(generation, action.fault))
                    self.end(generation, "cancelled")
                case Close():
                    assert 1000 <= action.code < 5000
                    assert len(action.reason.encode()) < 120
                    return False
        return True

    def report(self) -> None:
        generation = self.chance.randrange(1, max([*self.open, *self.over, 1]) + 1)
        talk, before = self.talk, generation in self.open
        match self.chance.randrange(9):
            case 0:
                frames: list[Any] = [*talk.queued(generation, Place(1, 5.0, 9.0))]
            case 1:
                frames = [*talk.started(generation, 24_000, "t")]
            case 2:
                frames = [*talk.segment(generation, SegmentStart(0, Segment("One.", 0, 4), SPOKEN))]
            case 3:
                frames = [*talk.words(generation, [Word("One", 0, 3, 0.0, 5.0, True)])]
            case 4:
                frames = [*talk.audio(generation, bytes(2 * self.chance.choice([1, 400, 40_000])))]
            case 5:
                frames = [*talk.segment_ended(generation, SegmentEnd(0, 1.0, 1.0))]
            case 6:
                frames = [*talk.failed(generation, PredictorFailed("it broke"))]
            case 7:
                frames = [*talk.refused(generation, Busy("full"), 3)]
            case _:
                frames = self.end(generation, "ok") if before else talk.ended(generation, "ok", Timeline(0.0), 0.0)
        assert before or not frames
        self.hear(frames)

    def end(self, generation: int, outcome: Any) -> list[Any]:
        assert generation in self.open
        frames = self.talk.ended(generation, outcome, Timeline(0.0), 0.0)
        assert len(frames) == 1
        self.hear(frames)
        assert self.open.pop(generation) == json.loads(frames[0])["request_id"]
        self.over.add(generation)
        return []

    def hear(self, frames: list[Any]) -> None:
        for frame in frames:
            if isinstance(frame, bytes):
                assert 0 < len(frame) <= AUDIO_FRAME_BYTES
                continue
            frame.encode()
            message = json.loads(frame)
            self.seen[message["type"]] += 1
            if message["type"] not in ("error", "pong"):
                assert message["request_id"]


def converse(seed: int, frames: int) -> Counter[str]:
    """Send so many frames, over as many connections as it takes; what was seen."""
    client, seen = Client(seed), Counter[str]()
    while frames > 0:
        talk = Conversation(read_token, max_characters=400)
        heart = Heart(client.chance, talk)
        alive = True
        while alive and frames > 0:
            frames -= 1
            alive = heart.act(talk.receive(client.frame()))
            if heart.open and client.chance.random() < 0.5:
                heart.report()
        if not alive:
            assert talk.closed
            assert talk.receive(client.frame()) == []
        assert set(talk.running) == set(heart.open)
        for generation in tuple(heart.open):
            heart.end(generation, "client_gone")
        seen += heart.seen
    assert seen["accepted"] == seen["done"] == seen["Begin"]
    return seen


def test_a_hundred_thousand_frames_find_no_fault():
    seen = converse(seed=4_004, frames=100_000)
    expected = ["Begin", "FeedText", "FlushText", "EndText", "MovePlayed", "Stop", "Close", "error", "pong", "start"]
    assert all(seen[name] > 100 for name in expected), seen


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_a_million_frames_find_no_fault(seed):
    assert converse(seed=seed, frames=100_000)["done"] > 1_000


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=5),
    max_leaves=8,
)
MESSAGES = st.builds(
    lambda kind, fields: {**fields, "type": kind},
    st.sampled_from(TYPES),
    st.dictionaries(st.sampled_from(FIELDS), JSON),
)


@settings(max_examples=100, deadline=None)
@given(st.lists(MESSAGES | JSON, max_size=12), st.randoms(use_true_random=False))
def test_any_json_is_answered_or_obeyed(messages, chance):
    talk = Conversation(read_token, max_characters=400)
    heart = Heart(chance, talk)
    for message in messages:
        if not heart.act(talk.receive(json.dumps(message))):
            break
    for generation in tuple(heart.open):
        heart.end(generation, "client_gone")
    assert heart.seen["accepted"] == heart.seen["done"]


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=60) | st.binary(max_size=30))
def test_any_frame_is_answered(frame):
    actions = Conversation(read_token, max_characters=400).receive(frame)
    assert isinstance(actions[0], Send)
    assert json.loads(actions[0].frame)["type"] in ("error", "pong", "accepted")
