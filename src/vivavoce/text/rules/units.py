"""Measures, rates, percentages and temperatures in English words."""

from __future__ import annotations

import re

from .hit import Hit, Source
from .numbers import NUMBER, cardinal, decimal, pairs

__all__ = ["UNITS", "attributive", "bare_rate", "measure", "plural_of", "times"]

# written: one, many
UNITS: dict[str, tuple[str, str]] = {}
LISTED = """
mm millimeter|cm centimeter|dm decimeter|m meter|km kilometer|nm nanometer|µm micrometer|μm micrometer|um micrometer
in inch inches|ft foot feet|yd yard|mi mile|nmi nautical mile|ly light-year
mg milligram|g gram|kg kilogram|µg microgram|μg microgram|mcg microgram|lb pound|lbs pound|oz ounce|t ton
ml milliliter|mL milliliter|cl centiliter|dl deciliter|l liter|L liter|gal gallon|pt pint|qt quart|tsp teaspoon
tbsp tablespoon|fl oz fluid ounce
ms millisecond|µs microsecond|μs microsecond|us microsecond|ns nanosecond|s second|sec second|secs second
min minute|mins minute|h hour|hr hour|hrs hour|d day|wk week|wks week|mo month|mos month|yr year|yrs year
Hz hertz hertz|kHz kilohertz kilohertz|MHz megahertz megahertz|GHz gigahertz gigahertz|THz terahertz terahertz
B byte|kB kilobyte|KB kilobyte|MB megabyte|GB gigabyte|TB terabyte|PB petabyte
KiB kibibyte|MiB mebibyte|GiB gibibyte|TiB tebibyte
Kb kilobit|Mb megabit|Gb gigabit|kbit kilobit|Mbit megabit|Gbit gigabit
bps bit\u00a0per\u00a0second bits\u00a0per\u00a0second|kbps kilobit\u00a0per\u00a0second kilobits\u00a0per\u00a0second
Mbps megabit\u00a0per\u00a0second megabits\u00a0per\u00a0second|Gbps gigabit\u00a0per\u00a0second gigabits\u00a0per\u00a0second
mph mile\u00a0per\u00a0hour miles\u00a0per\u00a0hour|kph kilometer\u00a0per\u00a0hour kilometers\u00a0per\u00a0hour
kmh kilometer\u00a0per\u00a0hour kilometers\u00a0per\u00a0hour|mpg mile\u00a0per\u00a0gallon miles\u00a0per\u00a0gallon
rpm revolution\u00a0per\u00a0minute revolutions\u00a0per\u00a0minute|fps frame\u00a0per\u00a0second frames\u00a0per\u00a0second
bpm beat\u00a0per\u00a0minute beats\u00a0per\u00a0minute|wpm word\u00a0per\u00a0minute words\u00a0per\u00a0minute
dpi dot\u00a0per\u00a0inch dots\u00a0per\u00a0inch|ppm part\u00a0per\u00a0million parts\u00a0per\u00a0million
psi pound\u00a0per\u00a0square\u00a0inch pounds\u00a0per\u00a0square\u00a0inch
W watt|kW kilowatt|MW megawatt|GW gigawatt|Wh watt-hour|kWh kilowatt-hour|MWh megawatt-hour|GWh gigawatt-hour
V volt|mV millivolt|kV kilovolt|A amp|mA milliamp|mAh milliamp-hour|Ah amp-hour|Ω ohm|kΩ kilo-ohm|MΩ megaohm
J joule|kJ kilojoule|MJ megajoule|cal calorie|kcal kilocalorie|N newton|Nm newton-meter
Pa pascal|hPa hectopascal|kPa kilopascal|MPa megapascal|bar bar|mbar millibar|atm atmosphere
dB decibel|dBA decibel|lm lumen|lx lux lux|px pixel|pts point|ha hectare|ac acre|hp horsepower horsepower
mmHg millimeter\u00a0of\u00a0mercury millimeters\u00a0of\u00a0mercury|mol mole|mmol millimole|sqm square\u00a0meter|sqft square\u00a0foot square\u00a0feet
sq\u00a0ft square\u00a0foot square\u00a0feet|sq\u00a0m square\u00a0meter|sq\u00a0km square\u00a0kilometer
sq\u00a0mi square\u00a0mile|cu\u00a0in cubic\u00a0inch cubic\u00a0inches|cu\u00a0ft cubic\u00a0foot cubic\u00a0feet|eV electronvolt|keV kilo-electronvolt
MeV mega-electronvolt|GeV giga-electronvolt|ct carat
"""
for _item in LISTED.replace("\n", "|").replace("nautical mile", "nautical\u00a0mile").split("|"):
    if _item:
        _item = _item.replace("fl oz", "fl\u00a0oz").replace("fluid ounce", "fluid\u00a0ounce")
        _written, _one, *_many = (word.replace("\u00a0", " ") for word in _item.split(" "))
        UNITS[_written] = (_one, _many[0] if _many else _one + "s")

