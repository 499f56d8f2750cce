"""Speech from any server of /v1/audio/speech: OpenAI, vLLM-Omni, Kokoro-FastAPI, speaches, and our own.

What they disagree about (wire-level drift between versions included) is met by asking in the one way that all of them
understand, and by believing the reply's Content-Type rather than the request.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, suppress
from dataclasses import replace
from typing import Any

import numpy as np

from ..audio import Samples
from ..engines.base import Chunk, Origin
from ..engines.estimate import estimated_words
from ..errors import BadRequest, Busy, PredictorFailed, UnknownVoice, VivavoceError
from .base import Deadline, Job
from .decoder import ENCODED, decoded
from .faults import BrokenOff, Missing
from .info import EndpointInfo
from .pace import Pace, WordGuess
from .patience import Patience
from .remote import Times
from .sound import SoundReader, checked_rate
from .speech_server import ServerFacts, language_for, learn_rate, look_at
from .sse import EventReader
from .upstream import Reply, Upstream

__all__ = ["HttpSpeechPredictor"]

_STREAMED = ("stream", "stream_format")
_OURS = ("language",)
# What a server refuses may be what it does not know. The first way streams everywhere; the second gives whole clips at
# any speed, which vLLM-Omni does not stream; the third has OpenAI's own fields only.
_WAYS: tuple[tuple[str, ...], ...] = ((), _STREAMED, _STREAMED + _OURS)
_CHANNELS = tuple("12345678")
_RATE_HEADERS = ("X-Sample-Rate", "X-Audio-Sample-Rate", "Sample-Rate")


class HttpSpeechPredictor:
    """One server of /v1/audio/speech.

    `url` may end with /v1 or with the whole path. `model` is asked for where the server lists it, else what it lists.
    Raw PCM, WAV and events are understood, streamed or whole; encoded sound is, whole. Raw PCM has the rate that its
    headers say, else that of the WAV file which the server speaks when it is first met, else `rate_hz`. Word times are
    estimated. `upstream` may be shared; one that is made here is closed by `aclose`.
    """

    def __init__(
        self,
        url: str,
        *,
        model: str = "",
        upstream: Upstream | None = None,
        origin: Origin | None = None,
        slots: int | None = None,
        rate_hz: int = 24_000,
        times: Times | None = None,
    ) -> None:
        self._base = _base_of(url)
        self._speech_url = f"{self._base}/v1/audio/speech"
        self._upstream = upstream or Upstream()
        self._owns_upstream = upstream is None
        self._origin = origin or Origin(self._base)
        self._told_slots = slots
        self._rate_hz = self._raw_hz = rate_hz
        self._times = times or Times()
        self._wanted_model = model
        self._model = model
        self._pace = Pace()
        self._ways: dict[tuple[bool, bool], int] = {}
        self._is_known = False
        self.info = EndpointInfo()
        self.dropped_bytes = 0

    @property
    def slots(self) -> int:
        """As many as it was told; 1 where nobody told."""
        return self._told_slots or 1

    def streams(self, voice: str) -> int:
        """As many as there are slots: what the server can do beyond that is not known."""
        return self.slots

    def rate_hz(self, voice: str) -> int:
        """The rate that was heard last; 24 kHz before."""
        return self._rate_hz

    @property
    def _here(self) -> Origin:
        """Where its chunks are made."""
        return replace(self._origin, model=self._model) if self._model else self._origin

    async def probe(self) -> EndpointInfo:
        """Ask whether it is up; the first time, and whenever it comes back, it has to speak a word.

        Raises PredictorFailed, Busy.
        """
        try:
            facts = await look_at(self._base, self._upstream, self._times.probe_s, again=not self._is_known)
            if facts is not None:
                await self._meet(facts)
        except VivavoceError:
            self._is_known = False
            raise
        return self.info

    async def aclose(self) -> None:
        """Close the connections that were opened here."""
        if self._owns_upstream:
            await self._upstream.aclose()

    async def synthesize(
        self, job: Job, deadline: Deadline | None = None, *, patience: Patience | None = None
    ) -> AsyncGenerator[Chunk]:
        """Speak the job. Raises PredictorFailed, Busy, BadRequest; closing it closes the connection at once."""
        patience = patience or Patience(self._times.request_s)
        asks = (job.speed != 1.0, bool(job.instruct))
        way = self._ways.get(asks, 0)
        while True:
            body = json.dumps(self._body(job, way)).encode()
            try:
                async with self._upstream.request(
                    "POST", self._speech_url, patience, body=body, headers={"Content-Type": "application/json"}
                ) as reply:
                    self._ways[asks] = way
                    async with aclosing(self._chunks(reply, job)) as chunks:
                        async for chunk in chunks:
                            yield chunk
                return
            except UnknownVoice:
                raise
            except BadRequest:
                way += 1
                if way >= len(_WAYS):
                    raise

    async def _meet(self, facts: ServerFacts) -> None:
        """Take in what the server said of itself, and have it speak."""
        self._ways.clear()
        self._model = facts.model_for(self._wanted_model)
        self.info = facts.info(self._model)
        with suppress(Busy, BadRequest, Missing):
            patience = Patience(self._times.request_s)
            rate_hz = await learn_rate(self._speech_url, self._upstream, patience, self._model, self.info)
            self._rate_hz = self._raw_hz = rate_hz or self._raw_hz
        self._is_known = True

    def _body(self, job: Job, way: int) -> dict[str, Any]:
        body: dict[str, Any] = {
            "input": job.phrase.text,
            "model": self._model,
            "voice": job.voice,
            "instructions": job.instruct,
            "language": language_for(self._model, job.phrase.language),
            "speed": job.speed,
            "response_format": "pcm",
            "stream": True,
            "stream_format": "audio",
        }
        return {name: value for name, value in body.items() if value != "" and name not in _WAYS[way]}

    async def _chunks(self, reply: Reply, job: Job) -> AsyncGenerator[Chunk]:
        """The sound of a reply, in whatever form it came."""
        reader = SoundReader(_told_rate(reply) or self._raw_hz, _told_channels(reply))
        kind = reply.content_type
        if kind == "text/event-stream":
            pieces = _events(reply)
        elif kind.startswith("text/") or kind.endswith("json"):
            raise PredictorFailed(f"The predictor answered with {kind} where sound was asked for.")
        elif kind in ENCODED:
            samples, rate_hz = await asyncio.to_thread(decoded, await reply.whole())
            yield self._whole(samples, rate_hz, job)
            return
        elif reply.is_whole:
            clip = await reply.whole()
            samples = np.concatenate((reader.feed(clip), reader.finish()))
            self.dropped_bytes += reader.dropped_bytes
            yield self._whole(samples, reader.rate_hz, job)
            return
        else:
            pieces = _bytes(reply)
        async with aclosing(pieces):
            async for chunk in self._streamed(pieces, reader, job):
                yield chunk

    async def _streamed(self, pieces: AsyncIterator[bytes], reader: SoundReader, job: Job) -> AsyncIterator[Chunk]:
        """Sound while it comes, with guessed words."""
        origin: Origin | None = self._here
        guess = WordGuess(job.phrase.text, job.voice, job.speed, self._pace)
        async for data in pieces:
            samples = reader.feed(data)
            if len(samples):
                yield Chunk(samples, guess.feed(samples, reader.rate_hz), rate_hz=reader.rate_hz, origin=origin)
                origin = None
        samples = reader.finish()
        words = guess.feed(samples, reader.rate_hz) + guess.finish()
        self._rate_hz = reader.rate_hz
        self.dropped_bytes += reader.dropped_bytes
        if origin is not None and not len(samples):
            raise PredictorFailed("The predictor gave no sound.")
        yield Chunk(samples, words, is_last=True, rate_hz=reader.rate_hz, origin=origin)

    def _whole(self, samples: Samples, rate_hz: int, job: Job) -> Chunk:
        """A clip that came whole, with words estimated from all of its sound."""
        if not len(samples):
            raise PredictorFailed("The predictor gave no sound.")
        self._rate_hz = rate_hz
        words = estimated_words(job.phrase.text, samples, rate_hz)
        return Chunk(samples, words, is_last=True, rate_hz=rate_hz, origin=self._here)


async def _bytes(reply: Reply) -> AsyncGenerator[bytes]:
    """The body as it comes."""
    while data := await reply.some():
        yield data


async def _events(reply: Reply) -> AsyncGenerator[bytes]:
    """The sound inside events; the last one is called `done`, in OpenAI's and vLLM-Omni's way, or [DONE]."""
    reader, is_over = EventReader(), False
    while not is_over:
        data = await reply.some()
        is_over = not data
        for event in reader.feed(data) if data else reader.finish():
            sound = _sound_of(event)
            if sound is None:
                await reply.end()
                return
            yield sound
    if not reply.tells_its_end:
        raise BrokenOff("The predictor's events ended without the last one.")


def _sound_of(event: bytes) -> bytes | None:
    """The bytes in one event; None for the last event. Raises PredictorFailed for one that tells of a fault."""
    if event.strip() == b"[DONE]":
        return None
    try:
        told = json.loads(event)
    except (ValueError, RecursionError):
        raise PredictorFailed("The predictor sent an event that is not JSON.") from None
    if not isinstance(told, dict):
        raise PredictorFailed("The predictor sent an event that is not an object.")
    kind = str(told.get("type", ""))
    if "error" in told or kind.endswith("error"):
        fault = told.get("error")
        message = fault.get("message") if isinstance(fault, dict) else fault
        raise PredictorFailed(f"The predictor broke off: {str(message)[:500]}")
    if kind.endswith(".done"):
        return None
    sound = told.get("audio") or told.get("delta") or ""
    try:
        return base64.b64decode(sound, validate=True)
    except (TypeError, ValueError, binascii.Error):
        raise PredictorFailed("The predictor sent an event whose sound is not base64.") from None


def _told_rate(reply: Reply) -> int | None:
    """The rate in the reply's headers, where one is there: `audio/pcm;rate=44100`, or one of the usual names."""
    told = _parameters(reply, "rate", "samplerate")
    told += [reply.headers[name] for name in _RATE_HEADERS if name in reply.headers]
    return checked_rate(int(told[0])) if told and told[0].isdecimal() else None


def _told_channels(reply: Reply) -> int:
    """How many channels raw samples have: `audio/pcm;rate=24000;channels=2`."""
    told = _parameters(reply, "channels")
    return int(told[0]) if told and told[0] in _CHANNELS else 1


def _parameters(reply: Reply, *names: str) -> list[str]:
    """The values of those parameters of the Content-Type."""
    parameters = reply.headers.get("Content-Type", "").replace(" ", "").lower().split(";")[1:]
    pairs = (parameter.partition("=") for parameter in parameters)
    return [value.strip('"') for name, _, value in pairs if name in names]


def _base_of(url: str) -> str:
    """The address before /v1; a missing scheme is http."""
    url = url if "://" in url else f"http://{url}"
    return url.rstrip("/").removesuffix("/audio/speech").removesuffix("/v1").rstrip("/")
