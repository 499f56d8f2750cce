"""The judge is judged first: what it forgives and what it counts."""

import pytest

from wer import compare, normalize


@pytest.mark.parametrize(
    ("reference", "heard"),
    [
        ("We need forty engineers.", "we need 40 engineers"),
        ("It is half past six.", "It's half past six!"),
        ("Our neighbor cannot come.", "our neighbour can't come"),
        ("A box of twenty-one photographs.", "a box of 21 photographs"),
        ("The river bank was empty.", "The riverbank was empty."),
        ("The timetable hangs here.", "The time table hangs here."),
        ("He paid five dollars.", "He paid $5."),
        ("Meet at six thirty.", "Meet at 6:30."),
        ("The third door, okay?", "The 3rd door, OK"),
        ("About ten percent of them.", "About 10% of them."),
        ("A thousand two hundred.", "A thousand, two hundred"),
    ],
)
def test_forgives_what_cannot_be_heard(reference: str, heard: str) -> None:
    assert compare(reference, heard).errors == 0


@pytest.mark.parametrize(
    ("reference", "heard", "errors"),
    [
        ("The gate was open.", "The gate was open then.", 1),
        ("The gate was open.", "The gate open.", 1),
        ("The gate was open.", "The gait was open.", 1),
        ("The gate was open.", "", 4),
        ("The gate was open.", "A late wash opening it", 5),
        ("Forty sheep.", "14 sheep.", 1),
        ("They meet by night.", "They meat buy knight.", 3),
    ],
)
def test_counts_what_can_be_heard(reference: str, heard: str, errors: int) -> None:
    assert compare(reference, heard).errors == errors


def test_a_long_answer_costs_every_word_it_adds() -> None:
    errors = compare("Stop.", "Stop. " * 9)
    assert (errors.errors, errors.words, errors.rate) == (8, 1, 8.0)


def test_normalize_leaves_letters_only() -> None:
    assert normalize("“Well — 3,400 naïve readers’ notes…”") == [
        "well", "three", "thousand", "four", "hundred", "naïve", "readers", "notes",
    ]  # fmt: skip
