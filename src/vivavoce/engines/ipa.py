"""IPA as people write it, in the alphabet that the Kokoro family of models was trained on."""

from __future__ import annotations

__all__ = ["to_model"]

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


def to_model(symbols: str, *, british: bool = False) -> str:
    """Rewrite English IPA; what is already in the model's alphabet stays. Lengths are kept for British voices only."""
    for written, read in _ANY:
        symbols = symbols.replace(written, read)
    return symbols if british else symbols.replace("ː", "")
