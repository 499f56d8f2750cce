"""The part of SSML that is understood, and how any other tag is passed over."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from html import unescape

from .initialisms import letters_ipa, spell
from .numbers import LONGEST, cardinal, digits, ordinal
from .pauses import duration_ms, strength_ms

__all__ = ["HIDDEN", "PLAIN", "Style", "Tag", "opened", "pause_of", "read_tag", "say_as"]

SPEECH = frozenset(str.split("speak p s break sub say-as phoneme prosody emphasis lang voice mark audio desc w token"))
HTML = frozenset(
    str.split(
        "a abbr address article aside b big blockquote body br button center cite code col dd del details dfn div dl dt em "
        "figcaption figure font footer form h1 h2 h3 h4 h5 h6 head header hr html i img input ins kbd label li link main nav ol "
        "option path pre q samp section select small span strike strong style summary sup svg table tbody td tfoot th thead time "
        "title tr tt u ul var video wbr think thinking reasoning scratchpad script style"
    )
)
BREAKING = frozenset(
    str.split(
        "p s br div li tr h1 h2 h3 h4 h5 h6 hr ul ol table blockquote section article dd dt pre think thinking title summary option caption"
    )
)
# What is written inside is not meant to be said.
HIDDEN = frozenset(str.split("think thinking reasoning scratchpad script style"))
NAME = re.compile(r"<[ ]?(/)?([A-Za-z][A-Za-z0-9]{0,30}(?:[-:][A-Za-z0-9]{1,30}){0,3})")
ATTRIBUTE = re.compile(
    r"\s{1,8}([A-Za-z_:][A-Za-z0-9_:.-]{0,40})\s{0,4}=\s{0,4}(?:\"([^\"<>]{0,500})\"|'([^'<>]{0,500})'|([^\s\"'<>=]{0,100}))"
)
CLOSE = re.compile(r"\s{0,8}(/)?>")
OTHER = re.compile(r"<!--.{0,2000}?-->|<\?[^<>]{0,500}\?>|<![A-Za-z\[][^<>]{0,500}>", re.DOTALL)
LANGUAGE = re.compile(r"[A-Za-z]{2,8}(?:[-_][A-Za-z0-9]{1,8}){0,4}")
PERCENT = re.compile(r"([+-])?([0-9]{1,4}(?:\.[0-9]{1,4})?)(%)?")
RATES = {"x-slow": 0.5, "slow": 0.75, "medium": 1.0, "default": 1.0, "fast": 1.25, "x-fast": 1.5}
SLOWEST, FASTEST = 0.25, 4.0


@dataclass(frozen=True, slots=True)
class Style:
    """How the words inside some markup are to be said. `mode` with its `value` replaces the words or their sound."""

    rate: float = 1.0
    language: str | None = None
    voice: str | None = None
    mode: str = ""
    value: str = ""


@dataclass(frozen=True, slots=True)
class Tag:
    """One tag: where it ends, its name in small letters, what it carries."""

    end: int
    name: str
    attributes: dict[str, str]
    closing: bool = False
    alone: bool = False

    @property
    def breaks(self) -> bool:
        """Whether a line or a paragraph ends here."""
        return self.name in BREAKING


PLAIN = Style()


def read_tag(text: str, at: int) -> Tag | None:
    """The tag that starts at `at`, or None where `<` is only a sign. A malformed known tag is still a tag."""
    endless = text.startswith("<!--", at) and text.find("-->", at + 4, at + 2010) < 0
    if not endless and (other := OTHER.match(text, at)):
        return Tag(other.end(), "", {}, alone=True)
    match = NAME.match(text, at)
    if match is None:
        return None
    name, end = match[2].lower(), match.end()
    known = name in SPEECH or name in HTML
    attributes: dict[str, str] = {}
    while len(attributes) < 20 and (found := ATTRIBUTE.match(text, end)):
        attributes[found[1].lower()] = unescape(found[2] or found[3] or found[4] or "")
        end = found.end()
    close = CLOSE.match(text, end)
    if text[at + 1] == " " and not (close and _speech(name)):
        return None
    if close:
        if not known and not attributes and _is_comparison(text, at, close.end()):
            return None
        return Tag(close.end(), name, attributes, bool(match[1]), bool(close[1]))
    if not known or not (attributes or len(name) > 2 or match[1]):
        return None
    while end < len(text) and text[end] in " \t/":
        end += 1
    if text[end : end + 1] not in ("", "<", ">", "\n") and not attributes and not _speech(name):
        return None
    return Tag(end + (text[end : end + 1] == ">"), name, attributes, bool(match[1]))


def _speech(name: str) -> bool:
    return name in SPEECH and len(name) > 3


def _is_comparison(text: str, start: int, end: int) -> bool:
    return start > 0 and text[start - 1].isalnum() and text[end : end + 1].isalnum() and end - start < 5


def pause_of(tag: Tag) -> int:
    """The length of a `break` in ms."""
    if "time" in tag.attributes:
        return duration_ms(tag.attributes["time"])
    return strength_ms(tag.attributes.get("strength"))


def opened(tag: Tag, style: Style) -> Style:
    """The style inside an opened element."""
    values = tag.attributes
    language = values.get("xml:lang") or (values.get("lang", "") if tag.name == "lang" else "")
    if LANGUAGE.fullmatch(language.strip()):
        style = replace(style, language=language.strip())
    if tag.name == "prosody" and "rate" in values:
        style = replace(style, rate=max(SLOWEST, min(FASTEST, style.rate * _rate(values["rate"]))))
    elif tag.name == "voice" and values.get("name"):
        style = replace(style, voice=values["name"].strip()[:100])
    elif tag.name == "sub" and values.get("alias", "").strip():
        style = replace(style, mode="sub", value=values["alias"].strip())
    elif tag.name == "say-as" and values.get("interpret-as"):
        style = replace(style, mode=values["interpret-as"].strip().lower(), value=values.get("format", ""))
    elif tag.name == "phoneme" and values.get("ph", "").strip() and values.get("alphabet", "ipa").lower() == "ipa":
        style = replace(style, mode="phoneme", value=values["ph"].strip())
    return style


def _rate(text: str) -> float:
    text = text.strip().lower()
    match = PERCENT.fullmatch(text)
    if match is None:
        return RATES.get(text, 1.0)
    value = float(match[2]) / (100 if match[3] else 1)
    if match[1]:
        value = 1 + value if match[1] == "+" else 1 - value
    return value or 1.0


def say_as(kind: str, text: str) -> tuple[str, str | None] | None:
    """The words, and their sound where it is known, for what a `say-as` asks; None where the usual rules do as well."""
    if kind in ("characters", "spell-out", "verbatim", "letters"):
        letters = "".join(text.split())
        if letters.isalpha() and letters.isascii():
            return spell(letters), letters_ipa(letters)
        return " ".join(_character(character) for character in letters), None
    if kind in ("digits", "digit"):
        said = [
            digits(character) if "0" <= character <= "9" else character for character in text if character.isalnum()
        ]
        return " ".join(said), None
    number = text.replace(",", "").replace(" ", "").strip(".")
    if kind in ("cardinal", "number", "ordinal") and number.lstrip("-").isdecimal() and len(number) <= LONGEST:
        return (ordinal if kind == "ordinal" and number[0] != "-" else cardinal)(int(number)), None
    if kind in ("expletive", "bleep"):
        return "beep", None
    if kind in ("telephone", "phone"):
        groups = [digits(group) for group in re.findall(r"[0-9]{1,40}", text)]
        return ("plus " if text.lstrip().startswith("+") else "") + ", ".join(groups), None
    return None


def _character(character: str) -> str:
    if character.isascii() and character.isdigit():
        return digits(character)
    names = {".": "dot", "-": "dash", "_": "underscore", "@": "at", "/": "slash", "&": "and", "+": "plus", "#": "hash"}
    return names.get(character, character.upper() if character.isalpha() else "")
