"""What the V2 door stands before: one model, its slots, whether it is ready, and what it has done."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus

from fastapi import Request
from starlette.exceptions import HTTPException

from ..engines.base import Origin
from ..errors import Busy, RateLimited, UnknownModel, VivavoceError
from ..speech.admission import Caller
from .services import Services

__all__ = ["VERSION", "Seat", "SlotGate", "Tally", "V2Door", "door_of"]

VERSION = "1"
"""The only version of the model there is."""

ANYBODY = Caller()
RETRY_AFTER_S = 1.0
_SHOWN_NAME_CHARACTERS = 80
_CALLS = ("infer", "generate", "generate_stream")


class SlotGate:
    """As many requests at once as there are slots; one more is refused at once, never queued.

    Queues belong to whoever has several predictors to choose from.
    """

    def __init__(self, slots: Callable[[], int]) -> None:
        self._slots = slots
        self._of_caller: Counter[str] = Counter()

    @property
    def busy(self) -> int:
        """Slots that are taken."""
        return self._of_caller.total()

    def take(self, caller: Caller = ANYBODY) -> Seat:
        """A slot, until it is released. Raises Busy when all are taken, RateLimited when the caller's own are."""
        if caller.streams is not None and self._of_caller[caller.name] >= caller.streams:
            message = f"This key may have {caller.streams} utterances at the same time, and has."
            raise RateLimited(message, retry_after_s=RETRY_AFTER_S)
        slots = self._slots()
        if self.busy >= slots:
            message = f"All {slots} slots of this predictor are taken." if slots else "This predictor has no slot."
            raise Busy(message, retry_after_s=RETRY_AFTER_S, reason="full")
        self._of_caller[caller.name] += 1
        return Seat(lambda: self._free(caller.name))

    def _free(self, name: str) -> None:
        self._of_caller[name] -= 1
        if not self._of_caller[name]:
            del self._of_caller[name]


class Seat:
    """One taken slot; releasing it again does nothing."""

    def __init__(self, free: Callable[[], None]) -> None:
        self._free: Callable[[], None] | None = free

    def release(self) -> None:
        """Give the slot back."""
        if self._free is not None:
            self._free()
            self._free = None


@dataclass(slots=True)
class Tally:
    """How many inferences went well and how many did not, and how long they took."""

    succeeded: int = 0
    succeeded_ms: float = 0.0
    failed: int = 0
    failed_ms: float = 0.0
    last_unix_ms: int = 0


@dataclass(slots=True)
class V2Door:
    """One server's model behind the V2 contract.

    `healthy` is asked besides the server's own state: an adapter's engine can die and come back.
    """

    services: Services
    draining: Callable[[], bool]
    healthy: Callable[[], bool] = lambda: True
    tally: Tally = field(default_factory=Tally)
    gate: SlotGate = field(init=False)
    loaded: bool = True
    _models: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.gate = SlotGate(lambda: self.slots)

    @property
    def name(self) -> str:
        """The model's name."""
        return self.services.settings.model_name

    @property
    def slots(self) -> int:
        """Requests that are served at the same time."""
        return self.services.predictor.slots

    @property
    def streams(self) -> int:
        """Utterances in the default voice that are kept ahead of their listeners at the same time; a slot at least."""
        return max(self.slots, self.services.predictor.streams(self._default_voice))

    @property
    def ready(self) -> bool:
        """Whether a request would be served: speech has come out, the engine lives, nobody is leaving."""
        return self.loaded and self.services.spoken and self.healthy() and not self.draining()

    def take(self, caller: Caller = ANYBODY) -> Seat:
        """A slot for one request. Raises Busy at once where there is none, while the model is not ready, and RateLimited.

        Limits of a key are not asked for where admission is switched off.
        """
        if self.draining():
            raise Busy("The server is shutting down.", retry_after_s=RETRY_AFTER_S, reason="draining")
        if not self.ready:
            raise Busy(f"Model {self.name} is not ready.", retry_after_s=RETRY_AFTER_S, reason="full")
        return self.gate.take(caller if self.services.admission.enabled else ANYBODY)

    def check(self, model: str, version: str | None = None) -> None:
        """Raise UnknownModel for any other model or version than the one there is."""
        if model != self.name:
            shown = model if len(model) <= _SHOWN_NAME_CHARACTERS else model[:_SHOWN_NAME_CHARACTERS] + "…"
            if model.rpartition("/")[2] in _CALLS:
                raise HTTPException(HTTPStatus.METHOD_NOT_ALLOWED)
            raise UnknownModel(f"Model with name {shown} does not exist.", param="model")
        if version not in (None, VERSION):
            raise UnknownModel(f"Model {model} has no such version; it has version {VERSION}.", param="model")

    def check_callable(self, model: str, version: str | None = None) -> None:
        """Raise UnknownModel for another model, and HTTPException 501 for another version, as KServe's server does."""
        self.check(model)
        if version not in (None, VERSION):
            detail = f"Model {model} has no such version; it has version {VERSION}."
            raise HTTPException(HTTPStatus.NOT_IMPLEMENTED, detail)

    def headers(self, origin: Origin | None = None, voice: str | None = None) -> dict[str, str]:
        """What a pool wants to know with every reply: slots and streams, and where, and with which model, it is made."""
        settings = self.services.settings
        voice = self._default_voice if voice is None else voice
        told: Mapping[str, str] = {
            "X-Slots": str(self.slots),
            "X-Streams": str(self.streams),
            "X-Tier": settings.tier or (origin.tier if origin else ""),
            "X-Node": settings.node_name or (origin.node if origin else ""),
            "X-Model": (origin.model if origin else "") or self._model_of(voice),
        }
        return {name: _ascii(value) for name, value in told.items() if value}

    @property
    def _default_voice(self) -> str:
        try:
            return self.services.select(None, None, None).voice.name
        except VivavoceError:
            return ""

    def _model_of(self, voice: str) -> str:
        """What really speaks in that voice; the served name where that is not known."""
        if endpoints := self.services.source.endpoints:
            return endpoints[0].model or self.name if len(endpoints) == 1 else self.name
        if voice and voice not in self._models:
            self._models.update((entry.name, entry.engine) for entry in self.services.catalog.voices())
            self._models.setdefault(voice, "")
        return self._models.get(voice) or self.name


def door_of(request: Request) -> V2Door:
    """The V2 door of the server that got this request."""
    door: V2Door = request.app.state.v2
    return door


def _ascii(value: str) -> str:
    """The value as a header can hold it."""
    return "".join(c for c in value if c.isascii() and c.isprintable()).strip()
