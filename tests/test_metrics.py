"""What is counted."""

from __future__ import annotations

from vivavoce.metrics import Metrics
from vivavoce.speech import Timeline


def spoken() -> Timeline:
    return Timeline(received_ms=100.0, first_audio_ms=130.0, ended_ms=400.0, audio_ms=2_000.0, synthesis_ms=50.0)


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
