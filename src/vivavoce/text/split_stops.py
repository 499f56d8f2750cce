"""Whether a full stop, a question mark or any other stop ends its sentence."""

from __future__ import annotations

import re

from .abbreviations import SentenceRules
from .split_marks import BREAKS, BULLETS, CONTINUES, DASHES, FIRM, GAP, LEAD, MARKS, OPENERS, SPEAKABLE, WORD, is_wide

__all__ = ["HOLD", "NO", "WAIT", "Stop", "ends", "spoken_after", "token_before"]

NO = -1  # the sentence goes on
WAIT = -2  # more characters will tell
HOLD = -3  # only a character that can be spoken will tell

_INITIALS = re.compile(r"(?:[^\W\d_]\.-?)+[^\W\d_]|[A-ZÀ-Þ]{2}(?:\.[A-ZÀ-Þ]{2})+")
_SPACED_INITIALS = re.compile(r"(?:(?<!\w)[^\W\d_]\.[ \xa0]?)+$")
_NUMBER = re.compile(r"\d[\d.,'’ \xa0]*")
_ROMAN = re.compile(r"[IVXLCDM]+")
_GLUED = re.compile(r"[^\W\d_]*[^\W\d_A-ZÀ-Þ]")
_BEFORE = OPENERS + BULLETS
# More markup than this in one place is treated as if it were spoken.
_LEAD_CHARS = 1000
_TAG_CHARS = 400
_RUN_ON_CHARS = 48
_RUN_ON = re.compile(rf"\S{{0,{_RUN_ON_CHARS}}}")
_VOWELS = frozenset("aeiouyàáâãäåæèéêëìíîïòóôõöøùúûüýÿœ")
_BREAK = frozenset(BREAKS)
_BLOCK = re.compile(rf"[{BREAKS}][ \t]*(?:[-*+•‣◦▪●—–]\s|\d{{1,3}}[.)]\s|#{{1,6}}\s|>|\||```|~~~)")
_EMPTY_LINE = re.compile(r"(?:\r\n|[\n\r\x85\u2028])[^\S\n\r\x85\u2028]*[\n\r\x85\u2028]|\u2029")
_CJK_CONTINUES = re.compile(
    r"[とっがをのへに]|は(?!い)|で(?![もはす])|も(?![うし])|など|等|[他她它我你您们]{0,3}[^。！？，]{0,4}[说說问問道答喊叫嚷]"
)


class Stop:
    """A run of stops at `[at, run)` with its closing marks up to `after`, in the sentence that begins at `start`."""

    __slots__ = ("after", "at", "final", "run", "start", "text")

    def __init__(self, text: str, start: int, at: int, run: int, after: int, final: bool) -> None:
        self.text = text
        self.start = start
        self.at = at
        self.run = run
        self.after = after
        self.final = final


def token_before(text: str, start: int, at: int) -> str:
    """The characters up to `at` since the last white space, without opening marks; at most 48."""
    piece = text[max(start, at - 48) : at]
    if not piece or piece[-1].isspace():
        return ""
    return piece.split()[-1].lstrip(_BEFORE)


def spoken_after(text: str, at: int, final: bool) -> int:
    """The next place that can be spoken, tags and pauses passed over; the end of a `final` text, else WAIT or HOLD."""
    if not SPEAKABLE.search(text, at):
        return len(text) if final else HOLD
    spoken = LEAD.match(text, at, at + _LEAD_CHARS).end()  # type: ignore[union-attr]
    if final:
        return spoken
    if spoken == len(text):
        return HOLD
    opened = spoken > at and text[spoken - 1] in "<[/"
    return WAIT if opened and len(text) - spoken < _TAG_CHARS else spoken


def ends(stop: Stop, rules: SentenceRules) -> int:
    """Where the next sentence begins if this stop ends one, or NO, WAIT, HOLD."""
    text, after = stop.text, stop.after
    marks = text[stop.at : stop.run]
    firm = any(mark in FIRM for mark in marks)
    if after == len(text):
        return after if stop.final else WAIT
    gap = GAP.match(text, after).end()  # type: ignore[union-attr]
    if gap == after and not firm and text[after] != "<":
        return _glued(stop, marks, rules)
    spoken = spoken_after(text, gap, stop.final)
    if spoken < 0 or spoken == len(text):
        return spoken
    between = text[after:spoken]
    if len(text) - spoken < 5 and not stop.final and text[spoken].isdigit() and not _BREAK.isdisjoint(between):
        return WAIT  # a list item may begin
    if _EMPTY_LINE.search(between) or _begins_block(text, after, spoken):
        return gap
    verdict = _judge(stop, marks, firm, gap, spoken, rules)
    return gap if verdict > 0 else verdict


def _begins_block(text: str, after: int, spoken: int) -> bool:
    """Whether a list item, heading, table row or fence begins on a new line before what is spoken next."""
    block = _BLOCK.search(text, after, spoken + 5)
    return block is not None and block.start() < spoken


