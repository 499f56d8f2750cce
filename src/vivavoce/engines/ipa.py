"""IPA as people write it, in the alphabet that the Kokoro family of models was trained on."""

from __future__ import annotations

import re

__all__ = ["has_sounds", "to_model", "untied"]

# The letters of the models' alphabet; the rest of it is stress, length, punctuation and tone.
_SOUNDS = frozenset("AIOQSTWYabcdefhijklmnopqrstuvwxyzæçðøŋœɐɑɒɔɕɖəɚɛɜɟɡɣɤɥɨɪɯɰɲɳɴɸɹɻɽɾʁʂʃʈʊʋʌʎʒʔʝʣʤʥʦʧʨβθχᵊᵻꭧ")

# Longest first where one is the start of another.
_ANY = (
    ("t͡ʃ", "ʧ"),
    ("d͡ʒ", "ʤ"),
    ("tʃ", "ʧ"),
    ("dʒ", "ʤ"),
    ("aɪ", "I"),
    ("aʊ", "W"),
    ("eɪ", "A"),
    ("ɔɪ", "Y"),
    ("əʊ", "Q"),
    ("oʊ", "O"),
    ("ɝ", "ɜɹ"),
    ("ɚ", "əɹ"),
    ("ɫ", "l"),
    ("r", "ɹ"),
    ("g", "ɡ"),
    ("'", "ˈ"),
    (".", ""),
    ("͡", ""),
    ("‿", ""),
)


# People mark stress where the syllable begins, the models read it where the vowel does.
_EARLY_STRESS = re.compile(r"([ˈˌ])([^aɑæɐeɛəɜiɪoɔuʊʌɒyøAIWYOQᵊᵻˈˌ\s]{1,4})")


def has_sounds(symbols: str) -> bool:
    """Whether a model has anything to say to these symbols of its alphabet."""
    return not _SOUNDS.isdisjoint(symbols)


def to_model(symbols: str, *, british: bool = False) -> str:
    """Rewrite English IPA; what is already in the model's alphabet stays. Lengths are kept for British voices only."""
    for written, read in _ANY:
        symbols = symbols.replace(written, read)
    symbols = _EARLY_STRESS.sub(r"\2\1", symbols)
    return symbols if british else symbols.replace("ː", "")


_TIED = (
    ("aɪ", "I"),
    ("aʊ", "W"),
    ("dz", "ʣ"),
    ("dʒ", "ʤ"),
    ("eɪ", "A"),
    ("oʊ", "O"),
    ("ts", "ʦ"),
    ("tʃ", "ʧ"),
    ("tɕ", "ʨ"),
    ("dʑ", "ʥ"),
    ("ɔɪ", "Y"),
    ("əʊ", "Q"),
)
_TIES = "\u200d\u0361^"


def untied(symbols: str) -> str:
    """Rewrite IPA whose sounds of several letters are tied (U+200D, U+0361, ^), of any language."""
    for pair, read in _TIED:
        for tie in _TIES:
            symbols = symbols.replace(pair[0] + tie + pair[1], read)
    return "".join(symbol for symbol in symbols if symbol not in _TIES and symbol not in "-_'.")
