"""`vivavoce serve`: open the doors."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .doors import AllowOpen, ApiKeysFile, Host, LogFormat, LogLevel, Port, open_doors
from .prose import prose

__all__ = ["register"]

HELP = prose(
    """
Serve the page at / and the OpenAI speech API at /v1 until Ctrl-C or SIGTERM.

Every option is also an environment variable, and docs/settings.md has the rest of them. Without keys only this machine
is served; set VIVAVOCE_API_KEYS (comma-separated) or give --api-keys-file to serve others.
"""
)

EXAMPLES = prose(
    """
Examples:

  vivavoce serve

  PORT=8123 vivavoce serve

  VIVAVOCE_API_KEYS=secret vivavoce serve --host 0.0.0.0

  vivavoce serve --voice nova --log-format json

Exit codes: 0 stopped when asked · 1 failed · 2 a setting cannot work.
"""
)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("serve", help=HELP, epilog=EXAMPLES)(serve)


def serve(
    host: Host = None,
    port: Port = None,
    api_keys_file: ApiKeysFile = None,
    allow_open: AllowOpen = False,
    voice: Annotated[
        str | None, typer.Option("--voice", "-v", help="The voice of requests that name none; alloy unless told.")
    ] = None,
    lexicon: Annotated[
        Path | None, typer.Option("--lexicon", metavar="FILE", help="TOML file of words and how to say them.")
    ] = None,
    cache_mb: Annotated[
        float | None, typer.Option("--cache-mb", min=0, help="Memory for phrases spoken before; 0 keeps none.")
    ] = None,
    slots: Annotated[int | None, typer.Option("--slots", min=1, help="Phrases made at the same time.")] = None,
    log_level: LogLevel = None,
    log_format: LogFormat = None,
) -> None:
    """Serve; the help that users see stands above."""
    open_doors(
        "serve",
        host=host,
        port=port,
        api_keys_file=api_keys_file,
        allow_open=allow_open,
        default_voice=voice,
        lexicon=lexicon,
        cache_mb=cache_mb,
        slots=slots,
        log_level=log_level,
        log_format=log_format,
    )
