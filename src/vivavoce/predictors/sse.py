"""Server-sent events, from bytes that were cut anywhere. Pure."""

from __future__ import annotations

from ..errors import PredictorFailed

__all__ = ["EventReader"]

_MAX_EVENT_BYTES = 16 * 1024 * 1024


class EventReader:
    """Gives the data of each event as soon as the event is whole; names, ids and comments are left out."""

    def __init__(self) -> None:
        self._held = bytearray()
        self._looked = 0
        self._data: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> list[bytes]:
        """Take bytes, give the data of the events that ended in them. Raises PredictorFailed for one without an end."""
        self._held += data
        events: list[bytes] = []
        start = 0
        while (end := self._held.find(b"\n", max(start, self._looked))) >= 0:
            self._line(bytes(self._held[start:end]).removesuffix(b"\r"), events)
            start = end + 1
        del self._held[:start]
        self._looked = len(self._held)
        if len(self._held) + self._size > _MAX_EVENT_BYTES:
            raise PredictorFailed("The predictor sent an event without an end.")
        return events

    def finish(self) -> list[bytes]:
        """The data of an event that only the end of the stream ended."""
        return self.feed(b"\n\n")

    def _line(self, line: bytes, events: list[bytes]) -> None:
        if line.startswith(b"data:"):
            self._data.append(line[5:].removeprefix(b" "))
            self._size += len(line)
        elif not line and self._data:
            events.append(b"\n".join(self._data))
            self._data, self._size = [], 0
