"""Markup is taken off a text: what is left are stretches of words, pauses, and announcements."""

from __future__ import annotations

import re

from .rules import markdown
from .rules.entities import entity
from .rules.latex import command
from .rules.pauses import PAUSE_TAG, duration_ms
from .rules.ssml import HIDDEN, PLAIN, Style, Tag, opened, pause_of, read_tag
from .stretch import Stretch, Wait

__all__ = ["BREAK", "Markup", "Stretch", "Wait"]

BREAK = "\n"  # in a stretch: a line that is said on its own ends here
TRIGGER = re.compile(r"[*_~`\[\]<>&\\|!\n]")
RUN = re.compile(r"\*+|_+|~+|`+|<{2,}|>+|\[{3,}|\]+|\\{3,}|&{3,}|!{2,}|\|+|\n+")
QUICK = re.compile(r"[*_~`\[\]<>&\\|#\n]|^[ \t]*[-+•‣◦●▪=>0-9]|!\[")
ESCAPED = frozenset("\\`*_{}[]()#+-.!|<>~\"$%&'/:;=?@^,")
HIDDEN_CLOSES = re.compile(rf"</(?:{'|'.join(sorted(HIDDEN))})[ \t]{{0,8}}>", re.IGNORECASE)
DEEPEST = 32
CLOSED_WITHIN = 500


class Markup:
    """Reads the segments of one utterance in order and remembers what is still open."""

    def __init__(self, code_words: str = "code block") -> None:
        self.code_words = code_words
        self._fence = ""
        self._hidden = False
        self._stack: list[tuple[str, Style]] = []
        self._line_start = True

    def read(self, text: str) -> list[Stretch | Wait]:
        """What is left of the next segment, in order; offsets count within it."""
        if not (self._fence or self._hidden or self._stack) and not QUICK.search(text):
            self._line_start = text.endswith("\n") if text else self._line_start
            return [Stretch(text, range(len(text) + 1), PLAIN)] if text else []
        return _Reader(self, text).run()

    @property
    def style(self) -> Style:
        """The style at this point of the utterance."""
        return self._stack[-1][1] if self._stack else PLAIN


