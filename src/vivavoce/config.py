"""Settings, from `VIVAVOCE_…` environment variables or from arguments."""

from __future__ import annotations

import ipaddress
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from .errors import ConfigError

__all__ = ["Settings"]

Words = Annotated[tuple[str, ...], NoDecode]
Secrets = Annotated[tuple[SecretStr, ...], NoDecode]


class Settings(BaseSettings):
    """How the server runs; every field is also the variable `VIVAVOCE_<NAME>`.

    Build it with `Settings.load`, which turns a wrong value into a ConfigError that names the variable.
    """

    model_config = SettingsConfigDict(env_prefix="VIVAVOCE_", frozen=True, extra="ignore", env_ignore_empty=True)

    host: str = "127.0.0.1"
    port: int = Field(default=8000, ge=0, le=65_535)
    allow_open: bool = False
    """Serve beyond this machine without keys."""
    api_keys: Secrets = ()
    """Comma-separated in the environment."""
    api_keys_file: Path | None = None
    """One key a line; blank lines and lines that start with # are skipped."""
    cors_origins: Words = ()
    """Web origins, besides the server's own, whose pages may call it; comma-separated."""

    default_voice: str = Field(default="alloy", min_length=1)
    lexicon: Path | None = None
    """A TOML lexicon for every utterance."""
    cache_mb: float = Field(default=32.0, ge=0)
    """Memory for phrases spoken before; 0 switches the cache off."""

    max_input_chars: int = Field(default=100_000, ge=1)
    max_body_bytes: int = Field(default=1_048_576, ge=1_024)
    max_whole_mb: float = Field(default=256.0, gt=0)
    """Limit of one reply that is not streamed."""

    slots: int | None = Field(default=None, ge=1)
    """Phrases made at the same time; None leaves it to the predictor."""
    max_streams: int = Field(default=64, ge=1)
    """Utterances spoken at the same time."""
    queue_limit: int = Field(default=64, ge=0)
    """Utterances that may wait for their turn."""
    queue_timeout_s: float = Field(default=10.0, ge=0)
    body_timeout_s: float = Field(default=30.0, gt=0)
    """How long a client may take to send its request."""
    stall_timeout_s: float = Field(default=300.0, gt=0)
    """How long a client may leave its audio unread."""
    grace_s: int = Field(default=30, ge=0)
    """How long running utterances may take to finish once the server is told to stop."""

    log_level: Literal["debug", "info", "warning", "error"] = "info"
    log_format: Literal["text", "json"] = "text"

    @classmethod
    def load(cls, **overrides: Any) -> Self:
        """Read the environment, then what is passed here. Raises ConfigError."""
        try:
            return cls(**overrides)
        except ValidationError as error:
            raise ConfigError(_explain(error)) from None

    @field_validator("api_keys", "cors_origins", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        if isinstance(value, str):
            return tuple(word for word in (part.strip() for part in value.split(",")) if word)
        return value

    @field_validator("log_level", "log_format", mode="before")
    @classmethod
    def _lower(cls, value: object) -> object:
        return value.lower() if isinstance(value, str) else value

    @property
    def loopback(self) -> bool:
        """Whether only this machine can reach the server."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host.strip("[]")).is_loopback
        except ValueError:
            return False

    def keys(self) -> tuple[bytes, ...]:
        """Every key that opens the doors, from the variable and from the file. Raises ConfigError."""
        keys = [key.get_secret_value() for key in self.api_keys]
        if self.api_keys_file is not None:
            try:
                lines = self.api_keys_file.read_text(encoding="utf-8").splitlines()
            except (OSError, UnicodeDecodeError) as error:
                reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
                raise ConfigError(f"VIVAVOCE_API_KEYS_FILE cannot be read: {reason}") from None
            found = [line.strip() for line in lines if line.strip() and not line.strip().startswith("#")]
            if not found:
                raise ConfigError("VIVAVOCE_API_KEYS_FILE holds no key")
            keys += found
        if not all(key.isascii() and key.isprintable() for key in keys):
            raise ConfigError("a key may hold printable ASCII only: not every client can send other characters")
        return tuple(key.encode("ascii") for key in keys)

    def check_bind(self) -> None:
        """Refuse to serve strangers by accident. Raises ConfigError."""
        if self.loopback or self.allow_open or self.keys():
            return
        raise ConfigError(
            f"serving on {self.host} would let anyone who reaches this machine use it: set VIVAVOCE_API_KEYS, "
            "or VIVAVOCE_ALLOW_OPEN=1 if that is what you want"
        )


def _explain(error: ValidationError) -> str:
    """Name each wrong setting and what is wrong with it, without its value (it may be a key)."""
    faults = []
    for fault in error.errors(include_url=False, include_input=False, include_context=False):
        name = str(fault["loc"][0]).upper() if fault["loc"] else "SETTINGS"
        faults.append(f"VIVAVOCE_{name}: {fault['msg']}")
    return "; ".join(faults)
