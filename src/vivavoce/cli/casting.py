"""Who speaks: the voice that was asked for, ready on this machine."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from ..engines.catalog import USUAL_THREADS, Catalog, Selection, default_catalog
from ..predictors.base import Predictor
from ..predictors.embedded import EmbeddedPredictor

__all__ = ["Role", "cast"]


@dataclass(frozen=True, slots=True)
class Role:
    """A voice, its language, the predictor that speaks it, and how many threads one phrase of it may use."""

    catalog: Catalog
    selection: Selection
    predictor: Predictor
    engine_threads: int = 1

    @property
    def voice(self) -> str:
        """The real name of the voice."""
        return self.selection.voice.name

    @property
    def language(self) -> str:
        """The language of the text, a BCP 47 tag."""
        return self.selection.language


@asynccontextmanager
async def cast(voice: str | None, language: str | None, *, threads: int | None = None) -> AsyncIterator[Role]:
    """Choose the voice and load it; on leaving, its threads are gone. `threads` are those that one phrase may use.

    Raises UnknownVoice, UnsupportedLanguage, VoiceNotInstalled, ModelCorrupt.
    """
    given = {name: threads or usual for name, usual in USUAL_THREADS.items()}
    catalog = default_catalog(threads=given["hibari"], kokoro_threads=given["kokoro"])
    selection = catalog.resolve(voice, None, language)
    predictor = EmbeddedPredictor(catalog)
    try:
        await predictor.load(selection.voice.name)
        yield Role(catalog, selection, predictor, given.get(selection.engine.name, 1))
    finally:
        await asyncio.to_thread(predictor.close)
