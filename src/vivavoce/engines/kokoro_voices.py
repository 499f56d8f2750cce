"""The voices of Kokoro that are spoken here: the first letter of a name is its language, the second its gender."""

from __future__ import annotations

from .base import Voice

__all__ = ["ESPEAK_VOICES", "VOICES"]

ESPEAK_VOICES = {"es": "es", "fr-FR": "fr-fr", "hi": "hi", "it": "it", "pt-BR": "pt-br"}

_LANGUAGES = {"a": "en-US", "b": "en-GB", "e": "es", "f": "fr-FR", "h": "hi", "i": "it", "p": "pt-BR"}
_GENDERS = {"f": "female", "m": "male"}
# In each language the best voice comes first: it speaks when none is named.
_NAMES = [
    "af_heart",
    "af_bella",
    "af_nicole",
    "af_aoede",
    "af_kore",
    "af_sarah",
    "af_nova",
    "af_alloy",
    "af_sky",
    "af_jessica",
    "af_river",
    "am_michael",
    "am_fenrir",
    "am_puck",
    "am_echo",
    "am_eric",
    "am_liam",
    "am_onyx",
    "am_adam",
    "am_santa",
    "bf_emma",
    "bf_isabella",
    "bf_alice",
    "bf_lily",
    "bm_george",
    "bm_fable",
    "bm_lewis",
    "bm_daniel",
    "ef_dora",
    "em_alex",
    "em_santa",
    "ff_siwis",
    "hf_alpha",
    "hf_beta",
    "hm_omega",
    "hm_psi",
    "if_sara",
    "im_nicola",
    "pf_dora",
    "pm_alex",
    "pm_santa",
]

VOICES = tuple(Voice(name, _LANGUAGES[name[0]], _GENDERS[name[1]], f"Kokoro's {name[3:].title()}") for name in _NAMES)
