import itertools
import json
import re
import threading
from pathlib import Path

import numpy as np
import pytest

from vivavoce.engines import espeak_program
from vivavoce.engines.base import Phrase
from vivavoce.engines.kokoro import Kokoro, _reader, _Speech
from vivavoce.engines.kokoro_voices import VOICES
from vivavoce.errors import ModelCorrupt, UnknownVoice, VoiceNotInstalled
from vivavoce.models import MODELS, Store

needs_espeak = pytest.mark.skipif(espeak_program.program() is None, reason=espeak_program.HOW_TO_INSTALL)

CLAUSES = "After the long winter, everybody wanted to sit outside in the sun."
FOREIGN = [
    ("ef_dora", "es", "Mañana, si no llueve, vamos todos a la playa."),
    ("ff_siwis", "fr-FR", "Demain, s'il fait beau, nous irons tous à la plage."),
    ("hf_alpha", "hi", "कल सुबह, हम सब बाज़ार चलेंगे।"),
    ("if_sara", "it", "Domani, se non piove, andiamo tutti al mare."),
    ("pf_dora", "pt-BR", "Amanhã, se não chover, vamos todos à praia."),
]


def never() -> bool:
    return False


def test_every_voice_has_its_file_and_there_are_enough() -> None:
    files = {file.name for file in MODELS["kokoro"].files}
    assert {f"voices/{voice.name}.bin" for voice in VOICES} == files - {"kokoro.onnx"}
    assert len(VOICES) >= 12
    assert {voice.language for voice in VOICES} == {"en-US", "en-GB", "es", "fr-FR", "hi", "it", "pt-BR"}
    assert {voice.gender for voice in VOICES} == {"female", "male"}


@pytest.mark.models
def test_the_first_clause_leaves_first_and_words_stay_in_order(kokoro, pauses) -> None:
    chunks = list(kokoro.synthesize(Phrase(CLAUSES), "af_heart", 1.0, never))
    words = [word for chunk in chunks for word in chunk.words]
    assert len(chunks) >= 2
    assert [CLAUSES[word.start : word.end] for word in chunks[0].words] == ["After", "the", "long", "winter"]
    assert [CLAUSES[word.start : word.end] for word in words] == re.findall(r"\w+", CLAUSES)
    times = [time for word in words for time in (word.start_ms, word.end_ms)]
    samples = np.concatenate([chunk.samples for chunk in chunks])
    assert times == sorted(times)
    assert times[-1] <= 1000 * len(samples) / kokoro.rate_hz
    heard_ms = 1000 * len(chunks[0].samples) / kokoro.rate_hz
    assert chunks[0].words[-1].end_ms <= heard_ms <= chunks[1].words[0].start_ms
    for start_ms, end_ms in pauses(samples, kokoro.rate_hz):
        assert all(min(end_ms, w.end_ms) - max(start_ms, w.start_ms) < 40 for w in words), (start_ms, end_ms)


@pytest.mark.models
def test_kokoro_onnx_11_no_pause_at_a_join_is_longer_than_its_mark(kokoro, say, pauses) -> None:
    text = "In the garden behind the house, two old men played chess; nobody won, and nobody cared about it."
    samples, words = say(kokoro, text, "am_michael")
    inner = [p for p in pauses(samples, kokoro.rate_hz) if words[0].start_ms < p[0] < words[-1].start_ms]
    assert inner
    # The model's own pause at a semicolon is 420 ms, where it speaks both sides in one run.
    assert all(end_ms - start_ms <= 440 for start_ms, end_ms in inner)
    behind_the_first_clause = text.index("house,") + len("house")
    at_the_join = [p for p in inner if p[0] < next(w.start_ms for w in words if w.start > behind_the_first_clause)]
    assert all(end_ms - start_ms <= 260 for start_ms, end_ms in at_the_join)


@pytest.mark.models
@needs_espeak
@pytest.mark.parametrize(("voice", "language", "text"), FOREIGN)
def test_kokoro_fastapi_314_other_languages_have_exact_times(kokoro, say, voice: str, language: str, text: str) -> None:
    samples, words = say(kokoro, text, voice, language=language)
    spoken = [text[word.start : word.end] for word in words]
    assert spoken == [word.strip(",.।") for word in text.split()]
    assert all(word.exact for word in words)
    times = [time for word in words for time in (word.start_ms, word.end_ms)]
    assert times == sorted(times)
    assert times[-1] <= 1000 * len(samples) / kokoro.rate_hz
    assert np.abs(samples).max() > 0.05


