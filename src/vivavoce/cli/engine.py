"""`vivavoce engine`: this machine's voices as a predictor."""

from __future__ import annotations

from typing import Annotated

import typer

from .doors import (
    PREDICTOR_PORT,
    AllowOpen,
    ApiKeysFile,
    Host,
    LogFormat,
    LogLevel,
    ModelName,
    PredictorPort,
    Slots,
    Tier,
    open_doors,
)
from .prose import prose

__all__ = ["register"]

HELP = prose(
    """
Serve this machine's voices as a predictor: the Open Inference Protocol V2 at /v2, and /v1/audio/speech.

A pool of them stands behind vivavoce gateway; KServe's and Triton's clients speak with each of them too. One request
takes one slot, and one more than there are slots is refused at once, so that its sender can go elsewhere.

Every option is also an environment variable, and docs/settings.md has the rest of them.
"""
)

EXAMPLES = prose(
    """
Examples:

  vivavoce engine

  vivavoce engine --port 8081 --model-name omnivoice --tier burst

  curl -s localhost:8080/v2/models/tts/generate -d '{"text_input": "Hello."}'

Exit codes: 0 stopped when asked · 1 failed · 2 a setting cannot work.
"""
)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("engine", help=HELP, epilog=EXAMPLES)(engine)


def engine(
    host: Host = None,
    port: PredictorPort = PREDICTOR_PORT,
    model_name: ModelName = None,
    slots: Slots = None,
    tier: Tier = None,
    voice: Annotated[
        str | None, typer.Option("--voice", "-v", help="The voice of requests that name none; alloy unless told.")
    ] = None,
    cache_mb: Annotated[
        float | None, typer.Option("--cache-mb", min=0, help="Memory for phrases spoken before; 0 keeps none.")
    ] = None,
    api_keys_file: ApiKeysFile = None,
    allow_open: AllowOpen = False,
    log_level: LogLevel = None,
    log_format: LogFormat = None,
) -> None:
    """Serve; the help that users see stands above."""
    open_doors(
        "engine",
        host=host,
        port=port,
        model_name=model_name,
        slots=slots,
        tier=tier,
        default_voice=voice,
        cache_mb=cache_mb,
        api_keys_file=api_keys_file,
        allow_open=allow_open,
        log_level=log_level,
        log_format=log_format,
    )
