import numpy as np
import pytest

from vivavoce.engines.estimate import estimated_words

RATE_HZ = 22_050


def sound(*stretches: tuple[float, float]) -> np.ndarray:
    random = np.random.default_rng(0)
    parts = [amplitude * random.standard_normal(round(22.05 * ms)) for ms, amplitude in stretches]
    return np.concatenate(parts).astype(np.float32)


def test_words_share_their_clause_and_leave_the_pause_alone() -> None:
    text = "Eins zwei, drei"
    words = estimated_words(text, sound((400, 0.1), (300, 0), (300, 0.1)), RATE_HZ)
    assert [text[word.start : word.end] for word in words] == ["Eins", "zwei", "drei"]
    assert words[1].end_ms == pytest.approx(400, abs=25)
    assert words[2].start_ms == pytest.approx(700, abs=25)
    assert not any(word.exact for word in words)


def test_the_longest_pauses_part_the_clauses() -> None:
    words = estimated_words("ab cd, ef", sound((200, 0.1), (120, 0), (200, 0.1), (400, 0), (200, 0.1)), RATE_HZ)
    assert words[1].end_ms == pytest.approx(520, abs=25)
    assert words[2].start_ms == pytest.approx(920, abs=25)


@pytest.mark.parametrize("text", ["uno, dos, tres, cuatro", "сегодня, завтра", "你好，世界。", "नमस्ते, दोस्त", "a—b… c"])
@pytest.mark.parametrize("samples", [sound((900, 0.1)), np.zeros(9000, np.float32), np.zeros(3, np.float32)])
def test_words_are_in_order_inside_the_sound(text: str, samples: np.ndarray) -> None:
    words = estimated_words(text, samples, RATE_HZ)
    times = [time for word in words for time in (word.start_ms, word.end_ms)]
    assert words
    assert times == sorted(times)
    assert times[-1] <= 1000 * len(samples) / RATE_HZ + 13
    assert all(word.start < word.end <= len(text) for word in words)


def test_nothing_to_say_has_no_words() -> None:
    assert estimated_words(" … !? ", sound((100, 0.1)), RATE_HZ) == ()
