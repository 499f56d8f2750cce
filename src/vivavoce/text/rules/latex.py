"""Commands of LaTeX as the signs that they print."""

from __future__ import annotations

import re

__all__ = ["command"]

SIGNS = {
    "times": "×", "cdot": "×", "div": "÷", "le": "≤", "leq": "≤", "ge": "≥", "geq": "≥", "neq": "≠", "approx": "≈",
    "pm": "±", "infty": "∞", "sum": "∑", "prod": "∏", "int": "∫", "partial": "∂", "to": "→", "rightarrow": "→",
    "Rightarrow": "⇒", "implies": "⇒", "iff": "⇔", "sqrt": "√", "in": "∈", "forall": "∀", "exists": "∃", "cup": "∪",
    "cap": "∩", "equiv": "≡", "propto": "∝", "circ": "°", "ldots": "…", "dots": "…", "cdots": "…", "left": "",
    "right": "", "text": "", "textbf": "", "textit": "", "mathrm": "", "mathbf": "", "mathbb": "", "operatorname": "",
    "boxed": "", "displaystyle": "", "quad": " ", "qquad": " ", "big": "", "Big": "", "bigg": "", "Bigg": "",
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "varepsilon": "ε", "zeta": "ζ", "eta": "η",
    "theta": "θ", "iota": "ι", "kappa": "κ", "lambda": "λ", "mu": "μ", "xi": "ξ", "pi": "π", "rho": "ρ", "sigma": "σ",
    "tau": "τ", "phi": "φ", "varphi": "φ", "chi": "χ", "psi": "ψ", "omega": "ω", "Gamma": "Γ", "Delta": "Δ",
    "Theta": "Θ", "Lambda": "Λ", "Xi": "Ξ", "Pi": "Π", "Sigma": "Σ", "Phi": "Φ", "Psi": "Ψ", "Omega": "Ω",
}  # fmt: skip
NAMES = frozenset(str.split("sin cos tan log ln exp lim max min"))
COMMAND = re.compile(r"\\([A-Za-z]{2,14})(?![A-Za-z])")
FRACTION = re.compile(r"\\[dt]?frac\{([^{}\n]{1,60})\}\{([^{}\n]{1,60})\}")


def command(text: str, at: int) -> tuple[int, list[tuple[str, int]]] | None:
    """The end of the command at `at`, and what to read for it: pieces of text, each with its place in the source."""
    if match := FRACTION.match(text, at):
        upper, lower = match[1], match[2]
        over = "/" if upper.isdecimal() and lower.isdecimal() else " ÷ "
        return match.end(), [(upper, match.start(1)), (over, match.end(1)), (lower, match.start(2))]
    match = COMMAND.match(text, at)
    if match is None:
        return None
    if match[1] in NAMES:
        return match.end(), [(match[1], at + 1)]
    if match[1] not in SIGNS:
        return None
    sign = SIGNS[match[1]]
    spaced = f" {sign} " if sign in "×÷≤≥≠≈±→⇒⇔" and sign else sign
    return match.end(), [(spaced, at)] if spaced else []
