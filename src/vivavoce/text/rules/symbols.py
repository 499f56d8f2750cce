"""Signs that stand alone: mathematics, marks, Greek letters."""

from __future__ import annotations

import re

from .hit import Hit, Source
from .numbers import NUMBER, cardinal, decimal, ordinal

__all__ = ["named_sign", "operator", "power", "signed"]

SIGNS = {
    "=": "equals", "+": "plus", "−": "minus", "×": "times", "÷": "divided by", "≤": "is less than or equal to",
    "≥": "is greater than or equal to", "<": "is less than", ">": "is greater than", "≠": "is not equal to",
    "≈": "is about", "≡": "is identical to", "∝": "is proportional to", "±": "plus or minus", "♯": "sharp", "♭": "flat", "♮": "natural", "√": "the square root of", "∛": "the cube root of",
    "∞": "infinity", "∑": "the sum of", "∏": "the product of", "∫": "the integral of", "∂": "partial", "∈": "in",
    "∉": "not in", "∪": "union", "∩": "intersection", "∅": "the empty set", "∀": "for all", "∃": "there exists",
    "→": "to", "⇒": "implies", "⇔": "if and only if", "↔": "to and from", "←": "from", "¬": "not", "∧": "and", "∨": "or",
    "&": "and", "@": "at", "#": "hash", "%": "percent", "‰": "per mille", "°": "degrees", "§": "section", "¶": "paragraph",
    "№": "number", "~": "about", "∼": "about", "·": "times", "⋅": "times", "∙": "times", "*": "times", "^": "to the power of",
    "€": "euros", "£": "pounds", "¥": "yen", "$": "dollars", "¢": "cents", "†": "", "‡": "", "©": "", "®": "", "™": "",
    "\\": "backslash", "_": "", "|": "", "`": "", "•": "", "■": "", "▪": "", "●": "", "…": "…",
}  # fmt: skip
GREEK = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "ζ": "zeta", "η": "eta", "θ": "theta",
    "ι": "iota", "κ": "kappa", "λ": "lambda", "μ": "mu", "ν": "nu", "ξ": "xi", "ο": "omicron", "π": "pi", "ρ": "rho",
    "σ": "sigma", "ς": "sigma", "τ": "tau", "υ": "upsilon", "φ": "phi", "χ": "chi", "ψ": "psi", "ω": "omega", "µ": "mu",
    "Γ": "gamma", "Δ": "delta", "Θ": "theta", "Λ": "lambda", "Ξ": "xi", "Π": "pi", "Σ": "sigma", "Φ": "phi", "Ψ": "psi",
    "Ω": "omega",
}  # fmt: skip
SEVERAL = {
    "<=": "is less than or equal to", ">=": "is greater than or equal to", "!=": "is not equal to", "==": "equals",
    "=>": "implies", "->": "to", "-->": "to", "<-": "from", "<->": "to and from", "+/-": "plus or minus", "&&": "and",
    "||": "or", "**": "to the power of", "~=": "is about", "...": "…", ":=": "is defined as", "===": "equals",
    "<<": "is much less than", ">>": "is much greater than", "++": "plus plus", "°C": "degrees Celsius", "°F": "degrees Fahrenheit", "//": "slash slash",
}  # fmt: skip
MULTI = re.compile("|".join(re.escape(sign) for sign in sorted(SEVERAL, key=len, reverse=True)))
SIGNED = re.compile(r"([-−–+±~≈<>≤≥])[ ]?(?=[0-9.$€£¥])")
SIGN_WORDS = {
    "-": "minus", "−": "minus", "–": "minus", "+": "plus", "±": "plus or minus", "~": "about", "≈": "about", "<": "less than",
    ">": "more than", "≤": "at most", "≥": "at least",
}  # fmt: skip
POWER = re.compile(
    r"([A-Za-z]|[0-9]{1,9}(?:\.[0-9]{1,9})?|\))?(?:\^(?P<open>[({])?(?P<raised>[-−]?[0-9]{1,4}|[a-z])(?(open)[)}])|(?P<super>[⁰¹²³⁴⁵⁶⁷⁸⁹]{0,2}[⁺⁻](?![⁰¹²³⁴⁵⁶⁷⁸⁹])|[⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,4}|ⁿ))(?![0-9A-Za-z])"
)
SUPER = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻ⁿ", "0123456789-n")
NOTED = frozenset('.,;:!?"”’')
NUMBER_SIGN = re.compile(r"#(?=[0-9])")
LANGUAGES = re.compile(r"(?:C\+\+|[CF]#|[A-Z]\+(?![0-9A-Za-z+])|[A-F]-(?=[\s.,;:!?)]|$))")
# A tag that is written out or broken is not a comparison: its brackets say nothing.
ANGLE = re.compile(r"(?<![^\s>])<[/!]?(?:[A-Za-z][A-Za-z0-9-]{0,30}/?>|[A-Za-z]{2})")
ANGLE_BEFORE = re.compile(r"(?<![^\s>])<[/!]?[A-Za-z][A-Za-z0-9-]{0,30}[ /]{0,2}$")
OPERAND_BEFORE = re.compile(r"(?:[0-9)%]|(?<![A-Za-z])[A-Za-z])[ ]$|[0-9)%°]$")
FACTOR_BEFORE = re.compile(r"(?:[0-9)%°]|(?<![A-Za-z])[A-Za-z])[ ]?$")
NAMED_AFTER = re.compile(r"[\"”’']?[ ](?:sign|symbol|key)s?\b")
KEY_BEFORE = re.compile(r"\b(?:press|dial|hit|key|or|and|the)[ ][\"“']?$", re.IGNORECASE)
FORMULA = re.compile(r"\$\$|\$[A-Za-z\\({^_-][^$\n]{0,200}\$")
OPERATOR_BEFORE = re.compile(r"[=<>(+*/×÷^≤≥≈][ ]?$")
EXPONENT = re.compile(
    rf"({NUMBER})(?:[ ]?[x×·*][ ]?10(?:\^([-−+]?[0-9]{{1,3}})|([⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{{1,3}}))|[eE]([-+]?[0-9]{{1,3}}))(?![0-9A-Za-z])"
)


