from __future__ import annotations

import contextlib
import json
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from vivavoce.errors import BadRequest, PredictorFailed
from vivavoce.predictors.faults import error_in
from vivavoce.predictors.v2_wire import HEADER_LENGTH, Body, InferRequest, InferResponse, Tensor, Wanted

NUMPY = ("?", "u1", "<u2", "<u4", "<u8", "i1", "<i2", "<i4", "<i8", "<f2", "<f4", "<f8")
NAMES = st.text(st.characters(categories=("L", "N")), min_size=1, max_size=8)
PARAMETERS = st.dictionaries(
    st.sampled_from(["voice", "speed", "normalized", "x"]),
    st.one_of(st.text(max_size=8), st.booleans(), st.integers(-9, 9), st.floats(allow_nan=False, allow_infinity=False)),
)


@st.composite
def tensors(draw: st.DrawFn, halves: bool = True, raw: bool = True) -> Tensor:
    name = draw(NAMES)
    if draw(st.booleans()):
        element = st.binary(max_size=20) if raw else st.text(max_size=10).map(lambda text: text.encode())
        elements = tuple(draw(st.lists(element, max_size=5)))
        shape = draw(st.sampled_from([(len(elements),), (1, len(elements)), (len(elements), 1)]))
        return Tensor(name, "BYTES", shape, elements)
    codes = [code for code in NUMPY if halves or code != "<f2"]
    dtype = np.dtype(draw(st.sampled_from(codes)))
    shape = draw(hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
    options = {"allow_nan": raw, "allow_infinity": raw} if dtype.kind == "f" else {}
    return Tensor.of_numbers(name, draw(hnp.arrays(dtype, shape, elements=hnp.from_dtype(dtype, **options))))


def several(**options: bool) -> st.SearchStrategy[tuple[Tensor, ...]]:
    return st.lists(tensors(**options), max_size=4, unique_by=lambda tensor: tensor.name).map(tuple)


def received(body: Body) -> tuple[bytes, str | None]:
    return body.content, body.headers.get(HEADER_LENGTH)


def same(ours: tuple[Tensor, ...], theirs: tuple[Tensor, ...]) -> None:
    assert [(t.name, t.datatype, t.shape) for t in ours] == [(t.name, t.datatype, t.shape) for t in theirs]
    for one, other in zip(ours, theirs, strict=True):
        if isinstance(one.data, tuple):
            assert one.data == other.data
        else:
            assert one.numbers().tobytes() == other.numbers().tobytes()


@given(several(), PARAMETERS, st.text(max_size=9).filter(lambda text: text.isprintable()))
@settings(max_examples=150, deadline=None)
def test_what_is_sent_in_binary_is_what_arrives(inputs, parameters, name):
    request = InferRequest(inputs, id=name, parameters=parameters, outputs=(Wanted("audio", True), Wanted("words")))
    read = InferRequest.decode(*received(request.encode()))
    same(inputs, read.inputs)
    assert (read.id, dict(read.parameters), read.outputs) == (name, parameters, request.outputs)


@given(several(halves=False, raw=False), PARAMETERS)
@settings(max_examples=150, deadline=None)
def test_what_is_sent_as_json_is_what_arrives(outputs, parameters):
    response = InferResponse("tts", outputs, "1", "r", parameters)
    body = response.encode()
    assert body.headers == {"Content-Type": "application/json"}
    read = InferResponse.decode(*received(body))
    same(outputs, read.outputs)
    assert (read.model_name, read.model_version, read.id, dict(read.parameters)) == ("tts", "1", "r", parameters)


@given(several(), st.sets(st.integers(0, 3)))
@settings(max_examples=100, deadline=None)
def test_binary_and_json_outputs_may_be_mixed(outputs, chosen):
    json_able = {t.name for t in outputs if t.datatype not in ("FP16", "FP32", "FP64", "BYTES")}
    binary = {t.name for i, t in enumerate(outputs) if i in chosen or t.name not in json_able}
    read = InferResponse.decode(*received(InferResponse("tts", outputs).encode(binary.__contains__)))
    same(outputs, read.outputs)


@given(st.binary(max_size=300), st.one_of(st.none(), st.text(max_size=5), st.integers(-2, 400).map(str)))
@settings(max_examples=300, deadline=None)
def test_noise_is_a_bad_request_and_never_anything_else(body, header_length):
    for read, error in ((InferRequest.decode, BadRequest), (InferResponse.decode, PredictorFailed)):
        with contextlib.suppress(error):
            read(body, header_length)


@given(several(), st.data())
@settings(max_examples=200, deadline=None)
def test_a_damaged_body_is_a_bad_request_and_never_anything_else(inputs, data):
    content, header_length = received(InferRequest(inputs, parameters={"speed": 1.5}).encode())
    damaged = bytearray(content)
    for _ in range(data.draw(st.integers(1, 4))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    cut = damaged[: data.draw(st.integers(0, len(damaged)))]
    for body in (bytes(damaged), bytes(cut), bytes(damaged + b"\0")):
        with contextlib.suppress(BadRequest):
            InferRequest.decode(body, header_length)


JSON = {
    "null": None,
    "a list": [],
    "no inputs": {},
    "inputs of the wrong kind": {"inputs": {}},
    "an input of the wrong kind": {"inputs": ["text"]},
    "no name": {"inputs": [{"shape": [1], "datatype": "BYTES", "data": ["x"]}]},
    "no datatype": {"inputs": [{"name": "text", "shape": [1], "data": ["x"]}]},
    "a datatype in lower case": {"inputs": [{"name": "text", "shape": [1], "datatype": "bytes", "data": ["x"]}]},
    "a datatype that is a list": {"inputs": [{"name": "text", "shape": [1], "datatype": ["BYTES"], "data": ["x"]}]},
    "no shape": {"inputs": [{"name": "text", "datatype": "BYTES", "data": ["x"]}]},
    "a negative extent": {"inputs": [{"name": "text", "shape": [-1], "datatype": "BYTES", "data": ["x"]}]},
    "two negative extents": {"inputs": [{"name": "text", "shape": [-1, -1], "datatype": "BYTES", "data": ["x"]}]},
    "a huge extent": {"inputs": [{"name": "text", "shape": [2**63], "datatype": "BYTES", "data": ["x"]}]},
    "huge extents": {"inputs": [{"name": "text", "shape": [2**40] * 16, "datatype": "FP64", "data": [1]}]},
    "too many extents": {"inputs": [{"name": "text", "shape": [1] * 17, "datatype": "BYTES", "data": ["x"]}]},
    "an extent that is true": {"inputs": [{"name": "text", "shape": [True], "datatype": "BYTES", "data": ["x"]}]},
    "a shape that is a number": {"inputs": [{"name": "text", "shape": 1, "datatype": "BYTES", "data": ["x"]}]},
    "too few elements": {"inputs": [{"name": "text", "shape": [2], "datatype": "BYTES", "data": ["x"]}]},
    "too many elements": {"inputs": [{"name": "text", "shape": [1], "datatype": "BYTES", "data": ["x", "y"]}]},
    "no data": {"inputs": [{"name": "text", "shape": [1], "datatype": "BYTES"}]},
    "data that is a string": {"inputs": [{"name": "text", "shape": [1], "datatype": "BYTES", "data": "x"}]},
    "numbers for strings": {"inputs": [{"name": "text", "shape": [1], "datatype": "BYTES", "data": [7]}]},
    "strings for numbers": {"inputs": [{"name": "n", "shape": [1], "datatype": "INT32", "data": ["7"]}]},
    "a long string among numbers": {"inputs": [{"name": "n", "shape": [2], "datatype": "FP32", "data": [1, "x" * 99]}]},
    "a fraction for an integer": {"inputs": [{"name": "n", "shape": [1], "datatype": "INT32", "data": [7.5]}]},
    "true for an integer": {"inputs": [{"name": "n", "shape": [1], "datatype": "INT32", "data": [True]}]},
    "a number over its range": {"inputs": [{"name": "n", "shape": [1], "datatype": "INT8", "data": [300]}]},
    "a number under its range": {"inputs": [{"name": "n", "shape": [1], "datatype": "UINT8", "data": [-1]}]},
    "a float over its range": {"inputs": [{"name": "n", "shape": [1], "datatype": "FP32", "data": [1e300]}]},
    "half floats in JSON": {"inputs": [{"name": "n", "shape": [1], "datatype": "FP16", "data": [1.0]}]},
    "lists among values": {"inputs": [{"name": "n", "shape": [2], "datatype": "INT32", "data": [1, [2]]}]},
    "the same name twice": {"inputs": [{"name": "n", "shape": [0], "datatype": "INT32", "data": []}] * 2},
    "too many inputs": {"inputs": [{"name": str(i), "shape": [0], "datatype": "INT8", "data": []} for i in range(99)]},
    "parameters of the wrong kind": {"inputs": [], "parameters": []},
    "a parameter that is a list": {"inputs": [], "parameters": {"voice": ["nova"]}},
    "binary_data_output as a word": {"inputs": [], "parameters": {"binary_data_output": "true"}},
    "outputs of the wrong kind": {"inputs": [], "outputs": "audio"},
    "an output without a name": {"inputs": [], "outputs": [{}]},
    "binary_data as a number": {"inputs": [], "outputs": [{"name": "audio", "parameters": {"binary_data": 1}}]},
    "an id that is a number": {"inputs": [], "id": 7},
}


@pytest.mark.parametrize("value", JSON.values(), ids=JSON)
def test_json_that_is_no_request_is_refused_with_a_reason(value):
    with pytest.raises(BadRequest, match=r"Invalid inference request: .+\.$"):
        InferRequest.decode(json.dumps(value).encode())


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b'{"inputs": [], "id": "\xe9"}',
        b"[" * 100_000,
        b'{"inputs": [{"name": "n", "shape": [1], "datatype": "FP32", "data": [NaN]}]}',
        b'{"inputs": [{"name": "n", "shape": [1], "datatype": "FP32", "data": [1e999]}]}',
        b'{"inputs": [{"name": "n", "shape": [1], "datatype": "INT64", "data": [' + b"9" * 5_000 + b"]}]}",
        b'{"inputs": [{"name": "n", "shape": [1], "datatype": "INT64", "data": '
        + b"[" * 50
        + b"1"
        + b"]" * 50
        + b"}]}",
    ],
    ids=["empty", "cut", "not UTF-8", "a latin-1 id", "deep", "NaN", "infinite", "a long number", "nested data"],
)
def test_text_that_is_no_json_request_is_refused(body):
    with pytest.raises(BadRequest):
        InferRequest.decode(body)


