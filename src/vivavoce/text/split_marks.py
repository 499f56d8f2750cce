"""The characters that matter to a splitter, in every script it knows."""

from __future__ import annotations

import re

__all__ = [
    "BREAKS",
    "BULLETS",
    "CLAUSE_MARKS",
    "CLOSERS",
    "CONTINUES",
    "DASHES",
    "EMOJI",
    "FIRM",
    "GAP",
    "HAN",
    "LEAD",
    "MARKS",
    "NESTS",
    "OPENERS",
    "OPEN_TAIL",
    "PARTNERS",
    "RUN",
    "SPACED_DOTS",
    "SPEAKABLE",
    "TAG",
    "TWICE",
    "is_wide",
]

# What an engine can say something for; the same as str.isalnum over a whole text.
SPEAKABLE = re.compile(r"[^\W_]")

# Stops that end a sentence wherever they stand, without white space after them.
FIRM = (
    "。｡．！？﹖﹗"  # CJK
    "।॥"  # Indic
    "؟۔܀܁܂"  # Arabic, Urdu, Syriac
    "։"  # Armenian
    "።፧፨"  # Ethiopic
    "။"  # Burmese
    "។៕"  # Khmer
    "᠃᠉"  # Mongolian
    "꓿꘎꘏꛳꛷꡶꡷꣎꣏꤯꧈꧉꩝꩞꩟꫰꫱꯫"
    "᙮᜵᜶᥄᥅᪨᪩᪪᪫᭚᭛᭞᭟᰻᰼᱾᱿"
)
MARKS = "!?‼⁇⁈⁉"
BREAKS = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
BULLETS = "•⁃‣◦▪●○■"
DASHES = "-–—―"
CLAUSE_MARKS = ",;:،؛、，；："
# What never begins a sentence.
CONTINUES = ",;:،؛、，；：)]}」』）】》〉%"

OPENERS = "\"'“”„«»‹›‘’([{「『（【《〈*_~#¿¡>"

# Opening mark → the marks that may close it.
PARTNERS = {
    "(": ")",
    "[": "]",
    "{": "}",
    "（": "）",
    "「": "」",
    "『": "』",
    "【": "】",
    "《": "》",
    "〈": "〉",
    "“": "”“",
    "„": '“”"',
    "«": "»",
    "»": "«",
    "‹": "›",
    "‘": "’",
    '"': '"',
}
# How a closing mark is looked for ahead; an empty line closes everything.
NESTS = {
    opener: re.compile((r"’(?!\w)" if opener == "‘" else f"[{re.escape(closers)}]") + r"|\n[ \t\r]*\n")
    for opener, closers in PARTNERS.items()
}

EMOJI = (
    "\u231a-\u23ff\u2460-\u24ff\u2600-\u27bf\u2b05-\u2bff\u3030\u303d\u3297\u3299\ufe0e\ufe0f\u200d\u20e3"
    "\U0001f000-\U0001faff\U000e0020-\U000e007f™©®"
)
_BLANK = " \t\xa0\u1680\u2000-\u200f\u202a-\u202f\u205f-\u2069\u3000\ufeff"

_CLOSER = r"\"'“”’«»‹›)\]}」』）】》〉*_~"
# A stop with the stops and closing marks that belong to it.
RUN = re.compile(rf"[.…‥{MARKS}{FIRM}]+")
CLOSERS = re.compile(rf"(?:[{_CLOSER}]|(?<=[{_CLOSER}])[.…{MARKS}{FIRM}]|</[A-Za-z][^<>]{{0,80}}>|\[\^?\w{{1,4}}\])*+")
# A mark behind a stop that may still become one of them.
OPEN_TAIL = re.compile(r"(?:\[\^?\w{0,4}|</?[A-Za-z]?[^<>]{0,80}|[:;=][-']?[()]?)\Z")
SPACED_DOTS = re.compile(r"\.(?:[ \xa0]\.)+")
# White space and emoji that stay with what they follow, up to the end of the line.
GAP = re.compile(rf"[{_BLANK}]*+(?:(?:[{EMOJI}]|[:;=][-']?[()](?=\s))[{EMOJI}]*+[{_BLANK}]*+)*+(?:\s*[{BREAKS}])?")
# Everything in front of the next character that can be spoken, whole tags and pauses included.
LEAD = re.compile(r"(?:[^\w<\[]|_|<[A-Za-z/!?][^<>]{0,400}>|\[(?:pause|break)\b[^\]\n]{0,40}\]|[<\[])*+")
TAG = re.compile(r"<([A-Za-z/!?][^<>]{0,400})>")

# Characters that take longer to say than a Latin letter: Han three times, kana, Hangul and unspaced scripts twice.
_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_TWICE = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1200-\u137f\u3040-\u30ff\u31f0-\u31ff\uac00-\ud7af\uff66-\uff9f"
HAN = re.compile(f"[{_HAN}]")
TWICE = re.compile(f"[{_TWICE}]")
_UNSPACED = re.compile(rf"[{_HAN}\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f々〇]")


def is_wide(character: str) -> bool:
    """Whether it is a Chinese or Japanese character, written without spaces between words."""
    return _UNSPACED.match(character) is not None
