"""The API server of the Kubernetes cluster that this process runs in, and the credentials that its pod was given."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

from ..errors import ConfigError
from .patience import Patience
from .upstream import Reply, Upstream

__all__ = ["Cluster", "Refused"]

_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
_CONNECT_S = 5.0
_REPLY_S = 30.0


class Refused(Exception):
    """The API server answered with another status than 200."""

    def __init__(self, status: int) -> None:
        super().__init__(f"status {status}")
        self.status = status


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

    def upstream(self) -> Upstream:
        """Connections to it."""
        return Upstream(connect_timeout_s=_CONNECT_S, authority=self.ca_file)

    @asynccontextmanager
    async def get(
        self, upstream: Upstream, path: str, query: Mapping[str, str], limit_s: float = _REPLY_S
    ) -> AsyncIterator[Reply]:
        """The reply to a GET, which may take `limit_s`. Raises Refused, PredictorFailed, OSError."""
        headers = {"Accept": "application/json"}
        if self.token_file is not None:
            headers["Authorization"] = f"Bearer {self.token_file.read_text().strip()}"
        url = f"{self.url}{path}?{urlencode(query)}"
        async with upstream.any_reply("GET", url, Patience(limit_s), headers=headers) as reply:
            if reply.status != 200:
                raise Refused(reply.status)
            yield reply
