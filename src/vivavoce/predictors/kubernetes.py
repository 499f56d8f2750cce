"""Predictors behind a Service of Kubernetes, watched live: its EndpointSlices, as `kubectl get endpointslices` lists them.

One list and one watch are all that is asked of the API server, so no client library is loaded for it: the usual one
takes more memory than the whole gateway.

Source: kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes and the discovery.k8s.io/v1
API.
"""

from __future__ import annotations

import asyncio
import json
import logging
import random
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping
from contextlib import aclosing
from typing import Any

from ..errors import PredictorFailed
from .cluster import Cluster, Refused
from .discovery import Target, url_of
from .upstream import Reply

__all__ = ["EndpointSliceSource"]

logger = logging.getLogger("vivavoce.predictors")

_WATCH_S = 300
_LONGEST_WATCH_S = 330.0
_FIRST_RETRY_S, _LONGEST_RETRY_S = 0.2, 15.0
_MAX_LINE_BYTES = 16 * 1024 * 1024
_MOST_BYTES = 1024 * 1024 * 1024
_USUAL_PORTS = ("http1", "http", "v2", "predictor", "")
_GONE = 410
_BETWEEN_WATCHES_S = 0.1
_FAULTS = (Refused, PredictorFailed, OSError, ValueError, KeyError, TypeError, AttributeError)

Slices = dict[str, Mapping[str, Any]]


class _Expired(Exception):
    """The place from which the watch was to go on is forgotten; everything has to be listed anew."""


class EndpointSliceSource:
    """The ready endpoints of one Service.

    `port` is a name or a number, of the endpoints themselves; without it their port called http1 or http, else the
    first. Everything is listed once, then changes are watched from there; a watch that ends goes on where it ended, and
    one whose place the server has forgotten (410 Gone) begins with a new list. While the API server cannot be reached,
    what was known stays known.
    """

    def __init__(self, cluster: Cluster, namespace: str, service: str, *, port: str = "", tier: str = "floor") -> None:
        self._namespace, self._service = namespace, service
        self._port, self._tier = port, tier
        self._cluster = cluster
        self._retry_s = _FIRST_RETRY_S

    async def watch(self) -> AsyncGenerator[frozenset[Target]]:
        """All of them, whenever they change."""
        known: frozenset[Target] | None = None
        fault = ""
        while True:
            try:
                async with aclosing(self._followed()) as seen:
                    async for slices in seen:
                        fault = ""
                        targets = self._targets(slices)
                        if targets != known:
                            known = targets
                            yield targets
            except _Expired:
                logger.info("the EndpointSlices of %s are listed anew", self._service)
            except _FAULTS as error:
                told = type(error).__name__ if isinstance(error, PredictorFailed) else repr(error)
                if told != fault:
                    fault = told
                    logger.warning("the EndpointSlices of %s cannot be watched: %s", self._service, told)
            await asyncio.sleep(self._retry_s * random.uniform(0.8, 1.2))  # noqa: S311
            self._retry_s = min(2 * self._retry_s, _LONGEST_RETRY_S)

    async def _followed(self) -> AsyncGenerator[Slices]:
        """The slices, listed once and then as they change. Raises _Expired where a new list is needed."""
        path = f"/apis/discovery.k8s.io/v1/namespaces/{self._namespace}/endpointslices"
        selector = {"labelSelector": f"kubernetes.io/service-name={self._service}"}
        # Anew for each list: the pod's certificate authority may have been renewed since the last one.
        upstream = self._cluster.upstream()
        async with self._cluster.get(upstream, path, selector) as reply:
            listed = json.loads(await reply.whole())
        slices: Slices = {item["metadata"]["name"]: item for item in listed.get("items") or ()}
        version = str(listed["metadata"]["resourceVersion"])
        yield slices
        watched = {"watch": "1", "allowWatchBookmarks": "true", "timeoutSeconds": str(_WATCH_S)}
        while True:
            query = selector | watched | {"resourceVersion": version}
            async with (
                self._cluster.get(upstream, path, query, _LONGEST_WATCH_S) as reply,
                aclosing(_lines(reply)) as lines,
            ):
                async for line in lines:
                    version = _applied(json.loads(line), slices) or version
                    self._retry_s = _FIRST_RETRY_S
                    yield slices
            await asyncio.sleep(_BETWEEN_WATCHES_S)

    def _targets(self, slices: Slices) -> frozenset[Target]:
        """The targets of one address family: with two stacks each endpoint has an address of either."""
        families: dict[str, set[Target]] = {}
        for piece in slices.values():
            families.setdefault(piece.get("addressType") or "", set()).update(self._targets_in(piece))
        found = sorted(family for family, targets in families.items() if targets)
        return frozenset(families[next((one for one in found if one == "IPv4"), found[-1])] if found else ())

    def _targets_in(self, piece: Mapping[str, Any]) -> Iterator[Target]:
        port = self._port_in(piece.get("ports") or ())
        if port is None:
            return
        for endpoint in piece.get("endpoints") or ():
            if (endpoint.get("conditions") or {}).get("ready") is False:
                continue
            for address in endpoint.get("addresses") or ():
                yield Target(url_of(address, port), self._tier, node=endpoint.get("nodeName") or "")

    def _port_in(self, ports: Iterable[Mapping[str, Any]]) -> int | None:
        """The port that is meant. A number may be the Service's own, which slices do not know: then the only one."""
        numbers = {port.get("name") or "": int(port["port"]) for port in ports if port.get("port")}
        if not numbers:
            return int(self._port) if self._port.isdecimal() else None
        if self._port in numbers:
            return numbers[self._port]
        if self._port.isdecimal():
            told = int(self._port)
            return told if told in numbers.values() or len(numbers) > 1 else next(iter(numbers.values()))
        if self._port:
            return None
        return next((numbers[name] for name in _USUAL_PORTS if name in numbers), next(iter(numbers.values())))


def _applied(event: Mapping[str, Any], slices: Slices) -> str:
    """Take one event of a watch into the slices; give the place from which the watch would go on."""
    kind, item = event.get("type"), event.get("object") or {}
    if kind == "ERROR":
        if item.get("code") == _GONE:
            raise _Expired
        raise ValueError(f"the watch broke off: {item.get('message') or item.get('reason')}")
    metadata = item["metadata"]
    if kind == "DELETED":
        slices.pop(metadata["name"], None)
    elif kind in ("ADDED", "MODIFIED"):
        slices[metadata["name"]] = item
    return str(metadata.get("resourceVersion") or "")


async def _lines(reply: Reply) -> AsyncGenerator[bytes]:
    """Whole lines of a reply; a slice of a thousand endpoints is a long one."""
    held = bytearray()
    while data := await reply.some(_MOST_BYTES):
        looked = len(held)
        held += data
        start = 0
        while (end := held.find(b"\n", max(start, looked))) >= 0:
            if end > start:
                yield bytes(held[start:end])
            start = end + 1
        del held[:start]
        if len(held) > _MAX_LINE_BYTES:
            raise ValueError("an event without an end")
