"""GET /v1/languages and POST /v1/voices/design: what could be spoken, and how a voice may be described."""

from __future__ import annotations

from collections import Counter
from typing import Any

from fastapi import APIRouter, Request

from ..engines.casting import Casting
from ..engines.design import CATEGORIES, Design, Nearest, nearest_voice, parse_design
from ..errors import BadRequest
from ..languages import Language, find_language, languages
from .body import read_object
from .services import services_of

__all__ = ["router"]

router = APIRouter()

_NEEDS = "a predictor that serves OmniVoice"


@router.get("/v1/languages")
async def list_languages(request: Request) -> dict[str, Any]:
    """The 646 languages of OmniVoice, those that can be spoken now first, and the vocabulary of voice design.

    `tag` is what a request's `language` should say. Where `speakable` is false, `needs` says what is missing.
    """
    casting = services_of(request).catalog
    voices: Counter[str] = Counter()
    tags: dict[str, str] = {}
    for tag, count in casting.languages().items():
        language = find_language(tag)
        if language is not None:
            voices[language.id] += count
            own = tag.partition("-")[0]
            tags.setdefault(language.id, own if find_language(own) == language else tag)
    listed = sorted(languages(), key=lambda language: language.id not in tags)
    shown = [_shown(language, tags.get(language.id), voices[language.id]) for language in listed]
    return {"object": "list", "languages": shown, "design": _vocabulary(casting)}


@router.post("/v1/voices/design")
async def design_voice(request: Request) -> dict[str, Any]:
    """Check a design; where no predictor designs voices, say which voice comes nearest and what it cannot do."""
    services = services_of(request)
    body = await read_object(request, services.settings.body_timeout_s)
    instruct, language = body.get("instruct", ""), body.get("language")
    if not isinstance(instruct, str):
        raise BadRequest("instruct must be a string.", param="instruct")
    if language is not None and not isinstance(language, str):
        raise BadRequest("language must be a string.", param="language")
    design = parse_design(instruct, language)
    if services.catalog.designs:
        return {"instruct": design.instruct, "native": True, "voice": None, "why": "The predictor follows the design."}
    nearest = nearest_voice(design, services.catalog.voices(), language)
    return {
        "instruct": design.instruct,
        "native": False,
        "voice": {"id": nearest.voice.name, "language": nearest.voice.language, "gender": nearest.voice.gender},
        "why": _why(design, nearest),
    }


def _shown(language: Language, tag: str | None, voices: int) -> dict[str, Any]:
    return {
        "id": language.id,
        "name": language.name,
        "iso639_3": language.iso639_3,
        "tag": tag or language.id,
        "speakable": tag is not None,
        "voices": voices,
        "needs": "" if tag is not None else _NEEDS,
    }


def _vocabulary(casting: Casting) -> dict[str, Any]:
    categories = [{"name": name, "options": list(options)} for name, options in CATEGORIES.items()]
    return {"native": casting.designs, "categories": categories}


def _why(design: Design, nearest: Nearest) -> str:
    if not design.choices:
        return "Nothing was asked for."
    parts = [f"is {', '.join(nearest.met)}"] if nearest.met else []
    parts += [f"cannot be {', '.join(nearest.missed)}"] if nearest.missed else []
    return f"The nearest voice, {nearest.voice.name}, {' but '.join(parts)}."