def _judge(stop: Stop, marks: str, firm: bool, gap: int, spoken: int, rules: SentenceRules) -> int:
    text = stop.text
    first, letter = text[gap], text[spoken]
    if first in CONTINUES and not (first == ":" and not text[gap + 1 : gap + 2].isspace()):
        return NO
    if first in DASHES and letter.islower() and text[gap + 1 : gap + 2].isspace():
        return NO
    closed = stop.after > stop.run
    if firm:
        return _firm(stop, marks, closed, spoken)
    if any(mark in MARKS for mark in marks):
        return _mark(stop, marks, closed, spoken, rules)
    if len(marks) > 1 or marks in "…‥" or " " in marks or "\xa0" in marks:
        return _ellipsis(stop, marks, closed, letter, spoken)
    if marks in rules.extra_stops:
        return NO if closed and letter.islower() else 1
    if rules.soft_dot and not letter.isupper():
        return NO
    if first == "." and gap > stop.after:
        return 1
    return _dot(stop, closed, letter, spoken, rules)


def _firm(stop: Stop, marks: str, closed: bool, spoken: int) -> int:
    text = stop.text
    if marks == "．" and text[stop.at - 1 : stop.at].isdigit() and text[stop.run].isdigit():
        return NO
    if closed and text[stop.after - 1] in "」』”’）)》" and is_wide(text[spoken]):
        if len(text) - spoken < 8 and not stop.final:
            return WAIT
        return NO if _CJK_CONTINUES.match(text, spoken) else 1
    return 1


def _mark(stop: Stop, marks: str, closed: bool, spoken: int, rules: SentenceRules) -> int:
    text, letter = stop.text, stop.text[spoken]
    if closed:
        if letter.islower():
            return NO
        return _reply(stop, spoken, rules) if letter.isupper() and rules.saying else 1
    if "?" in marks or len(marks) > 1:
        return 1
    token = token_before(text, stop.start, stop.at)
    if letter.islower() and token[:1].isupper() and not token.isupper():
        return NO if text[stop.start : stop.at].strip(OPENERS + " \n") != token else 1
    if token.lower() in rules.brands:
        begins = _begins(text, spoken, stop.final, rules)
        return begins if begins != 0 else NO
    return 1


def _reply(stop: Stop, spoken: int, rules: SentenceRules) -> int:
    """`“Why?” John asked.` is one sentence."""
    text = stop.text
    name = WORD.match(text, spoken)
    if name is None:
        return 1
    verb = WORD.match(text, name.end() + 1)
    if (name.end() >= len(text) - 1 or (verb and verb.end() == len(text))) and not stop.final:
        return WAIT
    return NO if verb and verb.group() in rules.saying else 1


def _ellipsis(stop: Stop, marks: str, closed: bool, letter: str, spoken: int) -> int:
    text = stop.text
    before = text[stop.at - 1 : stop.at]
    if (before in "[(" and closed) or letter.islower():
        return NO
    if marks.count(".") > 3:
        return 1
    if " " in marks or "\xa0" in marks:
        return NO
    if not letter.isupper():
        return 1 if closed else NO
    if letter == "I":
        if spoken + 1 == len(text) and not stop.final:
            return WAIT
        return 1 if text[spoken + 1 : spoken + 2].isalpha() else NO
    return 1


def _dot(stop: Stop, closed: bool, letter: str, spoken: int, rules: SentenceRules) -> int:
    text = stop.text
    if closed:
        return NO if letter.islower() else 1
    token = token_before(text, stop.start, stop.at)
    if not token:
        return 1 if not letter.islower() else NO
    if "’" in token or "'" in token:
        token = re.split("[’']", token)[-1] or token
    if "-" in token:
        tail = token.rsplit("-", 1)[1]
        token = tail if len(tail) > 1 and tail.isalpha() and token.lower() not in rules.kinds else token
    key = token.lower()
    if (
        len(token) == 1
        and token.isalpha()
        and (spaced := _SPACED_INITIALS.search(text, max(stop.start, stop.at - 12), stop.at - 1))
    ):
        joined = "".join(spaced.group().split()) + token
        key = joined.lower() if joined.lower() in rules.kinds else key
    kind = rules.kinds.get(token) or rules.kinds.get(key)
    if kind is not None:
        verdict = _abbreviation(stop, kind, token, letter, spoken, rules)
        if verdict != 0:
            return verdict
    if token[0].isdigit() and _NUMBER.fullmatch(token):
        return _number(stop, token, letter, spoken, rules)
    if len(token) == 1 and token.isalpha():
        return _initial(stop, token, letter, spoken, rules)
    if "." in token and _INITIALS.fullmatch(token):
        if letter.islower() or letter.isdigit():
            return NO
        return _unless_name(stop, letter, spoken, rules)
    if rules.ordinals and letter.isupper() and _ROMAN.fullmatch(token):
        return _unless_name(stop, letter, spoken, rules)
    return _word(stop, token, key, letter, spoken, rules)


