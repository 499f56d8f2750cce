"""Numbers and money in other languages, through num2words."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache
from typing import Any

from .hit import Hit

__all__ = ["local_number"]

# Where the decimal sign is a point; everywhere else it is a comma.
POINT = frozenset(str.split("ja zh yue ko th he hi bn ta te kn ml gu mr pa ur sw ms fil cy ga am"))
LONGEST = 15
SIGN = r"(?P<sign>[-−])?"
NOT_WORDS = re.compile(r"[0-9,]")
MONEY = {"€": "EUR", "R$": "BRL", "$": "USD", "£": "GBP", "¥": "JPY"}
COMMA_NUMBER = r"(?P<whole>\d{1,3}(?:[.  ’']\d{3})+(?!\d)|\d+)(?:,(?P<part>\d{1,20})(?!\d))?"
POINT_NUMBER = r"(?P<whole>\d{1,3}(?:,\d{2,3})*,\d{3}(?!\d)|\d+)(?:\.(?P<part>\d{1,20})(?!\d))?"
UNIT = r"(?:[  ]?(?P<unit>[€$£¥]|(?:EUR|USD|GBP|JPY|Euro)\b))?"
COMMA = re.compile(rf"{SIGN}(?P<lead>(?:R\$|[€$£¥])[  ]?)?{COMMA_NUMBER}{UNIT}")
WITH_POINT = re.compile(rf"{SIGN}(?P<lead>(?:R\$|[€$£¥])[  ]?)?{POINT_NUMBER}{UNIT}")
# Times, dates, versions, addresses: a number that goes on is not ours to read.
CHAIN = re.compile(r"\d+(?:[.:/-]\d+){1,8}(?!\d)")
DECIMAL_POINT = re.compile(r"\d+\.(?!\d{3}(?!\d))\d+(?![\d.,])")
GERMAN_DAY = re.compile(
    r"(\d{1,2})\.(?=[ ]?(?:Januar|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember)\b)"
)
NOMINATIVE = re.compile(r"\b(?:der|die|das) $", re.IGNORECASE)
GERMAN_RANK = re.compile(r"(\d{1,3})\.(?=[ ][A-ZÄÖÜa-zäöü])")
GERMAN_BEFORE = re.compile(r"\b(?:der|die|das|dem|den|des|am|im|zum|zur|vom|beim|seit|jeder|jeden) $", re.IGNORECASE)
CLOCK = re.compile(r"([01]?\d|2[0-4])[.:]([0-5]\d)[ ](Uhr|uur)\b")
FRENCH_CLOCK = re.compile(r"([01]?\d|2[0-4])[ ]?h[ ]?([0-5]\d)?(?![A-Za-z0-9])")
# A number with the ending of an ordinal; the ending tells the gender where there are two.
RANKS = {
    "fr": re.compile(r"(\d{1,4})(?P<end>er|re|ère|ème|e|nde|nd)(?:s)?(?![A-Za-zÀ-ÿ0-9])"),
    "es": re.compile(r"(\d{1,3})\.?(?P<end>[ºª°]|er(?![A-Za-z]))"),
    "pt": re.compile(r"(\d{1,3})\.?(?P<end>[ºª°])"),
    "it": re.compile(r"(\d{1,3})\.?(?P<end>[ºª])"),
    "nl": re.compile(r"(\d{1,3})(?P<end>e|ste|de)(?![A-Za-z0-9])"),
    "sv": re.compile(r"(\d{1,3}):(?P<end>a|e)(?![A-Za-z0-9])"),
}
SCALE = re.compile(
    r"[  ](Millionen|Million|Milliarden|Milliarde|millions?|milliards?|millones|millón|milioni|milione|milhões|milhão|mln|miljoen)\b"
)


def local_number(text: str, at: int, language: str) -> Hit:
    """The number at `at` in words; as it stands, with the rule `plain`, where the language's words are not known."""
    if language == "de" and (day := GERMAN_DAY.match(text, at)):
        said = _words(Decimal(day[1]), language, "ordinal")
        if said:
            ending = "" if NOMINATIVE.search(text, max(0, at - 5), at) else "n"
            return Hit(day.end(), said + ending, "ordinal")
    if hit := _time(text, at) or _ordinal(text, at, language):
        return hit
    point = language in POINT
    chain = CHAIN.match(text, at)
    match = (WITH_POINT if point else COMMA).match(text, at)
    if match is None:
        return Hit(at, "", "plain")
    if chain and chain.end() > match.end():
        decimal = DECIMAL_POINT.fullmatch(chain.group())
        if not decimal or point:
            return Hit(chain.end(), chain.group(), "plain")
        match = WITH_POINT.match(text, at) or match
    return _read(text, match, language)


def _time(text: str, at: int) -> Hit | None:
    """`15.30 Uhr` is `fünfzehn Uhr dreißig`."""
    match = CLOCK.match(text, at)
    if match is None:
        return None
    language = "de" if match[3] == "Uhr" else "nl"
    hour, minute = (_words(Decimal(number), language, "cardinal") for number in (match[1], match[2]))
    if not hour or not minute:
        return None
    hour = "ein" if hour == "eins" else hour
    return Hit(match.end(), f"{hour} {match[3]}" + (f" {minute}" if int(match[2]) else ""), "time")


