"""Reading and writing file descriptors without blocking the event loop and without threads."""

from __future__ import annotations

import asyncio
import codecs
import os
import select
from collections.abc import AsyncIterator, Callable
from typing import Any

__all__ = ["text_from", "write_all"]

READ_BYTES = 65_536


async def text_from(fd: int) -> AsyncIterator[str]:
    """The text arriving on a descriptor, as it arrives.

    Decodes UTF-8 across reads; a byte order mark is dropped and an invalid byte becomes U+FFFD. Ends with the input.
    """
    decoder = codecs.getincrementaldecoder("utf-8-sig")(errors="replace")
    loop = asyncio.get_running_loop()
    while True:
        await _ready(fd, loop.add_reader, loop.remove_reader)
        try:
            data = os.read(fd, READ_BYTES)
        except BlockingIOError:
            continue
        piece = decoder.decode(data, final=not data)
        if piece:
            yield piece
        if not data:
            return


async def write_all(fd: int, data: bytes) -> None:
    """Write everything, however slowly the other end reads. Raises BrokenPipeError when it is gone."""
    loop = asyncio.get_running_loop()
    rest = memoryview(data)
    while rest:
        waited = await _ready(fd, loop.add_writer, loop.remove_writer)
        try:
            rest = rest[os.write(fd, rest[: select.PIPE_BUF] if waited else rest) :]
        except BlockingIOError:
            continue


async def _ready(fd: int, add: Callable[..., Any], remove: Callable[[int], Any]) -> bool:
    """Wait until the descriptor can be used; false for a plain file, which always can be and cannot be waited for."""
    ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    try:
        add(fd, _settle, ready)
    except (PermissionError, NotImplementedError):
        return False
    try:
        await ready
    finally:
        remove(fd)
    return True


def _settle(ready: asyncio.Future[None]) -> None:
    if not ready.done():
        ready.set_result(None)
