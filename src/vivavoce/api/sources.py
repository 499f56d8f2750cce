"""Where a server's speech comes from: the engines of this process, or predictors elsewhere."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from ..clock import Clock
from ..config import Settings
from ..engines.casting import Casting
from ..engines.catalog import Catalog
from ..errors import VivavoceError
from ..metrics import FLOOR
from ..predictors.base import Predictor
from ..predictors.pool_catalog import PoolCatalog

if TYPE_CHECKING:
    from ..predictors.endpoint import EndpointState
    from ..predictors.pool import Observe

__all__ = ["Role", "Source", "embedded_source", "source_of"]

Role = Literal["serve", "gateway", "engine", "adapter"]
"""What a server is: the whole product, the front of a pool, one predictor, or the V2 door of a foreign engine."""


class Elsewhere(Predictor, Protocol):
    """A predictor that is not in this process, and may come and go."""

    on_change: Callable[[], None] | None
    observe: Observe | None

    @property
    def endpoints(self) -> Sequence[EndpointState]:
        """Who is behind it."""
        ...

    async def start(self) -> None:
        """Begin to look for them."""
        ...

    async def aclose(self) -> None:
        """Let go of them."""
        ...


async def _nothing() -> None:
    """Start or stop what needs neither."""


@dataclass(slots=True)
class Source:
    """A predictor, who knows its voices, and how it comes and goes.

    `default_voice` speaks for requests that name none; without one the predictor chooses. `elsewhere` is the predictor
    itself where it is not in this process; one that is here has to speak once before it is ready. `warm_capacity` is
    the operator's word for how many utterances are kept ahead of their listeners.
    """

    predictor: Predictor
    catalog: Casting
    default_voice: str | None
    elsewhere: Elsewhere | None = None
    warm_capacity: int | None = None
    start: Callable[[], Awaitable[None]] = _nothing
    close: Callable[[], Awaitable[None]] = _nothing

    @property
    def endpoints(self) -> Sequence[EndpointState]:
        """Who is behind a predictor elsewhere."""
        return self.elsewhere.endpoints if self.elsewhere is not None else ()

    @property
    def ready(self) -> bool:
        """Whether a job could be made now."""
        if self.elsewhere is None:
            return self.predictor.slots > 0
        return any(endpoint.state in ("ready", "slow_start") for endpoint in self.endpoints)

    @property
    def usual_voice(self) -> str:
        """The real name of the voice that speaks for requests that name none; empty where that is not known."""
        try:
            return self.catalog.resolve(self.default_voice, None, None).voice.name
        except VivavoceError:
            return ""

    def capacity(self) -> Mapping[str, float]:
        """Utterances that are kept ahead of their listeners, by tier."""
        if self.warm_capacity is not None:
            return {FLOOR: float(self.warm_capacity)}
        if self.elsewhere is None:
            return {FLOOR: float(self.predictor.streams(self.usual_voice))}
        tiers: dict[str, float] = {}
        for endpoint in self.endpoints:
            tiers[endpoint.tier or FLOOR] = tiers.get(endpoint.tier or FLOOR, 0.0) + endpoint.streams
        return tiers


def source_of(role: Role, settings: Settings, clock: Clock) -> Source:
    """The source of a server in that role. Raises ConfigError."""
    if role == "gateway":
        from ..predictors.pool_setup import pool_from_settings

        return _elsewhere(settings, pool_from_settings(settings, clock))
    if role == "adapter":
        from .adapter import engine_from_settings

        return _elsewhere(settings, engine_from_settings(settings, clock))
    return embedded_source(settings)


def embedded_source(settings: Settings, catalog: Catalog | None = None) -> Source:
    """The engines of this process."""
    from ..engines.catalog import default_catalog
    from ..predictors.embedded import EmbeddedPredictor

    catalog = catalog or default_catalog()
    predictor = EmbeddedPredictor(catalog, threads=settings.slots)
    # Closing waits for engine steps that are running.
    return Source(predictor, catalog, settings.default_voice, close=lambda: asyncio.to_thread(predictor.close))


def _elsewhere(settings: Settings, predictor: Elsewhere) -> Source:
    return Source(
        predictor,
        PoolCatalog(predictor, settings.model_name),
        settings.default_voice if "default_voice" in settings.model_fields_set else None,
        elsewhere=predictor,
        start=predictor.start,
        close=predictor.aclose,
    )
