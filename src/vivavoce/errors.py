"""Every error that a user can meet, in one tree.

VivavoceError
├── BadRequest            400  the request itself is wrong
│   ├── EmptyInput             nothing to say
│   ├── UnknownVoice
│   ├── UnsupportedLanguage    no engine here speaks it
│   ├── UnsupportedFormat
│   ├── OutOfRange             a number outside its limits
│   ├── BadMessage             a frame that the protocol does not know, or not now
│   │   ├── NoUtterance            it speaks of an utterance that is not running
│   │   ├── TextEnded              more text for a text that is complete
│   │   ├── UtteranceRunning       one is being spoken already
│   │   ├── FramingRequired        several at once can only be told apart by headers
│   │   └── TooManyUtterances      on one connection
│   ├── BadToken               a resume token that is forged, too old or not ours
│   └── BadLexicon             a user's pronunciations cannot be read
├── Unauthorized          401
├── Forbidden             403  a page of another site sent the request
├── UnknownModel          404
├── RequestTimeout        408  the request did not arrive in time, or the client stopped reading
├── InputTooLarge         413
├── Busy                  503  no turn or no slot in time, or draining; try again
│   └── RateLimited       429  the key's own limit is reached
├── VoiceNotInstalled     503  the voice is real, its model is not on this machine
├── ModelCorrupt          500  a model file is not what its checksum says
├── ModelUnavailable      503  no source could give the model
├── PredictorFailed       502  speech could not be made
├── ConfigError           500  a setting that cannot work (the process refuses to start)
├── PlaybackFailed        500  speech was made here and could not be played here
└── InternalError         500  a fault of ours that has no better name
"""

from __future__ import annotations

from typing import ClassVar, Literal

__all__ = [
    "BadLexicon",
    "BadMessage",
    "BadRequest",
    "BadToken",
    "Busy",
    "BusyReason",
    "ConfigError",
    "EmptyInput",
    "Forbidden",
    "FramingRequired",
    "InputTooLarge",
    "InternalError",
    "ModelCorrupt",
    "ModelUnavailable",
    "NoUtterance",
    "OutOfRange",
    "PlaybackFailed",
    "PredictorFailed",
    "RateLimited",
    "RequestTimeout",
    "TextEnded",
    "TooManyUtterances",
    "Unauthorized",
    "UnknownModel",
    "UnknownVoice",
    "UnsupportedFormat",
    "UnsupportedLanguage",
    "UtteranceRunning",
    "VivavoceError",
    "VoiceNotInstalled",
]


BusyReason = Literal["queue_full", "queue_timeout", "draining", "rate_limited", "full"]
"""Why a request was refused; `full`: every slot of the predictor is taken."""


class VivavoceError(Exception):
    """An error with a name on every wire.

    `code` is the stable word clients branch on, `status` the HTTP status, `close_code` the WebSocket close code,
    `retryable` whether the same request may succeed later, `param` the request field at fault where there is one.
    """

    code: ClassVar[str] = "internal_error"
    status: ClassVar[int] = 500
    close_code: ClassVar[int] = 1011
    retryable: ClassVar[bool] = False

    def __init__(self, message: str, *, param: str | None = None, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.param = param
        self.retry_after_s = retry_after_s


class BadRequest(VivavoceError):
    """The request itself is wrong; sending it again changes nothing."""

    code = "invalid_request"
    status = 400
    close_code = 4400


class EmptyInput(BadRequest):
    """There is nothing to say in the text."""

    code = "empty_input"


class UnknownVoice(BadRequest):
    """No voice has that name."""

    code = "unknown_voice"


class UnsupportedLanguage(BadRequest):
    """No engine on this machine speaks that language, or not in that voice."""

    code = "unsupported_language"


class UnsupportedFormat(BadRequest):
    """No such audio format, or not at that rate."""

    code = "unsupported_format"


class OutOfRange(BadRequest):
    """A number lies outside its limits."""

    code = "out_of_range"


class BadMessage(BadRequest):
    """The protocol knows no such frame, or not at this point; the connection stays usable."""

    code = "bad_message"


class NoUtterance(BadMessage):
    """The message speaks of an utterance that is not running."""

    code = "no_utterance"


class TextEnded(BadMessage):
    """More text, or another end, for an utterance whose text is complete."""

    code = "text_ended"


class UtteranceRunning(BadMessage):
    """The connection already speaks an utterance of that id, or one without."""

    code = "utterance_running"
    retryable = True


class FramingRequired(BadMessage):
    """Several utterances at once need `framing: "header"`, all of them: bare sound cannot be told apart."""

    code = "framing_required"


class TooManyUtterances(BadMessage):
    """The connection already speaks as many utterances as it may."""

    code = "too_many_utterances"
    retryable = True


class BadToken(BadRequest):
    """The resume token is forged, too old, or another server's."""

    code = "bad_token"


class BadLexicon(BadRequest):
    """The lexicon cannot be read; the message names the line or the entry."""

    code = "bad_lexicon"


class Forbidden(VivavoceError):
    """A page of another site sent the request."""

    code = "forbidden"
    status = 403
    close_code = 4403


class RequestTimeout(VivavoceError):
    """The request did not arrive in time."""

    code = "request_timeout"
    status = 408
    close_code = 4408
    retryable = True


class UnknownModel(VivavoceError):
    """No model has that name."""

    code = "model_not_found"
    status = 404
    close_code = 4400


class InputTooLarge(VivavoceError):
    """The text or the body is over the limit."""

    code = "input_too_large"
    status = 413
    close_code = 4413


class Unauthorized(VivavoceError):
    """The key is missing or wrong."""

    code = "invalid_api_key"
    status = 401
    close_code = 4401


class Busy(VivavoceError):
    """No turn came up in time, or the server is draining; `reason` is a word that clients branch on."""

    code = "busy"
    status = 503
    close_code = 1013
    retryable = True

    def __init__(
        self, message: str, *, param: str | None = None, retry_after_s: float | None = None, reason: BusyReason = "full"
    ) -> None:
        super().__init__(message, param=param, retry_after_s=retry_after_s)
        self.reason = reason


class RateLimited(Busy):
    """The key's own limit of streams or of characters is reached."""

    code = "rate_limited"
    status = 429
    close_code = 4429

    def __init__(self, message: str, *, param: str | None = None, retry_after_s: float | None = None) -> None:
        super().__init__(message, param=param, retry_after_s=retry_after_s, reason="rate_limited")


class VoiceNotInstalled(VivavoceError):
    """The voice exists, but its model or program is not on this machine; the message says how to get it."""

    code = "voice_not_installed"
    status = 503


class ModelCorrupt(VivavoceError):
    """A model file does not match its checksum."""

    code = "model_corrupt"


class ModelUnavailable(VivavoceError):
    """No source could give the model."""

    code = "model_unavailable"
    status = 503
    retryable = True


class PredictorFailed(VivavoceError):
    """Speech could not be made for a reason that lies with the engine."""

    code = "predictor_failed"
    status = 502
    retryable = True


class ConfigError(VivavoceError):
    """A setting cannot work; the process refuses to start with it."""

    code = "bad_config"


class InternalError(VivavoceError):
    """Something broke that has no better name; the log has the traceback under the request's id."""


class PlaybackFailed(VivavoceError):
    """The sound cannot be heard on this machine; the message names what was tried."""

    code = "playback_failed"
