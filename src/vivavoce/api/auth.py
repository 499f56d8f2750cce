"""The first question at every door: whose is this call."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from ..errors import Forbidden, Unauthorized
from ..speech import replies
from ..speech.protocol import SUBPROTOCOL
from ..speech.seal import decode_base64url
from .errors import reply_of, send_error
from .keys import Keyring
from .origins import Origins, is_form

__all__ = ["Auth", "offered"]

_KEY, _TOKEN = "vivavoce.key.", "vivavoce.token."


class Auth:
    """Middleware: asks every WebSocket, and every request of the speech APIs, for a key before anything of it is read.

    The caller is in `scope["state"]["caller"]` for every door, and `by_token` beside it. A WebSocket without a key is
    accepted, told why, and closed with 4401, because browsers show a page nothing of a handshake that fails. One that a
    foreign page opens is refused with 403 before that, and so is a form that it sends. What is offered is never logged.
    """

    def __init__(self, app: ASGIApp, keyring: Keyring, origins: Origins) -> None:
        self.app = app
        self._keyring = keyring
        self._origins = origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request or connection, or refuse it."""
        if self._is_foreign(scope):
            await _send_away(scope, receive, send)
            return
        if scope["type"] in ("http", "websocket") and _is_guarded(scope):
            try:
                credential = self._keyring.credential_of(offered(scope))
            except Unauthorized as refusal:
                await _refuse(scope, receive, send, refusal)
                return
            scope.setdefault("state", {}).update(caller=credential.caller, by_token=credential.by_token)
        await self.app(scope, receive, send)

    def _is_foreign(self, scope: Scope) -> bool:
        """Whether a page of another site is behind it, which has not been allowed and has not asked."""
        if scope["type"] not in ("http", "websocket") or not _is_guarded(scope):
            return False
        headers = Headers(scope=scope)
        if scope["type"] == "http" and (scope["method"] in ("GET", "HEAD", "OPTIONS") or not is_form(headers)):
            return False
        return not self._origins.allow(headers)


def offered(scope: Scope) -> str | None:
    """The key or token that a client sends: in `Authorization: Bearer …`, in `X-API-Key`, or as a subprotocol.

    Subprotocols are for browsers, which can put no header into a WebSocket's handshake: `vivavoce.key.<key>`, in
    base64url, or `vivavoce.token.<token>`. What stands in the address is not looked at: it ends up in logs.
    """
    headers = Headers(scope=scope)
    scheme, _, key = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and key.strip():
        return key.strip()
    if key := headers.get("x-api-key", "").strip():
        return key
    for name in scope.get("subprotocols", ()):
        if name.startswith(_TOKEN):
            return str(name.removeprefix(_TOKEN))
        if name.startswith(_KEY):
            return (decode_base64url(name.removeprefix(_KEY)) or b"").decode("utf-8", "replace")
    return None


def _is_guarded(scope: Scope) -> bool:
    """Everything but the page, the health and the numbers; of V2 only the probes, which a cluster asks without a key."""
    if scope["type"] == "websocket":
        return True
    path = scope["path"].removeprefix(scope.get("root_path", ""))
    return path in ("/v1", "/v2") or (path.startswith(("/v1/", "/v2/", "/ws/")) and not path.startswith("/v2/health/"))


async def _send_away(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "http":
        await send_error(send, Forbidden("Send the body as Content-Type: application/json."), scope["path"])
        return
    reply = reply_of(Forbidden("Pages of that site may not connect here (VIVAVOCE_CORS_ORIGINS)."), scope["path"])
    await reply(scope, receive, send)


async def _refuse(scope: Scope, receive: Receive, send: Send, refusal: Unauthorized) -> None:
    if scope["type"] == "http":
        await send_error(send, refusal, scope["path"])
        return
    await receive()
    chosen = SUBPROTOCOL if SUBPROTOCOL in scope.get("subprotocols", ()) else None
    await send({"type": "websocket.accept", "subprotocol": chosen})
    await send({"type": "websocket.send", "text": replies.error(refusal)})
    await send({"type": "websocket.close", "code": refusal.close_code, "reason": "no valid key"})
