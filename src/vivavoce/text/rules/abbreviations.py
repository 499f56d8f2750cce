"""Abbreviations in English, written out."""

from __future__ import annotations

import re

from .hit import Hit, Source
from .initialisms import begins_sentence, letters_ipa

__all__ = ["WORDS", "abbreviation", "slashed"]

# With a dot, wherever they stand.
ALWAYS = {
    "mon": "Monday", "tue": "Tuesday", "tues": "Tuesday", "wed": "Wednesday", "thu": "Thursday", "thur": "Thursday",
    "thurs": "Thursday", "fri": "Friday",
    "etc": "et cetera", "approx": "approximately", "dept": "department", "govt": "government", "vs": "versus",
    "ave": "Avenue", "blvd": "Boulevard", "inc": "Incorporated", "ltd": "Limited", "corp": "Corporation",
    "mr": "Mister", "mrs": "Missus", "ms": "Miz", "messrs": "Messieurs", "jr": "Junior", "sr": "Senior",
    "incl": "including", "excl": "excluding", "esp": "especially", "misc": "miscellaneous", "assoc": "associate",
    "appt": "appointment", "apt": "apartment", "bldg": "building", "dist": "district", "ext": "extension", "hwy": "highway",
    "intl": "international", "mgr": "manager", "natl": "national", "orig": "originally", "pkg": "package", "tel": "telephone",
    "temp": "temperature", "univ": "university", "wk": "week", "yr": "year", "yrs": "years", "hrs": "hours", "cf": "compare",
    "viz": "namely", "ibid": "ibidem", "est": "established", "attn": "attention", "qty": "quantity", "esq": "Esquire",
}  # fmt: skip
# With or without a dot before a capitalized name.
TITLES = {
    "dr": "Doctor", "prof": "Professor", "rev": "Reverend", "hon": "Honorable", "gov": "Governor", "sen": "Senator",
    "rep": "Representative", "pres": "President", "gen": "General", "lt": "Lieutenant", "capt": "Captain", "cpt": "Captain",
    "sgt": "Sergeant", "col": "Colonel", "maj": "Major", "cmdr": "Commander", "adm": "Admiral", "cpl": "Corporal",
    "st": "Saint", "mt": "Mount", "ft": "Fort", "mr": "Mister", "mrs": "Missus", "ms": "Miz", "fr": "Father",
    "supt": "Superintendent", "det": "Detective", "insp": "Inspector", "messrs": "Messieurs",
}  # fmt: skip
# With a dot before a number.
NUMBERED = {
    "no": "number", "nos": "numbers", "fig": "figure", "figs": "figures", "vol": "volume", "ch": "chapter", "sec": "section",
    "p": "page", "pp": "pages", "art": "article", "eq": "equation", "ref": "reference", "par": "paragraph", "para": "paragraph",
    "ed": "edition", "pt": "part", "ca": "circa", "c": "circa", "op": "opus", "min": "minimum", "max": "maximum",
    "ver": "version", "rev": "revision", "bk": "book", "app": "appendix",
}  # fmt: skip
# After a name, with a dot.
STREETS = {
    "st": "Street",
    "dr": "Drive",
    "rd": "Road",
    "ln": "Lane",
    "ct": "Court",
    "pl": "Place",
    "sq": "Square",
    "co": "Company",
}
CAPITALS = frozenset(str.split("MR MRS MS JR SR VS ETC INC LTD CORP AVE BLVD DEPT"))
COMPARED = {"vs": "versus", "aka": "also known as", "w": "with"}
WORDS = frozenset(ALWAYS) | frozenset(TITLES) | frozenset(NUMBERED) | frozenset(STREETS) | frozenset(COMPARED)
DOTTED = {"e.g.": "for example", "i.e.": "that is", "a.k.a.": "also known as", "a.m.": "a.m.", "p.m.": "p.m.",
          "ph.d.": "P H D", "ph.d": "P H D", "p.s.": "P S", "n.b.": "note", "q.v.": "which see", "e.g": "for example",
          "i.e": "that is", "et al.": "and others", "b.c.": "B C", "a.d.": "A D", "r.i.p.": "R I P",
          "m.d.": "M D", "d.c.": "D C", "no.": ""}  # fmt: skip
