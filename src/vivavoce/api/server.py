"""Runs the server until it is told to stop."""

from __future__ import annotations

import errno
import logging
import os
import signal
import socket
import sys
from types import FrameType

import uvicorn
from fastapi import FastAPI

from ..config import Settings
from ..errors import ConfigError
from ..logs import configure_logs
from .app import create_app
from .connection import Connection

__all__ = ["serve"]

logger = logging.getLogger("vivavoce.api")

_BACKLOG = 2_048
_KEEP_ALIVE_S = 75


def serve(settings: Settings) -> None:
    """Listen and speak until SIGTERM or Ctrl-C, then let running utterances finish for `grace_s` seconds.

    The address is printed once the server can speak. Raises ConfigError for a setting that cannot work: no keys
    beyond loopback, a port that is taken, a key file or lexicon that cannot be read.
    """
    settings.check_bind()
    listener = _listen(settings)
    configure_logs(settings.log_level, settings.log_format)
    try:
        app = create_app(settings, on_ready=lambda: _say_where(settings, listener))
        server = _DrainingServer(app, settings)
        server.run(sockets=[listener])
    finally:
        listener.close()


class _DrainingServer(uvicorn.Server):
    """Refuses new utterances from the moment that it is told to stop."""

    def __init__(self, app: FastAPI, settings: Settings) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                loop="auto",
                http=Connection,
                log_config=None,
                access_log=False,
                server_header=False,
                timeout_keep_alive=_KEEP_ALIVE_S,
                timeout_graceful_shutdown=settings.grace_s,
                backlog=_BACKLOG,
            )
        )
        self._turns = app.state.services.turns

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop taking utterances, then stop."""
        self._turns.draining = True
        super().handle_exit(sig, frame)
        # uvicorn would raise the signal again after a clean end, and the process would die of it.
        if sig == signal.SIGTERM:
            self._captured_signals.clear()


def _listen(settings: Settings) -> socket.socket:
    """Bind, and listen at once: connections that come while the server starts wait for it."""
    host = settings.host.strip("[]")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
    except OSError as error:
        raise ConfigError(f"cannot listen on {settings.host}: {error.strerror}") from None
    try:
        if os.name != "nt":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            message = f"port {settings.port} on {settings.host} is taken: choose another with --port or VIVAVOCE_PORT"
            raise ConfigError(message) from None
        raise ConfigError(f"cannot listen on {settings.host} port {settings.port}: {error.strerror}") from None
    return listener


def _say_where(settings: Settings, listener: socket.socket) -> None:
    """Tell the person, or the log where nobody reads but machines."""
    port = listener.getsockname()[1]
    host = settings.host.strip("[]")
    shown = "localhost" if host in ("0.0.0.0", "::", "127.0.0.1") else host  # noqa: S104
    url = f"http://[{shown}]:{port}" if ":" in shown else f"http://{shown}:{port}"
    if settings.keys():
        served = "callers need a key (Authorization: Bearer …)"
    elif settings.loopback:
        served = "no keys are set, so only this machine is served; VIVAVOCE_API_KEYS opens it to others"
    else:
        served = "WARNING: anyone who reaches this port may speak (VIVAVOCE_ALLOW_OPEN)"
    if settings.log_format == "json":
        logger.info("speaking", extra={"url": url, "served": served})
    else:
        print(f"vivavoce speaks at {url}\n  {served}", file=sys.stderr, flush=True)