def _ordinal(text: str, at: int, language: str) -> Hit | None:
    """`der 1. Platz`, `le 1er mai`, `la 2ª`; also `14h30`, which French writes with letters, too."""
    if language == "de" and (rank := GERMAN_RANK.match(text, at)) and GERMAN_BEFORE.search(text, max(0, at - 8), at):
        said = _words(Decimal(rank[1]), language, "ordinal")
        ending = "" if NOMINATIVE.search(text, max(0, at - 5), at) else "n"
        return Hit(rank.end(), said + ending, "ordinal") if said else None
    if language == "fr" and (clock := FRENCH_CLOCK.match(text, at)):
        hour = "une" if int(clock[1]) == 1 else _words(Decimal(clock[1]), language, "cardinal")
        minute = f" {_words(Decimal(clock[2]), language, 'cardinal')}" if clock[2] and int(clock[2]) else ""
        return Hit(clock.end(), f"{hour} heure{'s' if int(clock[1]) > 1 else ''}{minute}", "time")
    pattern = RANKS.get(language)
    match = pattern.match(text, at) if pattern else None
    said = _words(Decimal(match[1]), language, "ordinal") if match else None
    if match is None or not said:
        return None
    if match["end"] == "ª" and said.endswith("o"):
        said = said[:-1] + "a"
    elif match["end"] in ("re", "ère") and said == "premier":
        said = "première"
    elif match["end"] == "er" and language == "es" and said.endswith("o"):
        said = said[:-1]
    return Hit(match.end(), said, "ordinal")


def _read(text: str, match: re.Match[str], language: str) -> Hit:
    whole = re.sub(r"\D", "", match["whole"])
    digits = match.end("part") if match["part"] else match.end("whole")
    if len(whole) > LONGEST:
        return Hit(digits, text[match.start() : digits], "plain")
    value = Decimal(f"{'-' if match['sign'] else ''}{int(whole)}{'.' + _ascii(match['part']) if match['part'] else ''}")
    unit = (match["lead"] or "").strip() or match["unit"] or ""
    code = MONEY.get(unit, "EUR" if unit == "Euro" else unit)
    if code:
        scaled = SCALE.match(text, match.end()) if match["lead"] else None
        said = None if scaled else _money(value, language, code)
        if said:
            return Hit(match.end(), said, "currency")
    leading = whole[0] == "0" and len(whole) > 1
    kind = "year" if language == "de" and _is_year(match, value) else "cardinal"
    said = None if leading else _words(value, language, kind)
    if said is None:
        return Hit(digits, text[match.start() : digits], "plain")
    lead = (match["lead"] or "").strip()
    return Hit(digits, f"{said} {lead}" if lead else said, "number")


def _ascii(text: str) -> str:
    return "".join(str(int(character)) for character in text)


def _is_year(match: re.Match[str], value: Decimal) -> bool:
    return len(match["whole"]) == 4 and not match["part"] and not match["sign"] and 1100 <= value <= 2099


def _num2words() -> Any:
    import num2words

    return num2words


# Tags by which num2words does not know a language, older ones among them.
_ALSO = {"nb": "no", "nn": "no", "kk": "kz", "iw": "he", "in": "id", "sh": "sr", "arb": "ar"}


@lru_cache(maxsize=64)
def _locale(language: str) -> str | None:
    known = _num2words().CONVERTER_CLASSES
    name = language.replace("-", "_")
    if name in known:
        return name
    base = _ALSO.get(language.split("-")[0], language.split("-")[0])
    return base if base in known else None


def _words(value: Decimal, language: str, kind: str) -> str | None:
    locale = _locale(language)
    if locale is None:
        return None
    number = int(value) if value == value.to_integral_value() else float(value)
    return _attempt(number, locale, kind) or _attempt(number, locale, "cardinal")


def _attempt(number: int | float, locale: str, kind: str) -> str | None:
    try:
        said = str(_num2words().num2words(number, lang=locale, to=kind)).strip()
    except Exception:  # num2words raises whatever its locale happens to: the digits are left to the engine then
        return None
    if locale.startswith("es"):
        said = said.replace(" punto ", " coma ")
    return None if not said or NOT_WORDS.search(said) else said


def _money(value: Decimal, language: str, code: str) -> str | None:
    if code == "BRL" and language == "pt":
        return _reais(value)
    locale = _locale(language)
    if locale is None:
        return None
    try:
        if value == value.to_integral_value():
            return _whole_money(value, locale, code)
        said = _num2words().num2words(value, lang=locale, to="currency", currency=code)
    except Exception:  # the locale does not know this currency
        return None
    return str(said).replace(",", "").strip() or None


def _reais(value: Decimal) -> str | None:
    """Money of Brazil, which num2words knows under no Portuguese locale."""
    whole = int(value)
    small = int(abs(value - whole) * 100)
    words = _words(Decimal(whole), "pt", "cardinal")
    cents = f" e {_words(Decimal(small), 'pt', 'cardinal')} centavo{'' if small == 1 else 's'}" if small else ""
    return f"{words} {'real' if abs(whole) == 1 else 'reais'}{cents}" if words else None


def _whole_money(value: Decimal, locale: str, code: str) -> str | None:
    """Without `and no cents`."""
    converter = _num2words().CONVERTER_CLASSES[locale]
    forms = converter.CURRENCY_FORMS.get(code)
    if not forms:
        return None
    return f"{_num2words().num2words(int(value), lang=locale)} {converter.pluralize(abs(int(value)), forms[0])}"
