"""Version numbers, section numbers and IP addresses."""

from __future__ import annotations

import re

from .hit import Hit, Source
from .numbers import cardinal, digits, label, pairs
from .web import path_words

__all__ = ["dotted", "versioned"]

IP = re.compile(
    r"([0-9]{1,3}(?:\.[0-9]{1,3}){3})(?![0-9]|\.[0-9])(?:/([0-9]{1,2})(?![0-9A-Za-z]))?(?::([0-9]{1,5}))?(/[^\s<>\"']{0,200})?"
)
WIRELESS = re.compile(r"802\.([0-9]{1,2})([a-z]{0,2})(?![0-9A-Za-z])")
DOTTED = re.compile(
    r"[0-9]{1,6}(?:\.[0-9]{1,6}){2,12}(?![0-9]|\.[0-9])(?:[-+]?(?:alpha|beta|rc|dev|a|b)[.]?([0-9]{0,4}))?"
)
FLOOD = re.compile(r"[0-9]{1,6}(?:\.[0-9]{1,6}){13,}+\.?")
V = re.compile(
    r"(?:v|V(?=[0-9]{1,4}\.[0-9]))(?:er|ersion)?\.?[ ]?([0-9]{1,4}(?:\.[0-9]{1,6}){0,8})(?![0-9])(?:-?(alpha|beta|rc)[.]?([0-9]{0,4}))?(?![A-Za-z])"
)
SECTION = re.compile(r"([A-Z])\.([0-9]{1,4}(?:\.[0-9]{1,4}){0,6})(?![0-9A-Za-z])")
STAGES = {"alpha": "alpha", "beta": "beta", "rc": "R C", "dev": "dev", "a": "alpha", "b": "beta"}


def _points(text: str) -> str:
    return " point ".join(_piece(piece) for piece in text.split("."))


def _piece(piece: str) -> str:
    return digits(piece) if piece[0] == "0" and len(piece) > 1 else cardinal(int(piece))


def _stage(name: str | None, count: str | None) -> str:
    if not name:
        return ""
    return f" {STAGES[name]}" + (f" {cardinal(int(count))}" if count else "")


def dotted(source: Source, at: int) -> Hit | None:
    """`192.168.0.1:80/x` with dots, `1.2.3` with points."""
    text = source.text
    if match := WIRELESS.match(text, at):
        letters = " ".join(match[2].upper())
        return Hit(match.end(), f"eight oh two dot {cardinal(int(match[1]))} {letters}".strip(), "version")
    if match := IP.match(text, at):
        words = " dot ".join(pairs(piece) for piece in match[1].split("."))
        if match[2]:
            words += f" slash {cardinal(int(match[2]))}"
        if match[3]:
            words += f" colon {pairs(match[3])}"
        path = (match[4] or "").rstrip(".,;:!?)")
        end = match.end() - (len(match[4] or "") - len(path))
        return Hit(end, words + path_words(path), "address")
    if match := DOTTED.match(text, at):
        stage = re.search(r"alpha|beta|rc|dev|a|b", match.group())
        numbers = re.match(r"[0-9.]+", match.group())
        said = _points(numbers.group().rstrip(".")) if numbers else ""
        return Hit(match.end(), said + _stage(stage and stage.group(), match[1]), "version")
    if match := FLOOD.match(text, at):
        return Hit(match.end(), _points(match.group().rstrip(".")), "version")
    return None


def versioned(source: Source, at: int) -> Hit | None:
    """`v1.2.3` is `version one point two point three`, `G.2` is `G point two`."""
    if match := V.match(source.text, at):
        return Hit(match.end(), f"version {_points(match[1])}{_stage(match[2], match[3])}", "version")
    if match := SECTION.match(source.text, at):
        return Hit(
            match.end(), f"{match[1]} point {' point '.join(label(piece) for piece in match[2].split('.'))}", "section"
        )
    return None
