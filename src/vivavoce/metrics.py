"""What the server tells Prometheus; no name depends on the engine behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.gc_collector import GCCollector
from prometheus_client.process_collector import ProcessCollector

from .speech.events import Timeline

__all__ = ["Metrics"]

TTFA_BUCKETS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0)
RTF_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0, 1.25, 1.5, 2.0, 5.0)
WAIT_BUCKETS_S = (0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0)


class Cache(Protocol):
    """What a cache of phrases tells about itself."""

    bytes: int
    hits: int
    misses: int


class _CacheCollector:
    """Reads a cache's own counters whenever somebody asks."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache

    def collect(self) -> Iterator[Metric]:
        cache = self._cache
        yield CounterMetricFamily("tts_cache_hits", "Phrases that were spoken before.", value=cache.hits)
        yield CounterMetricFamily("tts_cache_misses", "Phrases that had to be made.", value=cache.misses)
        yield GaugeMetricFamily("tts_cache_bytes", "Memory that kept phrases take.", value=cache.bytes)


class Metrics:
    """The counters of one server, in a registry of their own. `door` names the contract that a client came in by."""

    content_type = "text/plain; version=0.0.4; charset=utf-8"

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        GCCollector(registry=self.registry)
        door = ("door",)
        self.utterances = Counter(
            "tts_utterances_total", "Utterances that ended.", (*door, "outcome"), registry=self.registry
        )
        self.errors = Counter(
            "tts_errors_total",
            "Utterances that ended in an error, by its code.",
            (*door, "code"),
            registry=self.registry,
        )
        self.active = Gauge("tts_streams_active", "Utterances being spoken now.", door, registry=self.registry)
        self.waiting = Gauge("tts_queue_depth", "Utterances that wait for their turn.", registry=self.registry)
        self.slots = Gauge("tts_slots", "Phrases that can be made at the same time.", registry=self.registry)
        self.slots_busy = Gauge("tts_slots_busy", "Phrases that are under way.", registry=self.registry)
        self.wait = Histogram(
            "tts_queue_wait_seconds", "Wait for a turn.", door, buckets=WAIT_BUCKETS_S, registry=self.registry
        )
        self.ttfa = Histogram(
            "tts_ttfa_seconds",
            "From an utterance's receipt to its first audio.",
            door,
            buckets=TTFA_BUCKETS_S,
            registry=self.registry,
        )
        self.rtf = Histogram(
            "tts_rtf_ratio", "Synthesis time over audio time.", door, buckets=RTF_BUCKETS, registry=self.registry
        )
        self.audio = Counter("tts_audio_seconds_total", "Speech made.", door, registry=self.registry)
        self.synthesis = Counter("tts_synthesis_seconds_total", "Time spent making it.", door, registry=self.registry)
        self.characters = Counter("tts_input_characters_total", "Characters taken in.", door, registry=self.registry)

    def watch(
        self, *, slots: int, busy: Callable[[], int], waiting: Callable[[], int], cache: Cache | None = None
    ) -> None:
        """Say where the numbers that live elsewhere are read from."""
        self.slots.set(slots)
        self.slots_busy.set_function(busy)
        self.waiting.set_function(waiting)
        if cache is not None:
            self.registry.register(_CacheCollector(cache))

    def ended(self, door: str, outcome: str, timeline: Timeline | None, code: str = "") -> None:
        """Count an utterance, once, at its end; `code` is that of the error it ended in."""
        self.utterances.labels(door, outcome).inc()
        if code:
            self.errors.labels(door, code).inc()
        if timeline is None:
            return
        if timeline.ttfa_ms is not None:
            self.ttfa.labels(door).observe(timeline.ttfa_ms / 1000)
        if timeline.audio_ms:
            self.audio.labels(door).inc(timeline.audio_ms / 1000)
            self.synthesis.labels(door).inc(timeline.synthesis_ms / 1000)
        if timeline.rtf:
            self.rtf.labels(door).observe(timeline.rtf)

    def render(self) -> bytes:
        """Everything, in Prometheus' text format."""
        return generate_latest(self.registry)
