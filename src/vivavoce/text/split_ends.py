"""Whether a run of stops ends its sentence, and where the next one then begins."""

from __future__ import annotations

import re

from .abbreviations import SentenceRules
from .split_dots import VOWELS, dot_ends
from .split_marks import BREAKS, CONTINUES, DASHES, FIRM, GAP, MARKS, OPENERS, is_wide
from .split_stops import NO, WAIT, Stop, begins, next_word, spoken_after, token_before

__all__ = ["ends", "ends_plainly"]

_RUN_ON_CHARS = 48
_NAME_WORDS = 3
_RUN_ON_WORDS = 3
_PLAIN_CHARS = 24
_RUN_ON = re.compile(rf"\S{{0,{_RUN_ON_CHARS}}}")
_LOWER_END = re.compile(r"[^\W\d_]*[^\W\d_A-ZÀ-Þ]")
_SPACED_LETTER = re.compile(r",?[ ][^\W\d_]")
_FIRM = frozenset(FIRM)
_MARKS = frozenset(MARKS)
_BREAK = frozenset(BREAKS)
_BLOCK = re.compile(rf"[{BREAKS}][ \t]*(?:[-*+•‣◦▪●—–]\s|\d{{1,3}}[.)]\s|#{{1,6}}\s|>|\||```|~~~)")
_EMPTY_LINE = re.compile(r"(?:\r\n|[\n\r\x85\u2028])[^\S\n\r\x85\u2028]*[\n\r\x85\u2028]|\u2029")
_CJK_CONTINUES = re.compile(
    r"[とっがをのへに]|は(?!い)|で(?![もはす])|も(?![うし])|など|等|[他她它我你您们]{0,3}[^。！？，]{0,4}[说說问問道答喊叫嚷]"
)


def ends_plainly(text: str, start: int, at: int, rules: SentenceRules) -> int:
    """Where the next sentence begins in the common case, or NO where it is not that.

    It is an ordinary word, one stop, a space and a capital; or one CJK stop and what can be spoken.
    """
    mark = text[at]
    if mark in "。！？":
        return at + 1 if text[at + 1 : at + 2].isalnum() else NO
    if text[at + 1 : at + 2] != " " or not "A" <= text[at + 2 : at + 3] <= "Z":
        return NO
    if mark == "?":
        return at + 2
    first = max(start, at - _PLAIN_CHARS)
    word = text[text.rfind(" ", first, at) + 1 or first : at]
    key = word.lower()
    if not word.isalpha():
        return NO
    if mark == "!":
        return NO if key in rules.brands else at + 2
    if mark != "." or len(word) < 3 or key in rules.kinds or word in rules.kinds or not word[1:].islower():
        return NO
    return NO if rules.soft_dot or (rules.consonants_abbreviate and VOWELS.isdisjoint(key)) else at + 2


def ends(stop: Stop, rules: SentenceRules) -> int:
    """Where the next sentence begins if this stop ends one, or NO, WAIT, HOLD."""
    text, after = stop.text, stop.after
    marks = text[stop.at : stop.run]
    firm = marks != "." and not _FIRM.isdisjoint(marks)
    if after == len(text):
        return after if stop.final else WAIT
    if text[after] == " " and text[after + 1 : after + 2].isalnum():
        verdict = _judge(stop, marks, firm, after + 1, after + 1, rules)
        return after + 1 if verdict > 0 else verdict
    gap = GAP.match(text, after).end()  # type: ignore[union-attr]
    if gap == after and not firm and text[after] != "<":
        return _glued(stop, marks, rules)
    spoken = spoken_after(text, gap, stop.final)
    if spoken < 0 or spoken == len(text):
        return spoken
    between = text[after:spoken]
    if between != " " and not _BREAK.isdisjoint(between):
        if len(text) - spoken < 5 and not stop.final and text[spoken].isdigit():
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
    if first in DASHES and letter.islower() and (first != "-" or text[gap + 1 : gap + 2].isspace()):
        return NO
    closed = stop.after > stop.run
    if marks == "." and not rules.soft_dot and first != ".":
        return dot_ends(stop, spoken, rules)
    if firm:
        return _firm(stop, marks, closed, spoken)
    if not _MARKS.isdisjoint(marks):
        return _mark(stop, marks, closed, spoken, rules)
    if len(marks) > 1 or marks in "…‥" or " " in marks or "\xa0" in marks:
        return _ellipsis(stop, marks, closed, letter, spoken)
    if marks in rules.extra_stops:
        return NO if closed and letter.islower() else 1
    if rules.soft_dot and not letter.isupper():
        return NO
    if first == "." and gap > stop.after:
        return 1
    return dot_ends(stop, spoken, rules)


def _firm(stop: Stop, marks: str, closed: bool, spoken: int) -> int:
    text = stop.text
    if marks == "．" and text[stop.at - 1 : stop.at].isdigit() and text[stop.run].isdigit():
        return NO
    if closed and text[stop.after - 1] in "」』”’）)》" and is_wide(text[spoken]):
        opened = max(text.rfind(mark, stop.start, stop.at) for mark in "“「『（")
        if opened > stop.start and text[opened - 1] in ":：":
            return 1
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
    if token.lower() in rules.brands:
        if letter.islower():
            return NO
        return begins(stop, spoken, rules)
    if letter.islower() and token[:1].isupper() and not token.isupper():
        return NO if text[stop.start : stop.at].strip(OPENERS + " \n") != token else 1
    return 1


def _reply(stop: Stop, spoken: int, rules: SentenceRules) -> int:
    """Whether a name and a verb of saying follow, as in `“Why?” Dr. Ann Lee asked.`, which is one sentence."""
    at = spoken
    for _ in range(_NAME_WORDS + 1):
        word = next_word(stop, at)
        if isinstance(word, int):
            return WAIT
        if word in rules.saying:
            return NO
        title = rules.kinds.get(word.lower()) == "never"
        if not word[:1].isupper() or (word != "I" and not title and word.lower() in rules.starters):
            return 1
        at += len(word) + 1
        if title and stop.text[at - 1 : at] == ".":
            at += 1
    return 1


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
    if len(token) < 2 or not _LOWER_END.fullmatch(token) or token.lower() in rules.kinds:
        return NO
    following = _RUN_ON.match(text, after).group()  # type: ignore[union-attr]
    if after + len(following) == len(text) and len(following) < _RUN_ON_CHARS and not stop.final:
        return WAIT
    following = following.rstrip(".,;:!?…\"'”’)")
    if not before.isascii() and len(token) > 3 and marks == ".":
        return after
    plain = following.isalpha() and following[1:] == following[1:].lower()
    named = text.count(" ", stop.start, stop.at) < _RUN_ON_WORDS - 1  # a dotted name may be
    if plain and marks == "." and token.islower() and len(token) > 2 and len(following) > 1 and not named:
        spaced = _SPACED_LETTER.match(text, after + len(following))
        if spaced or (len(text) < after + len(following) + 2 and not stop.final):
            return after if spaced else WAIT
    if plain and (following.lower() in rules.starters or marks in "!?"):
        return after
    return NO