def _word(stop: Stop, token: str, key: str, letter: str, spoken: int, rules: SentenceRules) -> int:
    shortened = (
        rules.consonants_abbreviate
        and len(token) > 1
        and token.isascii()
        and token.isalpha()
        and token[1:].islower()
        and not _counted(stop, token)
        and _VOWELS.isdisjoint(key)
        and key not in rules.vowelless
    )
    if letter.islower():
        return 1 if rules.lower_starts and not shortened and token[-1].isalpha() else NO
    return _unless_name(stop, letter, spoken, rules) if shortened else 1


def _abbreviation(stop: Stop, kind: str, token: str, letter: str, spoken: int, rules: SentenceRules) -> int:
    """The verdict of a known abbreviation, or 0 where it is an ordinary word after all."""
    if kind == "never":
        return NO
    if letter.islower() and not (kind == "measure" and not _counted(stop, token)):
        return 0 if kind == "before_number" and len(token) > 1 and token.lower() in ("no", "art", "fig") else NO
    if kind == "before_number":
        return NO if letter.isdigit() else 0
    if kind == "closing":
        return 1
    if kind == "measure" and not _counted(stop, token):
        return 0
    if kind in ("inner", "measure"):
        return NO if letter.isdigit() else 1
    if letter.isdigit():
        return NO if kind != "clock" or _fronted(stop, rules) else 1
    if kind == "clock":
        return _clock(stop, spoken, rules)
    return _unless_name(stop, letter, spoken, rules)


def _counted(stop: Stop, token: str) -> bool:
    """Whether a number stands in front: `5 ft.`"""
    at = stop.at - len(token)
    return stop.text[max(0, at - 2) : at - 1].isdigit()


def _unless_name(stop: Stop, letter: str, spoken: int, rules: SentenceRules) -> int:
    """After what may end a sentence and may not: a word that begins sentences decides."""
    if not letter.isupper():
        return NO if letter.isdigit() or letter.islower() else 1
    begins = _begins(stop.text, spoken, stop.final, rules)
    return begins if begins != 0 else NO


def _begins(text: str, spoken: int, final: bool, rules: SentenceRules) -> int:
    """1 for a word that begins sentences, 0 for another, WAIT while it is not whole."""
    word = WORD.match(text, spoken)
    if word is None:
        return 0
    if word.end() == len(text) and not final and word.end() - spoken < 24:
        return WAIT
    if word.end() - spoken == 1 and text[word.end() : word.end() + 1] == ".":
        return 0
    return 1 if word.group().lower() in rules.starters else 0


def _clock(stop: Stop, spoken: int, rules: SentenceRules) -> int:
    word = WORD.match(stop.text, spoken)
    if word is None:
        return 1
    if word.end() == len(stop.text) and not stop.final:
        return WAIT
    return NO if word.group().lower() in rules.after_clock or _fronted(stop, rules) else 1


def _fronted(stop: Stop, rules: SentenceRules) -> bool:
    """Whether the sentence so far only says when, as `At 5 a.m.` does."""
    words = stop.text[stop.start : min(stop.at, stop.start + 60)].strip(OPENERS + " \n").split()
    return 0 < len(words) <= 4 and words[0].lower() in rules.fronting


def _number(stop: Stop, token: str, letter: str, spoken: int, rules: SentenceRules) -> int:
    if letter.islower():
        return NO
    if not rules.ordinals or len(token) > 2:
        return 1
    if letter.isdigit():
        return NO
    word = WORD.match(stop.text, spoken)
    if word is None:
        return 1
    if word.end() == len(stop.text) and not stop.final:
        return WAIT
    following = word.group().lower()
    if rules.nouns_capital:
        return 1 if following in rules.starters else NO
    return NO if following in rules.months else 1


def _initial(stop: Stop, token: str, letter: str, spoken: int, rules: SentenceRules) -> int:
    if letter.islower() or letter.isdigit():
        return NO
    if token == "I" and rules.language == "en":
        before = token_before(stop.text, stop.start, stop.at - 2)
        if before and not before[:1].isupper():
            return 1
    if not letter.isupper():
        return NO
    return _unless_name(stop, letter, spoken, rules)


def _glued(stop: Stop, marks: str, rules: SentenceRules) -> int:
    """A stop with no white space after it ends a sentence only where a space was plainly forgotten."""
    text, after = stop.text, stop.after
    letter = text[after]
    before = text[stop.at - 1 : stop.at]
    if is_wide(letter):
        wide_before = before != "" and is_wide(before)
        return after if marks[0] in MARKS or (marks == "." and wide_before) else NO
    if not letter.isupper() or stop.after != stop.run or marks[0] in "…‥" or len(marks) > 1:
        return NO
    token = token_before(text, stop.start, stop.at)
    if len(token) < 2 or not _GLUED.fullmatch(token) or token.lower() in rules.kinds:
        return NO
    following = _RUN_ON.match(text, after).group()  # type: ignore[union-attr]
    if after + len(following) == len(text) and len(following) < _RUN_ON_CHARS and not stop.final:
        return WAIT
    following = following.rstrip(".,;:!?…\"'”’)")
    if not before.isascii() and len(token) > 3 and marks == ".":
        return after
    plain = following.isalpha() and following[1:] == following[1:].lower()
    if plain and (following.lower() in rules.starters or marks in "!?"):
        return after
    return NO
