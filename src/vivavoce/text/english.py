"""English text into words: plain words pass at once, everything else is asked of the rules, most special first."""

from __future__ import annotations

import re

from .builder import Builder
from .rules.abbreviations import WORDS as ABBREVIATED
from .rules.abbreviations import abbreviation, slashed
from .rules.compounds import compound, per, slash, word
from .rules.contractions import CONTRACTIONS, contraction
from .rules.currencies import money
from .rules.dates import date, named_date
from .rules.emojis import emoji_name, emoji_run, emoticon
from .rules.floods import flood
from .rules.foreign import OTHER_RUN, romanize
from .rules.fractions import fraction
from .rules.grouped import grouped
from .rules.hit import Hit, Rule, Source
from .rules.initialisms import ampersand, dotted_initials, is_shouted, letter_a, mixed, upper_word
from .rules.numbers import UNTIDY, counted, plain_number, tidy
from .rules.ordinals import decade, ordinal_number
from .rules.phones import long_digits, phone, serial
from .rules.ranges import number_range
from .rules.romans import roman
from .rules.symbols import named_sign, operator, power, signed
from .rules.times import time_of_day
from .rules.units import bare_rate, measure, times
from .rules.versions import dotted, versioned
from .rules.web import address, handle

__all__ = ["read_english"]

LETTERS = "a-zß-öø-ÿ\u0101-\u024f\u1e00-\u1eff"
PLAIN = re.compile(
    rf"[ ]*+((?:[A-ZÀ-ÖØ-Þ]?[{LETTERS}]++(?:['’‐‑-][{LETTERS}]++)*+|A(?=[ ][a-z])|(?<![A-Za-z] )I(?=[ ][a-z])"
    rf"|I['’](?:m|d|ll|ve)))(?=[\s,;!?)\"”]|\.(?:\s|$)|:\s|$)"
)
LONE_WORD = re.compile(rf"[A-Z{LETTERS}]{{2,40}}(?:['’][a-z]{{1,3}})?(?=[\s,;!?)\"”]|:\s|\.(?:\s|$)|$)")
SPACE = re.compile(r"\s+")
MONTHS = str.split(
    "jan feb mar apr may jun jul aug sep sept oct nov dec january february march april june july august september "
    "october november december"
)
DAYS = str.split("mon tue tues wed thu thur thurs fri sat sun")
SMALL_ROMANS = str.split("i ii iii iv v vi vii viii ix x xi xii xiii xiv xv")
SPECIAL = frozenset([*MONTHS, *DAYS, *SMALL_ROMANS, "et", "rs", *CONTRACTIONS]) | ABBREVIATED
LETTER_RULES: tuple[Rule, ...] = (
    contraction, slashed, named_date, abbreviation, money, versioned, dotted_initials, address, roman, bare_rate, power,
    named_sign, letter_a, compound, ampersand, mixed, upper_word, word,
)  # fmt: skip
# What can be asked of letters between white space and simple punctuation; the other rules need something else in them.
WORD_RULES: tuple[Rule, ...] = (contraction, named_date, abbreviation, money, roman, bare_rate, upper_word, word)
DIGIT_RULES: tuple[Rule, ...] = (
    counted, grouped, long_digits, address, phone, date, time_of_day, dotted, serial, money, power, fraction, decade,
    ordinal_number, measure, times, number_range, compound, mixed, plain_number,
)  # fmt: skip
SIGN_RULES: tuple[Rule, ...] = (
    emoticon, phone, operator, money, measure, fraction, signed, handle, per, address, decade, contraction, power, slash,
    named_sign,
)  # fmt: skip
PHONE_ONLY: tuple[Rule, ...] = (emoticon, phone)
CLOSERS = {",": ",", ".": ".", "?": "?", "!": "!", ";": ";", ":": ":", ")": ")", "”": "”", "»": "”", "、": ",", "，": ",",
           "。": ".", "！": "!", "？": "?", "；": ";", "：": ":", "…": "…", "‽": "?"}  # fmt: skip
OPENERS = {"(": "(", "“": "“", "«": "“", "„": "“"}
REPEATED = re.compile(r"[!?‽]{2,}|,{2,}|;{2,}|:{2,}|\.{2,}(?:[ ]?\.{1,3})*|…+\.?|(?:\.[ ]){2,6}\.(?!\S)")
DASHES = re.compile(r"[-–—―‒−]+")
OWNED = re.compile(r"['’]s(?![A-Za-z0-9])")
QUOTES = frozenset("\"'‘’‚`′″")


def read_english(builder: Builder, text: str, british: bool, name_emoji: bool, mute: bool = False) -> None:
    """Add the words of `text` to the builder, no sign by its name where `mute`.

    Linear in the text: every rule looks a bounded way ahead.
    """
    source = Source(text, british, text.isupper() and is_shouted(text), mute)
    at, end = 0, len(text)
    while (at := builder.run(text, at, PLAIN, SPECIAL)) < end:
        if match := SPACE.match(text, at):
            if "\n" in match.group():
                builder.line_end(at + match.group().index("\n"))
            builder.spaced = True
            at = match.end()
        else:
            at = _special(builder, source, at, name_emoji)


