import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vivavoce.audio import wav_header
from vivavoce.errors import PredictorFailed
from vivavoce.predictors.sound import SoundReader
from vivavoce.predictors.sse import EventReader

SAMPLES = (np.arange(-600, 600) * 27).astype("<i2")
FLOATS = SAMPLES.astype(np.float32) / 32768
PCM = SAMPLES.tobytes()
LIST = b"LIST" + struct.pack("<I", 5) + b"INFO!" + b"\x00"


def riff(data: bytes, *, tag=1, channels=1, rate_hz=24_000, bits=16, before=b"", told=None) -> bytes:
    width = channels * bits // 8
    fmt = struct.pack("<HHIIHH", tag, channels, rate_hz, rate_hz * width, width, bits)
    body = b"WAVE" + before + b"fmt " + struct.pack("<I", 16) + fmt + b"data"
    body += struct.pack("<I", len(data) if told is None else told) + data
    return b"RIFF" + struct.pack("<I", len(body) if told is None else told) + body


FORMS = {
    "raw": PCM,
    "wav": riff(PCM),
    "wav with more before": riff(PCM, before=LIST),
    "wav with more behind": riff(PCM) + LIST,
    "wav of unknown length": riff(PCM, told=0xFFFFFFFF),
    "wav that says 0": riff(PCM, told=0),
    "our own streamed wav": wav_header(24_000, None) + PCM,
    "two channels": riff(np.repeat(SAMPLES, 2).tobytes(), channels=2),
    "floats": riff(FLOATS.astype("<f4").tobytes(), tag=3, bits=32),
    "24 bits": riff(b"".join(struct.pack("<i", int(s) << 8)[:3] for s in SAMPLES), bits=24),
    "two files": riff(SAMPLES[:500].tobytes()) + riff(SAMPLES[500:].tobytes()),
}


def read(pieces) -> tuple[np.ndarray, SoundReader]:
    reader = SoundReader(24_000)
    return np.concatenate([*(reader.feed(piece) for piece in pieces), reader.finish()]), reader


@pytest.mark.parametrize("form", FORMS)
@settings(deadline=None)
@given(cuts=st.lists(st.integers(0, 2_600), max_size=12))
def test_vllm_omni_2439_however_it_is_cut_it_is_the_same_sound(form, cuts) -> None:
    data = FORMS[form]
    ends = [*sorted(cuts), len(data)]
    samples, reader = read([data[start:end] for start, end in zip([0, *ends], ends, strict=False)])
    np.testing.assert_allclose(samples, FLOATS, atol=1e-6)
    assert (reader.rate_hz, reader.dropped_bytes) == (24_000, 0)


@settings(deadline=None)
@given(data=st.binary(max_size=400), cuts=st.lists(st.integers(0, 400), max_size=6))
def test_whatever_comes_it_is_sound_or_a_failure(data, cuts) -> None:
    ends = [*sorted(cuts), len(data)]
    for start in (b"", b"RIFF", b"RIFF\xff\xff\xff\xffWAVEfmt \x10\x00\x00\x00"):
        pieces = [start, *(data[one:two] for one, two in zip([0, *ends], ends, strict=False))]
        try:
            samples, _ = read(pieces)
        except PredictorFailed:
            continue
        assert np.isfinite(samples).all()


@pytest.mark.parametrize(
    "data",
    [
        riff(PCM)[:-7],
        riff(PCM)[:30],
        b"RIFF",
        riff(PCM, rate_hz=3),
        riff(PCM, channels=0),
        riff(PCM, tag=0x55),
        riff(PCM) + riff(PCM, rate_hz=16_000),
        b"RIFF" + b"\x00" * 70_000,
    ],
)
def test_a_file_that_cannot_be_read_is_a_failure(data) -> None:
    with pytest.raises(PredictorFailed):
        read([data])


def test_an_empty_reply_is_no_sound() -> None:
    assert len(read([b""])[0]) == 0
    assert len(read([riff(b"")])[0]) == 0


@settings(deadline=None)
@given(cuts=st.lists(st.integers(0, 120), max_size=20), crlf=st.booleans())
def test_events_however_they_are_cut(cuts, crlf) -> None:
    body = b": hello\n\nid: 7\nevent: a\ndata: one\n\ndata:two\ndata: lines\n\nretry: 5\n\ndata: last"
    body = body.replace(b"\n", b"\r\n") if crlf else body
    reader, ends = EventReader(), [*sorted(cuts), len(body)]
    events = [event for one, two in zip([0, *ends], ends, strict=False) for event in reader.feed(body[one:two])]
    assert events == [b"one", b"two\nlines"]
    assert reader.finish() == [b"last"]


def test_an_event_without_an_end_is_a_failure() -> None:
    reader = EventReader()
    with pytest.raises(PredictorFailed):
        for _ in range(40):
            reader.feed(b"data: " + b"x" * 1_000_000)
