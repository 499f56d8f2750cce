"""Which server to try next, and when. Pure."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ..errors import ConfigError, VivavoceError
from .wire import address

__all__ = ["Patience", "Servers", "Tries"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long a client waits for what, and how often it tries again.

    Between two tries at one server lie `first_wait_s`, twice that, and so on up to `longest_wait_s`, each shortened by
    chance by up to a half; a server that says when to come back is taken at its word. After `tries` tries, or
    `give_up_s`, without any new sound the last error is raised.
    """

    connect_s: float = 10.0
    """For one connection to be open."""
    quiet_s: float = 2.0
    """Without a word of the server while speech is due: it is asked whether it is still there."""
    silent_s: float = 5.0
    """For its answer."""
    first_wait_s: float = 0.2
    longest_wait_s: float = 5.0
    tries: int = 10
    give_up_s: float = 60.0


class _Server:
    __slots__ = ("failures", "free_s", "url")

    def __init__(self, url: str) -> None:
        self.url = url
        self.failures = 0
        self.free_s = 0.0


class Servers:
    """Any of these can speak: the one that worked last is asked first, the others when it fails.

    Times in seconds of any clock that never goes backwards. Raises ConfigError where there is no address.
    """

    def __init__(
        self, urls: str | Iterable[str], patience: Patience, chance: Callable[[], float] = random.random
    ) -> None:
        self._all = [_Server(address(url)) for url in ([urls] if isinstance(urls, str) else urls)]
        if not self._all:
            raise ConfigError("At least one server's address is needed.")
        self._patience = patience
        self._chance = chance

    def next(self, now_s: float) -> tuple[str, float]:
        """The address to try, and how long to wait before it."""
        best = min(self._all, key=lambda server: max(server.free_s, now_s))
        return best.url, max(0.0, best.free_s - now_s)

    def is_free(self, url: str, now_s: float) -> bool:
        """Whether it may be asked without a wait."""
        return self._of(url).free_s <= now_s

    def failed(self, url: str, fault: VivavoceError, now_s: float) -> None:
        """It did not work there: not again before its time has come."""
        server, patience = self._of(url), self._patience
        longest_s = min(patience.longest_wait_s, patience.first_wait_s * 2.0 ** min(30, server.failures))
        wait_s = longest_s * (1 - self._chance() / 2)
        server.failures += 1
        server.free_s = now_s + (wait_s if fault.retry_after_s is None else max(wait_s, fault.retry_after_s))

    def worked(self, url: str) -> None:
        """Sound came from there."""
        server = self._of(url)
        server.failures, server.free_s = 0, 0.0
        self._all.remove(server)
        self._all.insert(0, server)

    def _of(self, url: str) -> _Server:
        return next(server for server in self._all if server.url == url)


class Tries:
    """Counts what did not work since something last did."""

    def __init__(self, patience: Patience) -> None:
        self._patience = patience
        self._failures = 0
        self._since_s: float | None = None

    def progressed(self) -> None:
        """Something worked."""
        self._failures, self._since_s = 0, None

    def failed(self, fault: VivavoceError, now_s: float) -> None:
        """Note that it did not work. Raises the fault once it is no use to try again."""
        self._failures += 1
        self._since_s = now_s if self._since_s is None else self._since_s
        waited_s = now_s - self._since_s + (fault.retry_after_s or 0.0)
        if not fault.retryable or self._failures >= self._patience.tries or waited_s > self._patience.give_up_s:
            raise fault
