"""WS /ws/synthesize: speech while its text is still arriving (docs/protocol.md)."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from fastapi import APIRouter
from starlette.exceptions import HTTPException
from starlette.websockets import WebSocket, WebSocketDisconnect

from ..errors import Busy
from ..speech import replies
from ..speech.admission import Caller
from ..speech.protocol import SUBPROTOCOL
from .services import Services
from .ws_connections import RETRY_AFTER_MS
from .ws_session import Session

__all__ = ["router"]

router = APIRouter()


@router.websocket("/ws/synthesize")
async def synthesize(websocket: WebSocket) -> None:
    """Speak whatever this client asks for, until it leaves."""
    services: Services = websocket.app.state.services
    offered = websocket.scope.get("subprotocols", [])
    await websocket.accept(SUBPROTOCOL if SUBPROTOCOL in offered else None)
    connections = services.connections
    if connections.leaving or services.admission.draining:
        away = replies.going_away(RETRY_AFTER_MS, ())
        await _send_away(websocket, away, 1012, "the server is restarting")
    elif connections.full:
        refusal = Busy("This server has as many connections as it takes.")
        await _send_away(websocket, replies.error(refusal), refusal.close_code, "too many connections")
    else:
        caller: Caller = websocket.scope.get("state", {}).get("caller", Caller())
        try:
            await Session(websocket, services, caller).run()
        except asyncio.CancelledError:
            # The time to finish is over; the server has taken its leave of whoever was here.
            if not services.admission.draining:
                raise


async def _send_away(websocket: WebSocket, frame: str, code: int, reason: str) -> None:
    with suppress(WebSocketDisconnect, RuntimeError):
        await websocket.send_text(frame)
        await websocket.close(code, reason)


@router.get("/ws/synthesize", include_in_schema=False)
async def explain() -> None:
    """Tell whoever asks without a WebSocket."""
    message = "This is a WebSocket: connect to it with ws:// or wss:// (docs/protocol.md)."
    raise HTTPException(426, message, {"Upgrade": "websocket", "Connection": "Upgrade"})
