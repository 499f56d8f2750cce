"""Words in capitals: some are spelled, some are words."""

from __future__ import annotations

import re

from ..abbreviations import sentence_rules
from .capitals import CHOSEN_LETTERS, SAID, SHORT_WORDS, SPELLED, WORDS
from .hit import Hit, Source
from .numbers import decimal, label

__all__ = [
    "ampersand",
    "begins_sentence",
    "dotted_initials",
    "is_shouted",
    "is_spelled",
    "letter_a",
    "letters_ipa",
    "mixed",
    "pronounceable",
    "spell",
    "upper_word",
]

IPA = {
    "A": "eɪ", "B": "biː", "C": "siː", "D": "diː", "E": "iː", "F": "ɛf", "G": "dʒiː", "H": "eɪtʃ", "I": "aɪ",
    "J": "dʒeɪ", "K": "keɪ", "L": "ɛl", "M": "ɛm", "N": "ɛn", "O": "oʊ", "P": "piː", "Q": "kjuː", "R": "ɑːɹ",
    "S": "ɛs", "T": "tiː", "U": "juː", "V": "viː", "W": "dʌbəljuː", "X": "ɛks", "Y": "waɪ", "Z": "ziː",
}  # fmt: skip
VOWEL = re.compile("(?=[aeiouɛɑʌ])")
VERSIONED = {"IPv4": "I P v four", "IPv6": "I P v six"}
UPPER = re.compile(r"([A-Z]{2,30})(['’]?s|['’][dDS])?(?![A-Za-z0-9_])")
CONTRACTED = re.compile(r"([A-Z]{1,12})['’](?:T|M|RE|VE|LL)(?![A-Za-z0-9])")
DOTTED = re.compile(r"[A-Za-z]\.(?:[A-Za-z]\.){1,8}(?![A-Za-z0-9])|[A-Za-z](?:\.[A-Za-z]){1,8}(?![A-Za-z0-9.])")
INITIAL = re.compile(r"([A-Z])\.(?=[  ]?[A-Z][a-z.])")
NAME_AFTER = re.compile(r"[ ][0-9]|['’]s\b")
OWNER = re.compile(r"['’]s(?![A-Za-z0-9])")
NEXT_WORD = re.compile(r"[\"'”’)]{0,4}\s{1,4}[\"'“‘(]{0,4}([A-Z][a-z]{0,20})(?![A-Za-z.])")
CLOSES = re.compile(r"[\s\"'”’)]{0,20}$")
AMPERSAND = re.compile(r"([A-Z]{1,3})&([A-Z]{1,3})(?![A-Za-z0-9_&])")
ARTICLE_A = re.compile(r"A(?:[ ][\"“‘'(]?[A-Za-z0-9$€£]|['’\"”]|[-‐])")
LABEL = re.compile(
    r"\b(?:grade|group|vitamin|plan|type|section|class|team|hepatitis|exhibit|option|part|appendix|letter)[ ]$", re.I
)
GRADED = re.compile(r"([A-Z]{1,5}|[A-Z][a-z]{2,12})([0-9]{1,3}\.[0-9]{1,3})(?![0-9A-Za-z]|\.[0-9])")
MIXED = re.compile(r"(?=[0-9]{0,20}[A-Za-z])(?=[A-Za-z]{0,20}[0-9₀-₉])[A-Za-z0-9₀-₉]{2,24}(?![A-Za-z0-9_])")
PIECES = re.compile(r"[A-Z]{1,24}(?![a-z])|[A-Z]?[a-z]{1,24}|[0-9]{1,24}")
SUBSCRIPTS = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
ONSET = re.compile(
    r"(?:[bcdfghjklmnprstvwxyz]|qu|[bcdfgkpst]r|[bcfgkps]l|s[ckmnptwq]|sc[hr]|s[pt]r|spl|squ|sh|shr|ch|chr|th|thr|wh|wr|"
    r"ph|kn|gn|[dt]w|ps|tw|gh|rh|sph)?[aeiouy]"
)
CODA = re.compile(
    r"[aeiouy](?:[bcdfgklmnprstvwxyzh]|ck|ct|ft|ld|lf|lk|lm|lp|lt|lve?|mp|nd|ng|nk|nt|nth|nch|pt|rb|rc|rd|rf|rg|rk|rl|rm|"
    r"rn|rp|rt|rv|rth|rch|rst|rld|sk|sm|sp|st|sh|ss|ch|tch|th|gh|ght|ght|ll|ff|zz|tt|rr|nn|dd|gg|ph|xt|wn|wl|wd|nds|nts|"
    r"cks|lls|mps|rds|rks|rms|rns|rts|sts|ngs|nks|lds|cts|ths|rs|ls|ns|ms|ps|ts|ds|gs|ks|bs|fs|cs|ws|ys|vs)?$"
)
RUN = re.compile(r"[^aeiouy]{5}|[aeiou]{4}|aa|ii|uu|iy|q[^u]|[jvx][^aeiouy]|[^aeiouy](?:j)[^aeiouy]")


