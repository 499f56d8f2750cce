"""How many listeners `vivavoce serve` holds with hibari, what it does to those that are too many, and at what speed."""

from __future__ import annotations

import statistics
from typing import Any

from engine_multiple import engine_multiple
from load import Load
from report import Report, percentile
from server import Server, serving

__all__ = ["run"]

THREADS = 2
SENTENCES = 5
SHARES = (0.3, 0.45, 0.6, 0.65, 0.7, 0.8)
DRY_SHARE = 0.001
TTFA_MS = 300.0
# Of the sound that all listeners hear in a window: what comes before it, as lead, varies by about this much.
FULL_SHARE = 0.8


def run(smoke: bool = False) -> Report:
    """Measure; `smoke` takes few samples, for a look."""
    report = Report("streams_held", "Real-time streams that `vivavoce serve` holds with hibari")
    ramp_s, measure_s = (4.0, 5.0) if smoke else (20.0, 15.0)
    before = engine_multiple(2.0 if smoke else 6.0, THREADS)
    multiple = before["multiple"]
    levels: list[dict[str, Any]] = []
    with serving({"VIVAVOCE_LOG_LEVEL": "warning"}) as server, Load(server.port, sentences=SENTENCES, seed=3) as load:
        for share in SHARES[:2] if smoke else SHARES:
            listeners = max(1, round(share * multiple * (0.1 if smoke else 1)))
            load.hold(listeners, ramp_s if not levels else ramp_s / 3)
            levels.append(_measured(server, load, measure_s, f"{share} of the engine's multiple"))
            if not _held(levels[-1]):
                break
        best = max(filter(_held, levels), key=lambda level: level["listeners"], default=levels[0])
        for times in (2, 3):
            load.hold(best["listeners"] * times, ramp_s / 2)
            levels.append(_measured(server, load, 2 * measure_s, f"{times} times the streams held"))
    after = engine_multiple(2.0 if smoke else 6.0, THREADS)
    multiple = statistics.fmean((before["multiple"], after["multiple"]))
    report.raw = {"engine": [before, after], "levels": levels}
    _judge(report, multiple, best, levels)
    return report


def _measured(server: Server, load: Load, for_s: float, name: str) -> dict[str, Any]:
    level = load.measure(for_s)
    stats = server.stats()
    level["server"] = {key: stats[key] for key in ("streams", "queue", "capacity", "slots", "event_loop_lag_ms")}
    return {"level": name} | level


def _held(level: dict[str, Any]) -> bool:
    """Whether all who asked were spoken at once and in real time, and as good as none of them ran dry."""
    is_fluent = bool(level["utterances"]) and level["utterances_dry"] < DRY_SHARE * level["utterances"]
    is_prompt = _p(level["ttfa_ms"], 0.95) <= TTFA_MS or not level["ttfa_ms"]
    return is_fluent and is_prompt and level["audio_s"] >= FULL_SHARE * level["listeners"] * level["window_s"]


def _judge(report: Report, multiple: float, best: dict[str, Any], levels: list[dict[str, Any]]) -> None:
    twice, thrice = levels[-2:]
    report.add(f"hibari's own multiple of real time, {THREADS} threads, nobody waiting", multiple, "x")
    held = best["listeners"] if _held(best) else 0
    report.add("streams held", held, "", note=f"underruns in {best['utterances_dry']} of {best['utterances']}")
    report.add("streams held / the engine's own multiple", held / multiple, at_least=0.6)
    report.add("TTFA p95 at that load", _p(best["ttfa_ms"], 0.95), "ms", at_most=TTFA_MS)
    report.add("TTFA p50 at that load", _p(best["ttfa_ms"], 0.5), "ms")
    report.add("event-loop lag p99 at that load", _lag(best), "ms", at_most=50)
    report.add("event-loop lag p99 at twice that load", _lag(twice), "ms")
    refused = twice["refused_ms"] or thrice["refused_ms"]
    at = "twice" if twice["refused_ms"] else "three times"
    report.add(f"refusal p99 at {at} that load", _p(refused, 0.99), "ms", at_most=20, note=f"{len(refused)} refused")
    report.add("TTFA p95 after admission, at twice that load", _p(twice["ttfa_admitted_ms"], 0.95), "ms")
    dry = twice["utterances_dry"] / max(1, twice["utterances"])
    report.add("utterances with underruns, at twice that load", dry * 100, "%")
    goodput = [level["good_audio_s"] / level["window_s"] for level in levels]
    report.add(
        "goodput, best of all loads", max(goodput), "x", note="seconds of sound a second, of utterances never dry"
    )
    report.add("goodput at three times that load / the best", goodput[-1] / max(goodput), at_least=0.95)
    report.notes += [
        "A stream is a listener with a connection of its own who asks for five sentences (about 20 s), hears them to the "
        "end in real time, and asks for five others; no sentence is ever the same. An underrun is any moment at which "
        "the listener has nothing to play, from the first sound on, with no buffer before it. Settings are the "
        "defaults: queue of 64, lead of 5 s.",
        "Held: underruns in less than 0.1 % of the utterances, TTFA p95 within 300 ms, and all of the sound in real time. "
        "The load grows until a level is not held, or the last is.",
        "The load generator runs on the same cores, in a process of its own; its share of one core is in the JSON "
        "(`load_cpu_share`), and so is how late it comes itself (`load_lag_ms`). The engine's own multiple is the mean of a run before and one after.",
        "Refusal: from the request to `busy`, of those that were refused at once because the queue was full. Who is "
        "refused comes back after `retry_after_ms`. Twice and three times the load are measured for twice as long.",
        "Event-loop lag is the server's own `/stats`, p99 over a minute.",
    ]


def _p(values: list[float], share: float) -> float:
    return percentile(values, share) if values else float("nan")


def _lag(level: dict[str, Any]) -> float:
    return float(level["server"]["event_loop_lag_ms"]["p99"] or 0.0)
