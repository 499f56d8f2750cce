"""Every error leaves in OpenAI's envelope, and under /v2 as the one string that the V2 protocol has for it."""

from __future__ import annotations

import json
import logging
import math
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.types import Send

from ..errors import BadRequest, VivavoceError

__all__ = [
    "body_of",
    "handle_errors",
    "reply_of",
    "send_error",
    "status_reply",
    "type_of",
]

logger = logging.getLogger("vivavoce.api")

RETRY_AFTER_S = 1.0


def type_of(status: int) -> str:
    """OpenAI's `type` for an HTTP status."""
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return "rate_limit_error"
    return "invalid_request_error" if status < HTTPStatus.INTERNAL_SERVER_ERROR else "server_error"


def body_of(error: VivavoceError) -> dict[str, Any]:
    """The envelope's inside: message, type, param, code."""
    return {"message": error.message, "type": type_of(error.status), "param": error.param, "code": error.code}


def reply_of(error: VivavoceError, path: str = "") -> Response:
    """The whole reply for an error, in the envelope of the door that `path` leads to."""
    headers: dict[str, str] = {}
    if error.status == HTTPStatus.UNAUTHORIZED:
        headers["WWW-Authenticate"] = "Bearer"
    if error.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        # OpenAI's clients repeat every 5xx unless this says that it is in vain.
        headers["X-Should-Retry"] = "true" if error.retryable else "false"
    if error.retryable and error.status in (HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.TOO_MANY_REQUESTS):
        headers["Retry-After"] = str(math.ceil(error.retry_after_s or RETRY_AFTER_S))
    return _reply(error.status, body_of(error), headers, path)


def status_reply(status: int, message: str, path: str = "", headers: dict[str, str] | None = None) -> Response:
    """The whole reply for what is an error of HTTP's own."""
    body = {"message": message, "type": type_of(status), "param": None, "code": HTTPStatus(status).name.lower()}
    return _reply(status, body, headers or {}, path)


async def send_error(send: Send, error: VivavoceError, path: str = "") -> None:
    """Send an error from where no exception handler reaches, with nothing read of the request."""
    reply = reply_of(error, path)
    await send({"type": "http.response.start", "status": reply.status_code, "headers": reply.raw_headers})
    await send({"type": "http.response.body", "body": reply.body})


def handle_errors(app: FastAPI) -> None:
    """Answer every exception that a route raises in the envelope."""
    app.add_exception_handler(VivavoceError, _vivavoce)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(RequestValidationError, _validation)


def _vivavoce(request: Request, error: Exception) -> Response:
    assert isinstance(error, VivavoceError)  # noqa: S101
    return reply_of(error, request.scope["path"])


def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101
    status = error.status_code
    message = str(error.detail)
    if status == HTTPStatus.NOT_FOUND:
        message = f"There is nothing at {request.method} {request.url.path}."
    elif status == HTTPStatus.METHOD_NOT_ALLOWED:
        message = f"{request.url.path} does not answer {request.method}."
    return status_reply(status, message, request.scope["path"], dict(error.headers or {}))


def _validation(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101
    fault = error.errors()[0]
    return reply_of(BadRequest(str(fault["msg"]), param=str(fault["loc"][-1])), request.scope["path"])


def _reply(status: int, error: dict[str, Any], headers: dict[str, str], path: str) -> Response:
    shown = error["message"] if path == "/v2" or path.startswith("/v2/") else error
    return Response(json.dumps({"error": shown}), status_code=status, headers=headers, media_type="application/json")