def pronounceable(word: str) -> bool:
    """Whether an English reader could say the word in capitals as a word."""
    lower = word.lower()
    return bool(ONSET.match(lower) and CODA.search(lower) and not RUN.search(lower))


def is_spelled(word: str, shouting: bool = False, named: bool = False) -> bool:
    """Whether `word`, letters in capitals, is said letter by letter; `named` where it stands like a name."""
    if word in WORDS:
        return False
    if word in CHOSEN_LETTERS:
        return named if word == "WHO" else not shouting
    if word in SPELLED:
        return True
    lower = word.lower()
    if len(word) <= 3:
        return lower not in SHORT_WORDS
    return not pronounceable(word)


def spell(word: str) -> str:
    """`FBI` is `F B I`."""
    return " ".join(word.upper())


def letters_ipa(word: str, ending: str = "") -> str:
    """How the letters sound in a row, stress before the vowel, strongest on the last; with the `z`, `s` or `ɪz` of a plural where asked."""
    sounds = [VOWEL.split(IPA[letter], maxsplit=1) for letter in word.upper()]
    said = "".join("ˌ".join(sound) for sound in sounds[:-1]) + "ˈ".join(sounds[-1])
    if ending:
        said += {"S": "ɪz", "X": "ɪz", "H": "ɪz", "F": "s"}.get(word[-1].upper(), "z")
    return said


def begins_sentence(text: str, at: int) -> bool:
    """Whether a word that begins sentences follows, as in `the U.S. They agree`."""
    match = NEXT_WORD.match(text, at)
    return match is not None and match[1].lower() in sentence_rules("en").starters


def upper_word(source: Source, at: int) -> Hit | None:
    """`FBI`, `CPUs`, `NASA`, `PLEASE`."""
    if match := CONTRACTED.match(source.text, at):
        said = match.group().replace("’", "'").lower()
        return Hit(match.end(), "I" + said[1:] if match[1] == "I" else said, "capitals")
    match = UPPER.match(source.text, at)
    if match is None:
        return None
    word, ending = match[1], match[2] or ""
    if word in SAID:
        return Hit(match.end(), SAID[word] + ("s" if ending else ""), "initialism")
    before = source.text[max(0, at - 5) : at].lower()
    named = _article(before) or NAME_AFTER.match(source.text, match.end()) is not None
    ending = ending.replace("S", "s")
    if (ending == "s" and word not in WORDS) or is_spelled(word, source.shouting, named):
        if len(ending) == 1:
            return Hit(match.end(), f"{spell(word)} s", "plural", letters_ipa(word, ending))
        tail = ending.replace("’", "'")
        return Hit(match.end(), spell(word) + tail, "initialism", letters_ipa(word, ending[1:]))
    if word in WORDS and word not in SHORT_WORDS:
        return Hit(match.end(), word + ending.replace("’", "'"), "acronym")
    return Hit(match.end(), word.lower() + ending.replace("’", "'").lower(), "capitals")


