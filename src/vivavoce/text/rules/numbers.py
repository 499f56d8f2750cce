"""Numbers in English words."""

from __future__ import annotations

import re

from .hit import Hit, Source

__all__ = [
    "UNTIDY",
    "cardinal",
    "counted",
    "decimal",
    "digits",
    "label",
    "ordinal",
    "pairs",
    "plain_number",
    "tidy",
    "year",
]

ONES = str.split(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
TENS = ["", "", *str.split("twenty thirty forty fifty sixty seventy eighty ninety")]
SCALES = ["", *str.split("thousand million billion trillion quadrillion quintillion sextillion septillion octillion")]
IRREGULAR = {
    "one": "first",
    "two": "second",
    "three": "third",
    "five": "fifth",
    "eight": "eighth",
    "nine": "ninth",
    "twelve": "twelfth",
}
LONGEST = 18  # more digits than that are read one by one
NUMBER = r"(?:[0-9]{1,3}(?:,[0-9]{3}){1,12}(?![0-9])|[0-9]{1,2}(?:,[0-9]{2}){1,6},[0-9]{3}(?![0-9])|[0-9]{1,40}(?![0-9]))(?:\.[0-9]{1,40}(?![0-9]))?"
DIGITS = re.compile("[0-9]+")
UNTIDY = re.compile("[0-9]|  |^ | $")
PLAIN = re.compile(rf"{NUMBER}|\.[0-9]{{1,40}}(?![0-9])")
COUNT = re.compile(r"([0-9]{1,3}(?:,[0-9]{3}){0,4})[ ]([a-z]{2,30})(?![A-Za-z0-9./°'’²³^-])")
# What may follow a number and be more than a thing that is counted: units, scales, halves of the day.
NOT_THINGS = frozenset(
    str.split(
        "am pm mm cm dm km nm um in ft yd mi nmi ly mg kg mcg lb lbs oz ml cl dl gal pt qt tsp tbsp fl sq cu ms us ns sec "
        "secs min mins hr hrs wk wks mo mos yr yrs px pts ha ac hp mol mmol sqm sqft ct bps kbps kbit mph kph kmh mpg rpm fps "
        "bpm wpm dpi ppm psi bar mbar atm cal kcal lm lx lux bn tn mn mm hundred thousand million billion trillion "
        "quadrillion crore lakh ext st nd rd th"
    )
)
YEAR_BEFORE = re.compile(
    r"(?:\b(?:in|since|of|by|from|until|till|before|after|during|year|circa|and|to|early|late|mid|around|spring|summer|"
    r"autumn|fall|winter)|,|[—–-])[ ]?$",
    re.IGNORECASE,
)
NAMED_BEFORE = re.compile(
    r"\b(?:Boeing|Airbus|Flight|Route|Highway|Interstate|Room|Suite|Apartment|Apt\.|Area|Error|Extension|Port|HTTP)[ ]$",
    re.IGNORECASE,
)
ZIP_BEFORE = re.compile(r",[ ][A-Z]{2}[ ]$")
EMERGENCY = frozenset(str.split("911 999 112 411 311 511 811 988 111 110 119 000"))
CALL_BEFORE = re.compile(r"\b(?:call|called|dial|dialed|ring|phone|text)[ ]$", re.IGNORECASE)
SPELLED_BEFORE = re.compile(
    r"\b(?:code|(?:confirmation|account|tracking|reference|order|ticket|case|booking|card|policy|member) number|ending in|OTP|CVV|zip|PIN|ID|postcode|password|passcode)(?:[ ]is)?:?[ ]$",
    re.IGNORECASE,
)
COUNTED_AFTER = re.compile(r"\s(?!(?:was|is|has|its|as|this|plus|across|perhaps|always|us|yes)\b)[a-z]{2,30}s\b")


def cardinal(value: int) -> str:
    """`1234` is `one thousand two hundred thirty-four`."""
    if value < 0:
        return "minus " + cardinal(-value)
    if value < 1000:
        return _below_1000(value)
    if value >= 10 ** (3 * len(SCALES)):
        return digits(str(value))
    words: list[str] = []
    for power in range(len(SCALES) - 1, -1, -1):
        group = value // 1000**power % 1000
        if group:
            words.append(_below_1000(group) + (" " + SCALES[power] if power else ""))
    return " ".join(words)


def _below_1000(value: int) -> str:
    hundreds, rest = divmod(value, 100)
    if not hundreds:
        return _below_100(rest)
    return f"{ONES[hundreds]} hundred" + (f" {_below_100(rest)}" if rest else "")


def _below_100(value: int) -> str:
    if value < 20:
        return ONES[value]
    tens, ones = divmod(value, 10)
    return TENS[tens] + (f"-{ONES[ones]}" if ones else "")


def ordinal(value: int) -> str:
    """`21` is `twenty-first`."""
    words = cardinal(value)
    cut = max(words.rfind(" "), words.rfind("-")) + 1
    last = words[cut:]
    if last in IRREGULAR:
        return words[:cut] + IRREGULAR[last]
    return words[:-1] + "ieth" if last.endswith("y") else words + "th"


def digits(text: str) -> str:
    """Every digit by itself."""
    return " ".join([ONES[ord(character) - 48] for character in text if "0" <= character <= "9"])


def decimal(text: str) -> str:
    """`1,234.50` is `one thousand two hundred thirty-four point five zero`."""
    whole, point, fraction = text.replace(",", "").partition(".")
    words = digits(whole) if len(whole) > LONGEST else cardinal(int(whole or "0"))
    return f"{words} point {digits(fraction)}" if point else words


def year(value: int) -> str:
    """`1905` is `nineteen oh five`, `2005` is `two thousand five`, `2024` is `twenty twenty-four`."""
    century, rest = divmod(value, 100)
    if (century % 10 == 0 and rest < 10) or not 10 <= century <= 99:
        return cardinal(value)
    return f"{_below_100(century)} {_pair(rest)}"


def _pair(rest: int) -> str:
    if rest == 0:
        return "hundred"
    return f"oh {ONES[rest]}" if rest < 10 else _below_100(rest)


def pairs(text: str) -> str:
    """A number that is a name: `737` is `seven thirty-seven`, `8080` is `eighty eighty`, `0123` digit by digit."""
    if (text[0] == "0" and len(text) > 1) or len(text) > 4:
        return digits(text)
    value = int(text)
    if len(text) < 3:
        return cardinal(value)
    if value % 1000 == 0:
        return cardinal(value)
    return f"{_below_100(value // 100)} {_pair(value % 100)}"


def label(text: str) -> str:
    """Digits inside a name such as `CO2` or `A320`."""
    return pairs(text)


def counted(source: Source, at: int) -> Hit | None:
    """A count of things, `3,500 boats`: the commonest number, found before anything rarer is tried."""
    match = COUNT.match(source.text, at)
    if match is None or match[2] in NOT_THINGS or (len(match[1]) > 1 and match[1][0] == "0"):
        return None
    if NAMED_BEFORE.search(source.text, max(0, at - 16), at) or _emergency(source.text, at, match[1]):
        return None
    return Hit(match.end(1), decimal(match[1]), "number")


def _emergency(text: str, at: int, number: str) -> bool:
    return number in EMERGENCY and CALL_BEFORE.search(text, max(0, at - 10), at) is not None


def plain_number(source: Source, at: int) -> Hit | None:
    """A number that nothing else claimed; four digits without a comma may be a year."""
    match = PLAIN.match(source.text, at)
    if match is None:
        return None
    text = match.group()
    if len(text) == 4 and text.isdigit() and _is_year(source.text, at, match.end(), int(text)):
        return Hit(match.end(), year(int(text)), "year")
    if len(text) in (3, 4) and text.isdigit() and NAMED_BEFORE.search(source.text, max(0, at - 16), at):
        return Hit(match.end(), pairs(text), "number")
    if len(text) > 3 and text.isdigit() and SPELLED_BEFORE.search(source.text, max(0, at - 28), at):
        return Hit(match.end(), digits(text), "digits")
    if len(text) == 5 and text.isdigit() and ZIP_BEFORE.search(source.text, max(0, at - 5), at):
        return Hit(match.end(), digits(text), "digits")
    if _emergency(source.text, at, text):
        return Hit(match.end(), digits(text), "phone")
    if len(text) > 1 and text[0] == "0" and "." not in text and "," not in text:
        return Hit(match.end(), digits(text), "digits")
    return Hit(match.end(), decimal(text), "number")


def _is_year(text: str, start: int, end: int, value: int) -> bool:
    if not 1000 <= value <= 2999:
        return False
    if YEAR_BEFORE.search(text, max(0, start - 12), start):
        return value > 1000
    if COUNTED_AFTER.match(text, end):
        return False
    return 1500 <= value <= 2099


def tidy(words: str) -> str:
    """Digits that stand inside something unreadable are said, too, and no two spaces follow each other."""
    return " ".join(DIGITS.sub(lambda match: f" {label(match.group())} ", words).split())
