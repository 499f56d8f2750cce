"""The JSON object in a request's body."""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any, NoReturn

from fastapi import Request

from ..errors import BadRequest, Forbidden, RequestTimeout

__all__ = ["parse_object", "read_object"]

_SURROGATES = re.compile("[\ud800-\udfff]")


async def read_object(request: Request, timeout_s: float) -> dict[str, Any]:
    """Read the body as one JSON object; fields that are null are left out, lone surrogates become U+FFFD.

    Raises BadRequest for anything else, RequestTimeout for a body that does not come.
    """
    _refuse_foreign_form(request)
    try:
        async with asyncio.timeout(timeout_s):
            raw = await request.body()
    except TimeoutError:
        raise RequestTimeout(f"The request's body did not arrive within {timeout_s:g} s.") from None
    return parse_object(raw)


def parse_object(raw: bytes) -> dict[str, Any]:
    """The JSON object that the bytes are, cleaned in the same way. Raises BadRequest for anything else."""
    try:
        value = json.loads(raw.decode("utf-8-sig"), parse_constant=_no_such_number)
    except UnicodeDecodeError:
        raise BadRequest("The body is not valid UTF-8.") from None
    except json.JSONDecodeError as error:
        raise BadRequest(
            f"The body is not valid JSON: {error.msg} (line {error.lineno}, column {error.colno})."
        ) from None
    except (ValueError, RecursionError):
        raise BadRequest("The body is not valid JSON.") from None
    if not isinstance(value, dict):
        raise BadRequest("The body must be a JSON object.")
    return {name: _clean(field) for name, field in value.items() if field is not None}


def _refuse_foreign_form(request: Request) -> None:
    """A page of another site can post a form here without asking; it cannot post JSON."""
    kind = request.headers.get("content-type", "application/json")
    if "json" not in kind.lower() and request.headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
        raise Forbidden("Send the body as Content-Type: application/json.")


def _clean(value: Any) -> Any:
    return _SURROGATES.sub("\ufffd", value) if isinstance(value, str) else value


def _no_such_number(name: str) -> NoReturn:
    raise BadRequest(f"The body is not valid JSON: {name} is not a number.")
