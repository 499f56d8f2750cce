"""What the server tells Prometheus; no name depends on the engine behind it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.gc_collector import GCCollector
from prometheus_client.process_collector import ProcessCollector

from .readings import FLOOR, Cache, PredictorState, Reading, Sources
from .speech.events import Timeline

__all__ = ["FLOOR", "Ending", "Metrics"]

_DOORS = ("openai", "websocket", "v2")

TTFA_BUCKETS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0)
RTF_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0, 1.25, 1.5, 2.0, 5.0)
WAIT_BUCKETS_S = (0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0)
WORK_BUCKETS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 2.0, 5.0, 10.0, 30.0)
CANCEL_BUCKETS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.25, 0.5, 1.0, 2.5)


@dataclass(frozen=True, slots=True)
class Ending:
    """How one utterance ended; `code` is that of the error it ended in, `reason` why it was refused."""

    door: str
    outcome: str
    timeline: Timeline | None
    code: str = ""
    reason: str = ""


class Metrics:
    """The counters of one server, in a registry of their own. `door` names the contract that a client came in by.

    An utterance is `started` when it is admitted and `ended` exactly once, whether it was admitted or not.
    """

    content_type = "text/plain; version=0.0.4; charset=utf-8"

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        GCCollector(registry=self.registry)
        door = ("door",)
        self.utterances = self._counter("tts_utterances_total", "Utterances that ended.", "door", "outcome")
        self.errors = self._counter(
            "tts_errors_total", "Utterances that ended in an error, by its code.", "door", "code"
        )
        self.refusals = self._counter("tts_busy_total", "Utterances that were refused, by the reason.", "reason")
        self.active = self._gauge("tts_streams_active", "Utterances being spoken now.", "door")
        self.loop_lag = self._gauge(
            "tts_event_loop_lag_seconds", "The latest that the event loop came to anything in the last ten seconds."
        )
        self.wait = self._histogram("tts_queue_wait_seconds", "Wait for a turn.", WAIT_BUCKETS_S, *door)
        self.ttfa = self._histogram(
            "tts_ttfa_seconds", "From an utterance's receipt to its first audio.", TTFA_BUCKETS_S, *door
        )
        self.perceived = self._histogram(
            "tts_ttfa_perceived_seconds", "The same, and the silence that it begins with.", TTFA_BUCKETS_S, *door
        )
        self.rtf = self._histogram("tts_rtf_ratio", "Synthesis time over audio time.", RTF_BUCKETS, *door)
        self.synthesis = self._histogram(
            "tts_synthesis_seconds", "Time spent making one segment.", WORK_BUCKETS_S, "door", "tier"
        )
        self.cancels = self._histogram(
            "tts_cancel_seconds", "From a cancel, or a client's leaving, to the freed slot.", CANCEL_BUCKETS_S
        )
        self.audio = self._counter("tts_audio_seconds_total", "Speech made.", "door")
        self.characters = self._counter("tts_input_characters_total", "Characters taken in.", "door")
        self.underruns = self._counter("tts_underruns_total", "Times that a listener ran dry.", "door")
        self.retries = self._counter("tts_retries_total", "Phrases that were made again, there or elsewhere.", "door")
        self.requests = self._counter("tts_predictor_requests_total", "Phrases asked of predictors.", "tier", "result")
        self.request_seconds = self._histogram(
            "tts_predictor_request_seconds", "How long predictors took for a phrase.", WORK_BUCKETS_S, "tier"
        )
        for name in _DOORS:
            self.active.labels(name)  # a pool is scaled by it: 0 is another answer than none
        self._sources = Sources()
        self.registry.register(self._sources)
        self._spoken_now: dict[int, Timeline] = {}
        self._hear_end: list[Callable[[Ending], None]] = []
        self._hear_start: list[Callable[[str, Timeline], None]] = []

    @property
    def speaking(self) -> int:
        """Utterances that have started and not ended."""
        return len(self._spoken_now)

    def running(self) -> int:
        """How much is under way: utterances spoken or waiting, and phrases being made."""
        reading = self.read()
        return max(reading.streams + reading.queue, reading.slots_busy)

    def watch(
        self,
        *,
        slots: int | Callable[[], int] | None = None,
        busy: Callable[[], int] | None = None,
        waiting: Callable[[], int] | None = None,
        connections: Callable[[], int] | None = None,
        capacity: Callable[[], Mapping[str, float]] | None = None,
        predictors: Callable[[], Sequence[PredictorState]] | None = None,
        cache: Cache | None = None,
    ) -> None:
        """Say where the numbers that live elsewhere are read from; may be called again with others.

        `capacity` gives streams by tier.
        """
        sources = self._sources
        if slots is not None:
            sources.slots = slots if callable(slots) else lambda: slots
        sources.busy = busy or sources.busy
        sources.waiting = waiting or sources.waiting
        sources.connections = connections or sources.connections
        sources.capacity = capacity or sources.capacity
        sources.predictors = predictors or sources.predictors
        sources.cache = cache or sources.cache

    def read(self) -> Reading:
        """What is the case now."""
        sources = self._sources
        return Reading(
            streams=int(sum(sample.value for family in self.active.collect() for sample in family.samples)),
            queue=sources.waiting(),
            connections=sources.connections(),
            slots=sources.slots(),
            slots_busy=sources.busy(),
            capacity=dict(sources.capacity()),
            predictors=tuple(sources.predictors()),
        )

    def listen(self, ended: Callable[[Ending], None], started: Callable[[str, Timeline], None] | None = None) -> None:
        """Call `ended` once for every utterance that ends, and `started` for every one that was admitted."""
        self._hear_end.append(ended)
        if started is not None:
            self._hear_start.append(started)

    def started(self, door: str, timeline: Timeline) -> None:
        """Note that an utterance was admitted: until `ended` is told the same timeline it is being spoken."""
        self._spoken_now[id(timeline)] = timeline
        self.active.labels(door).inc()
        if timeline.admitted_ms is not None:
            self.wait.labels(door).observe((timeline.admitted_ms - timeline.received_ms) / 1000)
        for hear in self._hear_start:
            hear(door, timeline)

    def ended(self, door: str, outcome: str, timeline: Timeline | None, code: str = "", reason: str = "") -> None:
        """Count an utterance, once, at its end; `code` is that of the error it ended in, `reason` a refusal's."""
        self.utterances.labels(door, outcome).inc()
        if code:
            self.errors.labels(door, code).inc()
        if outcome == "shed":
            self.refusals.labels(reason or code or "full").inc()
        if timeline is not None:
            if self._spoken_now.pop(id(timeline), None) is not None:
                self.active.labels(door).dec()
            self._times(door, timeline)
        for hear in self._hear_end:
            hear(Ending(door, outcome, timeline, code, reason))

    def cancelled(self, seconds: float) -> None:
        """Note how long a cancelled utterance, or one whose client left, held what it held."""
        self.cancels.observe(seconds)

    def predictor_request(self, tier: str, result: str, seconds: float | None = None) -> None:
        """Count a phrase that a predictor was asked for: `ok`, `refused`, `failed`, `timeout` or `cancelled`."""
        self.requests.labels(tier or FLOOR, result).inc()
        if seconds is not None and result == "ok":
            self.request_seconds.labels(tier or FLOOR).observe(seconds)

    def render(self) -> bytes:
        """Everything, in Prometheus' text format."""
        return generate_latest(self.registry)

    def _times(self, door: str, timeline: Timeline) -> None:
        if timeline.ttfa_ms is not None:
            self.ttfa.labels(door).observe(timeline.ttfa_ms / 1000)
        if timeline.perceived_ttfa_ms is not None:
            self.perceived.labels(door).observe(timeline.perceived_ttfa_ms / 1000)
        if timeline.audio_ms:
            self.audio.labels(door).inc(timeline.audio_ms / 1000)
        if timeline.rtf:
            self.rtf.labels(door).observe(timeline.rtf)
        for segment in timeline.segments:
            tier = segment.origin.tier if segment.origin else ""
            self.synthesis.labels(door, tier or FLOOR).observe(segment.synthesis_ms / 1000)
        if timeline.underruns:
            self.underruns.labels(door).inc(timeline.underruns)
        if timeline.retries:
            self.retries.labels(door).inc(timeline.retries)

    def _counter(self, name: str, says: str, *labels: str) -> Counter:
        return Counter(name, says, labels, registry=self.registry)

    def _gauge(self, name: str, says: str, *labels: str) -> Gauge:
        return Gauge(name, says, labels, registry=self.registry)

    def _histogram(self, name: str, says: str, buckets: tuple[float, ...], *labels: str) -> Histogram:
        return Histogram(name, says, labels, buckets=buckets, registry=self.registry)
