"""Downloads from a model's official hub, resumed where they stopped."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

from .disk import reporting_full_disk

__all__ = ["Hub", "HubError"]

_PROBE_S, _READ_S = 2.0, 30.0
_PARTIAL, _OK, _NOT_SATISFIABLE = 206, 200, 416


class HubError(Exception):
    """The hub did not give the file; the message says why."""


class Hub:
    """Fetches files over HTTP. A host that did not answer within two seconds is not asked again by this instance."""

    def __init__(self) -> None:
        self._silent: set[str] = set()

    def fetch(self, url: str, into: Path, moved: Callable[[int], None]) -> None:
        """Download `url` to `into`; bytes that are already there are not fetched again. Raises HubError.

        `moved` hears of every block in bytes. What arrived before an interruption stays, for the next try.
        """
        import httpx

        host = urlsplit(url).netloc
        if host in self._silent:
            raise HubError(f"{host} did not answer")
        timeout = httpx.Timeout(_READ_S, connect=_PROBE_S)
        try:
            with httpx.Client(timeout=timeout, follow_redirects=True) as client:
                self._stream(client, url, into, moved)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError) as error:
            self._silent.add(host)
            raise HubError(f"{host} did not answer") from error
        except httpx.HTTPError as error:
            raise HubError(f"{host}: {error or type(error).__name__}") from error

    @staticmethod
    def _stream(client: object, url: str, into: Path, moved: Callable[[int], None]) -> None:
        import httpx

        assert isinstance(client, httpx.Client)  # noqa: S101 - typed loosely because httpx is imported late
        have = into.stat().st_size if into.exists() else 0
        headers = (
            {"Range": f"bytes={have}-", "Accept-Encoding": "identity"} if have else {"Accept-Encoding": "identity"}
        )
        with client.stream("GET", url, headers=headers) as response:
            if have and response.status_code == _NOT_SATISFIABLE:
                return
            if response.status_code not in (_OK, _PARTIAL):
                raise HubError(f"{urlsplit(url).netloc} answered {response.status_code}")
            resumed = response.status_code == _PARTIAL
            if resumed:
                moved(have)
            with reporting_full_disk(into.parent), into.open("ab" if resumed else "wb") as file:
                for block in response.iter_bytes():
                    file.write(block)
                    moved(len(block))
