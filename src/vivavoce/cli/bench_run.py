"""A measured run of many requests, and its report."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from .casting import cast
from .machine import hardware
from .measure import Reading, summary
from .trial import NUMBER, Trial, embedded_trial, server_trial

__all__ = ["Plan", "measure"]

TIMEOUT_S = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is measured, and how often; without `url` it is the engine in this process."""

    text: str
    requests: int
    concurrency: int
    warm_up: int
    url: str | None = None
    voice: str | None = None
    language: str | None = None
    model: str = "tts-1"
    api_key: str | None = None
    threads: int | None = None


async def measure(plan: Plan) -> dict[str, Any]:
    """Run the plan: the machine, what was measured, a summary and every reading. Raises what a request raises."""
    async with _target(plan) as (facts, trial):
        for number in range(plan.warm_up):
            await trial(number)
        readings = await _all(trial, range(plan.warm_up, plan.warm_up + plan.requests), plan.concurrency)
    return {
        "hardware": hardware(),
        **facts,
        "text": plan.text,
        "repeated": NUMBER not in plan.text,
        "warm_up": plan.warm_up,
        "concurrency": plan.concurrency,
        "summary": summary(readings),
        "readings": [{name: round(value, 3) for name, value in asdict(reading).items()} for reading in readings],
    }


@asynccontextmanager
async def _target(plan: Plan) -> AsyncIterator[tuple[dict[str, Any], Trial]]:
    """What is measured, and one request to it."""
    if plan.url is None:
        async with cast(plan.voice, plan.language, threads=plan.threads) as role:
            facts = {"target": "engine", "engine": role.selection.engine.name, "voice": role.voice}
            threads = {"engine_threads": role.engine_threads, "slots": role.predictor.slots}
            yield {**facts, "language": role.language, **threads}, embedded_trial(plan.text, role)
        return
    import httpx

    keys = {"authorization": f"Bearer {plan.api_key}"} if plan.api_key else {}
    limits = httpx.Limits(max_connections=plan.concurrency)
    async with httpx.AsyncClient(base_url=_with_v1(plan.url), headers=keys, timeout=TIMEOUT_S, limits=limits) as client:
        body = {"model": plan.model, "voice": plan.voice or "alloy"}
        body |= {"language": plan.language} if plan.language else {}
        yield {"target": plan.url, **body}, server_trial(plan.text, client, body)


def _with_v1(url: str) -> str:
    """The address of the API: a server's bare address means its /v1."""
    address = urlsplit(url if "//" in url else f"http://{url}")
    return urlunsplit(address._replace(path=address.path.rstrip("/") or "/v1"))


async def _all(trial: Trial, numbers: Collection[int], concurrency: int) -> list[Reading]:
    """The readings, in the order in which requests ended."""
    waiting = iter(numbers)
    readings: list[Reading] = []

    async def caller() -> None:
        for number in waiting:
            readings.append(await trial(number))

    async with asyncio.TaskGroup() as callers:
        for _ in range(min(concurrency, len(numbers))):
            callers.create_task(caller())
    return readings