def _special(builder: Builder, source: Source, at: int, name_emoji: bool) -> int:
    text = source.text
    character = text[at]
    if (hit := flood(source, at)) is not None:
        return _said(builder, at, hit)
    if character == '"':
        return _quote(builder, text, at)
    if (character.isalpha() and character <= "\u024f") or "\u1e00" <= character <= "\u1eff":
        rules = WORD_RULES if LONE_WORD.match(text, at) else LETTER_RULES
    elif "0" <= character <= "9":
        rules = DIGIT_RULES
    elif character in CLOSERS or character in OPENERS:
        return _punctuation(builder, source, at)
    else:
        stop = at if character in "♯♭♮" else emoji_run(text, at, len(text))
        if stop > at:
            return _emoji(builder, text, at, stop, name_emoji)
        rules = SIGN_RULES
    for rule in rules:
        if (hit := rule(source, at)) is not None:
            return _said(builder, at, hit._replace(words="") if source.mute else hit)
    return _other(builder, text, at)


def _said(builder: Builder, at: int, hit: Hit) -> int:
    if hit.words in ("—", "…"):
        builder.close(at, hit.end, " —" if hit.words == "—" else "…", "dash")
    elif hit.words:
        words = tidy(hit.words) if UNTIDY.search(hit.words) else hit.words
        builder.word(at, hit.end, words, hit.rule, hit.ipa)
    else:
        builder.silent(at, hit.end, hit.rule)
    return hit.end


def _emoji(builder: Builder, text: str, at: int, stop: int, name_emoji: bool) -> int:
    words = emoji_name(text[at:stop]) if name_emoji else ""
    return _said(builder, at, Hit(stop, words, "emoji"))


def _punctuation(builder: Builder, source: Source, at: int) -> int:
    text, character = source.text, source.text[at]
    if character == "." and text.startswith(",", at + 1) and builder.wordy:
        builder.silent(at, at + 1, "punctuation")
        return at + 1
    for rule in PHONE_ONLY if character in "(:;" else (plain_number, address) if character == "." else ():
        if (hit := rule(source, at)) is not None:
            return _said(builder, at, hit)
    if character == "." and _named_dot(text, at):
        builder.word(at, at + 1, "dot", "sign")
        return at + 1
    if character in ":!“" and (stop := _mark(builder, source, at)) is not None:
        return stop
    if match := REPEATED.match(text, at):
        run = match.group()
        mark = "…" if run[0] in ".…" else "?" if "?" in run or "‽" in run else run[0]
        _close(builder, at, match.end(), mark)
        return match.end()
    if character in OPENERS:
        builder.open(at, at + 1, OPENERS[character])
    else:
        _close(builder, at, at + 1, CLOSERS[character])
    return at + 1


def _named_dot(text: str, at: int) -> bool:
    """Whether a name begins with the dot: `.NET`, `.env`."""
    if at and not (text[at - 1].isspace() or text[at - 1] in "(\"'“"):
        return False
    following = text[at + 1 : at + 3]
    return following[:1].isalpha() and (following[0].islower() or following.isupper())


def _mark(builder: Builder, source: Source, at: int) -> int | None:
    """`:=` and `!=` are signs; `“` closes a German quotation."""
    text = source.text
    if text.startswith("=", at + 1) and (hit := named_sign(source, at)) is not None:
        return _said(builder, at, hit)
    if text[at] == "“" and not builder.quote_opens() and builder.wordy:
        builder.close(at, at + 1, "”")
        return at + 1
    return None


def _close(builder: Builder, at: int, stop: int, mark: str) -> None:
    """A mark that repeats what was just said (`!.`, a comma before anything was said) is not said again."""
    if mark in ",;:." and (not builder.wordy or (mark == "." and builder.dotted)):
        builder.silent(at, stop, "punctuation")
    else:
        builder.close(at, stop, mark)


def _other(builder: Builder, text: str, at: int) -> int:
    """Quotes, dashes, letters of other scripts, and what has no sound."""
    character = text[at]
    if character in QUOTES:
        return _quote(builder, text, at)
    if match := DASHES.match(text, at):
        return _dash(builder, text, at, match.end())
    if match := OTHER_RUN.match(text, at):
        words = romanize(match.group())
        return _said(builder, at, Hit(match.end(), words, "foreign"))
    stop = at + 1
    while stop < len(text) and text[stop] == character:
        stop += 1
    builder.silent(at, stop, "symbol")
    return stop


def _quote(builder: Builder, text: str, at: int) -> int:
    if OWNED.match(text, at) and builder.wordy and text[at - 1 : at].isalnum():
        builder.suffix(at, at + 2, "'s", "plain")
        return at + 2
    if text[at] != '"':
        builder.silent(at, at + 1, "quote")
    elif builder.quote_opens() and not text[at + 1 : at + 2].isspace():
        builder.open(at, at + 1, '"')
    elif builder.out:
        builder.close(at, at + 1, '"')
    else:
        builder.silent(at, at + 1, "quote")
    return at + 1


def _dash(builder: Builder, text: str, at: int, stop: int) -> int:
    """A dash between words is a pause; a hyphen that only hangs there is nothing."""
    before, after = text[at - 1 : at], text[stop : stop + 1]
    alone = (not before or before.isspace()) and (not after or after.isspace())
    flag = text[at] == "-" and after.isalpha() and (not before or before.isspace())
    long = text[at] in "—―" or (stop - at > 1 and not flag)
    if (long or alone or (text[at] in "–‒" and (before.isspace() or after.isspace()))) and builder.wordy:
        builder.close(at, stop, " —", "dash")
    else:
        builder.silent(at, stop, "hyphen")
    return stop
