"""Speech from a server of the Open Inference Protocol V2: KServe, Triton, our own engine and our adapter."""

from __future__ import annotations

import asyncio
import json
import math
import random
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing, suppress
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from ..audio import FRAME_BYTES, Samples, from_pcm16
from ..engines.base import Chunk, Origin
from ..errors import PredictorFailed, VivavoceError
from .base import Deadline, Job
from .clip import clip_chunks, first_chunk, first_frames, last_chunk
from .faults import BrokenOff, Missing
from .info import EndpointInfo, voices_in
from .patience import Patience
from .remote import Times
from .sse import EventReader
from .upstream import MAX_BODY_BYTES, Upstream
from .v2_beginning import beginning
from .v2_sound import outputs_to_ask_for, speech_in
from .v2_stream import decode_event
from .v2_wire import (
    BINARY_EXTENSION,
    HEADER_LENGTH,
    STREAM_EXTENSION,
    Body,
    InferRequest,
    InferResponse,
    Tensor,
    Wanted,
    header_bytes_in,
)

__all__ = ["V2Predictor"]

_LEARNED_FOR_S = 30.0
_MAX_COUNT = 100_000
# A clip's rest is looked at when its beginning has left, and after those who wait for their own first sound.
_BREATH_S = 0.003


class V2Predictor:
    """One server of the V2 protocol.

    `model` is the name in its paths. Speech comes as binary INT16 where the server can do that, as JSON numbers or
    base64 elsewhere, and while it is made where the server is one of ours. The headers X-Slots, X-Streams, X-Tier,
    X-Node and X-Model tell what they say; `slots` counts where the first is missing, and `slots_behind` in any case: it
    is for an address behind which a load balancer hides several servers. `upstream` may be shared; one that is made
    here is closed by `aclose`.
    """

    def __init__(
        self,
        url: str,
        *,
        model: str = "tts",
        upstream: Upstream | None = None,
        origin: Origin | None = None,
        slots: int | None = None,
        slots_behind: int | None = None,
        rate_hz: int = 24_000,
        times: Times | None = None,
    ) -> None:
        self._base = (url if "://" in url else f"http://{url}").rstrip("/").removesuffix("/v2")
        self._model_url = f"{self._base}/v2/models/{quote(model, safe='')}"
        self._infer_url = f"{self._model_url}/infer"
        self._stream_url = f"{self._model_url}/generate_stream"
        self._upstream = upstream or Upstream()
        self._owns_upstream = upstream is None
        self._origin = origin or Origin(self._base, model=model)
        self._told_slots = slots
        self._slots_behind = slots_behind
        self._rate_hz = rate_hz
        self._times = times or Times()
        self._extensions: frozenset[str] = frozenset()
        self._outputs: tuple[Wanted, ...] = ()
        self._learned_until_s = 0.0
        self._learning = asyncio.Lock()
        self.info = EndpointInfo()
        self.dropped_bytes = 0

    @property
    def slots(self) -> int:
        """As many as the server says; else as many as it was told here, else 1."""
        if self._slots_behind is not None:
            return self._slots_behind
        return self._told_slots or 1 if self.info.slots is None else self.info.slots

    def streams(self, voice: str) -> int:
        """As many as the server says it keeps up with; as many as its slots where it does not say."""
        if self._slots_behind is not None or self.info.streams is None:
            return self.slots
        return self.info.streams

    def rate_hz(self, voice: str) -> int:
        """The rate that was heard last; 24 kHz before."""
        return self._rate_hz

    async def probe(self) -> EndpointInfo:
        """Ask whether it is ready, and now and then what it has. Raises PredictorFailed, Busy."""
        try:
            patience = Patience(self._times.probe_s)
            async with self._upstream.request("GET", f"{self._base}/v2/health/ready", patience) as reply:
                body = await reply.whole()
                self._take_in(reply.headers)
            if _object(body).get("ready") is False:
                raise PredictorFailed("The predictor is not ready.")
            now_s = asyncio.get_running_loop().time()
            if now_s >= self._learned_until_s:
                await self._learn()
                self._learned_until_s = now_s + _LEARNED_FOR_S
        except VivavoceError:
            self._learned_until_s = 0.0
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
        if not self._learned_until_s:
            async with self._learning:
                if not self._learned_until_s:
                    await self.probe()
        is_streamed = STREAM_EXTENSION in self._extensions
        async with aclosing((self._streamed if is_streamed else self._inferred)(job, patience)) as chunks:
            async for chunk in chunks:
                yield chunk

    async def _streamed(self, job: Job, patience: Patience) -> AsyncGenerator[Chunk]:
        """Speech while it is made."""
        body = json.dumps({"id": _new_id(), "text_input": job.phrase.text, "parameters": _parameters(job)})
        origin: Origin | None = None
        async with self._upstream.request(
            "POST", self._stream_url, patience, body=body.encode(), headers={"Content-Type": "application/json"}
        ) as reply:
            if reply.content_type != "text/event-stream":
                raise PredictorFailed(f"The predictor answered with {reply.content_type or 'nothing'}, not events.")
            self._take_in(reply.headers)
            origin = self._origin_in(reply.headers)
            reader = EventReader()
            while data := await reply.some():
                for told in reader.feed(data):
                    event = decode_event(told)
                    samples = self._samples(event.pcm)
                    self._rate_hz = event.rate_hz
                    yield Chunk(samples, event.words, is_last=event.final, rate_hz=event.rate_hz, origin=origin)
                    origin = None
                    if event.final:
                        await reply.end()
                        return
        raise BrokenOff("The predictor's speech ended before its last event.")

    def _samples(self, pcm: bytes) -> Samples:
        """Whole samples; the protocol allows no others, so an odd byte is dropped where it stands."""
        odd = len(pcm) % FRAME_BYTES
        self.dropped_bytes += odd
        return from_pcm16(pcm[: len(pcm) - odd])

    async def _inferred(self, job: Job, patience: Patience) -> AsyncGenerator[Chunk]:
        """A whole clip, whose beginning is given while the rest is still coming."""
        body = self._inference(job)
        first: Chunk | None = None
        async with self._upstream.request(
            "POST", self._infer_url, patience, body=body.content, headers=body.headers
        ) as reply:
            self._take_in(reply.headers)
            origin, header_length = self._origin_in(reply.headers), reply.headers.get(HEADER_LENGTH)
            content, enough = bytearray(), self._enough(header_length)
            while piece := await reply.some(MAX_BODY_BYTES):
                content += piece
                if len(content) >= enough:
                    begun, enough = beginning(bytes(content[: int(enough)]), header_length), math.inf
                    if begun is not None:
                        first = first_chunk(speech_in(begun, self._rate_hz), origin)
                        yield first
                        await asyncio.sleep(_BREATH_S)
        speech = speech_in(InferResponse.decode(bytes(content), header_length), self._rate_hz)
        self.dropped_bytes += speech.dropped_bytes
        if not speech.frames:
            raise PredictorFailed("The predictor gave no sound.")
        self._rate_hz = speech.rate_hz
        text = job.phrase.text
        for chunk in clip_chunks(text, speech, origin) if first is None else (last_chunk(text, speech, first),):
            yield chunk
            if not chunk.is_last:
                await asyncio.sleep(_BREATH_S)

    def _inference(self, job: Job) -> Body:
        """The request for a clip, with what is said about its sound ahead of the sound, where the server can do that."""
        parameters = _parameters(job)
        outputs: tuple[Wanted, ...] = ()
        if BINARY_EXTENSION in self._extensions:
            parameters |= {"binary_data_output": True}
            outputs = self._outputs
        text = Tensor.of_texts("text", job.phrase.text)
        return InferRequest((text,), id=_new_id(), parameters=parameters, outputs=outputs).encode(binary=False)

    def _enough(self, header_length: str | None) -> float:
        """How many bytes hold the beginning of a clip; infinitely many where only the whole can be read."""
        header_bytes = header_bytes_in(header_length)
        return math.inf if header_bytes is None else header_bytes + first_frames(self._rate_hz) * FRAME_BYTES

    async def _learn(self) -> None:
        """Ask the server and its model what they are. Raises PredictorFailed where the model is not there."""
        limit_s = self._times.probe_s
        server: dict[str, Any] = {}
        with suppress(Missing):
            server = _object(await self._upstream.get(f"{self._base}/v2", limit_s))
        model = _object(await self._upstream.get(self._model_url, limit_s))
        extensions = server.get("extensions")
        self._extensions = frozenset(map(str, extensions)) if isinstance(extensions, list) else frozenset()
        self._outputs = outputs_to_ask_for(model.get("outputs"))
        ours = model.get("vivavoce")
        ours = ours if isinstance(ours, dict) else {}
        languages = ours.get("languages")
        self.info = replace(
            self.info,
            voices=voices_in(ours),
            languages=tuple(map(str, languages)) if isinstance(languages, list) else (),
            design=ours.get("design") is True,
        )

    def _take_in(self, headers: Mapping[str, str]) -> None:
        """Note what the headers of any reply say of its server."""
        info = self.info
        slots, streams = _count(headers.get("X-Slots")), _count(headers.get("X-Streams"))
        told = (
            headers.get("X-Model", info.model),
            headers.get("X-Node", info.node),
            headers.get("X-Tier", info.tier),
            info.slots if slots is None else slots,
            info.streams if streams is None else streams,
        )
        if told != (info.model, info.node, info.tier, info.slots, info.streams):
            model, node, tier, slots, streams = told
            self.info = replace(info, model=model, node=node, tier=tier, slots=slots, streams=streams)

    def _origin_in(self, headers: Mapping[str, str]) -> Origin:
        known = self._origin
        return Origin(
            known.endpoint,
            headers.get("X-Tier") or known.tier,
            headers.get("X-Node") or known.node,
            headers.get("X-Model") or known.model,
        )


def _parameters(job: Job) -> dict[str, Any]:
    """How the phrase is to be spoken, in the request's parameters; `normalized` says that it is one phrase."""
    parameters: dict[str, Any] = {"normalized": True, "speed": job.speed}
    named = {"voice": job.voice, "language": job.phrase.language, "instruct": job.instruct}
    parameters.update({name: value for name, value in named.items() if value})
    if job.phrase.ipa:
        parameters["ipa"] = json.dumps([[ipa.start, ipa.end, ipa.symbols] for ipa in job.phrase.ipa])
    return parameters


def _object(body: bytes) -> dict[str, Any]:
    """The JSON object in a body; an empty one where there is something else."""
    try:
        told = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return told if isinstance(told, dict) else {}


def _count(header: str | None) -> int | None:
    """A small count in a header; None where there is none."""
    if header is None or not (header.isascii() and header.isdigit()):
        return None
    return min(int(header[:9]), _MAX_COUNT)


def _new_id() -> str:
    """A name for one request, good enough to find it in two logs."""
    return f"{random.getrandbits(64):016x}"
