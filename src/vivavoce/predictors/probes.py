"""Every endpoint of a pool is asked again and again whether it is ready."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress

from ..errors import VivavoceError
from .endpoint import Endpoint
from .faults import OutOfPatience, Unreachable

__all__ = ["Probes"]

logger = logging.getLogger("vivavoce.predictors")

_LEAST_GAP_S = 0.02


class Probes:
    """Probes each endpoint every `interval_s`, and at once where `hurry` asks for it.

    `starts_slowly` says whether an endpoint that becomes ready is to be spared at first; `on_change` is called whenever
    what an endpoint can do has changed, `on_proved` after every good answer that changed nothing.
    """

    def __init__(
        self,
        interval_s: float,
        starts_slowly: Callable[[Endpoint], bool],
        on_change: Callable[[], None],
        on_proved: Callable[[], None],
    ) -> None:
        self._interval_s = interval_s
        self._starts_slowly = starts_slowly
        self._on_proved = on_proved
        self._on_change = on_change
        self._tasks: dict[Endpoint, asyncio.Task[None]] = {}
        self._hurried: dict[Endpoint, asyncio.Event] = {}
        self._told: dict[Endpoint, str] = {}
        self._ended: set[asyncio.Task[None]] = set()

    def begin(self, endpoint: Endpoint) -> None:
        """Ask this one from now on."""
        self._hurried[endpoint] = asyncio.Event()
        self._tasks[endpoint] = asyncio.create_task(self._keep_asking(endpoint, self._hurried[endpoint]))

    def hurry(self, endpoint: Endpoint) -> None:
        """Ask this one now."""
        hurried = self._hurried.get(endpoint)
        if hurried is not None:
            hurried.set()

    def end(self, endpoint: Endpoint) -> None:
        """Ask this one no more."""
        self._hurried.pop(endpoint, None)
        self._told.pop(endpoint, None)
        task = self._tasks.pop(endpoint, None)
        if task is not None:
            task.cancel()
            self._ended.add(task)
            task.add_done_callback(self._ended.discard)

    async def aclose(self) -> None:
        """Ask nobody any more."""
        for endpoint in list(self._tasks):
            self.end(endpoint)
        await asyncio.gather(*self._ended, return_exceptions=True)

    async def _keep_asking(self, endpoint: Endpoint, hurried: asyncio.Event) -> None:
        loop = asyncio.get_running_loop()
        doubted_since_s = loop.time()
        while True:
            hurried.clear()
            if not endpoint.is_doubted:
                doubted_since_s = loop.time()
            await self._ask(endpoint, doubted_since_s)
            if endpoint.is_doubted:
                continue
            asked_s = loop.time()
            with suppress(TimeoutError):
                async with asyncio.timeout(self._interval_s):
                    await hurried.wait()
            await asyncio.sleep(max(0.0, asked_s + _LEAST_GAP_S - loop.time()))

    async def _ask(self, endpoint: Endpoint, doubted_since_s: float) -> None:
        before = endpoint.slots, endpoint.info
        try:
            await endpoint.predictor.probe()
        except VivavoceError as error:
            # A machine under load may answer late; a second late answer in a row is believed.
            is_silent = isinstance(error, OutOfPatience) or (isinstance(error, Unreachable) and error.is_silent)
            has_fallen = endpoint.probe_failed(is_certain=not is_silent)
            self._tell(endpoint, _reason(error))
            if has_fallen and is_silent:
                _cut_off(endpoint, doubted_since_s)
        except Exception:
            if endpoint.probe_failed(is_certain=True):
                logger.exception("%s cannot be asked whether it is ready", endpoint.target.url)
        else:
            self._told.pop(endpoint, None)
            if endpoint.probed(starts_slowly=self._starts_slowly(endpoint)):
                logger.info("%s is ready: %d slots", endpoint.target.url, endpoint.slots)
            elif before == (endpoint.slots, endpoint.info):
                self._on_proved()
        if before != (endpoint.slots, endpoint.info):
            self._on_change()

    def _tell(self, endpoint: Endpoint, reason: str) -> None:
        """Log why it is not ready, once for each reason."""
        if not endpoint.is_ready and self._told.get(endpoint) != reason:
            self._told[endpoint] = reason
            logger.warning("%s is not ready: %s", endpoint.target.url, reason)


def _reason(error: VivavoceError) -> str:
    """What went wrong, and what the machine says of it: a refused connection, a certificate that is not trusted."""
    cause = error.__cause__
    return f"{error.message} ({str(cause) or type(cause).__name__})" if isinstance(cause, OSError) else error.message


def _cut_off(endpoint: Endpoint, since_s: float) -> None:
    """End the jobs at an endpoint that has fallen silent, so that they go elsewhere: no reset will ever come.

    One that closes its door, or says that it is not ready, may still finish them.
    """
    for patience in tuple(endpoint.waits):
        patience.lose(since_s)
