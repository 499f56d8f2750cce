"""Being told to stop before there is anything to stop."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["leave_when_told", "leaving_when_told"]


def leave_when_told() -> None:
    """From now on SIGTERM ends this process at once and with exit code 0, until a server takes the signal over.

    A rollout that changes its mind stops servers while they start; that is no failure. Does nothing outside the main
    thread.
    """
    if threading.current_thread() is threading.main_thread():
        # Not an exception: whatever is being imported just then may swallow it.
        signal.signal(signal.SIGTERM, lambda *_: os._exit(0))


@contextmanager
def leaving_when_told() -> Iterator[None]:
    """The same for the length of a block."""
    before = signal.getsignal(signal.SIGTERM)
    leave_when_told()
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, before or signal.SIG_DFL)
