"""The heart: an utterance's walk from text to PCM. No sockets, no models."""

from .events import Audio, Event, Finished, Outcome, SegmentEnd, SegmentStart, Timeline, Utterance, Word
from .listener import Listener
from .pauses import Pauses
from .script import Resolve
from .slots import ScheduledPredictor, Slots, Ticket
from .utterance import speak_utterance

__all__ = [
    "Audio",
    "Event",
    "Finished",
    "Listener",
    "Outcome",
    "Pauses",
    "Resolve",
    "ScheduledPredictor",
    "SegmentEnd",
    "SegmentStart",
    "Slots",
    "Ticket",
    "Timeline",
    "Utterance",
    "Word",
    "speak_utterance",
]
