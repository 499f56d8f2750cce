import io
import itertools
import subprocess
import sys
import wave

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vivavoce.audio import FORMATS, RATES_HZ, Joiner, encoder_for, format_named, read_wav, to_pcm16
from vivavoce.errors import OutOfRange, UnsupportedFormat

NAMES = tuple(FORMATS)
CODED = ("mp3", "opus", "aac", "flac")
LOSSY = ("mp3", "opus", "aac")
BOTH = [True, False]


def delay_of(heard, source) -> int:
    """By how many frames `heard` lags behind `source`."""
    size = 1 << (heard.size + source.size).bit_length()
    product = np.fft.irfft(np.fft.rfft(heard, size) * np.conj(np.fft.rfft(source, size)), size)
    lag = int(np.argmax(product))
    return lag if lag < size // 2 else lag - size


def at_rate(samples, from_hz, to_hz):
    import soxr

    return samples if from_hz == to_hz else soxr.resample(samples, from_hz, to_hz)


@pytest.mark.parametrize(("name", "rate_hz", "streamed"), list(itertools.product(CODED, RATES_HZ, BOTH)))
def test_every_container_at_every_rate_gives_the_sound_back(voice, whole_of, decode, name, rate_hz, streamed) -> None:
    source = voice(1_300, rate_hz)
    encoder = encoder_for(name, rate_hz, streamed)
    heard = decode(whole_of(encoder, source))
    wanted = at_rate(source, rate_hz, heard.rate_hz)
    exact = name in ("flac", "opus") or (name == "mp3" and not streamed)
    if exact:
        # FFmpeg's MP3 tag cannot say more padding than one frame's; up to 2 ms of the codec's silence may stay.
        assert -1 <= heard.samples.size - wanted.size <= (48 if name == "mp3" else 1)
    else:
        # The codec's own delay and its last frame, which ADTS and a streamed MP3 have no field for.
        assert 0 <= heard.samples.size - wanted.size < 3 * 1_152
    lag = delay_of(heard.samples, wanted)
    assert abs(lag) <= 2 if exact else 0 <= lag <= 1_200
    overlap = min(heard.samples.size - max(lag, 0), wanted.size)
    again = heard.samples[max(lag, 0) :][:overlap]
    similarity = np.corrcoef(again, wanted[:overlap])[0, 1]
    assert similarity > (0.99999 if name == "flac" else 0.9)
    level = np.sqrt(np.square(again).mean() / np.square(wanted[:overlap]).mean())
    assert 0.85 < level < 1.15


@pytest.mark.parametrize("streamed", BOTH)
@pytest.mark.parametrize("rate_hz", [8_000, 24_000, 44_100])
def test_lossless_formats_carry_the_same_samples_as_pcm(voice, whole_of, decode, streamed, rate_hz) -> None:
    source = voice(700, rate_hz, level=0.9)
    pcm = whole_of(encoder_for("pcm", rate_hz, streamed), source)
    assert pcm == to_pcm16(source)
    wav = whole_of(encoder_for("wav", rate_hz, streamed), source)
    assert wav[44:] == pcm
    flac = decode(whole_of(encoder_for("flac", rate_hz, streamed), source))
    assert flac.rate_hz == rate_hz
    assert to_pcm16(flac.samples) == pcm


@pytest.mark.parametrize("sizes", [[1], [240, 7], [24_000], [10**6]])
def test_kokoro_fastapi_94_one_header_however_the_sound_is_cut(voice, pieces_of, sizes) -> None:
    source = voice(400, 24_000)
    encoder = encoder_for("wav", 24_000, streamed=True)
    wav = b"".join(encoder.encode(piece) for piece in pieces_of(source, sizes)) + encoder.finish()
    assert wav.count(b"RIFF") == wav.count(b"WAVEfmt ") == 1
    assert wav.startswith(b"RIFF")


@pytest.mark.parametrize(("name", "marker"), [("opus", b"OpusHead"), ("flac", b"fLaC")])
def test_mlx_audio_898_three_segments_are_one_stream(voice, decode, name, marker) -> None:
    encoder = encoder_for(name, 24_000, streamed=True)
    joiner, data, plain = Joiner(24_000), b"", []
    for pitch_hz in (120, 180, 140):
        sound = np.concatenate((joiner.feed(voice(500, 24_000, pitch_hz=pitch_hz)), joiner.end()))
        data += encoder.encode(sound)
        plain.append(sound)
    data += encoder.finish()
    assert data.count(marker) == 1


