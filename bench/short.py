"""Time to first audio of the texts that screen readers send, and of one longer sentence."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Mapping

import texts
from speech_client import Connection

__all__ = ["short_texts"]


async def short_texts(
    connection: Connection, body: Mapping[str, str], count: int, rest_s: float
) -> dict[str, list[float]]:
    """Each text in turn, `count` times over, with a rest before each; the times in ms by the text's name."""
    twenty = itertools.islice(texts.twenty_words(seed=3), count)
    wanted = {"“OK”": ["OK"] * count, "“Submit button”": ["Submit button"] * count, "20 words": list(twenty)}
    found: dict[str, list[float]] = {name: [] for name in wanted}
    for turn in range(count):
        for name, inputs in wanted.items():
            await asyncio.sleep(rest_s)
            found[name].append((await connection.speak(input=inputs[turn], **body)).first_ms())
    return found