class _Reader:
    """One segment being read."""

    def __init__(self, state: Markup, text: str) -> None:
        self.state = state
        self.text = text
        self.found: list[Stretch | Wait] = []
        self.out: list[str] = []
        self.origin: list[int] = []
        self.apart = False
        self.row = False
        self.skips: list[tuple[int, int]] = []

    def run(self) -> list[Stretch | Wait]:
        text, at = self.text, 0
        if self.state._hidden:
            at = self._pass_over(0)
        if self.state._fence:
            at = self._fenced(0)
        if self.state._line_start and at == 0:
            at = self._line(0)
        while at < len(text):
            match = TRIGGER.search(text, at)
            stop = match.start() if match else len(text)
            if stop > at:
                self._keep(at, stop)
            at = self._mark(stop) if match else stop
        self._cut(len(text))
        self.state._line_start = text.endswith("\n") and not self.state._fence
        return self.found

    def _keep(self, start: int, end: int) -> None:
        self.out.append(self.text[start:end])
        self.origin.extend(range(start, end))

    def _put(self, words: str, at: int) -> None:
        self.out.append(words)
        self.origin.extend([at] * len(words))

    def _cut(self, at: int) -> None:
        """End the stretch of words here."""
        if self.out:
            self.origin.append(at)
            self.found.append(Stretch("".join(self.out), self.origin, self.state.style))
            self.out, self.origin = [], []

    def _line(self, at: int) -> int:
        if fence := markdown.FENCE.match(self.text, at):
            return self._open(fence)
        found = markdown.block(self.text, at)
        if found.apart and self.out:
            self._put(BREAK, max(0, at - 1))
        self.apart, self.row = found.apart, found.row
        if found.apart and not found.row and (fence := markdown.FENCE.match(self.text, found.end)):
            return self._open(fence)
        return found.end

    def _open(self, fence: re.Match[str]) -> int:
        self._cut(fence.start())
        self.state._fence = fence[1]
        bare = not (fence[2] or self.text[: fence.start()].strip() or self.text[fence.end() :].strip())
        self.found.append(Wait(fence.start(), fence.end(), "code", words="" if bare else self.state.code_words))
        return self._fenced(fence.end())

    def _fenced(self, at: int) -> int:
        """Pass over code up to its closing fence; without one, it goes on in the next segment."""
        text, fence = self.text, self.state._fence
        stop = text.find(fence, at)
        if stop < 0:
            if len(text) > at:
                self.found.append(Wait(at, len(text), "code"))
            return len(text)
        end = stop + len(fence)
        while end < len(text) and text[end] == fence[0]:
            end += 1
        self.state._fence = ""
        self.found.append(Wait(at, end, "code"))
        return end

    def _pass_over(self, at: int) -> int:
        """Leave out what is thought and not said, up to its closing tag; without one, it goes on in the next segment."""
        text = self.text
        closing = HIDDEN_CLOSES.search(text, at)
        end = closing.end() if closing else 0
        self._cut(at)
        if not end:
            self.found.append(Wait(at, len(text), "hidden"))
            return len(text)
        self.state._hidden = False
        self.found.append(Wait(at, end, "hidden"))
        return end

    def _mark(self, at: int) -> int:
        """Deal with the character of markup at `at`; answers where to go on."""
        text, character = self.text, self.text[at]
        if character == "\n":
            return self._newline(at)
        if character == "`" and (fence := markdown.FENCE.match(text, at)) and (fence[2] or fence.end() < len(text)):
            return self._open(fence)
        if character in "<&\\[!":
            end = self._special(at, character)
            if end > at:
                return end
        run = RUN.match(text, at)
        end = run.end() if run else at + 1
        if self._silent(character, at, end):
            if character == "|" and self.out:
                rest = text[end : end + 400].partition("\n")[0]
                self._put("," if rest.strip("| \t") else "", at)
            return end
        self._keep(at, end)
        return end

    def _silent(self, character: str, at: int, end: int) -> bool:
        if character in "*_~":
            return markdown.emphasis(self.text, at, end)
        if character == "`":
            return True
        if character == "|":
            return self.row or " | " in self.text[max(0, at - 1) : end + 1]
        if character in "[]":
            return True
        return end - at > 3 and character != "!"

    def _newline(self, at: int) -> int:
        text, end = self.text, at
        while end < len(text) and text[end] in " \t\n":
            end += 1
        while end > at and text[end - 1] != "\n":
            end -= 1
        blank = text.count("\n", at, end) > 1
        self._put(BREAK if blank or self.apart else " ", at)
        self.apart = self.row = False
        return self._line(end) if end < len(text) else end

    def _special(self, at: int, character: str) -> int:
        """Tags, links, entities, escapes and pauses; `at` itself where it is none of them."""
        text = self.text
        if character == "<":
            return self._tag(at)
        if character == "&":
            found = entity(text, at)
            if found:
                self._put(found[1], at)
            return found[0] if found else at
        if character == "\\":
            return self._escape(at)
        if character == "[":
            if pause := PAUSE_TAG.match(text, at):
                self._wait(at, pause.end(), "pause", duration_ms(pause[1]))
                return pause.end()
            if match := markdown.FOOTNOTE.match(text, at) or markdown.CHECK.match(text, at):
                return match.end()
            if cited := markdown.CITED.match(text, at):
                return cited.end()
        return self._link(at) if character == "[" or text.startswith("![", at) else at

    def _wait(self, start: int, end: int, rule: str, pause_ms: int) -> None:
        self._cut(start)
        self.found.append(Wait(start, end, rule, pause_ms))

    def _link(self, at: int) -> int:
        found = markdown.link(self.text, at)
        if found is None:
            return at
        start = found.start
        while start < found.stop:  # the words may be emphasized, or code
            match = TRIGGER.search(self.text, start, found.stop)
            stop = match.start() if match else found.stop
            self._keep(start, stop)
            if match and not self._silent(self.text[stop], stop, stop + 1):
                self._keep(stop, stop + 1)
            start = stop + 1
        return found.end

    def _escape(self, at: int) -> int:
        text, following = self.text, self.text[at + 1 : at + 2]
        if text.startswith("\\\\\\", at) or markdown.in_path(text, at):
            return at
        if (found := command(text, at)) is not None:
            for words, place in found[1]:
                if text.startswith(words, place):
                    self._keep(place, place + len(words))
                else:
                    self._put(words, place)
            return found[0]
        if following == "\n":
            return at + 1
        if following and following in "nrt":
            if (
                not text[at + 2 : at + 3].islower()
                or not text[at + 2 : at + 3].isascii()
                or not text[at - 1 : at].isalnum()
            ):
                self._put(BREAK if following == "n" else " ", at)
                return at + 2
            self._put(" ", at)
            return at + 2
        if following and following in ESCAPED:
            if following in "_<>&":
                self._put(following, at + 1)
            return at + (2 if following in "*_~`[]()<>|&" else 1)
        return at

    def _tag(self, at: int) -> int:
        text = self.text
        if auto := markdown.AUTOLINK.match(text, at):
            self._keep(auto.start(1), auto.end(1))
            return auto.end()
        tag = read_tag(text, at)
        if tag is None:
            return at
        if tag.name in HIDDEN and not tag.closing and not tag.alone:
            self._cut(at)
            self.state._hidden = True
            return self._pass_over(at)
        self._element(tag, at)
        return tag.end

    def _element(self, tag: Tag, at: int) -> None:
        if tag.name == "break":
            self._wait(at, tag.end, "break", 0 if tag.closing else pause_of(tag))
            return
        if tag.breaks and self.out:
            self._put(BREAK, at)
        stack = self.state._stack
        if tag.closing:
            names = [name for name, _ in stack]
            if tag.name in names:
                self._cut(at)
                del stack[len(names) - 1 - names[::-1].index(tag.name) :]
            return
        style = opened(tag, self.state.style)
        if style.mode != self.state.style.mode and not self._closes(tag):
            return
        if not tag.alone and style != self.state.style and len(stack) < DEEPEST:
            self._cut(at)
            stack.append((tag.name, style))
        elif not tag.alone and any(name == tag.name for name, _ in stack) and len(stack) < DEEPEST:
            stack.append((tag.name, style))

    def _closes(self, tag: Tag) -> bool:
        """Whether an element that replaces its words is closed here; otherwise it would swallow what follows."""
        return f"</{tag.name}>" in self.text[tag.end : tag.end + CLOSED_WITHIN].lower()
