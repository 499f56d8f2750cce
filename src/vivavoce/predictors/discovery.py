"""Where a pool's predictors are: addresses that stand in the settings, behind a name, or in Kubernetes."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from typing import Literal, Protocol
from urllib.parse import urlsplit

from ..errors import ConfigError

__all__ = ["DnsSource", "Kind", "Source", "StaticSource", "Target", "source_for", "url_of"]

logger = logging.getLogger("vivavoce.predictors")

Kind = Literal["v2", "speech"]
_FORMS = "http(s)://host[:port], http(s)://host[:port]/v1, dns://host:port or k8s://namespace/service[:port]"


@dataclass(frozen=True, slots=True)
class Target:
    """One predictor to be used: its address, its tier, and what it speaks."""

    url: str
    tier: str = "floor"
    kind: Kind = "v2"
    node: str = ""


class Source(Protocol):
    """Knows where predictors are."""

    def watch(self) -> AsyncGenerator[frozenset[Target]]:
        """All of them, at once and whenever they change, until it is closed.

        It never ends by itself: what goes wrong is logged and tried again, and what was known stays known meanwhile.
        """
        ...


class StaticSource:
    """Addresses that never change."""

    def __init__(self, *targets: Target) -> None:
        self._targets = frozenset(targets)

    async def watch(self) -> AsyncGenerator[frozenset[Target]]:
        """All of them, once."""
        yield self._targets
        await asyncio.Event().wait()


Resolve = Callable[[str, int], Awaitable[frozenset[str]]]


class DnsSource:
    """Every address behind a name: the pods of a headless Service, each a predictor of its own.

    The name is looked up again every `interval_s`. A name that is not known for a while, or has no address, changes
    nothing: probes tell which predictors are gone.
    """

    def __init__(
        self, host: str, port: int, *, tier: str = "floor", interval_s: float = 2.0, resolve: Resolve | None = None
    ) -> None:
        self._host, self._port, self._tier = host, port, tier
        self._interval_s = interval_s
        self._resolve = resolve or _resolve

    async def watch(self) -> AsyncGenerator[frozenset[Target]]:
        """All of them, whenever the name's addresses change."""
        known: frozenset[str] = frozenset()
        fault = ""
        while True:
            try:
                found = _one_family(await self._resolve(self._host, self._port))
                fault = ""
            except OSError as error:
                found = frozenset()
                if fault != str(error):
                    fault = str(error)
                    logger.warning("%s cannot be looked up: %s", self._host, fault)
            if found and found != known:
                known = found
                yield frozenset(Target(url_of(address, self._port), self._tier) for address in found)
            await asyncio.sleep(self._interval_s)


async def _resolve(host: str, port: int) -> frozenset[str]:
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return frozenset(str(address[4][0]) for address in found)


def _one_family(addresses: frozenset[str]) -> frozenset[str]:
    """The IPv4 addresses where there are any: with two stacks each pod has an address of either."""
    return frozenset(address for address in addresses if ":" not in address) or addresses


def url_of(address: str, port: int, scheme: str = "http") -> str:
    """The URL of an address, IPv6 in brackets."""
    return f"{scheme}://[{address}]:{port}" if ":" in address else f"{scheme}://{address}:{port}"


def source_for(url: str, tier: str, *, interval_s: float = 2.0) -> Source:
    """The source that a setting means; without a scheme it is http. Raises ConfigError."""
    if any(character.isspace() for character in url):
        raise ConfigError(f"{url!r} has a space in it; several predictors are kept apart by commas")
    try:
        parts = urlsplit(url if "://" in url else f"http://{url}")
    except ValueError:
        raise ConfigError(f"{url!r} is no predictor: one is {_FORMS}") from None
    try:
        port = parts.port
    except ValueError:
        port = 0
    if port == 0:
        raise ConfigError(f"{url!r} has no port that could be one: a predictor is {_FORMS}")
    if "@" in parts.netloc:
        raise ConfigError("a predictor's address is shown to people: put its key into VIVAVOCE_PREDICTOR_KEY instead")
    path = parts.path.strip("/")
    if parts.scheme in ("http", "https") and parts.hostname and not parts.query and not parts.fragment:
        kind: Kind = "speech" if f"/{path}".endswith(("/v1", "/audio/speech")) else "v2"
        return StaticSource(Target(f"{parts.scheme}://{parts.netloc}/{path}".rstrip("/"), tier, kind))
    if parts.scheme == "dns" and parts.hostname and port and not path:
        return DnsSource(parts.hostname, port, tier=tier, interval_s=interval_s)
    service, _, named = path.partition(":")
    if parts.scheme == "k8s" and parts.netloc and service and "/" not in path:
        from .cluster import Cluster
        from .kubernetes import EndpointSliceSource

        return EndpointSliceSource(Cluster.of_this_pod(), parts.netloc, service, port=named, tier=tier)
    raise ConfigError(f"{url!r} is no predictor: one is {_FORMS}")
