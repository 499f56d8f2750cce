"""Settings, from `VIVAVOCE_…` environment variables or from arguments."""

from __future__ import annotations

import ipaddress
import os
import re
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AliasChoices, Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from .errors import ConfigError

__all__ = ["Settings"]

_ORIGIN = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/?#\s]+/?")


def _also(bare: str, field: str, **how: Any) -> Any:
    """A field that the variable `bare` sets too: the name that it has in manifests of TTS gateways."""
    return Field(validation_alias=AliasChoices(f"VIVAVOCE_{field.upper()}", bare), **how)


Words = Annotated[tuple[str, ...], NoDecode]
Secrets = Annotated[tuple[SecretStr, ...], NoDecode]


class Settings(BaseSettings):
    """How the server runs; every field is also the variable `VIVAVOCE_<NAME>`.

    Build it with `Settings.load`, which turns a wrong value into a ConfigError that names the variable.
    """

    model_config = SettingsConfigDict(
        env_prefix="VIVAVOCE_", frozen=True, extra="ignore", env_ignore_empty=True, populate_by_name=True
    )

    host: str = "127.0.0.1"
    port: int = Field(default=8000, ge=0, le=65_535)
    allow_open: bool = False
    """Serve beyond this machine without keys."""
    api_keys: Secrets = ()
    """Comma-separated in the environment."""
    api_keys_file: Path | None = _also("API_KEYS_FILE", "api_keys_file", default=None)
    """One key a line, or a TOML file of named keys with limits; read again whenever it changes."""
    cors_origins: Words = _also("ALLOWED_ORIGINS", "cors_origins", default=())
    """Web origins, besides the server's own, whose pages may call it; comma-separated."""
    token_secret: SecretStr | None = None
    """Signs resume tokens and browsers' tokens; the same on every gateway. None: made anew at every start."""
    token_ttl_s: float = Field(default=300.0, gt=0, le=86_400)
    """How long a token from POST /v1/tokens opens the doors."""
    resume_ttl_s: float = Field(default=900.0, gt=0)
    """How long an utterance may be taken up again."""
    admin_host: str = "127.0.0.1"
    admin_port: int | None = Field(default=None, ge=0, le=65_535)
    """Where /metrics and /stats are served; None: with everything else on loopback, on 9090 beyond it."""

    default_voice: str = Field(default="alloy", min_length=1)
    lexicon: Path | None = None
    """A TOML lexicon for every utterance."""
    cache_mb: float = Field(default=32.0, ge=0)
    """Memory for phrases spoken before; 0 switches the cache off."""

    max_input_chars: int = _also("MAX_TEXT_CHARS", "max_input_chars", default=100_000, ge=1)
    max_body_bytes: int = Field(default=1_048_576, ge=1_024)
    max_whole_mb: float = Field(default=256.0, gt=0)
    """Limit of one reply that is not streamed."""

    slots: int | None = _also("STREAMS_PER_GPU", "slots", default=None, ge=1)
    """Phrases made at the same time on one predictor; None leaves it to the predictor."""
    warm_capacity: int | None = _also("WARM_CAPACITY", "warm_capacity", default=None, ge=1)
    """Utterances spoken at the same time; None: as many as the ready predictors keep up with."""
    admission_enabled: bool = _also("ADMISSION_ENABLED", "admission_enabled", default=True)
    """false takes every utterance at once."""
    queue_limit: int = _also("QUEUE_MAX_DEPTH", "queue_limit", default=64, ge=0)
    """Utterances that may wait for their turn."""
    queue_timeout_s: float = _also("QUEUE_TIMEOUT_S", "queue_timeout_s", default=10.0, ge=0)
    lead_ms: float = Field(default=5_000.0, ge=500)
    """How far the speech of one WebSocket utterance is made ahead of its listener."""
    first_audio_target_ms: float = Field(default=150.0, ge=0)
    """A new utterance's first sound is due this long after its text; by it the slots weigh it against running ones."""
    stream_limit: int | None = Field(default=None, ge=1)
    """Utterances at the same time for one key, where its own entry says nothing."""
    characters_per_minute: int | None = Field(default=None, ge=1)
    """Characters a minute for one key, where its own entry says nothing."""

    predictor_url: Words = _also("PREDICTOR_URL", "predictor_url", default=())
    """Predictors of the gateway's floor tier, comma-separated: http(s)://host[:port] for KServe V2, with /v1 at the end
    for a /v1/audio/speech server, dns://host:port for every address behind a name, k8s://namespace/service[:port]."""
    burst_url: Words = _also("BURST_URL", "burst_url", default=())
    """Predictors that are used when the floor is taken."""
    model_name: str = _also("MODEL_NAME", "model_name", default="tts")
    """The model that predictors are asked for, and the one that the V2 door serves."""
    predictor_key: SecretStr | None = None
    """Sent to predictors as a bearer token."""
    engine_url: str | None = _also("ENGINE_URL", "engine_url", default=None)
    """The /v1/audio/speech server that the adapter stands beside."""
    engine_model: str | None = Field(default=None, min_length=1)
    """The model that the adapter asks its engine for; None names none."""
    tier: Literal["", "floor", "burst"] = _also("TIER", "tier", default="")
    """Told to whoever sends requests to this predictor: `floor` or `burst`."""
    node_name: str = _also("NODE_NAME", "node_name", default="")
    """Told likewise: where this predictor runs."""
    request_timeout_s: float = _also("REQUEST_TIMEOUT_S", "request_timeout_s", default=30.0, gt=0)
    """How long a predictor may take for one phrase."""
    connect_timeout_s: float = Field(default=1.0, gt=0)
    probe_interval_s: float = Field(default=2.0, gt=0)
    """How often each predictor is asked whether it is ready."""
    keep_alive: bool = False
    """Keep connections to predictors open between utterances."""
    otlp_endpoint: str | None = _also("OTEL_EXPORTER_OTLP_ENDPOINT", "otlp_endpoint", default=None)
    """Where traces go; None sends none."""
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

    @field_validator("api_keys", "cors_origins", "predictor_url", "burst_url", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        if isinstance(value, str):
            return tuple(word for word in (part.strip() for part in value.split(",")) if word)
        return value

    @field_validator("cors_origins")
    @classmethod
    def _origins(cls, origins: tuple[str, ...]) -> tuple[str, ...]:
        if not all(origin == "*" or _ORIGIN.fullmatch(origin) for origin in origins):
            raise ValueError("an origin is *, or a scheme, a host and perhaps a port, such as https://app.example.com")
        return origins

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

    @property
    def guarded(self) -> bool:
        """Whether callers need a key."""
        return bool(self.api_keys) or self.api_keys_file is not None

    def check_bind(self) -> None:
        """Refuse to serve strangers by accident. Raises ConfigError."""
        if self.loopback or self.allow_open or self.guarded:
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
        faults.append(f"{_variable(name.removeprefix('VIVAVOCE_'))}: {fault['msg']}")
    return "; ".join(faults)


def _variable(name: str) -> str:
    """The variable that set this, by its other name where that one was used."""
    field = Settings.model_fields.get(name.lower())
    names = field.validation_alias.choices if field and isinstance(field.validation_alias, AliasChoices) else []
    used = [str(one) for one in names if os.environ.get(str(one))]
    return used[0] if used else f"VIVAVOCE_{name}"