def ampersand(source: Source, at: int) -> Hit | None:
    """`AT&T` is `A T and T`, `R&D` is `R and D`."""
    match = AMPERSAND.match(source.text, at)
    if match is None:
        return None
    said = f"{letters_ipa(match[1])} ənd {letters_ipa(match[2])}"
    return Hit(match.end(), f"{spell(match[1])} and {spell(match[2])}", "initialism", said)


def _article(before: str) -> bool:
    return before.endswith(("the ", " by ", "from ", "with ", " at "))


def dotted_initials(source: Source, at: int) -> Hit | None:
    """`U.S.`, `Ph.D.`, `e.g.` are other rules' where they are words; here the letters are said, and `J. Smith`."""
    text = source.text
    if match := DOTTED.match(text, at):
        letters = match.group().replace(".", "")
        if owner := OWNER.match(text, match.end()):
            return Hit(owner.end(), f"{spell(letters)}'s", "initialism", letters_ipa(letters, "s"))
        if letters[-1] == "s" and letters[:-1].isupper():
            return Hit(match.end(), f"{spell(letters[:-1])} s", "plural", letters_ipa(letters[:-1], "s"))
        closes = CLOSES.match(text, match.end()) is not None or begins_sentence(text, match.end())
        end = match.end() - (1 if closes and match.group().endswith(".") else 0)
        return Hit(end, spell(letters), "initialism", letters_ipa(letters))
    if (match := INITIAL.match(text, at)) and not _ends_sentence(text, at):
        return Hit(match.end(), match[1], "initial", letters_ipa(match[1]))
    return None


def _ends_sentence(text: str, at: int) -> bool:
    """`Plan B. Then` ends a sentence; `George B. Then` hardly does: a name stands before an initial, or nothing."""
    before = re.search(r"([A-Za-z]+)[ ]$", text[max(0, at - 24) : at])
    if before is None:
        return False
    return before[1].lower() in (
        "plan",
        "grade",
        "vitamin",
        "section",
        "group",
        "option",
        "part",
        "type",
        "i",
        "and",
        "or",
    )


def mixed(source: Source, at: int) -> Hit | None:
    """Letters with digits: `CO2` is `C O two`, `MP3`, `x86`, `R2D2`, `iPhone15`."""
    if graded := GRADED.match(source.text, at):
        name = spell(graded[1]) if graded[1].isupper() else graded[1]
        return Hit(graded.end(), f"{name} {decimal(graded[2])}", "letters and digits")
    match = MIXED.match(source.text, at)
    if match is None:
        return None
    if match.group() in VERSIONED:
        return Hit(match.end(), VERSIONED[match.group()], "letters and digits")
    said: list[str] = []
    for piece in PIECES.findall(match.group().translate(SUBSCRIPTS)):
        if piece.isdigit():
            said.append(label(piece))
        elif piece.isupper() and (len(piece) < 3 or is_spelled(piece, False)):
            said.append(spell(piece))
        elif piece.isupper() and piece not in WORDS:
            said.append(piece.lower())
        else:
            said.append(piece)
    return Hit(
        match.end(), " ".join(said).replace("A ", "A-") if said[0] == "A" else " ".join(said), "letters and digits"
    )


def letter_a(source: Source, at: int) -> Hit | None:
    """The letter `A` where it is no article: `grade A`, `A, B and C`."""
    text = source.text
    if text[at] != "A" or text[at + 1 : at + 2].isalnum() or text[at + 1 : at + 2] in ("-", "‐"):
        return None
    article = ARTICLE_A.match(text, at) and not LABEL.search(text, max(0, at - 14), at)
    return Hit(at + 1, "A", "plain") if article else Hit(at + 1, "A", "letter", "ˈeɪ")


def is_shouted(text: str) -> bool:
    """Whether a text without small letters holds ordinary words, so that it is a shout and no name."""
    words = [word for word in re.findall(r"[A-Z]{2,30}", text[:2000]) if word not in SPELLED and word not in WORDS]
    ordinary = [word for word in words if word in CHOSEN_LETTERS or not is_spelled(word)]
    return len(ordinary) > 1 and len(ordinary) * 2 >= len(words)
