"""`vivavoce adapter`: a server of /v1/audio/speech as a predictor."""

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
Stand beside a server of /v1/audio/speech, such as vLLM-Omni, and serve it as the Open Inference Protocol V2 at /v2.

The adapter is ready only while its engine really speaks. It holds the engine's slots, refuses what is over them at
once, and ends the engine's request as soon as its own caller leaves.

Every option is also an environment variable, and docs/settings.md has the rest of them.
"""
)

EXAMPLES = prose(
    """
Examples:

  vivavoce adapter --engine-url http://127.0.0.1:8000

  STREAMS_PER_GPU=4 MODEL_NAME=omnivoice vivavoce adapter --engine-url http://127.0.0.1:8000 --tier floor

Exit codes: 0 stopped when asked · 1 failed · 2 a setting cannot work.
"""
)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("adapter", help=HELP, epilog=EXAMPLES)(adapter)


def adapter(
    engine_url: Annotated[
        str | None, typer.Option("--engine-url", metavar="URL", help="Where the engine listens; needed.")
    ] = None,
    engine_model: Annotated[
        str | None,
        typer.Option("--engine-model", metavar="NAME", help="The model to ask the engine for, if it has several."),
    ] = None,
    host: Host = None,
    port: PredictorPort = PREDICTOR_PORT,
    model_name: ModelName = None,
    slots: Slots = None,
    tier: Tier = None,
    voice: Annotated[
        str | None,
        typer.Option("--voice", "-v", help="The voice of requests that name none; the engine's unless told."),
    ] = None,
    api_keys_file: ApiKeysFile = None,
    allow_open: AllowOpen = False,
    log_level: LogLevel = None,
    log_format: LogFormat = None,
) -> None:
    """Serve; the help that users see stands above."""
    open_doors(
        "adapter",
        engine_url=engine_url,
        engine_model=engine_model,
        host=host,
        port=port,
        model_name=model_name,
        slots=slots,
        tier=tier,
        default_voice=voice,
        api_keys_file=api_keys_file,
        allow_open=allow_open,
        log_level=log_level,
        log_format=log_format,
    )