def binary(payload: bytes, told: object, datatype: str = "BYTES", shape: tuple[int, ...] = (1,)) -> tuple[bytes, str]:
    entry = {"name": "text", "shape": shape, "datatype": datatype, "parameters": {"binary_data_size": told}}
    head = json.dumps({"inputs": [entry]}).encode()
    return head + payload, str(len(head))


@pytest.mark.parametrize(
    ("payload", "told", "datatype", "shape"),
    [
        (b"\x01\0\0\0a", 6, "BYTES", (1,)),
        (b"\x01\0\0\0a", 4, "BYTES", (1,)),
        (b"\x01\0\0\0a", -5, "BYTES", (1,)),
        (b"\x01\0\0\0a", 5.0, "BYTES", (1,)),
        (b"\x01\0\0\0a", True, "BYTES", (1,)),
        (b"\x01\0\0\0a", "5", "BYTES", (1,)),
        (b"\x01\0\0\0a", 2**70, "BYTES", (1,)),
        (b"\xff\xff\xff\xffa", 5, "BYTES", (1,)),
        (b"\x01\0\0", 3, "BYTES", (1,)),
        (b"\x01\0\0\0a", 5, "BYTES", (2,)),
        (b"\x01\0\0\0a\x01\0\0\0b", 10, "BYTES", (1,)),
        (b"", 0, "BYTES", (2**40,)),
        (b"\0\0\0", 3, "INT16", (1,)),
        (b"\0\0", 2, "INT16", (2**40, 2**40)),
        (b"\0\0", 2, "BF16", (2,)),
    ],
)
def test_sizes_that_do_not_add_up_are_refused(payload, told, datatype, shape):
    with pytest.raises(BadRequest):
        InferRequest.decode(*binary(payload, told, datatype, shape))


