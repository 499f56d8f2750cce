import io
import struct
import wave

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vivavoce.audio import read_wav, to_pcm16, wav_header
from vivavoce.errors import BadRequest

RAMP = np.linspace(-1, 1, 999, dtype=np.float32) * np.float32(0.99)


def chunk(name: bytes, body: bytes, size: int | None = None) -> bytes:
    return name + struct.pack("<I", len(body) if size is None else size) + body + b"\0" * (len(body) % 2)


def fmt(tag=1, channels=1, rate_hz=24_000, bits=16, frame_bytes=None, extension=b"") -> bytes:
    frame = channels * ((bits + 7) // 8) if frame_bytes is None else frame_bytes
    return chunk(b"fmt ", struct.pack("<HHIIHH", tag, channels, rate_hz, rate_hz * frame, frame, bits) + extension)


def riff(*chunks: bytes, size: int | None = None) -> bytes:
    body = b"WAVE" + b"".join(chunks)
    return b"RIFF" + struct.pack("<I", len(body) if size is None else size) + body


def extensible(tag: int, valid_bits: int) -> bytes:
    guid = struct.pack("<H", tag) + bytes.fromhex("000000001000800000aa00389b71")
    return struct.pack("<HHI", 22, valid_bits, 0) + guid


@given(st.binary(max_size=999).map(lambda data: data[: len(data) // 2 * 2]), st.sampled_from([8_000, 22_050, 48_000]))
def test_our_own_files_come_back(pcm, rate_hz) -> None:
    samples, read_hz = read_wav(wav_header(rate_hz, len(pcm)) + pcm)
    assert read_hz == rate_hz
    assert to_pcm16(samples) == pcm


def test_strict_readers_agree_with_the_header() -> None:
    pcm = to_pcm16(RAMP)
    with wave.open(io.BytesIO(wav_header(16_000, len(pcm)) + pcm)) as file:
        assert (file.getnframes(), file.getframerate(), file.getnchannels(), file.getsampwidth()) == (999, 16_000, 1, 2)
        assert file.readframes(999) == pcm


@pytest.mark.parametrize(
    "after",
    [
        chunk(b"LIST", b"INFOISFT\x06\0\0\0maker\0"),
        chunk(b"C2PA", bytes(range(256)) * 7 + b"\xff" * 48),
        chunk(b"LIST", b"odd") + chunk(b"id3 ", b"\x7f" * 41),
        b"\x55" * 1_840,
    ],
)
@pytest.mark.parametrize("size", [None, 0xFFFFFFFF, 0])
def test_wyoming_openai_73_what_follows_the_data_is_not_heard(after, size) -> None:
    data = riff(fmt(), chunk(b"data", to_pcm16(RAMP)), after, size=size)
    samples, _ = read_wav(data)
    assert samples.size == RAMP.size
    assert np.allclose(samples, RAMP, atol=1e-4)


def test_what_precedes_the_data_is_skipped_odd_or_not() -> None:
    before = chunk(b"bext", b"x" * 7) + chunk(b"LIST", b"INFO") + chunk(b"JUNK", b"")
    data = riff(chunk(b"JUNK", b"abc"), fmt(), before, chunk(b"data", to_pcm16(RAMP)))
    assert np.allclose(read_wav(data)[0], RAMP, atol=1e-4)


@pytest.mark.parametrize("outer", [0, 36, 0x7FFFFFFF, 0xFFFFFFFF, 2_000_000_036])
@pytest.mark.parametrize("inner", [0, 0x7FFFFFFF, 0xFFFFFFFF, 2_000_000_000, 0x7FFFFFFF - 36])
def test_pocket_tts_229_placeholder_lengths_mean_all_there_is(outer, inner) -> None:
    data = riff(fmt(), chunk(b"data", to_pcm16(RAMP), size=inner), size=outer)
    assert np.allclose(read_wav(data)[0], RAMP, atol=1e-4)


def test_an_honest_zero_is_an_empty_file() -> None:
    assert read_wav(riff(fmt(), chunk(b"data", b""), chunk(b"LIST", b"INFO")))[0].size == 0
    assert read_wav(wav_header(24_000, 0))[0].size == 0


@pytest.mark.parametrize("cut", [1, 2, 3, 500, 1_997])
def test_truncated_data_gives_the_whole_frames_there_are(cut) -> None:
    data = (wav_header(24_000, 1_998) + to_pcm16(RAMP))[:-cut]
    samples, _ = read_wav(data)
    assert samples.size == (1_998 - cut) // 2
    assert np.allclose(samples, RAMP[: samples.size], atol=1e-4)


@pytest.mark.parametrize(
    ("header", "body"),
    [
        (fmt(bits=8), np.round(RAMP * 128 + 128).clip(0, 255).astype(np.uint8).tobytes()),
        (fmt(bits=16), to_pcm16(RAMP)),
        (fmt(bits=24), b"".join(int(v * 8388607).to_bytes(3, "little", signed=True) for v in RAMP)),
        (fmt(bits=32), (RAMP.astype(np.float64) * 2147483647).astype("<i4").tobytes()),
        (fmt(tag=3, bits=32), RAMP.astype("<f4").tobytes()),
        (fmt(tag=3, bits=64), RAMP.astype("<f8").tobytes()),
        (fmt(tag=0xFFFE, bits=16, extension=extensible(1, 16)), to_pcm16(RAMP)),
        (fmt(tag=0xFFFE, bits=32, extension=extensible(3, 32)), RAMP.astype("<f4").tobytes()),
        # 24 bits in the upper bytes of 32.
        (
            fmt(tag=0xFFFE, bits=32, extension=extensible(1, 24)),
            ((RAMP.astype(np.float64) * 8388607).astype("<i4") << 8).tobytes(),
        ),
        (fmt(bits=16, frame_bytes=0), to_pcm16(RAMP)),
    ],
)
def test_every_width_is_read(header, body) -> None:
    samples, rate_hz = read_wav(riff(header, chunk(b"data", body)))
    assert rate_hz == 24_000
    assert samples.dtype == np.float32
    assert np.allclose(samples, RAMP, atol=1 / 120)


@pytest.mark.parametrize("channels", [2, 6])
def test_channels_are_mixed_down(channels) -> None:
    frames = np.stack([RAMP * (number == 0) * channels for number in range(channels)], axis=1) / 8
    samples, _ = read_wav(riff(fmt(channels=channels), chunk(b"data", to_pcm16(frames))))
    assert np.allclose(samples, RAMP / 8, atol=1e-3)


def test_a_file_is_as_good_as_bytes(tmp_path) -> None:
    path = tmp_path / "a.wav"
    path.write_bytes(wav_header(24_000, 1_998) + to_pcm16(RAMP))
    with path.open("rb") as file:
        assert read_wav(file)[0].size == 999


def test_broken_floats_are_silence() -> None:
    body = np.array([0.5, np.nan, np.inf], dtype="<f4").tobytes()
    assert read_wav(riff(fmt(tag=3, bits=32), chunk(b"data", body)))[0].tolist() == [0.5, 0.0, 1.0]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"RIFF",
        b"RIFX\0\0\0\0WAVE",
        b"ID3\x04" + b"\0" * 60,
        riff(),
        riff(fmt()),
        riff(fmt())[:20],
        riff(fmt()[:20]),
        riff(chunk(b"data", b"\0\0"), fmt()),
        riff(chunk(b"fmt ", b"\1\0\1\0"), chunk(b"data", b"\0\0")),
        riff(fmt(tag=6, bits=8), chunk(b"data", b"\0\0")),
        riff(fmt(tag=0xFFFE), chunk(b"data", b"\0\0")),
        riff(fmt(tag=0xFFFE, extension=extensible(0x55, 16)), chunk(b"data", b"\0\0")),
        riff(fmt(channels=0, frame_bytes=2), chunk(b"data", b"\0\0")),
        riff(fmt(channels=65), chunk(b"data", b"\0\0")),
        riff(fmt(rate_hz=0), chunk(b"data", b"\0\0")),
        riff(fmt(rate_hz=4_000_000_000, frame_bytes=1, bits=8), chunk(b"data", b"\0\0")),
        riff(fmt(bits=0, frame_bytes=0), chunk(b"data", b"\0\0")),
        riff(fmt(bits=48), chunk(b"data", b"\0" * 12)),
        riff(fmt(tag=3, bits=16), chunk(b"data", b"\0\0")),
        riff(fmt(bits=16, channels=2, frame_bytes=3), chunk(b"data", b"\0" * 6)),
        riff(fmt(bits=16, frame_bytes=1), chunk(b"data", b"\0\0")),
    ],
)
def test_what_cannot_be_read_says_so(data) -> None:
    with pytest.raises(BadRequest) as refused:
        read_wav(data)
    assert refused.value.param == "file"
    assert "WAV" in refused.value.message


@given(st.binary(max_size=120), st.integers(0, 60), st.integers(0, 255))
def test_hostile_bytes_give_sound_or_bad_request(tail, position, byte) -> None:
    data = bytearray(riff(fmt(channels=2), chunk(b"LIST", b"abc"), chunk(b"data", b"\1\2" * 9)) + tail)
    data[position] = byte
    for candidate in (bytes(data), bytes(data)[:position], b"RIFF\0\0\0\0WAVE" + tail):
        try:
            samples, rate_hz = read_wav(candidate)
        except BadRequest:
            continue
        assert np.isfinite(samples).all()
        assert rate_hz > 0
