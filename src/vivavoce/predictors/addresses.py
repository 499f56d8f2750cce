"""From a URL to a connection: names are looked up, and what was found is known for a few seconds."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import ssl
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from urllib.parse import quote, urlsplit

from .exchange import Exchange

__all__ = ["Addresses", "Place"]

_KNOWN_S = 5.0
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Place:
    """Where a request goes: a machine's door, and the path behind it."""

    host: str
    port: int
    is_tls: bool
    authority: str
    path: str

    @classmethod
    @lru_cache(maxsize=2_048)
    def of(cls, url: str) -> Place:
        """The place of a URL. Raises ValueError for one that is none."""
        parts = urlsplit(url)
        if parts.scheme not in _PORTS or not parts.hostname:
            raise ValueError(f"{url!r} is no http URL")
        path = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~-._") + (f"?{parts.query}" if parts.query else "")
        port = parts.port or _PORTS[parts.scheme]
        return cls(parts.hostname, port, parts.scheme == "https", parts.netloc.rpartition("@")[2], path)

    @property
    def door(self) -> tuple[str, int, bool]:
        """What a connection to it may also be used for."""
        return self.host, self.port, self.is_tls


class Addresses:
    """Opens connections. A name with several addresses is tried at each of them, another one first each time.

    `authority` is a file with the certificates that are trusted; without it the machine's own are.
    """

    def __init__(self, authority: Path | None = None) -> None:
        self._authority = authority
        self._known: dict[tuple[str, int], tuple[list[str], float]] = {}
        self._context: ssl.SSLContext | None = None

    async def connect(self, place: Place, request: bytes = b"") -> Exchange:
        """A fresh connection, on which a request is sent as soon as it is there. Raises OSError."""
        fault: OSError | None = None
        for address in await self._of(place.host, place.port):
            try:
                return await self._open(place, address, request)
            except OSError as error:
                fault = error
        self._known.pop((place.host, place.port), None)
        raise fault or OSError(f"{place.host} has no address")

    async def _open(self, place: Place, address: str, request: bytes) -> Exchange:
        loop = asyncio.get_running_loop()
        if not place.is_tls:
            _, exchange = await loop.create_connection(lambda: Exchange(request), address, place.port)
            return exchange
        if self._context is None:
            self._context = ssl.create_default_context(cafile=self._authority)
        _, exchange = await loop.create_connection(
            lambda: Exchange(request), address, place.port, ssl=self._context, server_hostname=place.host
        )
        return exchange

    async def _of(self, host: str, port: int) -> list[str]:
        if _is_number(host):
            return [host]
        loop = asyncio.get_running_loop()
        addresses, until_s = self._known.get((host, port), ([], 0.0))
        if loop.time() >= until_s:
            found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            addresses = list(dict.fromkeys(str(one[4][0]) for one in found))
            self._known[host, port] = addresses, loop.time() + _KNOWN_S
        addresses.append(addresses.pop(0))
        return list(addresses)


@lru_cache(maxsize=2_048)
def _is_number(host: str) -> bool:
    try:
        ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return True
