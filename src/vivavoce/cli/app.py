"""The command line as a whole: its commands, its common options, and how it ends."""

from __future__ import annotations

import io
import os
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from .. import __version__
from . import adapter, bench, doctor, engine, explain, gateway, models, say, serve, version, voices
from .failures import ending
from .prose import prose

__all__ = ["app", "run"]

HELP = prose(
    """
Give a text a voice, on this machine.

vivavoce say "Hello" speaks at once; vivavoce serve opens the same voice to every OpenAI client.
"""
)

CODES = prose(
    """
Exit codes: 0 done · 1 failed · 2 wrong usage · 3 nothing to say · 4 the voice or its model is not installed ·
130 interrupted. A reader that leaves a pipe early is no failure.
"""
)


class Commands(TyperGroup):
    """The commands, each ending in one clear line and an exit code instead of a traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was asked for."""
        with ending(debug=bool(ctx.params.get("debug"))):
            return super().invoke(ctx)


app = typer.Typer(
    name="vivavoce",
    cls=Commands,
    help=HELP,
    epilog=CODES,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"vivavoce {__version__}")
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and leave.")
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", envvar="VIVAVOCE_DEBUG", help="Show the traceback when something fails.")
    ] = False,
) -> None:
    """Options that every command has."""


for module in (serve, gateway, engine, adapter, say, voices, explain, doctor, bench, version):
    module.register(app)
app.add_typer(models.app, name="models")


def run() -> None:
    """Run the command that the process was started with."""
    # Whoever closed a stream (`>&-`) wants nothing from it.
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal that cannot show a character shows a question mark; it is no reason to fail.
        sys.stdout.reconfigure(errors="replace")
    app(_debug_first(sys.argv[1:]), prog_name="vivavoce")


def _debug_first(arguments: list[str]) -> list[str]:
    """Let `--debug` stand anywhere before `--`, as people type it last."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    if "--debug" not in arguments[:end]:
        return arguments
    return ["--debug", *(word for word in arguments[:end] if word != "--debug"), *arguments[end:]]