def power(source: Source, at: int) -> Hit | None:
    """`x^2` and `x²` are `x squared`, `10⁻³` is `ten to the minus three`, `6.02e23` is said in full."""
    text = source.text
    if match := EXPONENT.match(text, at):
        raised = (match[2] or match[3] or match[4]).translate(SUPER).replace("−", "-")
        value = int(raised)
        said = f"{decimal(match[1])} times ten to the {'minus ' if value < 0 else ''}{cardinal(abs(value))}"
        return Hit(match.end(), said, "math")
    match = POWER.match(text, at)
    if match is None:
        return None
    if not match[1] and match["super"] and ((text[at - 3 : at].isalpha() and at > 2) or text[at - 1 : at] in NOTED):
        return Hit(match.end(), "", "footnote")
    above = match["super"] or ""
    if above and above[-1] in "⁺⁻":
        count = above[:-1].translate(SUPER)
        charge = "plus" if above[-1] == "⁺" else "minus"
        return Hit(
            match.end(), " ".join([match[1] or "", cardinal(int(count)) if count else "", charge]).strip(), "math"
        )
    base, raised = match[1] or "", (match["raised"] or above).translate(SUPER).replace("−", "-")
    said = decimal(base) if base and base[0].isdigit() else base.strip(")")
    return Hit(match.end(), f"{said} {_raised(raised)}".strip(), "math")


def _raised(text: str) -> str:
    if text.isalpha():
        return f"to the {text}"
    value = int(text)
    if value in (2, 3):
        return "squared" if value == 2 else "cubed"
    return f"to the minus {cardinal(-value)}" if value < 0 else f"to the {ordinal(value)}"


