"""Other names for voices and models: those of OpenAI's API, and the language letters of Kokoro."""

from __future__ import annotations

__all__ = ["ANY_MODEL", "KOKORO_LANGUAGES", "MODEL_ALIASES", "VOICE_ALIASES", "VOICE_ALIASES_OF"]

# OpenAI's voices, each a voice of the same gender and a like accent; `alloy` is the fast default.
VOICE_ALIASES = {
    "alloy": "heart",
    "ash": "am_michael",
    "ballad": "bm_george",
    "cedar": "am_puck",
    "coral": "af_bella",
    "echo": "am_echo",
    "fable": "bm_fable",
    "marin": "af_heart",
    "nova": "af_nova",
    "onyx": "am_onyx",
    "sage": "af_sarah",
    "shimmer": "af_sky",
    "verse": "am_fenrir",
}

# Where a model is named, its own voice of that name comes first.
VOICE_ALIASES_OF = {"kokoro": {"alloy": "af_alloy", "heart": "af_heart"}}

MODEL_ALIASES = {"espeak": "espeak-ng", "kokoro-82m": "kokoro", "hexgrad/kokoro-82m": "kokoro", "hibari-tts": "hibari"}

# Names that clients of OpenAI send: whichever engine has the voice.
ANY_MODEL = ("tts-1", "tts-1-hd", "gpt-4o-mini-tts")

KOKORO_LANGUAGES = {
    "a": "en-US",
    "b": "en-GB",
    "e": "es",
    "f": "fr-FR",
    "h": "hi",
    "i": "it",
    "j": "ja",
    "p": "pt-BR",
    "z": "zh",
}
