"""A user's own pronunciations: this word, said like that.

The file is TOML:

    [words]                      # whole words, any case
    vivavoce = "viva votchay"
    GIF = "jif"

    [[entry]]                    # the long form
    text = "read"                # one word or several
    say = "red"                  # plain words, or …
    ipa = "ɹɛd"                  # … an IPA pronunciation (then `say` is optional)
    case = "exact"               # "any" (default) or "exact"

A value between slashes, such as `"/ˈvɪvə/"`, is IPA too. A lexicon has the last word: it wins over every rule, and it
is matched against the words of the original text.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ..errors import BadLexicon

__all__ = ["Entry", "Lexicon"]

MAX_ENTRIES = 10_000
MAX_TEXT = 200


@dataclass(frozen=True, slots=True)
class Entry:
    """One pronunciation: `text` is what is written, `say` what is said, `ipa` how, where that is given."""

    text: str
    say: str
    ipa: str | None = None
    exact_case: bool = False


class Lexicon:
    """Pronunciations that win over every rule; immutable and hashable by identity."""

    __slots__ = ("_any", "_exact", "_pattern", "entries")

    def __init__(self, entries: Iterable[Entry]) -> None:
        self.entries = tuple(entries)
        self._exact = {_key(entry.text): entry for entry in self.entries if entry.exact_case}
        self._any = {_key(entry.text).casefold(): entry for entry in self.entries if not entry.exact_case}
        self._pattern = _pattern(self.entries)

    @classmethod
    def load(cls, path: str | Path) -> Lexicon:
        """Read a lexicon file. Raises BadLexicon."""
        try:
            raw = Path(path).read_bytes()
        except OSError as error:
            raise BadLexicon(f"The lexicon {path} cannot be read: {error.strerror}.", param="lexicon") from error
        try:
            return cls.parse(raw.decode("utf-8-sig"))
        except UnicodeDecodeError as error:
            raise BadLexicon(f"The lexicon {path} is not UTF-8.", param="lexicon") from error

    @classmethod
    def parse(cls, toml_text: str) -> Lexicon:
        """Read a lexicon from TOML text. Raises BadLexicon."""
        try:
            data = tomllib.loads(toml_text)
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            raise BadLexicon(f"The lexicon is not valid TOML: {error}.", param="lexicon") from error
        unknown = sorted(data.keys() - {"words", "entry"})
        if unknown:
            raise BadLexicon(f"Unknown lexicon section {unknown[0]!r}; use [words] or [[entry]].", param="lexicon")
        entries = [*_short(data.get("words", {})), *_long(data.get("entry", []))]
        if len(entries) > MAX_ENTRIES:
            raise BadLexicon(f"The lexicon has more than {MAX_ENTRIES} entries.", param="lexicon")
        return cls(entries)

    def find(self, text: str, start: int, end: int) -> list[tuple[int, int, Entry]]:
        """Every match in `text[start:end)`, in order, without overlap; the longest entry wins, a possessive is kept."""
        if self._pattern is None:
            return []
        found: list[tuple[int, int, Entry]] = []
        for match in self._pattern.finditer(text, start, end):
            key = _key(match[1])
            entry = self._exact.get(key) or self._any.get(key.casefold())
            if entry is None:
                continue
            if match.end() > match.end(1):
                entry = Entry(entry.text, f"{entry.say}'s", f"{entry.ipa}z" if entry.ipa else None)
            found.append((match.start(), match.end(), entry))
        return found


def _key(text: str) -> str:
    return " ".join(text.split()).replace("’", "'")


def _pattern(entries: tuple[Entry, ...]) -> re.Pattern[str] | None:
    if not entries:
        return None
    words = sorted({_key(entry.text) for entry in entries}, key=len, reverse=True)
    alternatives = "|".join(re.escape(word).replace("'", "['’]").replace("\\ ", r"\s{1,8}") for word in words)
    return re.compile(rf"(?<!\w)({alternatives})(?:['’]s)?(?!\w)", re.IGNORECASE)


def _short(words: object) -> list[Entry]:
    if not isinstance(words, dict):
        raise BadLexicon("[words] must be a table of written = spoken.", param="lexicon")
    return [_entry(text, {"say": said}) for text, said in words.items()]


def _long(entries: object) -> list[Entry]:
    if not isinstance(entries, list) or not all(isinstance(item, dict) for item in entries):
        raise BadLexicon("[[entry]] must be a list of tables.", param="lexicon")
    return [_entry(item.get("text"), item) for item in entries]


def _entry(text: object, fields: dict[str, object]) -> Entry:
    if not isinstance(text, str) or not text.strip() or len(text) > MAX_TEXT:
        raise BadLexicon(f"A lexicon entry needs a text of 1 to {MAX_TEXT} characters, got {text!r}.", param="lexicon")
    unknown = sorted(fields.keys() - {"text", "say", "ipa", "case"})
    if unknown:
        raise BadLexicon(f"Lexicon entry {text!r} has an unknown field {unknown[0]!r}.", param="lexicon")
    say, ipa, case = fields.get("say"), fields.get("ipa"), fields.get("case", "any")
    for name, value in (("say", say), ("ipa", ipa)):
        if value is not None and (not isinstance(value, str) or len(value) > MAX_TEXT):
            raise BadLexicon(f"Lexicon entry {text!r}: {name} must be a short string.", param="lexicon")
    if case not in ("any", "exact"):
        raise BadLexicon(f'Lexicon entry {text!r}: case must be "any" or "exact".', param="lexicon")
    if isinstance(say, str) and ipa is None and len(say) > 2 and say[0] == say[-1] == "/":
        ipa = say[1:-1]
        say = None
    if say is None and not ipa:
        raise BadLexicon(f"Lexicon entry {text!r} says nothing: give say or ipa.", param="lexicon")
    spoken = text.strip() if say is None else " ".join(str(say).split())
    return Entry(text.strip(), spoken, str(ipa).strip() if ipa else None, case == "exact")
