"""Letters of a script that the language is not written in: romanized, never silent."""

from __future__ import annotations

import re

__all__ = ["OTHER_LETTERS", "reads", "romanize"]

# Letters (with their marks) that no Latin orthography has. Greek alone is also mathematics, so single letters of it are
# named elsewhere before this is asked.
OTHER_LETTERS = (
    "\u0370-\u03ff\u0400-\u1cff\u1d00-\u1dbf\u1f00-\u1fff\u2c00-\u2dff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u303c"
    "\u3040-\u30fa\u30fc-\u31ff\u3400-\u9fff\ua000-\ua71f\ua800-\uab2f\uab70-\ud7ff\uf900-\ufaff\ufb07-\ufdff\ufe70-\ufeff"
    "\uff66-\uff9f\U00010000-\U0001cfff\U0001e000-\U0001efff\U00020000-\U0003ffff"
)
OTHER_RUN = re.compile(f"[{OTHER_LETTERS}]{{1,200}}")
OTHER_SCRIPT = frozenset(
    str.split(
        "ru uk be bg sr mk kk ky mn tg el ar fa ur ps ug he yi hi mr ne sa bn as pa gu or ta te kn ml si th lo my km ka hy am ti "
        "zh yue ja ko bo dv"
    )
)
# Arabic and Hebrew write few vowels; without one the letters would be spelled.
CONSONANTS = re.compile("[\u0590-\u07ff\ufb1d-\ufdff\ufe70-\ufefe]")
VOWEL_LESS = re.compile("([kstgd]h|[b-df-hj-np-tv-z`])(?=[b-df-hj-np-tv-z`])(?!h)")
# In the scripts of India a consonant that is followed by another letter, and not by a vowel sign, carries an `a`.
INHERENT = re.compile(
    "[\u0915-\u0939\u0995-\u09b9\u0a15-\u0a39\u0a95-\u0ab9\u0b15-\u0b39\u0b95-\u0bb9\u0c15-\u0c39\u0c95-\u0cb9\u0d15-\u0d39](?=[\u0905-\u0939\u0985-\u09b9\u0a05-\u0a39\u0a85-\u0ab9\u0b05-\u0b39\u0b85-\u0bb9\u0c05-\u0c39\u0c85-\u0cb9\u0d05-\u0d39])"
)
CAMEL = re.compile(r"(?<=[a-z'])(?=[A-Z])")


def reads(language: str) -> bool:
    """Whether a language has a script of its own, so that other letters are left to its engine."""
    return language in OTHER_SCRIPT


def romanize(text: str) -> str:
    """Latin letters for any script: `谢谢` is `xie xie`, `Привет` is `privet`."""
    from anyascii import anyascii

    said = CAMEL.sub(" ", anyascii(INHERENT.sub(r"\g<0>a", text)))
    if CONSONANTS.search(text):
        said = VOWEL_LESS.sub(r"\1a", said)
    words = "".join(character if character.isalnum() or character in " '" else " " for character in said).split()
    return " ".join(words).lower()