@pytest.mark.models
def test_durations_add_up_to_the_sound(kokoro) -> None:
    reading = _reader("af_heart").read(Phrase(CLAUSES))
    speech = kokoro._speak(kokoro._model, reading.keep(kokoro._model.ids), "af_heart", 1.0, never)
    assert speech.ends_ms[-1] * kokoro.rate_hz / 1000 == len(speech.samples)


@pytest.mark.models
def test_faster_qwen3_tts_130_a_cancel_stops_a_run_half_way(kokoro) -> None:
    polls = itertools.count()
    cancelled = threading.Event()

    def asked() -> bool:
        # The run begins after the first poll; the next ones come from its watcher.
        if next(polls) == 2:
            cancelled.set()
        return cancelled.is_set()

    text = " and ".join(["the river ran slowly past the mill without a sound"] * 7)
    before = threading.active_count()
    assert list(kokoro.synthesize(Phrase(text), "af_heart", 1.0, asked)) == []
    assert cancelled.is_set()
    assert threading.active_count() == before


@pytest.mark.models
def test_british_and_american_voices_read_their_own_way(kokoro, say) -> None:
    kokoro.load("bf_emma")
    samples, words = say(kokoro, "The bath is hot.", "bf_emma")
    assert len(words) == 4
    assert len(samples) > kokoro.rate_hz / 2


@pytest.mark.models
def test_more_symbols_than_the_model_takes_are_spoken_to_the_end(kokoro) -> None:
    pieces: list[int] = []

    def hum(model, reading, voice, speed, cancelled):
        count = len(reading.symbols)
        pieces.append(count)
        tone = (0.1 * np.sin(np.arange(600 * (count + 2)) / 10)).astype(np.float32)
        return _Speech(tone, [25.0 * (index + 1) for index in range(count + 2)])

    text = "walking " * 150
    kokoro._speak = hum
    try:
        words = [word for chunk in kokoro.synthesize(Phrase(text), "af_heart", 1.0, never) for word in chunk.words]
    finally:
        del kokoro._speak
    assert len(pieces) >= 2
    assert max(pieces) <= 250
    assert len(words) == 150


def store_with(tmp_path: Path, **files: bytes) -> Store:
    folder = tmp_path / "models" / "kokoro"
    for name, content in files.items():
        path = folder / name.replace("__", "/").replace("_bin", ".bin").replace("_onnx", ".onnx")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return Store(tmp_path)


def test_without_files_no_voice_is_ready_and_the_command_is_told(tmp_path: Path) -> None:
    engine = Kokoro(store=Store(tmp_path))
    assert engine.ready_voices() == ()
    assert "vivavoce models pull kokoro" in engine.hint("af_bella")
    with pytest.raises(VoiceNotInstalled, match="vivavoce models pull kokoro"):
        engine.load("af_bella")


def test_a_damaged_voice_is_told_with_the_command(tmp_path: Path) -> None:
    engine = Kokoro(store=store_with(tmp_path, voices__af_bella_bin=bytes(522_240)))
    with pytest.raises(ModelCorrupt, match="vivavoce models pull --force kokoro"):
        engine.load("af_bella")


@pytest.mark.parametrize("name", ["", "../../etc/passwd", "af_heart/../x", "AF_HEART", "jf_alpha"])
def test_kokoro_fastapi_070_other_names_are_no_voices(tmp_path: Path, name: str) -> None:
    with pytest.raises(UnknownVoice):
        Kokoro(store=Store(tmp_path)).load(name)


@pytest.mark.models
def test_without_espeak_only_english_is_ready(kokoro, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vivavoce.engines.espeak_program.program", lambda: None)
    engine = Kokoro()
    assert {voice.language for voice in engine.ready_voices()} == {"en-US", "en-GB"}
    assert "apt install espeak-ng" in engine.hint("ef_dora")
    with pytest.raises(VoiceNotInstalled, match="espeak-ng"):
        engine.load("ef_dora")


def test_vocabulary_is_the_one_of_the_weights() -> None:
    hibari = pytest.importorskip("hibari")
    ids = json.loads((Path(hibari.__file__).parent / "assets" / "vocab.json").read_text(encoding="utf-8"))
    # Ids of Kokoro-82M's own configuration.
    assert (len(ids), ids.get("$"), ids["ˈ"], ids["ʤ"], ids["ᵻ"], ids[" "]) == (
        114,
        None,
        156,
        82,
        177,
        16,
    )
