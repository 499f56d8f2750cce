"""`vivavoce voices`: who can speak, and how to get those who cannot yet."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from .failures import FAILED
from .output import print_json, print_table
from .prose import prose

__all__ = ["register"]

EXAMPLES = prose(
    """
Examples:

  vivavoce voices

  vivavoce voices --language en-GB

  vivavoce voices --all --json

Exit codes: 0 listed · 1 there is no such voice here.
"""
)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("voices", epilog=EXAMPLES)(voices)


def voices(
    language: Annotated[
        str | None, typer.Option("--language", "-l", help="Only voices that speak this language, such as en or en-GB.")
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", "-a", help="Also voices whose model is not here, and how to get it.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the voices that can be spoken now."""
    from ..engines.catalog import default_catalog

    catalog = default_catalog()
    known = catalog.voices()
    if language:
        tag = language.replace("_", "-")
        known = tuple(entry for entry in known if catalog.engine_of(entry.name).speaks(entry.name, tag))
    shown = known if everything else tuple(entry for entry in known if entry.ready)
    if as_json:
        print_json([asdict(entry) for entry in shown])
    elif shown:
        headings = ["VOICE", "LANGUAGE", "ENGINE", "ALSO CALLED", "ABOUT"]
        rows = [
            [e.name, e.language, e.engine, ", ".join(e.aliases), ", ".join(p for p in (e.gender, e.description) if p)]
            for e in shown
        ]
        if everything:
            headings.append("HERE")
            for row, entry in zip(rows, shown, strict=True):
                row.append("yes" if entry.ready else f"no. {entry.hint}")
        print_table(headings, rows)
    if not shown:
        missing = len(known)
        hint = f"; `vivavoce voices --all` shows {missing} that can be brought here" if missing else ""
        typer.echo(f"vivavoce: no voice here{f' speaks {language}' if language else ''}{hint}", err=True)
        raise typer.Exit(FAILED)
    if (absent := len(known) - len(shown)) and not as_json:
        typer.echo(f"{absent} more can be brought here: vivavoce voices --all", err=True)
