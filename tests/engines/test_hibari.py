import itertools
import re
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from vivavoce.engines.base import Ipa, Phrase
from vivavoce.engines.english import EnglishReader
from vivavoce.engines.graph import cut
from vivavoce.engines.hibari import Hibari, _decode
from vivavoce.engines.session import open_session
from vivavoce.errors import ModelCorrupt, UnknownVoice, VoiceNotInstalled

SENTENCES = [
    "The kettle is on, so sit down and tell me everything.",
    "Honestly? I never liked that chair; it creaks.",
    "Rivers rise in spring, fields flood in autumn, and nobody complains.",
    "Wait: was it the second door, or the third?",
    "My sister (the tall one) plays the cello.",
    "Open the window!",
    "They walked, talked, laughed, and lost their way — twice.",
]


def never() -> bool:
    return False


@pytest.mark.parametrize("text", SENTENCES)
def test_words_are_all_there_in_order_and_apart(hibari, say, text: str) -> None:
    samples, words = say(hibari, text, "heart")
    assert [text[word.start : word.end] for word in words] == re.findall(r"[A-Za-z']+", text)
    times = [time for word in words for time in (word.start_ms, word.end_ms)]
    assert times == sorted(times)
    assert times[-1] <= 1000 * len(samples) / hibari.rate_hz
    assert all(word.exact and word.end_ms - word.start_ms >= 25 for word in words)


@pytest.mark.parametrize("text", SENTENCES)
def test_every_pause_falls_between_two_words(hibari, say, pauses, text: str) -> None:
    samples, words = say(hibari, text, "heart")
    found = pauses(samples, hibari.rate_hz)
    assert found
    for start_ms, end_ms in found:
        assert all(min(end_ms, w.end_ms) - max(start_ms, w.start_ms) < 40 for w in words), (start_ms, end_ms)


@pytest.mark.parametrize("text", SENTENCES[:3])
@pytest.mark.parametrize("speed", [0.7, 1.0, 1.4])
def test_durations_add_up_to_the_sound(hibari, joined, text: str, speed: float) -> None:
    reading = hibari._reader.read(Phrase(text)).keep(hibari._model.ids)
    ids = np.array([[0, *(hibari._model.ids[s] for s in reading.symbols), 0]], np.int64)
    feeds = {"ids": ids, "speed": np.array([speed], np.float32)}
    (durations,) = hibari._model.planner.run(["/Clip_output_0"], feeds)
    samples, _ = joined(hibari.synthesize(Phrase(text), "heart", speed, never))
    assert int(durations.sum()) * 600 == len(samples)


def test_pieces_sound_like_the_whole_model(hibari) -> None:
    text = SENTENCES[2]
    folder = Path(pytest.importorskip("hibari").__file__).parent / "assets"
    whole = open_session(cut((folder / "hibari.onnx").read_bytes(), [], ["/head/Add_output_0"]), 1, "whole")
    reading = hibari._reader.read(Phrase(text)).keep(hibari._model.ids)
    ids = np.array([[0, *(hibari._model.ids[s] for s in reading.symbols), 0]], np.int64)
    (spectra,) = whole.run(None, {"ids": ids, "speed": np.ones(1, np.float32)})
    features = hibari._model.planner.run(["/Concat_43_output_0"], {"ids": ids, "speed": np.ones(1, np.float32)})[0]
    pieces = np.concatenate(
        [_decode(hibari._model, features, a, min(a + 80, features.shape[2])) for a in range(0, features.shape[2], 80)]
    )
    # int8 arithmetic scales by the loudest value it sees, so pieces differ from the whole by its rounding only.
    assert np.sqrt(np.mean((pieces - spectra[0]) ** 2)) < 0.02 * np.sqrt(np.mean(spectra[0] ** 2))


def test_the_first_sound_leaves_after_a_part_of_the_work(hibari) -> None:
    decoded: list[int] = []
    steps = hibari.synthesize(Phrase(SENTENCES[6]), "heart", 1.0, never)
    decoded.append(len(next(steps).samples))
    rest = sum(len(chunk.samples) for chunk in steps)
    assert 0.1 * 24_000 < decoded[0] < 0.4 * rest


def test_words_come_no_later_than_the_sound_they_end_in(hibari) -> None:
    heard_ms = 0.0
    for chunk in hibari.synthesize(Phrase(SENTENCES[2]), "heart", 1.0, never):
        assert all(word.end_ms > heard_ms - 1e-6 for word in chunk.words)
        heard_ms += 1000 * len(chunk.samples) / hibari.rate_hz
        assert all(word.end_ms <= heard_ms + 1e-6 for word in chunk.words)


@pytest.mark.parametrize("after", range(4))
def test_pocket_tts_238_a_cancel_ends_the_iteration_at_the_next_step(hibari, after: int) -> None:
    cancelled = threading.Event()
    steps = hibari.synthesize(Phrase(" ".join(SENTENCES)), "heart", 1.0, cancelled.is_set)
    heard = list(itertools.islice(steps, after))
    cancelled.set()
    assert len(heard) == after
    assert list(steps) == []