PER = {
    **{written: one for written, (one, _) in UNITS.items()},
    **{
        word: word
        for word in str.split("day hour minute second week month year night person head unit mile litre liter")
    },
    **{
        word: word for word in str.split("kilogram gram gallon cup serving capita room user seat share page visit item")
    },
}
# A single letter after a space is a unit only where hardly anything else is meant.
SPACED = frozenset(str.split("m g s h l L V W Ω"))
NOT_SPACED = frozenset(str.split("in us d t B A J N C K ct bar ac mo pts at"))
NAMES = "|".join(re.escape(name).replace("\\ ", r"\.?[ ]") for name in sorted(UNITS, key=len, reverse=True))
RATES = "|".join(re.escape(name) for name in sorted(PER, key=len, reverse=True))
POWER = r"(?P<power>[²³]|\^[23])?"
VALUE = rf"(?P<minus>[-−–+])?(?P<number>{NUMBER}|\.[0-9]{{1,9}})(?P<fraction>[½¼¾⅓⅔⅛⅜⅝⅞])?"
UPPER = rf"(?:(?:[-–—]|[ ][-–—][ ])(?P<to>{NUMBER}))?"
MEASURE = re.compile(
    rf"{VALUE}{UPPER}(?P<gap>[  \u2009]|-)?(?P<unit>{NAMES}){POWER}"
    rf"(?:[ ]?/[ ]?(?P<per>{RATES})(?P<power2>[²³]|\^[23])?)?(?![A-Za-z0-9])(?:\.(?=[ ][a-z]|[,;:]))?"
)
AFTER_FRACTION = re.compile(rf"[ -]?(?P<unit>{NAMES})(?![A-Za-z0-9])(?:\.(?=[ ][a-z]|[,;:]))?")
PERCENT = re.compile(
    rf"{VALUE}(?:%?(?:[-–—]|[ ][-–—][ ])(?P<to>{NUMBER}))?[ ]?(?P<unit>%|‰|℅)(?P<point>-?pts?\b|pp\b)?"
)
DEGREES = re.compile(rf"{VALUE}{UPPER}[ ]?(?:°[ ]?(?P<scale>[CFKcf](?![A-Za-z0-9]))?|(?P<glyph>[℃℉]))")
BARE_RATE = re.compile(
    rf"(?P<unit>{NAMES}){POWER}(?:/|[ ]per[ ])(?P<per>{RATES})(?P<power2>[²³]|\^[23])?(?![A-Za-z0-9/])"
)
BARE_POWER = re.compile(rf"(?P<unit>{NAMES})(?P<power>[²³])(?![A-Za-z0-9])")
COMPASS = {"N": "north", "S": "south", "E": "east", "W": "west"}
COMPASS_AFTER = re.compile(r"[ ]?([NSEW])(?![A-Za-z0-9'’&-])")
ARC = re.compile(
    r"([0-9]{1,3})°[ ]?([0-9]{1,2})['′’](?:[ ]?([0-9]{1,2}(?:\.[0-9]{1,6})?)(?:[\"″”]|''))?(?:[ ]?([NSEW])(?![A-Za-z0-9]))?"
)
FEET = re.compile(r"([0-9]{1,2})['′’][ ]?([0-9]{1,2})(?:[\"″”]|'')")
FEET_INCHES = re.compile(r"([0-9]{1,2})[ ]?ft\.?[ ]?([0-9]{1,2})[ ]?in(?![A-Za-z0-9])\.?")
PRIME = re.compile(rf"({NUMBER})([\"″'′])(?![A-Za-z0-9\"'])")
PEOPLE = re.compile(
    r"[ ](?:people|users|customers|followers|views|downloads|subscribers|homes|jobs|households|workers|children|readers|"
    r"votes|copies|barrels|tonnes|tons|dollars|pounds|euros|visitors|viewers|fans|players|members)\b"
)
TIMES = re.compile(
    rf"({NUMBER})[x×](?![A-Za-z0-9]|[ ]?(?:[-+*=^<>]|/(?!(?:day|d|week|wk|month|mo|year|yr|hour|hr|h)\b)))"
)
DIMENSIONS = re.compile(rf"({NUMBER})(?:[ ]?x[ ]?|×)(?=[0-9])")
HEX = re.compile(r"0[xX]([0-9A-Fa-f]{1,16})(?![0-9A-Za-z])")
MULTIPLES = re.compile(rf"({NUMBER})x?[-–]({NUMBER})[x×](?![A-Za-z0-9])")
PIXELS = re.compile(r"([1-9][0-9]{2,3})[ ]?[x×][ ]?([1-9][0-9]{2,3})(?![0-9]|[.,][0-9])")
PRODUCT = re.compile(r"[0-9.,]{1,12}[ ]?=")
SHORT_SCALE = re.compile(rf"({NUMBER})(?:(k|K|M|bn|B)|[ ]?(mn|bn))(?![A-Za-z0-9])")
HOUSE = re.compile("[ ][A-Z][a-z]")
SCALE_NAMES = {"k": "thousand", "K": "thousand", "M": "million", "mn": "million", "bn": "billion", "B": "billion"}
ARTICLE = re.compile(r"\b(?:a|an|another|this|that|every|each)[ ]$", re.IGNORECASE)
NOUN = re.compile(
    r"[ -](?!(?:and|or|in|to|for|of|on|at|per|is|was|a|an|the|from|by|as|with|more|less|than|if|when|but|so|each|every|"
    r"after|before|away|long|wide|high|deep|tall|apart|later|ago|now|here|there|then)\b)[a-z]{2}"
)
POWERS = {"²": "square ", "^2": "square ", "³": "cubic ", "^3": "cubic "}
FRACTIONS = {
    "½": "one half",
    "¼": "one quarter",
    "¾": "three quarters",
    "⅓": "one third",
    "⅔": "two thirds",
    "⅛": "one eighth",
    "⅜": "three eighths",
    "⅝": "five eighths",
    "⅞": "seven eighths",
    "⅕": "one fifth",
    "⅖": "two fifths",
    "⅗": "three fifths",
    "⅘": "four fifths",
    "⅙": "one sixth",
    "⅚": "five sixths",
    "⅑": "one ninth",
    "⅒": "one tenth",
}
SCALES = {"C": " Celsius", "F": " Fahrenheit", "K": " Kelvin", "℃": " Celsius", "℉": " Fahrenheit"}


