"""How fast each engine speaks on this machine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ..clock import Clock, MonotonicClock
from ..errors import VivavoceError
from ..predictors.cached import CachedPredictor
from .casting import Role, cast
from .measure import Reading, summary
from .trial import embedded_trial

__all__ = ["TEXTS", "paces"]

# A word, a button and a sentence of twenty words: what a screen reader says, and what an assistant does.
TEXTS = (
    "OK",
    "Submit button",
    "When the rain stopped we walked down to the old harbour and watched the small boats come home with fish.",
)
# A slow engine is not asked for all runs: a doctor who takes minutes is not called.
BUDGET_MS = 6_000.0
FEWEST_RUNS = 3


async def paces(runs: int, tell: Callable[[str], None], clock: Clock | None = None) -> list[dict[str, Any]]:
    """Measure one voice of every engine that can speak, text by text, after one phrase to warm up."""
    from ..engines.catalog import default_catalog

    ticks = clock or MonotonicClock()
    found: list[dict[str, Any]] = []
    for engine in default_catalog().engines:
        ready = engine.ready_voices()
        if not ready:
            continue
        voice = next((known for known in ready if known.language.startswith("en")), ready[0])
        tell(f"measuring {engine.name} …")
        try:
            async with cast(voice.name, None) as role:
                found += [await _pace(role, text, runs, ticks) for text in TEXTS]
        except VivavoceError as error:
            found.append({"engine": engine.name, "voice": voice.name, "text": "", "problem": error.message})
    return found


async def _pace(role: Role, text: str, runs: int, clock: Clock) -> dict[str, Any]:
    """One text: spoken anew each time, then from memory."""
    await embedded_trial(text, role, clock)(0)
    anew = await _repeat(role, text, runs, clock)
    remembered = replace(role, predictor=CachedPredictor(role.predictor))
    await embedded_trial(text, remembered, clock)(0)
    cached = await _repeat(remembered, text, runs, clock)
    numbers = summary(anew)
    return {
        "engine": role.selection.engine.name,
        "voice": role.voice,
        "text": text,
        "words": len(text.split()),
        "threads": role.engine_threads,
        "runs": len(anew),
        "ttfa_ms": numbers["ttfa_ms"],
        "rtf": numbers["rtf"],
        "cached_ttfa_ms": summary(cached)["ttfa_ms"],
        "problem": None,
    }


async def _repeat(role: Role, text: str, runs: int, clock: Clock) -> list[Reading]:
    trial, begun_ms = embedded_trial(text, role, clock), clock.now_ms()
    readings: list[Reading] = []
    while len(readings) < runs and (len(readings) < FEWEST_RUNS or clock.now_ms() - begun_ms < BUDGET_MS):
        readings.append(await trial(len(readings)))
    return readings
