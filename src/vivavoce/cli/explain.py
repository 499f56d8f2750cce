"""`vivavoce explain`: what would be said for a text, and the rule behind every word."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from .output import print_json, print_table
from .prose import prose
from .source import whole_text

__all__ = ["register"]

UNTOUCHED = ("plain", "punctuation")
PLAIN_KEYS = {"start", "end", "source", "words", "rule"}

HELP = prose(
    """
    Show what would be said for TEXT (or standard input), sentence by sentence, and the rule that chose each word.

    Places count the characters of the text. What is said as it stands is shown in one piece.
    """
)
EXAMPLES = prose(
    """
    Examples:

    vivavoce explain "It costs $5.3 million, i.e. 12 % more than in 2019."

    vivavoce explain --language de "Am 3. Juli um 14 Uhr"

    vivavoce explain --json --lexicon words.toml < page.txt

    Exit codes: 0 explained · 2 wrong usage, or a lexicon that cannot be read.
    """
)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("explain", help=HELP, epilog=EXAMPLES)(explain)


def explain(
    text: Annotated[
        list[str] | None, typer.Argument(metavar="TEXT", help='The text; "-" reads standard input.')
    ] = None,
    language: Annotated[str, typer.Option("--language", "-l", help="A tag such as en, en-GB or de.")] = "en",
    lexicon: Annotated[
        Path | None, typer.Option("--lexicon", metavar="FILE", help="TOML file of words and how to say them.")
    ] = None,
    name_emoji: Annotated[bool, typer.Option("--name-emoji", help="Say the names of emoji.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Explain; the help that users see stands above."""
    from ..text import Lexicon
    from ..text.explain import explanation

    words = Lexicon.load(lexicon) if lexicon else None
    told = explanation(whole_text(text), language, words, name_emoji=name_emoji)
    if as_json:
        print_json(told)
        return
    for number, segment in enumerate(told["segments"]):
        if number:
            print()
        print(segment["spoken"] or "(silence)")
        print_table(["AT", "WRITTEN", "SAID", "RULE"], [_row(part) for part in _together(segment["parts"], segment)])


def _together(parts: list[dict[str, Any]], segment: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The parts, those next to each other joined where nothing was done to them."""
    run: dict[str, Any] | None = None
    for part in parts:
        untouched = part["rule"] in UNTOUCHED and part["words"] == part["source"] and part.keys() == PLAIN_KEYS
        if run is not None and untouched:
            written = segment["text"][run["start"] - segment["start"] : part["end"] - segment["start"]]
            run |= {"end": part["end"], "source": written, "words": written, "rule": "plain"}
            continue
        if run is not None:
            yield run
            run = None
        if untouched:
            run = dict(part)
        else:
            yield part
    if run is not None:
        yield run


def _row(part: dict[str, Any]) -> list[str]:
    """One line of the table: where, what is written, what is said, and why."""
    said = [part["words"]] if part["words"] else []
    if part.get("pause_ms"):
        said.append(f"(pause {part['pause_ms']} ms)")
    said += [f"/{part['ipa']}/"] if part.get("ipa") else []
    said += [f"({name} {part[name]})" for name in ("rate", "language", "voice") if part.get(name)]
    return [f"{part['start']}-{part['end']}", _visible(part["source"]), " ".join(said) or "(nothing)", part["rule"]]


def _visible(source: str) -> str:
    """The source with its control characters shown."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "replace").decode() for c in source)
