import numpy as np

from vivavoce.engines.align import WordAligner
from vivavoce.engines.base import WordTime

RATE_HZ = 24_000


def sound(*stretches: tuple[float, float]) -> np.ndarray:
    """Noise of the given lengths in ms and amplitudes, one after the other."""
    random = np.random.default_rng(0)
    parts = [amplitude * random.standard_normal(round(24 * ms)) for ms, amplitude in stretches]
    return np.concatenate(parts).astype(np.float32)


def test_the_pause_after_a_word_is_taken_off_its_end() -> None:
    samples = sound((300, 0.2), (200, 1e-4), (300, 0.2))
    words = WordAligner([WordTime(0, 3, 0, 450), WordTime(4, 7, 500, 800)], RATE_HZ).follow(samples, last=True)
    assert [(word.start_ms, word.end_ms) for word in words] == [(0, 300), (500, 800)]


def test_the_pause_before_a_word_is_taken_off_its_start() -> None:
    samples = sound((200, 1e-4), (300, 0.2))
    (word,) = WordAligner([WordTime(0, 3, 50, 500)], RATE_HZ).follow(samples, last=True)
    assert (word.start_ms, word.end_ms) == (200, 500)


def test_a_closed_consonant_inside_a_word_stays() -> None:
    samples = sound((150, 0.2), (75, 1e-4), (150, 0.2))
    (word,) = WordAligner([WordTime(0, 6, 0, 375)], RATE_HZ).follow(samples, last=True)
    assert (word.start_ms, word.end_ms) == (0, 375)


def test_words_wait_for_the_sound_in_which_they_end() -> None:
    words = [WordTime(0, 2, 0, 100), WordTime(3, 5, 150, 400), WordTime(6, 8, 450, 500)]
    aligner = WordAligner(words, RATE_HZ)
    assert aligner.follow(sound((200, 0.2))) == (words[0],)
    assert aligner.follow(sound((150, 0.2))) == ()
    assert aligner.follow(sound((150, 0.2))) == (words[1], words[2])
    assert aligner.heard_ms == 500


def test_silence_all_through_changes_nothing() -> None:
    word = WordTime(0, 3, 0, 250)
    assert WordAligner([word], RATE_HZ).follow(np.zeros(7_200, np.float32), last=True) == (word,)
