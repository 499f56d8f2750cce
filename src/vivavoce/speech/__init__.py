"""The heart: an utterance's walk from text to PCM. No sockets, no models."""

from .events import Audio, Event, Finished, Outcome, SegmentEnd, SegmentStart, Timeline, Utterance, Word
from .pauses import Pauses
from .script import Resolve
from .utterance import speak_utterance

__all__ = [
    "Audio",
    "Event",
    "Finished",
    "Outcome",
    "Pauses",
    "Resolve",
    "SegmentEnd",
    "SegmentStart",
    "Timeline",
    "Utterance",
    "Word",
    "speak_utterance",
]