SEVERAL = re.compile(
    r"(?:[Ee]\.[ ]?[Gg]\.?|[Ii]\.[ ]?[Ee]\.?|[Aa]\.[Kk]\.[Aa]\.|[AaPp]\.[Mm]\.|[Pp][Hh]\.?[Dd]\.?s?|[Nn]\.[Bb]\.|[Qq]\.[Vv]\.|et al\.)(?![A-Za-z0-9])"
)
SHORT = re.compile(r"([A-Za-z]{1,6})(\.)?(?![A-Za-z.'’@-]|(?<!\.)[0-9])")
BEFORE_NAME = re.compile(r"[ \u00a0]{1,3}(?:[A-Z][a-zà-ÿ'’.]|[A-Z]\.|O['’])")
BEFORE_NUMBER = re.compile(r"[ \u00a0]{0,2}\(?(?:[0-9]|[IVX]{1,5}(?![A-Za-z0-9]))")
LONE_I = re.compile(r"[ \u00a0]{0,2}I(?![A-Za-z0-9])")
PARTY_BEFORE = re.compile(r"[A-Z][A-Za-z.'’]{0,20}[ ]$")
AFTER_NAME = re.compile(r"(?:[A-Z][a-z]{1,20}|&|[0-9]{1,4}(?:st|nd|rd|th))[ ]$")
ENDS = re.compile(r"[\s\"'”’)]{0,20}$")
LAST_WORDS = frozenset(
    str.split("Corporation Company Limited Junior Senior Street Avenue Road Drive Boulevard Lane Court Highway Esquire")
)
NEW_SENTENCE = re.compile(r"[\"'”’)]*\s+[\"'“‘(]*[A-Z]")
PAIR = re.compile(
    r"(w/o|w/|c/o|b/c|n/a|N/A|and/or|s/he|S/he|a/c|he/she|she/he|his/her|him/her|her/his|yes/no|either/or|y/n)(?![A-Za-z0-9/])"
)
PAIRS = {
    "w/o": "without", "w/": "with", "c/o": "care of", "b/c": "because", "n/a": "not applicable", "and/or": "and or",
    "s/he": "she or he", "a/c": "A C", "y/n": "yes or no",
}  # fmt: skip
PAIR_OR = re.compile(r"/")


def slashed(source: Source, at: int) -> Hit | None:
    """`and/or` is `and or`, `w/o` is `without`."""
    match = PAIR.match(source.text, at)
    if match is None:
        return None
    found = match[1]
    said = PAIRS.get(found.lower()) or PAIR_OR.sub(" or ", found)
    return Hit(
        match.end(), said[0].upper() + said[1:] if found[0].isupper() and found != "N/A" else said, "abbreviation"
    )


def abbreviation(source: Source, at: int) -> Hit | None:
    """`Dr. Okafor` is `Doctor Okafor`, `Elm St.` is `Elm Street`, `e.g.` is `for example`, `No. 5` is `number five`."""
    text = source.text
    if match := SEVERAL.match(text, at):
        if match.group().endswith("s"):
            return Hit(match.end(), "P H D s", "plural", letters_ipa("PHD", "s"))
        key = match.group().lower().replace(" ", "") if not match.group().startswith("et") else "et al."
        said = DOTTED.get(key) or DOTTED.get(key + ".") or DOTTED.get("ph.d." if key.startswith("ph") else "", "")
        return _closing(text, match.end(), said, "abbreviation") if said else None
    match = SHORT.match(text, at)
    if match is None:
        return None
    word, dot, end = match[1].lower(), match[2], match.end()
    named = BEFORE_NAME.match(text, end) is not None
    after_name = AFTER_NAME.search(text, max(0, at - 24), at) is not None
    if (
        word in NUMBERED
        and dot
        and (len(word) > 1 or match[1].islower())
        and BEFORE_NUMBER.match(text, end)
        and not LONE_I.match(text, end)
    ):
        return Hit(end, _like(match[1], NUMBERED[word]), "abbreviation")
    if match[1] == "v" and dot and named and PARTY_BEFORE.search(text, max(0, at - 24), at):
        return Hit(end, "versus", "abbreviation")
    if word in TITLES and match[1][0].isupper() and named and not (after_name and word in STREETS):
        return (
            Hit(end, TITLES[word], "abbreviation") if dot or word in ("dr", "mr", "mrs", "ms", "prof", "st") else None
        )
    if word in STREETS and match[1][0].isupper() and dot and after_name:
        return _closing(text, end, STREETS[word], "abbreviation")
    if word in ALWAYS and dot and (match[1] in CAPITALS or not match[1].isupper()):
        return _closing(text, end, _like(match[1], ALWAYS[word]), "abbreviation")
    if word in ("mr", "mrs", "vs", "aka", "etc") and not dot and (match[1][0].isupper() == (word[0] == "m")):
        return Hit(end, COMPARED.get(word) or ALWAYS[word], "abbreviation")
    return None


def _like(written: str, said: str) -> str:
    return said[0].upper() + said[1:] if written[0].isupper() else said


def _closing(text: str, end: int, said: str, rule: str) -> Hit:
    """The dot of an abbreviation at the end of a sentence is its full stop, too."""
    if text[end - 1] == "." and not said.endswith(".") and ENDS.match(text, end):
        return Hit(end - 1, said, rule)
    if text[end - 1] == "." and said in LAST_WORDS and begins_sentence(text, end):
        return Hit(end - 1, said, rule)
    if text[end - 1] == "." and said in ("et cetera", "and others", "Incorporated") and NEW_SENTENCE.match(text, end):
        return Hit(end - 1, said, rule)
    return Hit(end, said, rule)