@pytest.mark.parametrize("header_length", ["", "-1", "1e2", "99999", "9" * 40, "١٢", "12.0", "0x10"])
def test_a_header_length_that_cannot_be_is_refused(header_length):
    content, _ = binary(b"\x01\0\0\0a", 5)
    with pytest.raises(BadRequest):
        InferRequest.decode(content, header_length)


def test_data_and_a_binary_size_at_once_are_refused():
    entry = {"name": "t", "shape": [1], "datatype": "INT8", "data": [1], "parameters": {"binary_data_size": 1}}
    head = json.dumps({"inputs": [entry]}).encode()
    with pytest.raises(BadRequest):
        InferRequest.decode(head + b"\x01", str(len(head)))


def test_a_raw_body_is_the_text_and_wants_binary_outputs():
    request = InferRequest.decode("Grüß dich, Welt.".encode(), "0")
    assert request.inputs[0].texts() == ("Grüß dich, Welt.",)
    assert request.wants_binary("audio")


def test_nested_data_is_read_row_by_row():
    body = {"inputs": [{"name": "n", "shape": [2, 2], "datatype": "INT16", "data": [[1, 2], [3, 4]]}]}
    assert InferRequest.decode(json.dumps(body).encode()).inputs[0].numbers().tolist() == [[1, 2], [3, 4]]