def test_the_same_phrase_is_the_same_sound(hibari, say) -> None:
    first, second = (say(hibari, SENTENCES[0], "heart")[0] for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_alltalk_63_two_texts_at_once_do_not_mix(hibari, say) -> None:
    alone = {text: say(hibari, text, "heart")[0] for text in SENTENCES}
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda text: say(hibari, text, "heart")[0], SENTENCES * 3))
    for text, samples in zip(SENTENCES * 3, together, strict=True):
        np.testing.assert_array_equal(samples, alone[text])


def test_stream2sentence_long_sentences_are_spoken_to_the_end(hibari, say) -> None:
    text = ", ".join(f"in the year of the {animal} we planted a garden" for animal in ["ox", "cat", "hen", "fox"] * 6)
    samples, words = say(hibari, text, "heart")
    assert len(words) == len(text.replace(",", "").split())
    assert text[words[-1].start : words[-1].end] == "garden"
    assert words[-1].end_ms <= 1000 * len(samples) / hibari.rate_hz


def test_kokoro_onnx_11_parts_of_a_long_sentence_are_joined_without_a_long_pause(hibari, say, pauses) -> None:
    text = "Then came " + ", then came ".join(["the baker with warm bread", "the miller with a sack"] * 12) + "."
    samples, words = say(hibari, text, "heart")
    inner = [p for p in pauses(samples, hibari.rate_hz) if words[0].start_ms < p[0] < words[-1].start_ms]
    assert len(inner) > 10
    assert max(end_ms - start_ms for start_ms, end_ms in inner) <= 450
    for start_ms, end_ms in inner:
        assert all(min(end_ms, w.end_ms) - max(start_ms, w.start_ms) < 40 for w in words), (start_ms, end_ms)


@pytest.mark.parametrize("text", ["OK", "Save", "Cancel button", "Yes."])
def test_kokoro_291_short_labels_are_spoken_whole(hibari, say, text: str) -> None:
    samples, words = say(hibari, text, "heart")
    assert " ".join(text[word.start : word.end] for word in words) == text.rstrip(".")
    assert 0.3 < len(samples) / hibari.rate_hz < 2
    assert np.abs(samples).max() > 0.05


@pytest.mark.parametrize("text", ["", "   ", "…", "?!", "—", "谢谢", "\u200b"])
def test_nothing_to_say_is_no_sound(hibari, say, text: str) -> None:
    samples, words = say(hibari, text, "heart")
    assert len(samples) == 0
    assert words == ()


def test_a_given_pronunciation_is_heard(hibari, joined) -> None:
    plain, _ = joined(hibari.synthesize(Phrase("A gif file"), "heart", 1.0, never))
    said, words = joined(hibari.synthesize(Phrase("A gif file", ipa=(Ipa(2, 5, "dʒɪf"),)), "heart", 1.0, never))
    assert [(word.start, word.end) for word in words] == [(0, 1), (2, 5), (6, 10)]
    assert len(plain) != len(said) or not np.array_equal(plain, said)


def test_samples_stay_inside_the_scale(hibari, say) -> None:
    samples, _ = say(hibari, "HELP! STOP! FIRE! NO!", "heart")
    assert samples.dtype == np.float32
    assert np.isfinite(samples).all()
    assert np.abs(samples).max() <= 1.0


def test_speaks_english_of_any_region_only(hibari) -> None:
    assert [hibari.speaks("heart", tag) for tag in ("en", "en-GB", "EN-us", "de", "enm")] == [
        True,
        True,
        True,
        False,
        False,
    ]
    assert not hibari.speaks("alloy", "en")


def test_an_unknown_voice_is_refused(hibari) -> None:
    with pytest.raises(UnknownVoice):
        hibari.load("emma")


def test_without_its_files_it_says_how_to_get_them(tmp_path: Path) -> None:
    engine = Hibari(assets=tmp_path)
    assert engine.ready_voices() == ()
    with pytest.raises(VoiceNotInstalled, match="pip install"):
        engine.load("heart")


def test_without_its_package_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "hibari"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "hibari", None)
    monkeypatch.setattr("vivavoce.engines.hibari.package_assets", lambda: None)
    engine = Hibari()
    engine._reader = EnglishReader()
    assert engine.ready_voices() == ()
    with pytest.raises(VoiceNotInstalled, match=r"pip install 'vivavoce\[tts\]'"):
        engine.load("heart")


@pytest.mark.parametrize("damage", [lambda raw: raw[:5000], lambda raw: raw[:-9] + b"\1" + raw[-8:], lambda raw: b""])
def test_a_damaged_model_is_named(tmp_path: Path, damage) -> None:
    assets = Path(pytest.importorskip("hibari").__file__).parent / "assets"
    (tmp_path / "hibari.onnx").write_bytes(damage((assets / "hibari.onnx").read_bytes()))
    (tmp_path / "vocab.json").write_bytes((assets / "vocab.json").read_bytes())
    with pytest.raises(ModelCorrupt):
        Hibari(assets=tmp_path).load("heart")


def test_a_damaged_vocabulary_is_named(tmp_path: Path) -> None:
    (tmp_path / "hibari.onnx").write_bytes(b"x")
    (tmp_path / "vocab.json").write_text("{", encoding="utf-8")
    with pytest.raises(ModelCorrupt, match=r"vocab\.json"):
        Hibari(assets=tmp_path).load("heart")