def operator(source: Source, at: int) -> Hit | None:
    """A sign between operands, or before a name: `10 - 3`, `5%–10%`, `y = -x`."""
    text = source.text
    match = SIGNED.match(text, at)
    if match is not None and OPERAND_BEFORE.search(text, max(0, at - 3), at):
        sign = match[1]
        word = "minus" if sign in "-−" else "to" if sign == "–" else SIGNS.get(sign, SIGN_WORDS[sign])
        return Hit(match.end(), word, "math")
    if text[at] == "-" and text[at - 1 : at].isalpha() and text[at + 1 : at + 2].isalnum():
        return Hit(at + 1, "", "hyphen")
    if text[at] in "-−" and text[at + 1 : at + 2].isalpha() and OPERATOR_BEFORE.search(text, max(0, at - 2), at):
        return Hit(at + 1, "minus", "math")
    return None


def signed(source: Source, at: int) -> Hit | None:
    """A sign before a number: `-5`, `±3`, `~20`, `>100`."""
    text = source.text
    if match := NUMBER_SIGN.match(text, at):
        known = text[max(0, at - 7) : at].lower().endswith(("number ", "no. "))
        return Hit(match.end(), "" if known else "number", "number sign")
    match = SIGNED.match(text, at)
    if match is None:
        return None
    sign, spaced = match[1], match.end() - at > 1
    if spaced and sign in "-–":
        return None
    if at and text[at - 1].isalnum():
        return None
    if sign in "~≈" and text[max(0, at - 7) : at].lower().strip().endswith(("about", "around")):
        return Hit(match.end(), "", "math")
    return Hit(match.end(), SIGN_WORDS[sign], "math")


def named_sign(source: Source, at: int) -> Hit | None:
    """Any other sign by its name; decorations say nothing."""
    text = source.text
    if match := LANGUAGES.match(text, at):
        names = {"+": "plus", "#": "sharp", "-": "minus"}
        said = [names.get(character, character) for character in match.group()]
        return Hit(match.end(), " ".join(said), "sign")
    if text.startswith("<!--", at):
        return Hit(at + 4, "", "bracket")
    if ANGLE.match(text, at) or (text[at] == ">" and ANGLE_BEFORE.search(text, max(0, at - 40), at)):
        return Hit(at + 1, "", "bracket")
    if text[at] == "$" and (
        text[at + 1 : at + 2].isalpha() or (at and not text[at - 1].isspace()) or FORMULA.match(text, at)
    ):
        return Hit(at + 1 + text.startswith("$", at + 1), "", "symbol")
    if text.startswith("<-", at) and text[at + 2 : at + 3].isdigit():
        return Hit(at + 1, SIGNS["<"], "math")
    if match := MULTI.match(text, at):
        if (
            match.group() in ("==", "||")
            and text[at - 1 : at].isalnum() != text[match.end() : match.end() + 1].isalnum()
        ):
            before, after = text[at - 1 : at] if at else " ", text[match.end() : match.end() + 1] or " "
            if not (before.isspace() and after.isspace()):
                return Hit(match.end(), "", "markup")
        said_sign = SEVERAL[match.group()]
        return Hit(match.end(), said_sign, "dash" if said_sign in "—…" else "math")
    character = text[at]
    if (
        character in GREEK
        and not (text[at + 1 : at + 2].isalpha() and text[at + 1] > "ʯ")
        and not (at and text[at - 1].isalpha() and text[at - 1] > "ʯ")
    ):
        return Hit(at + 1, GREEK[character], "greek")
    if character == "*" and KEY_BEFORE.search(text, max(0, at - 8), at) and not text[at + 1 : at + 2].isalnum():
        return Hit(at + 1, "star", "sign")
    if text.startswith("##", at):
        return Hit(at + 2, "", "symbol")
    if character == "*" and not FACTOR_BEFORE.search(text, max(0, at - 3), at):
        return Hit(at + 1, "", "symbol")
    said_one = SIGNS.get(character)
    if said_one and character in "$€£" and NAMED_AFTER.match(text, at + 1):
        said_one = said_one.removesuffix("s")
    return None if said_one is None else Hit(at + 1, said_one, "math")
