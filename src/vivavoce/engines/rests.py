"""Dashes and ellipses that are heard: hibari's own pause for them is often too short to notice."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .reading import PUNCTUATION

__all__ = ["Plan", "with_rests"]

# From one word's last symbol to the next one's first; some 100 ms of it belong to the sounds beside it.
_SHORTEST_MS = {"—": 300.0, "…": 375.0}


@dataclass(frozen=True, slots=True)
class Plan:
    """What a phrase will sound like, frame by frame.

    `features` is `[1, channels, frames]`, `f0_hz` the pitch `[frames]`; `steps` counts the steps (of a fixed number of
    frames each) of every input, of which the first and the last are the silence around the phrase.
    """

    features: npt.NDArray[np.float32]
    f0_hz: npt.NDArray[np.float32]
    steps: npt.NDArray[np.int64]


def with_rests(plan: Plan, symbols: str, speed: float, step_ms: float) -> Plan:
    """Put silence into a plan wherever a dash or an ellipsis between two words is too short at that speed."""
    after: dict[int, int] = {}
    for is_pause, run in itertools.groupby(range(len(symbols)), lambda index: symbols[index] in PUNCTUATION):
        places = list(run)
        marks = [index for index in places if symbols[index] in _SHORTEST_MS]
        if not is_pause or not marks or not places[0] or places[-1] == len(symbols) - 1:
            continue
        wanted_ms = max(_SHORTEST_MS[symbols[index]] for index in marks) / speed
        has_ms = step_ms * int(plan.steps[places[0] + 1 : places[-1] + 2].sum())
        if wanted_ms > has_ms:
            after[marks[-1] + 1] = round((wanted_ms - has_ms) / step_ms)
    if not after or not plan.steps[0]:
        return plan
    return _inserted(plan, after)


def _inserted(plan: Plan, after: dict[int, int]) -> Plan:
    """Silence of so many steps at the end of those inputs, made of a frame out of the silence before the phrase."""
    frames_per_step = len(plan.f0_hz) // int(plan.steps.sum())
    steps, ends = plan.steps.copy(), np.cumsum(plan.steps) * frames_per_step
    silent = int(ends[0]) // 2
    order: list[npt.NDArray[np.int64]] = []
    begin = 0
    for index, more in after.items():
        order += [np.arange(begin, ends[index]), np.full(more * frames_per_step, silent)]
        begin = int(ends[index])
        steps[index] += more
    frames = np.concatenate([*order, np.arange(begin, len(plan.f0_hz))])
    return Plan(plan.features[:, :, frames], plan.f0_hz[frames], steps)
