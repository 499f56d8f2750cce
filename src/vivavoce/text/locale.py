"""Text in any other language: its words are left alone, its numbers and its money are spelled out where that is known."""

from __future__ import annotations

import re

from .builder import Builder
from .rules.emojis import emoji_name, emoji_run
from .rules.foreign import OTHER_RUN, reads, romanize
from .rules.local_numbers import local_number

__all__ = ["TIGHT", "read_local"]

TIGHT = frozenset(str.split("zh yue ja th lo my km bo"))
TOKEN = re.compile(
    r"(?P<space>\s+)|(?P<word>[^\s\d!-/:-@\[-`{-~¡-©«-¿‐-⁞。、，！？：；（）「」『』【】《》〈〉…।॥؟،؛۔₠-⃀]+)|(?P<digit>\d)|(?P<mark>.)"
)
MARKS = frozenset(",.;:!?…—。、，！？：；।॥؟،؛۔¿¡()（）“”„«»「」『』\"'’-/%&+=@#°§·۔፣።、")
CURRENCIES = frozenset("$€£¥₹₽₩₪₫₺₴₦฿₱₿¢")
DASH = re.compile(r"[-–—]+")
OPENERS = frozenset("([“„«¿¡（「『")


def read_local(builder: Builder, text: str, language: str, name_emoji: bool) -> None:
    """Add the words of `text` to the builder."""
    at, own_script = 0, reads(language)
    while at < len(text):
        match = TOKEN.match(text, at)
        if match is None:
            break
        kind, start, stop = match.lastgroup, at, match.end()
        at = stop
        if kind == "space":
            if "\n" in match.group():
                builder.line_end(start + match.group().index("\n"))
            builder.spaced = True
        elif text.startswith("R$", start):
            at = _number(builder, text, start, language)
        elif kind == "word":
            _words(builder, text, start, stop, own_script, name_emoji)
        elif kind == "digit":
            at = _number(builder, text, start, language)
        else:
            at = _mark(builder, text, start, language, name_emoji)


def _words(builder: Builder, text: str, at: int, stop: int, own_script: bool, name_emoji: bool) -> None:
    """A run of letters, in which emoji may stand; other scripts are romanized where the language has none of its own."""
    start = at
    while at < stop:
        after = emoji_run(text, at, stop)
        match = None if own_script or after > at else OTHER_RUN.match(text, at, stop)
        if after == at and match is None:
            at += 1
            continue
        _plain(builder, text, start, at)
        if match:
            builder.word(at, match.end(), romanize(match.group()), "foreign")
            at = match.end()
        else:
            _emoji(builder, text, at, after, name_emoji)
            at = after
        start = at
    _plain(builder, text, start, stop)


def _plain(builder: Builder, text: str, start: int, stop: int) -> None:
    if stop > start:
        _attached(builder, text, start)
        builder.word(start, stop, text[start:stop], "plain")


def _attached(builder: Builder, text: str, at: int) -> None:
    """A word that follows a mark without a space stays attached to it."""
    before = text[at - 1 : at]
    if before and before in MARKS and builder.out and builder.out[-1].endswith(before):
        builder.attach()


def _emoji(builder: Builder, text: str, at: int, stop: int, name_emoji: bool) -> None:
    if name_emoji:
        builder.word(at, stop, emoji_name(text[at:stop]), "emoji")
    else:
        builder.silent(at, stop, "emoji")


def _number(builder: Builder, text: str, at: int, language: str) -> int:
    found = local_number(text, at, language)
    if found.rule == "plain":
        _attached(builder, text, at)
    builder.word(at, found.end, found.words, found.rule)
    return found.end


def _mark(builder: Builder, text: str, at: int, language: str, name_emoji: bool) -> int:
    after = emoji_run(text, at, len(text))
    if after > at:
        _emoji(builder, text, at, after, name_emoji)
        return after
    character = text[at]
    if character in "€$£¥" or (
        character in "-−" and text[at + 1 : at + 2].isdigit() and not text[at - 1 : at].isalnum()
    ):
        found = local_number(text, at, language)
        if found.end > at:
            builder.word(at, found.end, found.words, found.rule)
            return found.end
    if (match := DASH.match(text, at)) and (text[at] != "-" or match.end() > at + 1 or text[at - 1 : at].isspace()):
        if builder.wordy:
            builder.close(at, match.end(), " —", "dash")
        else:
            builder.silent(at, match.end(), "dash")
        return match.end()
    stop = at + 1
    while stop < len(text) and text[stop] == character:
        stop += 1
    money = character in CURRENCIES
    if character not in MARKS and not character.isalnum() and not money:
        builder.silent(at, stop, "symbol")
    elif character == "“" and text.rfind("„", max(0, at - 300), at) > text.rfind("“", max(0, at - 300), at):
        builder.close(at, stop, character)
    elif (
        (character in "'’" and builder.spaced and text[stop : stop + 1].isalpha())
        or character in OPENERS
        or (character == '"' and builder.quote_opens())
    ):
        builder.open(at, stop, character)
    elif (money or character in "+=&@%°§#" or character.isalnum()) and builder.spaced:
        builder.word(at, stop, text[at:stop], "plain")
    else:
        builder.close(at, stop, character)
    return stop
