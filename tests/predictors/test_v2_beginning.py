from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vivavoce.predictors.v2_beginning import beginning
from vivavoce.predictors.v2_sound import outputs_to_ask_for, speech_in
from vivavoce.predictors.v2_wire import InferResponse, Tensor, Wanted

ROW = np.arange(-3_000, 3_000, dtype=np.int16)
RATE = Tensor.of_numbers("sample_rate", np.array([16_000], np.int32))
WORDS = Tensor.of_texts("words", "[[0, 3, 0.0, 40.0]]")


def sent(*outputs: Tensor, binary=("audio",), **more) -> tuple[bytes, int]:
    body = InferResponse("tts", outputs, **more).encode(lambda name: name in binary)
    return body.content, body.header_bytes or 0


@given(st.integers(0, 2_999), st.sampled_from([(6_000,), (1, 6_000), (6_000, 1)]), st.permutations([0, 1, 2]))
@settings(deadline=None)
def test_it_is_what_the_whole_begins_with(frames, shape, order) -> None:
    outputs = (Tensor.of_numbers("audio", ROW.reshape(shape)), RATE, WORDS)
    content, header_bytes = sent(*(outputs[index] for index in order))
    begun = beginning(content[: header_bytes + 2 * frames], str(header_bytes))
    whole = speech_in(InferResponse.decode(content, str(header_bytes)), 24_000)
    part = speech_in(begun, 24_000)
    assert np.array_equal(part.samples(), whole.samples(0, frames))
    assert (part.rate_hz, part.words) == (16_000, whole.words)


@pytest.mark.parametrize(
    ("outputs", "binary"),
    [
        ((Tensor.of_numbers("audio", ROW), RATE), ("audio", "sample_rate")),
        ((Tensor.of_numbers("audio", ROW[:1_600]),), ("audio",)),
        ((Tensor.of_numbers("audio", ROW.astype(np.float32)),), ("audio",)),
        ((Tensor.of_numbers("audio", ROW.reshape(2, -1)),), ("audio",)),
        ((Tensor.of_numbers("audio", ROW),), ()),
        ((WORDS,), ("words",)),
        ((), ()),
    ],
    ids=["a rate behind it", "short", "floats", "two channels", "JSON", "no sound", "nothing"],
)
def test_what_only_the_whole_can_tell(outputs, binary) -> None:
    content, header_bytes = sent(*outputs, binary=binary)
    assert beginning(content[: header_bytes + 1_600], str(header_bytes)) is None


@pytest.mark.parametrize("head", [b"{", b"[]", b'{"outputs": 3}', b'{"outputs": [3]}', b'{"outputs": [{"name": ""}]}'])
def test_what_is_wrong_is_left_to_the_whole(head) -> None:
    assert beginning(head + bytes(800), str(len(head))) is None


def test_a_length_that_is_told_wrong_is_left_to_the_whole() -> None:
    content, header_bytes = sent(Tensor.of_numbers("audio", ROW))
    head = json.loads(content[:header_bytes])
    head["outputs"][0]["parameters"]["binary_data_size"] += 2
    told = json.dumps(head).encode()
    assert beginning(told + content[header_bytes : header_bytes + 800], str(len(told))) is None


@pytest.mark.parametrize(
    ("described", "wanted"),
    [
        (
            [{"name": "mel"}, {"name": "words"}, {"name": "audio"}, {"name": "sample_rate"}],
            (Wanted("audio", True), Wanted("sample_rate", False), Wanted("words", False)),
        ),
        ([{"name": "audio", "datatype": "INT16", "shape": [-1]}], (Wanted("audio", True),)),
        ([{"name": "waveform"}, {"name": "sr"}], ()),
        ([], ()),
        (None, ()),
        ({"audio": {}}, ()),
        (["audio", 3, {"name": 7}], ()),
    ],
)
def test_which_outputs_are_asked_for(described, wanted) -> None:
    assert outputs_to_ask_for(described) == wanted
