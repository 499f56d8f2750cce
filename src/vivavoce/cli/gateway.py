"""`vivavoce gateway`: open the doors before a pool of predictors."""

from __future__ import annotations

from typing import Annotated

import typer

from .doors import AllowOpen, ApiKeysFile, Host, LogFormat, LogLevel, Port, open_doors
from .prose import prose

__all__ = ["register"]

HELP = prose(
    """
Serve the page at /, the WebSocket at /ws/synthesize and the OpenAI speech API at /v1 before a pool of predictors.

Predictors are KServe V2 servers (http://host:8080), servers of /v1/audio/speech (http://host:8000/v1), every address
behind a name (dns://host:8080), or those of a Kubernetes Service (k8s://namespace/service:8080). They may come and go.

Every option is also an environment variable, and docs/settings.md has the rest of them.
"""
)

EXAMPLES = prose(
    """
Examples:

  vivavoce gateway --predictor-url http://127.0.0.1:8080

  vivavoce gateway --predictor-url k8s://voice/tts-floor:8080 --burst-url k8s://voice/tts-burst:8080

  PREDICTOR_URL=http://one:8080,http://two:8080 vivavoce gateway --host 0.0.0.0 --api-keys-file keys.toml

Exit codes: 0 stopped when asked · 1 failed · 2 a setting cannot work.
"""
)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("gateway", help=HELP, epilog=EXAMPLES)(gateway)


def gateway(
    predictor_url: Annotated[
        str | None, typer.Option("--predictor-url", metavar="URL[,URL]", help="Predictors that are used first.")
    ] = None,
    burst_url: Annotated[
        str | None, typer.Option("--burst-url", metavar="URL[,URL]", help="Predictors for when those are taken.")
    ] = None,
    model_name: Annotated[
        str | None, typer.Option("--model-name", metavar="NAME", help="The model asked for; tts unless told.")
    ] = None,
    capacity: Annotated[
        int | None,
        typer.Option("--capacity", min=1, help="Utterances spoken at once; as many as the predictors can unless told."),
    ] = None,
    host: Host = None,
    port: Port = None,
    api_keys_file: ApiKeysFile = None,
    allow_open: AllowOpen = False,
    voice: Annotated[
        str | None, typer.Option("--voice", "-v", help="The voice of requests that name none; theirs unless told.")
    ] = None,
    log_level: LogLevel = None,
    log_format: LogFormat = None,
) -> None:
    """Serve; the help that users see stands above."""
    open_doors(
        "gateway",
        predictor_url=predictor_url,
        burst_url=burst_url,
        model_name=model_name,
        warm_capacity=capacity,
        host=host,
        port=port,
        api_keys_file=api_keys_file,
        allow_open=allow_open,
        default_voice=voice,
        log_level=log_level,
        log_format=log_format,
    )
