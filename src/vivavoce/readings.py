"""The numbers that live elsewhere, read whenever somebody asks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

__all__ = ["FLOOR", "Cache", "PredictorState", "Reading", "Sources"]

FLOOR = "floor"
"""The tier of speech that was made here, or by a predictor that names none."""


class Cache(Protocol):
    """What a cache of phrases tells about itself."""

    bytes: int
    hits: int
    misses: int


class PredictorState(Protocol):
    """What is known of one predictor."""

    @property
    def endpoint(self) -> str:
        """Its address, or `embedded`."""
        ...

    @property
    def tier(self) -> str:
        """`floor` or `burst`; empty where nobody said."""
        ...

    @property
    def node(self) -> str:
        """The machine that it runs on, as far as it tells."""
        ...

    @property
    def model(self) -> str:
        """What speaks there."""
        ...

    @property
    def state(self) -> str:
        """`ready`, or a word for why it is not."""
        ...

    @property
    def slots(self) -> int:
        """Phrases that it makes at the same time, now."""
        ...

    @property
    def streams(self) -> int:
        """Utterances that it keeps up with, now."""
        ...

    @property
    def outstanding(self) -> int:
        """Phrases of ours that it is making."""
        ...

    @property
    def requests(self) -> int:
        """Phrases that it was asked for."""
        ...

    @property
    def failures(self) -> int:
        """How many of them it failed at."""
        ...


@dataclass(frozen=True, slots=True)
class Reading:
    """What is the case now: utterances spoken and waiting, connections, slots, streams by tier, predictors."""

    streams: int
    queue: int
    connections: int
    slots: int
    slots_busy: int
    capacity: Mapping[str, float]
    predictors: Sequence[PredictorState]


class Sources(Collector):
    """Asks for the numbers that live elsewhere whenever Prometheus, or anybody, does."""

    def __init__(self) -> None:
        self.slots: Callable[[], int] = int
        self.busy: Callable[[], int] = int
        self.waiting: Callable[[], int] = int
        self.connections: Callable[[], int] = int
        self.capacity: Callable[[], Mapping[str, float]] = dict
        self.predictors: Callable[[], Sequence[PredictorState]] = tuple
        self.cache: Cache | None = None

    def collect(self) -> Iterator[Metric]:
        """All of them, for Prometheus."""
        yield GaugeMetricFamily("tts_queue_depth", "Utterances that wait for their turn.", value=self.waiting())
        yield GaugeMetricFamily("tts_connections", "WebSocket connections that are open.", value=self.connections())
        yield GaugeMetricFamily("tts_slots", "Phrases that can be made at the same time.", value=self.slots())
        yield GaugeMetricFamily("tts_slots_busy", "Phrases that are under way.", value=self.busy())
        capacity = GaugeMetricFamily(
            "tts_capacity_streams", "Utterances that the ready predictors keep up with.", labels=("tier",)
        )
        for tier, streams in ({FLOOR: 0.0} | dict(self.capacity())).items():
            capacity.add_metric([tier], streams)
        yield capacity
        known = GaugeMetricFamily("tts_predictors", "Predictors that are known.", labels=("tier", "state"))
        for key, count in Counter((p.tier or FLOOR, p.state) for p in self.predictors()).items():
            known.add_metric(key, count)
        yield known
        if (cache := self.cache) is not None:
            yield CounterMetricFamily("tts_cache_hits", "Phrases that were spoken before.", value=cache.hits)
            yield CounterMetricFamily("tts_cache_misses", "Phrases that had to be made.", value=cache.misses)
            yield GaugeMetricFamily("tts_cache_bytes", "Memory that kept phrases take.", value=cache.bytes)
