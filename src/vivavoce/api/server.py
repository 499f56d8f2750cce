"""Runs the server until it is told to stop."""

from __future__ import annotations

import asyncio
import errno
import gc
import logging
import os
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from types import FrameType

import uvicorn
from fastapi import FastAPI

from ..config import Settings
from ..errors import ConfigError
from ..logs import configure_logs
from ..signals import leaving_when_told
from .admin import admin_port_of, create_admin_app
from .app import create_app
from .connection import Connection
from .drain import Drain
from .services import Services
from .sources import Role
from .ws_wire import WebSocketWire

__all__ = ["serve", "uvicorn_config"]

logger = logging.getLogger("vivavoce.api")

_BACKLOG = 2_048
_KEEP_ALIVE_S = 75
_PING_EVERY_S = 20.0
_PING_TIMEOUT_S = 60.0
_ADMIN_GRACE_S = 1
_HURRIED_S = 2.0
_LAST_WORDS_S = 0.05


def serve(settings: Settings, role: Role = "serve") -> None:
    """Listen and speak until SIGTERM or Ctrl-C, then let running utterances finish for `grace_s` seconds.

    From the first signal on the server is not ready and refuses new work; what is still spoken at the end of the grace
    is told where to go on. A second signal ends everything at once. The address is printed once the server can speak.
    Raises ConfigError for a setting that cannot work: no keys beyond loopback, a port that is taken, a key file or
    lexicon that cannot be read.
    """
    with leaving_when_told(), ExitStack() as listeners:
        settings.check_bind()
        public = listeners.enter_context(closing(_listen(settings.host, settings.port)))
        admin = None
        if (admin_port := admin_port_of(settings)) is not None:
            admin = listeners.enter_context(closing(_listen(settings.admin_host, admin_port, "ADMIN_PORT")))
        configure_logs(settings.log_level, settings.log_format)

        def ready() -> None:
            _keep_what_stays()
            _say_where(settings, public, admin)

        app = create_app(settings, role, on_ready=ready)
        _DrainingServer(app, settings, admin).run(sockets=[public])


def uvicorn_config(app: FastAPI, settings: Settings) -> uvicorn.Config:
    """How uvicorn serves an app of ours: bounded heads and frames, patient pings, no line of its own in the log."""
    return uvicorn.Config(
        app,
        loop="auto",
        http=Connection,
        ws=WebSocketWire,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_keep_alive=_KEEP_ALIVE_S,
        timeout_graceful_shutdown=settings.grace_s,
        backlog=_BACKLOG,
        ws_max_size=settings.max_body_bytes,
        ws_ping_interval=_PING_EVERY_S,
        ws_ping_timeout=_PING_TIMEOUT_S,
        ws_per_message_deflate=False,
    )


