"""Sends a reply whose sound is still being made, and counts its utterance once, with its outcome."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from starlette.types import Receive

from ..errors import Busy, InternalError, VivavoceError
from ..metrics import Metrics
from ..speech import Timeline
from .presence import ClientGone, Presence
from .writer import Writer

__all__ = ["deliver"]

logger = logging.getLogger("vivavoce.api")


async def deliver(
    work: Callable[[], Awaitable[None]],
    break_off: Callable[[VivavoceError], Awaitable[None]],
    *,
    writer: Writer,
    receive: Receive,
    door: str,
    metrics: Metrics,
    timeline: Timeline,
) -> None:
    """Do the work, which writes to `writer`, as long as the client is there.

    Raises what went wrong before the headers left; what fails later is logged and told by `break_off`.
    """
    outcome, code, reason = "error", InternalError.code, ""
    try:
        async with Presence(receive) as presence:
            await work()
            presence.done()
        outcome, code = "ok", ""
    except ClientGone as gone:
        outcome, code = "client_gone", ""
        if gone.held_s is not None:
            metrics.cancelled(gone.held_s)
    except asyncio.CancelledError:
        outcome, code = "cancelled", ""
        raise
    except Exception as error:
        known = error if isinstance(error, VivavoceError) else InternalError("Something went wrong here.")
        outcome, code = ("shed" if isinstance(known, Busy) else "error"), known.code
        reason = known.reason if isinstance(known, Busy) else ""
        if not writer.started:
            raise
        logger.error("speech broke off: %s", known.code, exc_info=None if known is error else error)
        await break_off(known)
    finally:
        metrics.ended(door, outcome, timeline, code, reason)