def test_bfloat16_keeps_its_upper_half():
    numbers = np.array([1.0, -2.5, 3e38], "<f4")
    sent = Tensor("n", "BF16", (3,), numbers)
    read = InferRequest.decode(*received(InferRequest((sent,)).encode())).inputs[0]
    assert np.array_equal(read.numbers(), (numbers.view("<u4") & 0xFFFF0000).view("<f4"))


def test_a_lone_surrogate_becomes_a_replacement_character():
    body = b'{"inputs": [{"name": "text", "shape": [1], "datatype": "BYTES", "data": ["a\\ud83d b"]}]}'
    assert InferRequest.decode(body).inputs[0].texts() == ("a\ufffd b",)


def test_text_that_is_not_utf8_is_told_when_it_is_read():
    payload = struct.pack("<I", 2) + b"\xc3\x28"
    request = InferRequest.decode(*binary(payload, len(payload)))
    with pytest.raises(ValueError, match="UTF-8"):
        request.inputs[0].texts()


@pytest.mark.parametrize(
    ("output", "whole", "expected"),
    [(True, False, True), (False, True, False), (None, True, True), (None, None, False)],
)
def test_an_output_decides_before_the_request_does(output, whole, expected):
    parameters = {} if whole is None else {"binary_data_output": whole}
    request = InferRequest((), parameters=parameters, outputs=(Wanted("audio", output),))
    read = InferRequest.decode(*received(request.encode()))
    assert read.wants_binary("audio") is expected
    assert read.wants("audio")
    assert not read.wants("words")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b'{"error": "Model is  not\\nready"}', "Model is not ready"),
        (b'{"error": {"message": "bad voice", "code": 400}}', "bad voice"),
        (b"<html>Bad Gateway</html>", "<html>Bad Gateway</html>"),
        (b'{"detail": "x"}', '{"detail": "x"}'),
        (b"\xff\xfe", ""),
        (b"", ""),
    ],
)
def test_the_message_of_an_error_is_found_whatever_its_shape(body, message):
    assert error_in(body) == message
