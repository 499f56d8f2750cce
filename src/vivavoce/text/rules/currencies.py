"""Money in English words."""

from __future__ import annotations

import re

from .hit import Hit, Source
from .numbers import NUMBER, cardinal, decimal
from .units import attributive

__all__ = ["CODES", "SYMBOLS", "money"]

# symbol or code: one, many, one hundredth, hundredths
SYMBOLS: dict[str, tuple[str, str, str, str]] = {
    "$": ("dollar", "dollars", "cent", "cents"),
    "US$": ("US dollar", "US dollars", "cent", "cents"),
    "A$": ("Australian dollar", "Australian dollars", "cent", "cents"),
    "C$": ("Canadian dollar", "Canadian dollars", "cent", "cents"),
    "NZ$": ("New Zealand dollar", "New Zealand dollars", "cent", "cents"),
    "HK$": ("Hong Kong dollar", "Hong Kong dollars", "cent", "cents"),
    "S$": ("Singapore dollar", "Singapore dollars", "cent", "cents"),
    "R$": ("real", "reais", "centavo", "centavos"),
    "€": ("euro", "euros", "cent", "cents"),
    "£": ("pound", "pounds", "penny", "pence"),
    "¥": ("yen", "yen", "sen", "sen"),
    "￥": ("yen", "yen", "sen", "sen"),
    "₹": ("rupee", "rupees", "paisa", "paise"),
    "₽": ("ruble", "rubles", "kopeck", "kopecks"),
    "₩": ("won", "won", "jeon", "jeon"),
    "₿": ("bitcoin", "bitcoins", "", ""),
    "₪": ("shekel", "shekels", "agora", "agorot"),
    "₫": ("dong", "dong", "", ""),
    "₺": ("lira", "lira", "kurush", "kurush"),
    "₴": ("hryvnia", "hryvnias", "kopiyka", "kopiykas"),
    "₦": ("naira", "naira", "kobo", "kobo"),
    "฿": ("baht", "baht", "satang", "satang"),
    "₱": ("peso", "pesos", "centavo", "centavos"),
}
CODES: dict[str, tuple[str, str, str, str]] = {
    "USD": ("US dollar", "US dollars", "cent", "cents"),
    "AUD": SYMBOLS["A$"],
    "CAD": SYMBOLS["C$"],
    "NZD": SYMBOLS["NZ$"],
    "HKD": SYMBOLS["HK$"],
    "SGD": SYMBOLS["S$"],
    "EUR": SYMBOLS["€"],
    "GBP": SYMBOLS["£"],
    "JPY": SYMBOLS["¥"],
    "CNY": ("yuan", "yuan", "fen", "fen"),
    "RMB": ("yuan", "yuan", "fen", "fen"),
    "INR": SYMBOLS["₹"],
    "CHF": ("Swiss franc", "Swiss francs", "centime", "centimes"),
    "SEK": ("Swedish krona", "Swedish kronor", "öre", "öre"),
    "NOK": ("Norwegian krone", "Norwegian kroner", "øre", "øre"),
    "DKK": ("Danish krone", "Danish kroner", "øre", "øre"),
    "PLN": ("zloty", "zlotys", "grosz", "groszy"),
    "RUB": SYMBOLS["₽"],
    "KRW": SYMBOLS["₩"],
    "BRL": SYMBOLS["R$"],
    "MXN": ("Mexican peso", "Mexican pesos", "centavo", "centavos"),
    "ZAR": ("rand", "rand", "cent", "cents"),
    "BTC": SYMBOLS["₿"],
}
UNITS = SYMBOLS | CODES | {"Rs": SYMBOLS["₹"], "Rs.": SYMBOLS["₹"]}
SCALES = {
    "k": "thousand",
    "K": "thousand",
    "m": "million",
    "M": "million",
    "mn": "million",
    "mm": "million",
    "MM": "million",
    "bn": "billion",
    "b": "billion",
    "B": "billion",
    "tn": "trillion",
    "T": "trillion",
}
SCALE_WORDS = "hundred|thousand|million|billion|trillion|quadrillion|crore|lakh"
SCALE = rf"(?:[ -]?(?P<word>{SCALE_WORDS})\b|[ ]?(?P<short>bn|tn|mn|mm|MM|[kKmMbBT])(?![A-Za-z0-9]))?"
BEFORE = "|".join(re.escape(unit) for unit in sorted(UNITS, key=len, reverse=True))
CONTINENTAL = r"[0-9]{1,3}(?:\.[0-9]{3}){1,4},[0-9]{2}(?![0-9,])"
CODE_AFTER = re.compile(r"[ ]?(USD|AUD|CAD|NZD|HKD|SGD)(?![A-Za-z0-9])")
PREFIXED = re.compile(
    rf"(?P<minus>[-−–])?(?P<unit>{BEFORE})[ ]?(?P<minus2>[-−])?(?P<number>{CONTINENTAL}|{NUMBER}|\.[0-9]{{1,4}})"
    rf"(?:(?P<first>bn|[kKmMbB])?(?:[-–—]|[ ][-–—][ ])(?:{BEFORE})?(?P<to>{NUMBER}))?{SCALE}"
)
AFTER = "|".join(re.escape(unit) for unit in (*(s for s in SYMBOLS if len(s) == 1), *CODES))
SUFFIXED = re.compile(
    rf"(?P<number>{CONTINENTAL}|[0-9]{{1,9}},[0-9]{{2}}(?![0-9,])|{NUMBER}){SCALE}[ ]?(?P<unit>{AFTER})(?![A-Za-z0-9])"
)
CENTS = re.compile(rf"(?P<number>{NUMBER})[ ]?(?P<unit>¢|p|c)(?![A-Za-z0-9])")
CENT_NAMES = {"¢": ("cent", "cents"), "c": ("cent", "cents"), "p": ("penny", "pence")}
STARTS = frozenset(unit[0] for unit in UNITS) | frozenset("-−–0123456789")


