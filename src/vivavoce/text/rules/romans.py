"""Roman numerals, where they are ones."""

from __future__ import annotations

import re

from .hit import Hit, Source
from .numbers import cardinal, ordinal

__all__ = ["roman", "value_of"]

VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
NUMERAL = re.compile(r"(?=[IVXLCDM])(M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3}))(?![A-Za-z0-9])")
SMALL = re.compile(r"([ivxl]{1,6})(?![A-Za-z0-9'’-])")
COUNTED = frozenset(
    str.split(
        "chapter part section act scene volume vol book article appendix phase type class level figure table war bowl mark "
        "grade stage unit lesson episode season round division title schedule annex item step rule clause page canto psalm "
        "symphony sonata opus corinthians thessalonians timothy kings samuel chronicles peter apollo saturn rocky "
        "fantasy gen generation tier category cat factor quadrant group zone area region"
    )
)
CROWNED = frozenset(
    str.split(
        "henry louis george edward charles elizabeth james paul benedict pius leo francis gregory philip ferdinand "
        "alexander nicholas catherine william mary richard frederick wilhelm napoleon rama ramesses clement innocent "
        "urban boniface sixtus julius gustav gustavus christian haakon harald olav umberto alfonso pedro peter joão john "
        "ptolemy cleopatra amenhotep thutmose seti leopold baudouin albert franz joseph ludwig otto ivan boris margrethe "
        "isabella victor emmanuel malcolm robert david juan carlos felipe harold stephen xerxes darius cyrus artaxerxes "
        "hussein abdullah mohammed hassan faisal meiji mehmed murad selim suleiman bayezid constantine theodosius"
    )
)
# Capitals that are also something else: compact disc, Direct Current, a large size …
OTHERWISE = frozenset(
    str.split("I V X L C D M CD CC CV DC DI DL DM LC LCD MC MD MI ML MM MIX MDL XL XX XXL CI CM CL LI LX")
)
BEFORE = re.compile(r"([A-Za-zÀ-ÿ]{2,20})\.?[ ]$")
TWO_NAMES = re.compile(r"[A-Z][a-zà-ÿ]{1,20}[ ][A-Z][a-zà-ÿ]{1,20}[ ]$")
FIRST_AFTER = re.compile(r"['’]s\b|[.,;:!?)]|$|[ ](?:of|and|was|became|died|reigned|ruled|had|in|from|to|the|is)\b")
LISTED = re.compile(r"(?<![^\s])\($")
CENTURY = re.compile(r"(?:th)?[ ](?:century|centuries|dynasty|legion|olympiad)\b", re.IGNORECASE)


def value_of(numeral: str) -> int:
    """The value of a well-formed numeral in capitals."""
    total = 0
    for here, there in zip(numeral, [*numeral[1:], ""], strict=True):
        value = VALUES[here]
        total += -value if there and VALUES[there] > value else value
    return total


def roman(source: Source, at: int) -> Hit | None:
    """`Chapter IV` is `four`, `Henry VIII` is `the eighth`; `I`, `mix` and `CD` are left alone."""
    text = source.text
    if text[at] in "ivxl":
        before = BEFORE.search(text, max(0, at - 24), at)
        listed = LISTED.search(text, max(0, at - 2), at) and text[at : at + 2] not in ("x)", "l)")
        counted = before is not None and before[1].lower() in COUNTED
        match = SMALL.match(text, at) if listed or counted else None
        capitals = match[1].upper() if match else ""
        closed = counted or text[at + len(capitals) : at + len(capitals) + 1] == ")" or len(capitals) > 1
        if not capitals or not closed or NUMERAL.fullmatch(capitals) is None:
            return None
        return Hit(at + len(capitals), cardinal(value_of(capitals)), "roman")
    match = NUMERAL.match(text, at)
    if match is None or not match[1]:
        return None
    numeral, end = match[1], match.end()
    value = value_of(numeral)
    if CENTURY.match(text, end):
        return Hit(end, ordinal(value), "roman")
    before = BEFORE.search(text, max(0, at - 24), at)
    word = before[1] if before else ""
    if word.lower() in COUNTED:
        return Hit(end, cardinal(value), "roman")
    if word.lower() in CROWNED and word[0].isupper() and (numeral != "I" or FIRST_AFTER.match(text, end)):
        return Hit(end, f"the {ordinal(value)}", "roman") if value < 40 else None
    if numeral in OTHERWISE or not word or not word[0].isupper() or value > 99:
        clear = len(numeral) > 2 and numeral not in OTHERWISE and value < 50
        return Hit(end, cardinal(value), "roman") if clear else None
    named = TWO_NAMES.search(text, max(0, at - 44), at) is not None and value < 6
    return Hit(end, f"the {ordinal(value)}" if named else cardinal(value), "roman")
