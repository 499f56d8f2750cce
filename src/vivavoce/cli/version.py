"""`vivavoce version`: which one this is."""

from __future__ import annotations

import platform
from typing import Annotated

import typer

from .. import __version__
from .output import print_json

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("version")(version)


def version(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Show the version of vivavoce, of Python and of the system; put it into bug reports.

    Example: vivavoce version --json
    """
    facts = {
        "vivavoce": __version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
    }
    if as_json:
        print_json(facts)
    else:
        typer.echo(f"vivavoce {facts['vivavoce']} (Python {facts['python']}, {facts['system']})")
