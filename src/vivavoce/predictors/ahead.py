"""Connections that are opened before they are asked for, where phrases follow each other closely."""

from __future__ import annotations

import asyncio
import math
from contextlib import suppress

from .addresses import Addresses, Place
from .exchange import Exchange

__all__ = ["Ahead"]

# So many requests in a row, each so soon after the one before, make the next one likely.
_IN_A_ROW, _CLOSE_S = 8, 0.1
# By then the sound of the reply before it has left.
_WAIT_S = 0.003
_IDLE_S = 0.25

Door = tuple[str, int, bool]


class Ahead:
    """At most one open and unused connection a door, so that a first sound does not wait for a handshake.

    It is opened where eight requests have come in a row, each within a tenth of a second of the one before, and closed
    when no other has come for a quarter of one: a predictor that is asked now and then never sees a connection without
    a request. Each still carries one request, and a server is chosen for each.
    """

    def __init__(self, addresses: Addresses, connect_timeout_s: float) -> None:
        self._addresses = addresses
        self._connect_timeout_s = connect_timeout_s
        self._asked: dict[Door, tuple[float, int]] = {}
        self._open: dict[Door, tuple[Exchange, asyncio.TimerHandle]] = {}
        self._coming: dict[Door, asyncio.TimerHandle | asyncio.Task[None]] = {}

    def take(self, place: Place) -> Exchange | None:
        """The connection that is open already, where there is one. It is the caller's from now on."""
        found = self._open.pop(place.door, None)
        if found is None:
            return None
        exchange, timer = found
        timer.cancel()
        if exchange.is_reusable and not exchange.has_news:
            return exchange
        exchange.close()
        return None

    def asked(self, place: Place) -> None:
        """A request was made there; where they follow each other closely, the next one finds a connection."""
        door, loop = place.door, asyncio.get_running_loop()
        now_s = loop.time()
        last_s, in_a_row = self._asked.get(door, (-math.inf, 0))
        in_a_row = in_a_row + 1 if now_s - last_s < _CLOSE_S else 1
        self._asked[door] = now_s, in_a_row
        if in_a_row >= _IN_A_ROW and door not in self._open and door not in self._coming:
            self._coming[door] = loop.call_later(_WAIT_S, self._begin, place)

    def close(self) -> None:
        """Close what is open."""
        for coming in self._coming.values():
            coming.cancel()
        for exchange, timer in self._open.values():
            timer.cancel()
            exchange.close()
        self._coming.clear()
        self._open.clear()

    def _begin(self, place: Place) -> None:
        self._coming[place.door] = asyncio.create_task(self._connect(place))

    async def _connect(self, place: Place) -> None:
        door = place.door
        try:
            with suppress(OSError):  # the next request will find out for itself
                async with asyncio.timeout(self._connect_timeout_s):
                    exchange = await self._addresses.connect(place)
                timer = asyncio.get_running_loop().call_later(_IDLE_S, self._give_up, door)
                self._open[door] = exchange, timer
        finally:
            self._coming.pop(door, None)

    def _give_up(self, door: Door) -> None:
        exchange, _ = self._open.pop(door)
        exchange.close()
        self._asked.pop(door, None)
