"""English spelling becomes phonemes, through hibari's reader (misaki's rules, no espeak)."""

from __future__ import annotations

import functools
import gc
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..errors import VoiceNotInstalled
from .base import Phrase
from .ipa import has_sounds, to_model
from .reading import PUNCTUATION, Reading, WordSymbols

__all__ = ["HOW_TO_INSTALL", "EnglishReader", "package_assets"]

HOW_TO_INSTALL = "hibari is not on this machine; get it with: pip install 'vivavoce[tts]'"

# hibari merges the parts of an unspaced token in cubic time.
_LONGEST_CHUNK = 48
# Its largest number word is decillion; longer runs are read digit by digit.
_LONG_NUMBER = re.compile(r"\d{19,}")
_OUTSIDE = frozenset('"“”„«»()[]{}<>.,;:!?…—–*_ ')


class EnglishReader:
    """Reads English phrases; safe to share between threads. The dictionaries (about 100 MB) load on first use."""

    _shared: dict[bool, EnglishReader] = {}  # noqa: RUF012 - the one instance of each accent
    _lock = threading.Lock()

    def __init__(self, *, british: bool = False) -> None:
        self.british = british
        self._g2p: Any = None
        self._loading = threading.Lock()

    @classmethod
    def shared(cls, *, british: bool = False) -> EnglishReader:
        """The reader of that accent that all engines of this process use."""
        with cls._lock:
            return cls._shared.setdefault(british, cls(british=british))

    def load(self) -> None:
        """Read the dictionaries; safe to call again. Raises VoiceNotInstalled without the hibari package."""
        with self._loading:
            if self._g2p is None:
                try:
                    from hibari.g2p import G2P
                except ImportError as error:
                    raise VoiceNotInstalled(HOW_TO_INSTALL) from error
                with _collector_at_rest():
                    g2p = G2P(british=self.british)
                g2p("Zyxt")  # opens the net that reads unknown words now, not in the middle of a sentence
                self._g2p = g2p

    def read(self, phrase: Phrase) -> Reading:
        """Say how a phrase sounds, with the span of every word in the phrase's text."""
        self.load()
        tokens = self._phonemized(list(self._tokens(phrase)))
        symbols: list[str] = []
        words: list[WordSymbols] = []
        length = cursor = 0
        for token in tokens:
            said = token.phonemes or ""
            found = phrase.text.find(token.text, cursor)
            if found >= 0:
                cursor = found + len(token.text)
                if any(symbol not in PUNCTUATION for symbol in said):
                    words.append(WordSymbols(found, cursor, length, length + len(said)))
            said += " " if token.whitespace else ""
            symbols.append(said)
            length += len(said)
        said = "".join(symbols)
        return Reading(said, tuple(_tight(word, phrase.text, said) for word in words))

    def _phonemized(self, tokens: list[Any]) -> list[Any]:
        """Tokens with their phonemes. If hibari stumbles over one, all are read alone and that one stays silent."""
        try:
            return list(self._g2p.phonemize_tokens([token.copy() for token in tokens]))
        except Exception:
            return [read for token in tokens for read in self._alone(token)]

    def _alone(self, token: Any) -> list[Any]:
        try:
            return list(self._g2p.phonemize_tokens([token.copy()]))
        except Exception:
            return [token.copy(phonemes="")]

    def _tokens(self, phrase: Phrase) -> Iterator[Any]:
        from hibari.g2p.token import Tok

        cursor = 0
        for override in sorted(phrase.ipa, key=lambda ipa: ipa.start):
            text = phrase.text[override.start : override.end]
            said = to_model(override.symbols.strip("/[] "), british=self.british)
            if override.start < cursor or not text or not has_sounds(said):
                continue
            yield from self._plain(phrase.text[cursor : override.start])
            space = " " if phrase.text[override.end : override.end + 1].isspace() else ""
            yield Tok(text, "NN", space, phonemes=said, rating=5)
            cursor = override.end
        yield from self._plain(phrase.text[cursor:])

    def _plain(self, text: str) -> Iterator[Any]:
        from hibari.g2p.token import Tok

        pairs = self._g2p.tokenizer(_broken_up(text))
        tags = self._g2p.tagger([word for word, _ in pairs]) if pairs else []
        for (word, space), tag in zip(pairs, tags, strict=True):
            yield Tok(word, tag, space)


@contextmanager
def _collector_at_rest() -> Iterator[None]:
    """Look for no garbage meanwhile: a third of the time that large dictionaries take to parse is spent on that."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _broken_up(text: str) -> str:
    text = _LONG_NUMBER.sub(lambda run: " ".join(run.group()), text)
    chunks = text.split(" ")
    if all(len(chunk) <= _LONGEST_CHUNK for chunk in chunks):
        return text
    return " ".join(
        " ".join(chunk[i : i + _LONGEST_CHUNK] for i in range(0, len(chunk), _LONGEST_CHUNK)) for chunk in chunks
    )


def _tight(word: WordSymbols, text: str, symbols: str) -> WordSymbols:
    """Leave quotes, brackets and pauses at the ends of a word out of it."""
    start, end = _within(text, word.start, word.end, _OUTSIDE)
    first, last = _within(symbols, word.first, word.last, PUNCTUATION)
    return WordSymbols(start, end, first, last) if start < end else WordSymbols(word.start, word.end, first, last)


def _within(text: str, first: int, last: int, outside: frozenset[str]) -> tuple[int, int]:
    while last > first and text[last - 1] in outside:
        last -= 1
    while first < last and text[first] in outside:
        first += 1
    return first, last


@functools.cache
def package_assets() -> Path | None:
    """The folder of the installed hibari package, found without importing it; None where it is not installed."""
    spec = find_spec("hibari")
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(spec.submodule_search_locations[0]) / "assets"