def plural_of(unit: str, count: str | None) -> str:
    """The unit's name for a count as written."""
    one, many = UNITS[unit.replace(".", "")]
    return one if count in ("1", "-1", "1.0") else many


def attributive(text: str, start: int, end: int) -> bool:
    """Whether a measure describes the noun after it: `a 5 km run`, `a $3 million deal`."""
    return bool(ARTICLE.search(text, max(0, start - 9), start) and NOUN.match(text, end))


def _value(match: re.Match[str]) -> str:
    sign = {"-": "minus ", "−": "minus ", "–": "minus ", "+": "plus "}.get(match["minus"] or "", "")
    words = sign + decimal(match["number"])
    if match["fraction"]:
        half = FRACTIONS[match["fraction"]].replace("one half", "a half").replace("one quarter", "a quarter")
        words += f" and {half}"
    return f"{words} to {decimal(match['to'])}" if match["to"] else words


def measure(source: Source, at: int) -> Hit | None:
    """`9.5 m/s²` is `nine point five meters per second squared`; also percentages and degrees."""
    text = source.text
    if match := ARC.match(text, at):
        return Hit(match.end(), _arc(match), "coordinate")
    if match := PERCENT.match(text, at):
        name = "percentage points" if match["point"] else "per mille" if match["unit"] == "‰" else "percent"
        return Hit(match.end(), f"{_value(match)} {name}", "percent")
    if match := DEGREES.match(text, at):
        singular = match["number"] == "1" and not match["to"] and not match["fraction"]
        scale = SCALES.get((match["scale"] or match["glyph"] or "").upper(), "")
        compass = COMPASS_AFTER.match(text, match.end()) if not scale else None
        if compass:
            return Hit(compass.end(), f"{_value(match)} degrees {COMPASS[compass[1]]}", "coordinate")
        return Hit(match.end(), f"{_value(match)} degree{'' if singular else 's'}{scale}", "temperature")
    if match := FEET_INCHES.match(text, at):
        inches = f"{cardinal(int(match[2]))} inch{'' if match[2] == '1' else 'es'}"
        return Hit(match.end(), f"{cardinal(int(match[1]))} {'foot' if match[1] == '1' else 'feet'} {inches}", "unit")
    if match := FEET.match(text, at):
        return Hit(match.end(), f"{cardinal(int(match[1]))} foot {cardinal(int(match[2]))}", "unit")
    match = MEASURE.match(text, at)
    if match is None or not _is_unit(match):
        return _inches(text, at)
    if match["unit"] == "m" and not match["gap"] and PEOPLE.match(text, match.end()):
        return Hit(match.end(), f"{_value(match)} million", "number")
    count = None if match["to"] or match["fraction"] else match["number"]
    joined = not match["gap"] and match["unit"] in ("h", "hr") and NOUN.match(text, match.end())
    if match["gap"] == "-" or joined or attributive(text, at, match.end()):
        count = "1"
    name = POWERS.get(match["power"] or "", "") + plural_of(match["unit"], count)
    return Hit(match.end(), f"{_value(match)} {name}{_rate(match)}", "unit")


