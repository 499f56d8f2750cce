"""Phrases that were spoken before are not made again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace

from ..engines.base import Chunk
from .base import Around, Deadline, Job, Predictor

__all__ = ["CachedPredictor"]

_CHUNK_OVERHEAD_BYTES = 512


class CachedPredictor(Around):
    """Keeps whole results of `inner` in memory, the least recently spoken leave first; nothing goes to disk.

    `limit_mb` bounds the samples kept (float32); 0 keeps nothing. Only results that were read to their end and hold
    more than silence are kept. The chunks of a hit are shared: their samples are read-only, and no endpoint is named
    for them.
    """

    def __init__(self, inner: Predictor, limit_mb: float = 64) -> None:
        super().__init__(inner)
        self._limit_bytes = int(limit_mb * 1_000_000)
        self._kept: OrderedDict[Job, tuple[Chunk, ...]] = OrderedDict()
        self.bytes = 0
        self.hits = 0
        self.misses = 0

    def holds(self, job: Job) -> bool:
        """Whether the job would be answered at once."""
        return job in self._kept

    async def synthesize(self, job: Job, deadline: Deadline | None = None) -> AsyncGenerator[Chunk]:
        """Speak the job, from memory where possible. Raises what the inner predictor raises."""
        kept = self._kept.get(job)
        if kept is not None:
            self.hits += 1
            self._kept.move_to_end(job)
            for chunk in kept:
                yield chunk
            return
        self.misses += 1
        made: list[Chunk] | None = []
        size = 0
        async with aclosing(self._inner.synthesize(job, deadline)) as chunks:
            async for chunk in chunks:
                size += _bytes(chunk)
                if size > self._limit_bytes:
                    made = None
                if made is not None:
                    chunk.samples.flags.writeable = False
                    made.append(replace(chunk, origin=None) if chunk.origin else chunk)
                yield chunk
        if made and any(chunk.samples.any() for chunk in made):
            self._keep(job, tuple(made), size)

    def _keep(self, job: Job, chunks: tuple[Chunk, ...], size: int) -> None:
        if job in self._kept:
            return
        self._kept[job] = chunks
        self.bytes += size
        while self.bytes > self._limit_bytes:
            _, oldest = self._kept.popitem(last=False)
            self.bytes -= sum(_bytes(chunk) for chunk in oldest)


def _bytes(chunk: Chunk) -> int:
    held = chunk.samples.base if chunk.samples.base is not None else chunk.samples
    return int(getattr(held, "nbytes", chunk.samples.nbytes)) + _CHUNK_OVERHEAD_BYTES
