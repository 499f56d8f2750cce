"""One measured request: to the engine in this process, or to a server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from ..clock import Clock, MonotonicClock
from ..errors import PredictorFailed
from ..speech import Audio, Utterance, speak_utterance
from .casting import Role
from .measure import Meter, Reading

if TYPE_CHECKING:
    import httpx

__all__ = ["NUMBER", "Trial", "embedded_trial", "server_trial"]

Trial = Callable[[int], Awaitable[Reading]]
"""Makes the request of that number."""

NUMBER = "{n}"

RATE_HZ = 24_000
BYTES_PER_FRAME = 2


def embedded_trial(text: str, role: Role, clock: Clock | None = None) -> Trial:
    """Speak `text` in this process, `{n}` in it being the number of the request. Raises what the engine raises."""
    ticks = clock or MonotonicClock()
    utterance = Utterance(voice=role.voice, language=role.language, rate_hz=RATE_HZ)

    async def once(number: int) -> Reading:
        begun_ms, meter = ticks.now_ms(), Meter(RATE_HZ)
        async with aclosing(speak_utterance(_numbered(text, number), utterance, role.predictor, clock=ticks)) as events:
            async for event in events:
                if isinstance(event, Audio):
                    meter.arrive(ticks.now_ms() - begun_ms, len(event.samples))
        return _heard(meter.reading(ticks.now_ms() - begun_ms))

    return once


def server_trial(text: str, client: httpx.AsyncClient, body: dict[str, Any], clock: Clock | None = None) -> Trial:
    """The same through a server's `/v1/audio/speech`, as PCM. Raises PredictorFailed with the server's answer."""
    import httpx

    ticks = clock or MonotonicClock()

    async def once(number: int) -> Reading:
        begun_ms, meter, odd = ticks.now_ms(), Meter(RATE_HZ), 0
        request = {**body, "input": _numbered(text, number), "response_format": "pcm"}
        try:
            async with client.stream("POST", "audio/speech", json=request) as response:
                if response.is_error:
                    answer = (await response.aread()).decode(errors="replace")[:300]
                    raise PredictorFailed(f"the server answered {response.status_code}: {answer}")
                async for piece in response.aiter_raw():
                    frames, odd = divmod(odd + len(piece), BYTES_PER_FRAME)
                    meter.arrive(ticks.now_ms() - begun_ms, frames)
        except httpx.HTTPError as error:
            raise PredictorFailed(f"the server cannot be asked: {error or type(error).__name__}") from None
        return _heard(meter.reading(ticks.now_ms() - begun_ms))

    return once


def _numbered(text: str, number: int) -> str:
    return text.replace(NUMBER, str(number))


def _heard(reading: Reading | None) -> Reading:
    if reading is None:
        raise PredictorFailed("there was no sound in the answer")
    return reading