class _DrainingServer(uvicorn.Server):
    """Comes to rest before it stops, and takes the operator's own port along."""

    def __init__(self, app: FastAPI, settings: Settings, admin: socket.socket | None = None) -> None:
        super().__init__(uvicorn_config(app, settings))
        self._services: Services = app.state.services
        self._admin = None if admin is None else _AdminServer(self._services, admin)
        self._loop: asyncio.AbstractEventLoop | None = None

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Come to rest, then stop; the second time, stop at once."""
        if self.should_exit:
            self.force_exit = True
            if self._loop is not None:
                self._loop.call_soon_threadsafe(self._break_off)
        self.should_exit = True
        # uvicorn raises what it captured again after a clean end, and the process would die of a SIGTERM.
        if sig != signal.SIGTERM:
            self._captured_signals.append(sig)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Open both ports."""
        self._loop = asyncio.get_running_loop()
        await super().startup(sockets=sockets)
        if self._admin is not None and self.started:
            self._admin.open()
        if not self._services.source.ready:
            logger.info("no predictor is ready yet; waiting for one")

    async def main_loop(self) -> None:
        """Serve until told to stop, then come to rest."""
        await super().main_loop()
        services = self._services
        services.refuse_new_work()
        drain = Drain(services.metrics.running, services.say_goodbye, lambda: self.force_exit)
        left_s = await drain.run(services.settings.grace_s)
        # Without any time uvicorn calls it an error, though everything may be closed already.
        self.config.timeout_graceful_shutdown = max(1, int(left_s))

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Close both ports; requests that are no utterances get what is left of the grace."""
        self._services.refuse_new_work()
        self._services.stats.close()
        await super().shutdown(sockets=sockets)
        if self.force_exit:
            # uvicorn leaves it out, and the app would be torn down in the middle.
            with suppress(TimeoutError):
                async with asyncio.timeout(_HURRIED_S):
                    await self.lifespan.shutdown()
        if self._admin is not None:
            await self._admin.close()

    def _break_off(self) -> None:
        """Cancel what runs, and drop its connections once it has had the time to say where to go on."""
        self._services.connections.part()
        for task in list(self.server_state.tasks):
            task.cancel()
        for connection in list(self.server_state.connections):
            asyncio.get_running_loop().call_later(_LAST_WORDS_S, connection.transport.abort)


class _AdminServer(uvicorn.Server):
    """Serves the operator's own port for as long as the public one is served."""

    def __init__(self, services: Services, listener: socket.socket) -> None:
        config = uvicorn_config(create_admin_app(services), services.settings)
        config.lifespan = "off"
        config.timeout_graceful_shutdown = _ADMIN_GRACE_S
        super().__init__(config)
        self._listener = listener
        self._task: asyncio.Task[None] | None = None

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the signals to the public server."""
        yield

    def open(self) -> None:
        """Begin to serve."""
        self._task = asyncio.create_task(self.serve(sockets=[self._listener]))

    async def close(self) -> None:
        """Stop serving."""
        self.should_exit = True
        if self._task is not None:
            await self._task


def _listen(named_host: str, port: int, setting: str = "PORT") -> socket.socket:
    """Bind, and listen at once: connections that come while the server starts wait for it."""
    host = named_host.strip("[]")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
    except OSError as error:
        raise ConfigError(f"cannot listen on {named_host}: {error.strerror}") from None
    try:
        if os.name != "nt":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            option = "--port or " if setting == "PORT" else ""
            message = f"port {port} on {named_host} is taken: choose another with {option}VIVAVOCE_{setting}"
            raise ConfigError(message) from None
        raise ConfigError(f"cannot listen on {named_host} port {port}: {error.strerror}") from None
    return listener


def _keep_what_stays() -> None:
    """Leave what a server is made of out of garbage collection: going through it all takes 40 ms and more.

    Nobody is heard or answered in that time.
    """
    gc.collect()
    gc.freeze()


def _say_where(settings: Settings, public: socket.socket, admin: socket.socket | None) -> None:
    """Tell the person, or the log where nobody reads but machines."""
    url, numbers = _url(settings.host, public), _url(settings.admin_host, admin) if admin else ""
    if settings.guarded:
        served = "callers need a key (Authorization: Bearer …)"
    elif settings.loopback:
        served = "no keys are set, so only this machine is served; VIVAVOCE_API_KEYS opens it to others"
    else:
        served = "WARNING: anyone who reaches this port may speak (VIVAVOCE_ALLOW_OPEN)"
    if settings.log_format == "json":
        logger.info("speaking", extra={"url": url, "served": served, **({"numbers": numbers} if numbers else {})})
        return
    print(f"vivavoce speaks at {url}\n  {served}", file=sys.stderr, flush=True)
    if numbers:
        print(f"  numbers for the operator at {numbers}/metrics and {numbers}/stats", file=sys.stderr, flush=True)


def _url(named_host: str, listener: socket.socket) -> str:
    port = listener.getsockname()[1]
    host = named_host.strip("[]")
    shown = "localhost" if host in ("0.0.0.0", "::", "127.0.0.1") else host  # noqa: S104
    return f"http://[{shown}]:{port}" if ":" in shown else f"http://{shown}:{port}"
