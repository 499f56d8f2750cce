"""The API server of the Kubernetes cluster that this process runs in, and the credentials that its pod was given."""

from __future__ import annotations

import os
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp

from ..errors import ConfigError

__all__ = ["Cluster"]

_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
_CONNECT_S = 5.0
_REPLY_S = 30.0


@dataclass(frozen=True, slots=True)
class Cluster:
    """An API server. `token_file` is read for every request, since tokens of pods are renewed; None sends none."""

    url: str
    token_file: Path | None = None
    ca_file: Path | None = None

    @classmethod
    def of_this_pod(cls, account: Path = _ACCOUNT) -> Cluster:
        """What every pod is told. Raises ConfigError outside a cluster."""
        host, port = os.environ.get("KUBERNETES_SERVICE_HOST"), os.environ.get("KUBERNETES_SERVICE_PORT", "443")
        if not host:
            raise ConfigError("k8s:// predictors are found inside a Kubernetes cluster only: use dns:// or addresses")
        if not (account / "token").is_file():
            raise ConfigError(
                "k8s:// predictors need a service account that may list and watch EndpointSlices: "
                "this pod has no token (is automountServiceAccountToken off?)"
            )
        host = f"[{host}]" if ":" in host else host
        authority = account / "ca.crt"
        return cls(f"https://{host}:{port}", account / "token", authority if authority.is_file() else None)

    def session(self) -> aiohttp.ClientSession:
        """Connections to it; to be closed by the caller."""
        context: ssl.SSLContext | bool = True
        if self.ca_file is not None:
            context = ssl.create_default_context(cafile=str(self.ca_file))
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(ssl=context), cookie_jar=aiohttp.DummyCookieJar(), trust_env=False
        )

    @asynccontextmanager
    async def get(
        self, session: aiohttp.ClientSession, path: str, query: Mapping[str, str], *, silence_s: float = _REPLY_S
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """The reply to a GET. Raises aiohttp.ClientError and OSError, also after `silence_s` without a byte."""
        headers = {"Accept": "application/json"}
        if self.token_file is not None:
            headers["Authorization"] = f"Bearer {self.token_file.read_text().strip()}"
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_S, sock_read=silence_s)
        async with session.get(self.url + path, params=query, headers=headers, timeout=timeout) as response:
            response.raise_for_status()
            yield response
