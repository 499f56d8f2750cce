"""The pool that the settings ask for."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

from ..clock import Clock
from ..config import Settings
from ..engines.base import Origin
from ..errors import ConfigError
from .discovery import StaticSource, Target, source_for
from .http_speech import HttpSpeechPredictor
from .pool import Pool
from .remote import RemotePredictor, Times
from .upstream import Upstream
from .v2 import V2Predictor

__all__ = ["pool_from_settings"]


def pool_from_settings(settings: Settings, clock: Clock | None = None) -> Pool:
    """A pool over the floor's and the burst's predictors; opens nothing before `start`. Raises ConfigError.

    Where the only predictor stands behind a name, and `warm_capacity` is set, the name is taken for a load balancer's:
    so many jobs go there at the same time, whatever one of the servers behind it says of its own slots.
    """
    told = [(url, tier) for tier, urls in _tiers(settings).items() for url in urls]
    if not told:
        raise ConfigError("a gateway needs predictors: set VIVAVOCE_PREDICTOR_URL")
    interval_s = settings.probe_interval_s
    sources = [source_for(url, tier, interval_s=interval_s) for url, tier in told]
    is_shared = len(sources) == 1 and isinstance(sources[0], StaticSource) and _is_name(told[0][0])
    key = settings.predictor_key.get_secret_value() if settings.predictor_key else None
    upstream = Upstream(key=key, connect_timeout_s=settings.connect_timeout_s, keep_alive=settings.keep_alive)
    times = Times(settings.request_timeout_s, max(settings.connect_timeout_s, min(interval_s / 2, 1.0)))
    slots_behind = settings.warm_capacity if is_shared else None

    def connect(target: Target) -> RemotePredictor:
        origin = Origin(target.url, target.tier, target.node, settings.model_name)
        if target.kind == "speech":
            return HttpSpeechPredictor(
                target.url,
                model=settings.model_name,
                upstream=upstream,
                origin=origin,
                slots=slots_behind or settings.slots,
                times=times,
            )
        return V2Predictor(
            target.url,
            model=settings.model_name,
            upstream=upstream,
            origin=origin,
            slots=settings.slots,
            slots_behind=slots_behind,
            times=times,
        )

    return Pool(
        sources,
        connect,
        clock=clock,
        request_s=settings.request_timeout_s,
        probe_interval_s=interval_s,
        on_close=upstream.aclose,
    )


def _tiers(settings: Settings) -> dict[str, tuple[str, ...]]:
    return {"floor": settings.predictor_url, "burst": settings.burst_url}


def _is_name(url: str) -> bool:
    """Whether the address is a name that others may stand behind, not a machine's number."""
    host = urlsplit(url if "://" in url else f"http://{url}").hostname or ""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return host != "localhost"
    return False