def _arc(match: re.Match[str]) -> str:
    """Degrees, minutes and seconds of an angle."""
    words = f"{cardinal(int(match[1]))} degrees {cardinal(int(match[2]))} minutes"
    if match[3]:
        words += f" {decimal(match[3])} seconds"
    return f"{words} {COMPASS[match[4]]}" if match[4] else words


def _inches(text: str, at: int) -> Hit | None:
    """`12"` where no quotation is open, and `6'`."""
    match = PRIME.match(text, at)
    if match is None or text.count(match[2], max(0, at - 400), at) % 2:
        return None
    one, many = ("inch", "inches") if match[2] in '"″' else ("foot", "feet")
    return Hit(match.end(), f"{decimal(match[1])} {one if match[1] == '1' else many}", "unit")


def _is_unit(match: re.Match[str]) -> bool:
    unit, gap, marked = match["unit"], match["gap"], match["per"] or match["power"]
    if marked:
        return True
    if gap:
        return unit not in NOT_SPACED and (len(unit) > 1 or unit in SPACED)
    return unit not in ("d", "t", "B", "c", "A") or (unit == "A" and "." in match["number"])


def _rate(match: re.Match[str]) -> str:
    if not match["per"]:
        return ""
    squared = {"²": " squared", "^2": " squared", "³": " cubed", "^3": " cubed"}
    per, power = PER[match["per"]], match["power2"] or ""
    if power and per not in ("second", "hour", "minute"):
        return f" per {POWERS[power]}{per}"
    return f" per {per}{squared.get(power, '')}"


def bare_rate(source: Source, at: int) -> Hit | None:
    """A rate or an area without a number: `m³/hr`, `km/h`, `m²`."""
    match = BARE_RATE.match(source.text, at)
    if match and (match["power"] or match["power2"] or len(match["per"]) > 1 or not match["unit"].isupper()):
        name = POWERS.get(match["power"] or "", "") + UNITS[match["unit"]][1]
        return Hit(match.end(), name + _rate(match), "unit")
    if match := BARE_POWER.match(source.text, at):
        return Hit(match.end(), POWERS[match["power"]] + UNITS[match["unit"]][1], "unit")
    return None


def times(source: Source, at: int) -> Hit | None:
    """`10x` is `ten times`, `4x4` is `four by four`, `10k` is `ten thousand`, `4K` is `four K`."""
    text = source.text
    if match := HEX.match(text, at):
        spelled = [cardinal(int(sign)) if sign.isdigit() else sign.upper() for sign in match[1]]
        return Hit(match.end(), " ".join(["zero x", *spelled]), "digits")
    if match := MULTIPLES.match(text, at):
        return Hit(match.end(), f"{decimal(match[1])} to {decimal(match[2])} times", "unit")
    if match := PIXELS.match(text, at):
        return Hit(match.end(), f"{pairs(match[1])} by {pairs(match[2])}", "unit")
    if match := DIMENSIONS.match(text, at):
        value = match[1]
        if PRODUCT.match(text, match.end()):
            return Hit(match.end(), f"{decimal(value)} times", "math")
        return Hit(match.end(), f"{pairs(value) if len(value) == 4 and value.isdigit() else decimal(value)} by", "unit")
    if match := TIMES.match(text, at):
        return Hit(match.end(), f"{decimal(match[1])} times", "unit")
    if match := SHORT_SCALE.match(text, at):
        short = match[2] or match[3]
        if short == "B" and match[1].isdigit() and HOUSE.match(text, match.end()):
            return Hit(match.end(), f"{pairs(match[1])} B", "number")
        if (short == "K" and len(match[1]) == 1) or (short == "B" and len(match[1]) < 3 and "." not in match[1]):
            return Hit(match.end(), f"{decimal(match[1])} {short}", "number")
        return Hit(match.end(), f"{decimal(match[1])} {SCALE_NAMES[short]}", "number")
    return None
