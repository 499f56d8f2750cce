"""Emoji are dropped, or named on request."""

from __future__ import annotations

import re

from .hit import Hit, Source

__all__ = ["emoji_name", "emoji_run", "emoticon"]

# Pictures, dingbats, flags, keycaps, and what joins them.
RUN = re.compile(
    "(?:[\U0001f000-\U0001faff\u2600-\u27bf\u2b05-\u2b55\u2300-\u23ff\u25aa-\u25fe\u2934\u2935\u3030\u303d\u3297\u3299\u203c\u2049]"
    "|[0-9#*]\ufe0f?\u20e3|[©®™ℹ↔-↙↩↪]\ufe0f)"
    "[\ufe0e\ufe0f\u200d\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]{0,12}"
)
EMOTICON = re.compile(
    r"(?:[:;=8][-'^o]?[)(DPpOo/\\|*\]\[]+|</3|<3(?=[ ](?:you|u|ya|this|that|my|your|it|all|them|him|her)\b|[.!?,]|\s{0,9}$)|[xX]D+|\^_?\^|:-?[)(]|¯\\?_?\(ツ\)_?/¯)(?=[\s.,!?;)]|$)"
)
OPERAND = re.compile(r"(?:[0-9)]|(?<![A-Za-z])[A-HJ-Za-z]) $")


def emoji_run(text: str, at: int, end: int) -> int:
    """Where the emoji that start here end; `at` itself where there is none."""
    while at < end and (match := RUN.match(text, at, end)):
        at = match.end()
    return at


def emoji_name(text: str) -> str:
    """The English names of the emoji in `text`: `🎉` is `party popper`."""
    import emoji

    names = (item["emoji"] for item in emoji.emoji_list(text))
    said = (emoji.demojize(name, language="en").strip(":") for name in names)
    return ", ".join(name.replace("_", " ").replace("-", " ") for name in said)


def emoticon(source: Source, at: int) -> Hit | None:
    """`:-)` and its kin say nothing."""
    text = source.text
    if (at and not text[at - 1].isspace()) or text.startswith(":/", at):
        return None
    match = EMOTICON.match(text, at)
    if match and match.group().startswith("<3") and OPERAND.search(text, max(0, at - 3), at):
        return None
    return Hit(match.end(), "", "emoticon") if match else None