@pytest.mark.parametrize(("name", "streamed"), list(itertools.product(NAMES, BOTH)))
def test_mlx_audio_898_seams_are_as_quiet_as_in_pcm_and_no_quieter(voice, whole_of, decode, name, streamed) -> None:
    rate_hz = 24_000
    joiner, parts = Joiner(rate_hz), []
    for _ in range(4):
        parts += [joiner.feed(voice(350, rate_hz)), joiner.pause(40)]
    source = np.concatenate(parts)
    data = whole_of(encoder_for(name, rate_hz, streamed), source, piece=parts[0].size)
    if name == "pcm":
        heard, heard_hz = np.frombuffer(data, dtype="<i2") / np.float32(32768), rate_hz
    else:
        decoded = decode(data)
        heard, heard_hz = decoded.samples, decoded.rate_hz

    def longest_pause_ms(samples, at_hz) -> float:
        window = at_hz // 200
        whole = samples[: samples.size // window * window].reshape(-1, window)
        loud = np.flatnonzero(np.sqrt(np.square(whole).mean(axis=1)) > 0.01)
        return float(np.diff(loud).max() * 5)

    assert longest_pause_ms(source, rate_hz) >= 35
    assert abs(longest_pause_ms(heard, heard_hz) - longest_pause_ms(source, rate_hz)) <= 10


@pytest.mark.parametrize("frames", [0, 1, 2, 999, 48_001])
def test_pocket_tts_229_a_whole_wav_has_exact_lengths(voice, whole_of, frames) -> None:
    source = voice(2_100, 24_000)[:frames]
    data = whole_of(encoder_for("wav", 24_000, streamed=False), source)
    assert int.from_bytes(data[4:8], "little") == len(data) - 8
    assert int.from_bytes(data[40:44], "little") == len(data) - 44 == 2 * frames
    with wave.open(io.BytesIO(data)) as file:
        assert file.getnframes() == frames
        assert len(file.readframes(10**9)) == 2 * frames


def test_speaches_493_a_streamed_wav_says_that_it_does_not_know_and_we_read_it(voice, whole_of) -> None:
    source = voice(500, 16_000)
    data = whole_of(encoder_for("wav", 16_000, streamed=True), source)
    assert data[4:8] == data[40:44] == b"\xff\xff\xff\xff"
    samples, rate_hz = read_wav(data)
    assert (samples.size, rate_hz) == (source.size, 16_000)


@pytest.mark.parametrize(("name", "streamed"), list(itertools.product(("wav", "pcm"), BOTH)))
def test_kokoro_fastapi_463_the_last_bytes_are_the_last_samples(voice, whole_of, name, streamed) -> None:
    source = voice(300, 24_000)
    assert whole_of(encoder_for(name, 24_000, streamed), source).endswith(to_pcm16(source)[-400:])
    encoder = encoder_for(name, 24_000, streamed=True)
    encoder.encode(source)
    assert encoder.finish() == b""


@pytest.mark.parametrize(("name", "streamed"), list(itertools.product(CODED, BOTH)))
def test_kokoro_fastapi_467_nothing_is_heard_after_the_end(voice, whole_of, decode, name, streamed) -> None:
    joiner = Joiner(24_000)
    source = np.concatenate((joiner.feed(voice(600, 24_000)), joiner.pause(150)))
    heard = decode(whole_of(encoder_for(name, 24_000, streamed), source))
    end = heard.samples[-heard.rate_hz // 20 :]
    assert np.abs(end).max() < 0.002


def test_voicemode_353_opus_says_ogg() -> None:
    assert FORMATS["opus"].content_type == "audio/ogg; codecs=opus"
    data = encoder_for("opus", 24_000, streamed=True).encode(np.zeros(2_400, dtype=np.float32))
    assert data.startswith(b"OggS")
    assert data[28:36] == b"OpusHead"


@pytest.mark.parametrize(
    ("name", "starts"),
    [("mp3", b"\xff"), ("aac", b"\xff\xf1"), ("flac", b"fLaC"), ("wav", b"RIFF"), ("opus", b"OggS")],
)
@pytest.mark.parametrize("streamed", BOTH)
def test_each_file_starts_as_its_type_says(voice, whole_of, name, starts, streamed) -> None:
    assert whole_of(encoder_for(name, 24_000, streamed), voice(300, 24_000)).startswith(starts)


def test_chatterbox_tts_api_14_pcm_has_no_header() -> None:
    assert encoder_for("pcm", 24_000, streamed=True).encode(np.zeros(3, dtype=np.float32)) == b"\0" * 6


@pytest.mark.parametrize(("name", "rate_hz"), list(itertools.product(NAMES, RATES_HZ)))
def test_a_second_of_sound_is_mostly_out_before_the_end(voice, decode, name, rate_hz) -> None:
    encoder = encoder_for(name, rate_hz, streamed=True)
    source = voice(1_000, rate_hz)
    data = b"".join(encoder.encode(source[start : start + rate_hz // 50]) for start in range(0, rate_hz, rate_hz // 50))
    heard = len(data) / 2 / rate_hz if name == "pcm" else (lambda d: d.samples.size / d.rate_hz)(decode(data))
    assert heard > 0.6
    encoder.close()


@pytest.mark.parametrize("name", NAMES)
def test_bytes_keep_coming_while_the_sound_goes_on(voice, name) -> None:
    encoder = encoder_for(name, 24_000, streamed=True)
    sizes = [len(encoder.encode(voice(200, 24_000))) for _ in range(20)]
    assert all(size > 0 for size in sizes[1:])
    encoder.close()


@pytest.mark.parametrize("name", ["flac", "mp3", "wav"])
def test_whole_files_say_how_long_they_are(voice, whole_of, decode, name) -> None:
    source = voice(1_234, 24_000)
    heard = decode(whole_of(encoder_for(name, 24_000, streamed=False), source))
    assert heard.declared_frames == heard.samples.size
    assert 0 <= heard.samples.size - source.size <= (48 if name == "mp3" else 0)


@pytest.mark.parametrize(("name", "streamed"), list(itertools.product(NAMES, BOTH)))
def test_no_sound_at_all_is_no_error(name, streamed) -> None:
    encoder = encoder_for(name, 24_000, streamed)
    assert encoder.encode(np.zeros(0, dtype=np.float32)) == b""
    data = encoder.finish()
    assert encoder.finish() == b""
    if name == "wav":
        assert read_wav(data)[0].size == 0


@pytest.mark.parametrize(("name", "streamed"), list(itertools.product(NAMES, BOTH)))
def test_a_client_may_leave_at_any_moment(voice, name, streamed) -> None:
    for fed_ms in (0, 1, 30, 400):
        encoder = encoder_for(name, 22_050, streamed)
        encoder.encode(voice(fed_ms, 22_050))
        encoder.close()
        encoder.close()
        assert encoder.finish() == b""
        with pytest.raises(ValueError, match="closed"):
            encoder.encode(voice(10, 22_050))


@pytest.mark.parametrize("name", NAMES)
def test_the_same_sound_gives_the_same_bytes(voice, whole_of, name) -> None:
    source = voice(300, 24_000)
    first, second = (whole_of(encoder_for(name, 24_000, streamed=True), source) for _ in range(2))
    assert first == second


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(NAMES), st.booleans(), st.lists(st.integers(0, 3_000), max_size=6), st.sampled_from(RATES_HZ))
def test_hostile_samples_never_break_an_encoder(name, streamed, sizes, rate_hz) -> None:
    encoder = encoder_for(name, rate_hz, streamed)
    values = np.array([0.1, 5.0, -5.0, np.nan, np.inf, -np.inf, -1.0], dtype=np.float32)
    data = b"".join(encoder.encode(np.resize(values, size)) for size in sizes) + encoder.finish()
    if name == "pcm":
        assert len(data) == 2 * sum(sizes)


def test_leaving_clients_leave_no_memory_behind(voice) -> None:
    script = """
import resource
import numpy as np
from vivavoce.audio import FORMATS, encoder_for
def peak_mb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
sound = np.zeros(4_800, dtype=np.float32)
def visit(count):
    for number in range(count):
        for name in FORMATS:
            encoder = encoder_for(name, 22_050, streamed=number % 3 > 0)
            encoder.encode(sound)
            encoder.close() if number % 2 else encoder.finish()
visit(60)
before = peak_mb()
visit(150)
print(peak_mb() - before)
"""
    grown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert float(grown) < (8 if sys.platform == "linux" else 8 * 1024)


@pytest.mark.parametrize("name", ["", "MP3", "ogg", "mp4", "wav ", "../wav"])
def test_unknown_formats_name_the_known_ones(name) -> None:
    with pytest.raises(UnsupportedFormat, match="aac, flac, mp3, opus, pcm, wav") as refused:
        encoder_for(name, 24_000, streamed=True)
    assert refused.value.param == "response_format"


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("rate_hz", [0, -1, 7_999, 48_001, 192_000])
def test_impossible_rates_are_refused(name, rate_hz) -> None:
    with pytest.raises(OutOfRange):
        encoder_for(name, rate_hz, streamed=True)


def test_a_rate_the_codec_lacks_is_carried_at_the_next_higher_one() -> None:
    assert encoder_for("opus", 22_050, streamed=True).carried_rate_hz == 24_000
    assert encoder_for("opus", 44_100, streamed=True).carried_rate_hz == 48_000
    assert encoder_for("mp3", 22_050, streamed=True).carried_rate_hz == 22_050
    assert encoder_for("wav", 11_111, streamed=True).carried_rate_hz == 11_111


def test_the_table_is_complete() -> None:
    assert set(FORMATS) == {"mp3", "opus", "aac", "flac", "wav", "pcm"}
    for name, known in FORMATS.items():
        assert format_named(name) is known
        assert known.name == name
        assert known.content_type.startswith("audio/")
        assert known.extension.isalnum()


def test_importing_loads_neither_ffmpeg_nor_soxr() -> None:
    script = "import sys, vivavoce.audio; print([name for name in ('av', 'soxr') if name in sys.modules])"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert loaded.strip() == "[]"


def test_preload_loads_them() -> None:
    script = "import sys, vivavoce.audio as a; a.preload(); print('av' in sys.modules, 'soxr' in sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert loaded.strip() == "True True"
