"""Options that every command which opens doors has, and how it opens them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from ..api import Role

__all__ = [
    "AllowOpen",
    "ApiKeysFile",
    "Host",
    "LogFormat",
    "LogLevel",
    "ModelName",
    "Port",
    "PredictorPort",
    "Slots",
    "Tier",
    "open_doors",
]

PREDICTOR_PORT = 8_080

_PORT_VARIABLES = ["VIVAVOCE_PORT", "PORT"]

Host = Annotated[
    str | None, typer.Option("--host", envvar="VIVAVOCE_HOST", help="Address to listen on; 127.0.0.1 unless told.")
]
Port = Annotated[
    int | None,
    typer.Option("--port", "-p", min=0, max=65_535, envvar=_PORT_VARIABLES, help="Port; 8000 unless told."),
]
PredictorPort = Annotated[
    int, typer.Option("--port", "-p", min=0, max=65_535, envvar=_PORT_VARIABLES, help="Port to listen on.")
]
ApiKeysFile = Annotated[
    Path | None,
    typer.Option("--api-keys-file", envvar="VIVAVOCE_API_KEYS_FILE", metavar="FILE", help="One key a line, or TOML."),
]
AllowOpen = Annotated[
    bool, typer.Option("--allow-open", help="Serve others without keys: anyone who reaches the port may speak.")
]
ModelName = Annotated[
    str | None, typer.Option("--model-name", metavar="NAME", help="The V2 model's name; tts unless told.")
]
Slots = Annotated[
    int | None, typer.Option("--slots", min=1, help="Requests served at the same time; one more is refused at once.")
]
Tier = Annotated[str | None, typer.Option("--tier", help="Told to gateways with every reply: floor or burst.")]
LogLevel = Annotated[str | None, typer.Option("--log-level", help="debug, info, warning or error.")]
LogFormat = Annotated[str | None, typer.Option("--log-format", help="text or json.")]


def open_doors(role: Role, **told: Any) -> None:
    """Serve in that role until told to stop; what is None or False is left to the environment. Raises ConfigError."""
    from ..api import serve
    from ..config import Settings

    given = {name: value for name, value in told.items() if value is not None and value is not False}
    serve(Settings.load(**given), role=role)
