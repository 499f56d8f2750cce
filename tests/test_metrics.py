"""What is counted."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from vivavoce.engines.base import Origin
from vivavoce.metrics import Metrics
from vivavoce.speech import SegmentEnd, Timeline


def spoken(**more) -> Timeline:
    times = {
        "received_ms": 100.0,
        "first_audio_ms": 130.0,
        "ended_ms": 400.0,
        "audio_ms": 2_000.0,
        "synthesis_ms": 50.0,
    }
    return Timeline(**{**times, **more})


@dataclass(frozen=True)
class Known:
    endpoint: str
    tier: str = ""
    state: str = "ready"


def test_an_utterance_is_counted_with_its_times():
    metrics = Metrics()
    metrics.ended("openai", "ok", spoken())
    value = metrics.registry.get_sample_value
    assert value("tts_utterances_total", {"door": "openai", "outcome": "ok"}) == 1
    assert value("tts_ttfa_seconds_sum", {"door": "openai"}) == 0.03
    assert value("tts_rtf_ratio_sum", {"door": "openai"}) == 0.025
    assert value("tts_audio_seconds_total", {"door": "openai"}) == 2
    assert value("tts_errors_total", {"door": "openai", "code": "busy"}) is None


def test_one_that_never_sounded_has_no_times():
    metrics = Metrics()
    metrics.ended("openai", "shed", Timeline(received_ms=1.0), "busy")
    metrics.ended("openai", "error", None, "internal_error")
    value = metrics.registry.get_sample_value
    assert value("tts_utterances_total", {"door": "openai", "outcome": "shed"}) == 1
    assert value("tts_errors_total", {"door": "openai", "code": "busy"}) == 1
    assert value("tts_ttfa_seconds_count", {"door": "openai"}) is None


def test_numbers_that_live_elsewhere_are_read_when_asked():
    class Cache:
        bytes, hits, misses = 10, 2, 3

    metrics, busy = Metrics(), 0
    metrics.watch(slots=4, busy=lambda: busy, waiting=lambda: 7, cache=Cache())
    busy = 3
    text = metrics.render().decode()
    for line in ("tts_slots 4.0", "tts_slots_busy 3.0", "tts_queue_depth 7.0", "tts_cache_hits_total 2.0"):
        assert f"\n{line}\n" in text


def test_registries_are_apart():
    first, second = Metrics(), Metrics()
    first.ended("openai", "ok", spoken())
    assert second.registry.get_sample_value("tts_utterances_total", {"door": "openai", "outcome": "ok"}) is None


def test_every_name_that_dashboards_rely_on_is_there_before_anything_happened():
    """What scales a pool must read 0, not nothing, on a gateway that has not spoken yet."""
    text = Metrics().render().decode()
    for name in (
        "tts_queue_depth",
        "tts_event_loop_lag_seconds",
        "tts_connections",
        'tts_capacity_streams{tier="floor"}',
    ):
        assert f"\n{name} 0.0\n" in text
    for door in ("openai", "websocket"):
        assert f'tts_streams_active{{door="{door}"}} 0.0\n' in text
    for family in (
        *("tts_ttfa_seconds histogram", "tts_ttfa_perceived_seconds histogram", "tts_rtf_ratio histogram"),
        *("tts_queue_wait_seconds histogram", "tts_synthesis_seconds histogram", "tts_cancel_seconds histogram"),
        *("tts_audio_seconds_total counter", "tts_utterances_total counter", "tts_underruns_total counter"),
        "tts_predictor_requests_total counter",
    ):
        assert f"# TYPE {family}\n" in text


def test_what_is_heard_first_counts_its_silence():
    metrics = Metrics()
    metrics.ended("websocket", "ok", spoken(leading_silence_ms=20.0))
    assert metrics.registry.get_sample_value("tts_ttfa_seconds_sum", {"door": "websocket"}) == 0.03
    assert metrics.registry.get_sample_value("tts_ttfa_perceived_seconds_sum", {"door": "websocket"}) == 0.05


def test_a_ratio_of_a_two_hundredth_has_a_bucket_of_its_own():
    metrics = Metrics()
    metrics.ended("openai", "ok", spoken(audio_ms=10_000.0, synthesis_ms=48.0))
    value = metrics.registry.get_sample_value
    assert value("tts_rtf_ratio_bucket", {"door": "openai", "le": "0.005"}) == 1


def test_segments_are_counted_where_they_were_made():
    metrics = Metrics()
    segments = [
        SegmentEnd(0, 900.0, 40.0),
        SegmentEnd(1, 800.0, 60.0, 5.0, Origin("http://a", "floor", "node-1", "m")),
        SegmentEnd(2, 700.0, 300.0, 0.0, Origin("http://b", "burst", "node-2", "m")),
    ]
    metrics.ended("websocket", "ok", spoken(segments=segments, underruns=2, retries=1))
    value = metrics.registry.get_sample_value
    assert value("tts_synthesis_seconds_count", {"door": "websocket", "tier": "floor"}) == 2
    assert value("tts_synthesis_seconds_sum", {"door": "websocket", "tier": "burst"}) == 0.3
    assert value("tts_underruns_total", {"door": "websocket"}) == 2
    assert value("tts_retries_total", {"door": "websocket"}) == 1


@pytest.mark.parametrize("outcome", ["ok", "cancelled", "client_gone", "error"])
def test_what_started_is_active_until_it_ends_however_it_ends(outcome):
    metrics = Metrics()
    value = metrics.registry.get_sample_value
    one, other = spoken(admitted_ms=110.0), spoken(admitted_ms=100.0)
    metrics.started("websocket", one)
    metrics.started("websocket", other)
    assert (metrics.running(), value("tts_streams_active", {"door": "websocket"})) == (2, 2)
    metrics.ended("websocket", outcome, one)
    assert (metrics.running(), value("tts_streams_active", {"door": "websocket"})) == (1, 1)
    assert value("tts_queue_wait_seconds_sum", {"door": "websocket"}) == 0.01
    assert value("tts_utterances_total", {"door": "websocket", "outcome": outcome}) == 1


def test_what_was_refused_never_was_active():
    metrics = Metrics()
    metrics.ended("websocket", "shed", Timeline(5.0), "busy", "queue_full")
    metrics.ended("openai", "shed", Timeline(5.0), "busy")
    value = metrics.registry.get_sample_value
    assert value("tts_streams_active", {"door": "websocket"}) == 0
    assert value("tts_busy_total", {"reason": "queue_full"}) == 1
    assert value("tts_busy_total", {"reason": "busy"}) == 1


def test_capacity_and_predictors_are_read_when_asked():
    metrics = Metrics()
    ready = {"floor": 25.0, "burst": 4.0}
    known = [Known("http://a", "floor"), Known("http://b"), Known("http://c", "burst", "ejected")]
    metrics.watch(capacity=lambda: ready, predictors=lambda: known)
    value = metrics.registry.get_sample_value
    assert value("tts_capacity_streams", {"tier": "burst"}) == 4
    assert value("tts_predictors", {"tier": "floor", "state": "ready"}) == 2
    assert value("tts_predictors", {"tier": "burst", "state": "ejected"}) == 1
    reading = metrics.read()
    assert (reading.streams, reading.capacity, reading.predictors) == (0, {"floor": 25, "burst": 4}, tuple(known))
    ready.clear()
    assert value("tts_capacity_streams", {"tier": "floor"}) == 0
    assert value("tts_capacity_streams", {"tier": "burst"}) is None


def test_requests_to_predictors_are_counted_by_tier_and_result():
    metrics = Metrics()
    metrics.predictor_request("burst", "ok", 0.2)
    metrics.predictor_request("burst", "refused", 0.001)
    metrics.predictor_request("", "failed")
    value = metrics.registry.get_sample_value
    assert value("tts_predictor_requests_total", {"tier": "burst", "result": "ok"}) == 1
    assert value("tts_predictor_requests_total", {"tier": "floor", "result": "failed"}) == 1
    assert value("tts_predictor_request_seconds_count", {"tier": "burst"}) == 1


def test_listeners_hear_of_every_end_once():
    metrics, heard = Metrics(), []
    metrics.listen(heard.append)
    timeline = spoken()
    metrics.ended("websocket", "shed", timeline, "busy", "draining")
    assert [(e.door, e.outcome, e.timeline, e.code, e.reason) for e in heard] == [
        ("websocket", "shed", timeline, "busy", "draining")
    ]
