"""What the doors ask of whoever knows the voices: this process's engines, or a pool of predictors."""

from __future__ import annotations

from typing import Protocol

from .base import Voice
from .catalog import ModelEntry, VoiceEntry

__all__ = ["Cast", "Casting"]


class Cast(Protocol):
    """Who speaks, in which language (a BCP 47 tag)."""

    @property
    def voice(self) -> Voice:
        """The voice."""
        ...

    @property
    def language(self) -> str:
        """The text's language."""
        ...


class Casting(Protocol):
    """Finds voices by name, model and language."""

    def resolve(self, voice: str | None, model: str | None, language: str | None) -> Cast:
        """Who is meant. Raises UnknownModel, UnknownVoice, UnsupportedLanguage, VoiceNotInstalled."""
        ...

    def cast(self, voice: str | None, language: str) -> str:
        """The real name of a voice that markup asks for. Raises as `resolve` does."""
        ...

    def voices(self) -> tuple[VoiceEntry, ...]:
        """Every voice that is known."""
        ...

    def models(self) -> tuple[ModelEntry, ...]:
        """Every model name that a request may carry."""
        ...

    def languages(self) -> dict[str, int]:
        """The tags of the languages that can be spoken now, each with its number of voices."""
        ...

    @property
    def designs(self) -> bool:
        """Whether a voice can be designed here, rather than only the nearest one be chosen."""
        ...
