"""Characters that no one can say are taken out; what is left remembers where it stood."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

__all__ = ["sanitize"]

# Control characters but tab and newlines, soft hyphen, zero-width and bidi marks, lone surrogates, private use,
# non-characters, tags, interlinear annotation and object replacement.
UNSAYABLE = (
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\uffff\ud800-\udfff\ue000-\uf8ff\U000e0000-\U000e001f\U000f0000-\U0010ffff"
)
JOINERS = "\u200c\u200d"
# Written with look-alikes or with a mark of its own: said as the plain letter. Mathematical letters, ligatures, full width.
LOOKALIKE = "\U0001d400-\U0001d7ff\ufb00-\ufb06\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\u0300-\u036f\u2460-\u2473\u24b6-\u24e9\u2103\u2109"
SUSPECT = re.compile(f"[{UNSAYABLE}{JOINERS}{LOOKALIKE}\u0085\u2028\u2029\u00a0\u2000-\u200a\u202f\u205f\u3000\r]")
DROPPED = re.compile(f"[{UNSAYABLE}]")
LINES = frozenset("\r\u0085\u2028\u2029")
SPACES = frozenset("\u00a0\u202f\u205f\u3000") | frozenset(map(chr, range(0x2000, 0x200B)))


def sanitize(text: str) -> tuple[str, Sequence[int]]:
    """The text that can be said and, for each of its characters and its end, the offset in the original."""
    match = SUSPECT.search(text)
    if match is None:
        return text, range(len(text) + 1)
    out: list[str] = []
    origin: list[int] = []
    done = 0
    while match is not None:
        at = match.start()
        if at > done:
            out.append(text[done:at])
            origin.extend(range(done, at))
        before = text[at - 1] if at else ""
        kept = _kept(text[at], before, text[at + 1 : at + 2])
        if kept == "" and unicodedata.combining(text[at]) and out and before:
            composed = unicodedata.normalize("NFC", out[-1][-1] + text[at])
            if len(composed) == 1:
                out[-1] = out[-1][:-1] + composed
        elif kept:
            out.append(kept)
            origin.extend([at] * len(kept))
        done = at + 1
        match = SUSPECT.search(text, done)
    out.append(text[done:])
    origin.extend(range(done, len(text) + 1))
    return "".join(out), origin


def _kept(character: str, before: str, after: str) -> str:
    if character in LINES:
        return "" if character == "\r" and after == "\n" else "\n"
    if character in SPACES:
        return " "
    if DROPPED.match(character):
        return ""
    if character in JOINERS:
        # They shape Indic and Persian letters and join emoji; between Latin letters they mean nothing.
        return character if before > "\u02ff" and after > "\u02ff" else ""
    if unicodedata.combining(character):
        return ""
    return unicodedata.normalize("NFKC", character)