def money(source: Source, at: int) -> Hit | None:
    """`$5.3 million` is `five point three million dollars`."""
    text = source.text
    if text[at] not in STARTS:
        return None
    match = PREFIXED.match(text, at) or SUFFIXED.match(text, at)
    if match is not None and match["unit"].isalpha() and text[at - 1 : at] == "/" and text[at].isalpha():
        return None
    if match is not None:
        code = CODE_AFTER.match(text, match.end()) if match["unit"] == "$" else None
        end = code.end() if code else match.end()
        return Hit(end, _words(match, attributive(text, at, end), code[1] if code else match["unit"]), "currency")
    match = CENTS.match(text, at)
    if match is None or (match["unit"] != "¢" and text[match.end() - 2] == " "):
        return None
    if match["unit"] == "p" and match["number"] in ("240", "360", "480", "720", "1080", "1440", "2160"):
        return None
    one, many = CENT_NAMES[match["unit"]]
    return Hit(match.end(), f"{decimal(match['number'])} {one if match['number'] == '1' else many}", "currency")


def _words(match: re.Match[str], describes: bool, unit: str) -> str:
    found = match.groupdict()
    one, many, cent, cents = UNITS[unit]
    if describes:
        many = one
    sign = "minus " if found.get("minus") or found.get("minus2") else ""
    number = found["number"]
    if "," in number and number.find(".") in range(1, number.find(",")):
        number = number.replace(".", "").replace(",", ".")  # `1.234,50`
    text = number.replace(",", "." if len(number) - number.find(",") == 3 and "." not in number else "")
    scale = found["word"] or SCALES.get(found["short"] or "", "")
    if upper := found.get("to"):
        first = f" {SCALES[found['first']]}" if found["first"] else ""
        return f"{sign}{decimal(text)}{first} to {decimal(upper)} {scale + ' ' if scale else ''}{many}"
    if scale:
        return f"{sign}{decimal(text)} {scale} {many}"
    whole, point, fraction = text.partition(".")
    whole = whole or "0"
    if not point or len(fraction) > 2 or not cent:
        return f"{sign}{decimal(text)} {one if text == '1' else many}"
    hundredths = int(fraction.ljust(2, "0"))
    small = f"{cardinal(hundredths)} {cent if hundredths == 1 else cents}"
    if int(whole) == 0 and hundredths:
        return sign + small
    large = f"{decimal(whole)} {one if int(whole) == 1 else many}"
    return sign + (f"{large} and {small}" if hundredths else large)
