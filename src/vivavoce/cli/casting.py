"""Who speaks: the voice that was asked for, ready on this machine."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from ..engines.catalog import Catalog, Selection, default_catalog
from ..predictors.base import Predictor
from ..predictors.embedded import EmbeddedPredictor

__all__ = ["Role", "cast"]


@dataclass(frozen=True, slots=True)
class Role:
    """A voice, its language, and the predictor that speaks it."""

    catalog: Catalog
    selection: Selection
    predictor: Predictor

    @property
    def voice(self) -> str:
        """The real name of the voice."""
        return self.selection.voice.name

    @property
    def language(self) -> str:
        """The language of the text, a BCP 47 tag."""
        return self.selection.language

    @property
    def engine_threads(self) -> int | None:
        """How many threads the engine gives to one phrase; None where that is not its own choice."""
        threads = getattr(self.selection.engine, "threads", None)
        return threads if isinstance(threads, int) else None

    def resolve(self, voice: str | None, language: str) -> str:
        """The voice that markup inside the text asks for. Raises UnknownVoice, UnsupportedLanguage."""
        return self.catalog.resolve(voice, None, language).voice.name


@asynccontextmanager
async def cast(voice: str | None, language: str | None, *, threads: int | None = None) -> AsyncIterator[Role]:
    """Choose the voice and load it; on leaving, its threads are gone.

    Raises UnknownVoice, UnsupportedLanguage, VoiceNotInstalled, ModelCorrupt.
    """
    catalog = default_catalog() if threads is None else default_catalog(threads=threads, kokoro_threads=threads)
    selection = catalog.resolve(voice, None, language)
    predictor = EmbeddedPredictor(catalog, threads=threads)
    try:
        await predictor.load(selection.voice.name)
        yield Role(catalog, selection, predictor)
    finally:
        await asyncio.to_thread(predictor.close)
