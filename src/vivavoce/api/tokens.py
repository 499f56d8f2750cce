"""POST /v1/tokens: a token for a page, in exchange for a key."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from ..errors import Forbidden
from .services import caller_of, services_of

__all__ = ["router"]

router = APIRouter()


@router.post("/v1/tokens")
async def create_token(request: Request) -> Response:
    """A token that opens the doors as the key does that asks for it, under the key's own limits, and for a while only.

    It can be sent wherever a key can. It ends with its time, or with its key. A token cannot ask for another.
    """
    services = services_of(request)
    if request.scope["state"].get("by_token"):
        raise Forbidden("A token cannot ask for another one; ask with a key.")
    token, ends_s = services.keyring.mint(caller_of(request))
    expires_in = int(services.settings.token_ttl_s)
    reply: dict[str, Any] = {"token": token, "expires_in": expires_in, "expires_at": int(ends_s)}
    return JSONResponse(reply, headers={"Cache-Control": "no-store"})
