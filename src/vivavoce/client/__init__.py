"""A client for vivavoce's servers: text in, speech out, also when a connection breaks on the way.

from vivavoce.client import Audio, connect

async with connect("ws://127.0.0.1:8000") as client:
    async for event in client.speak("Good morning."):
        if isinstance(event, Audio):
            play(event.pcm)
"""

from .client import Client, connect
from .connector import Secret
from .events import Audio, Done, Event, Queued, Resumed, Segment, SegmentEnded, Started, Word, Words
from .faults import ConnectionLost
from .servers import Patience
from .writer import Text

__all__ = [
    "Audio",
    "Client",
    "ConnectionLost",
    "Done",
    "Event",
    "Patience",
    "Queued",
    "Resumed",
    "Secret",
    "Segment",
    "SegmentEnded",
    "Started",
    "Text",
    "Word",
    "Words",
    "connect",
]
