"""The body of a V2 request, unpacked within bounds."""

from __future__ import annotations

import asyncio
import zlib

from fastapi import Request

from ..errors import BadRequest, Forbidden, InputTooLarge, RequestTimeout

__all__ = ["asked_coding", "compressed", "read_body", "refuse_foreign_page", "unpacked"]

_WINDOW_BITS = {"gzip": 31, "x-gzip": 31, "deflate": 15}
_RAW_DEFLATE_BITS = -15
_SIMPLE = ("", "text/plain", "multipart/form-data", "application/x-www-form-urlencoded")
_COMPRESSION_LEVEL = 1


async def read_body(request: Request, timeout_s: float, limit_bytes: int) -> bytes:
    """Read the body and undo its Content-Encoding; no Content-Type is asked for.

    Raises RequestTimeout, InputTooLarge (also for a small body that unpacks to a large one), BadRequest, Forbidden.
    """
    refuse_foreign_page(request)
    try:
        async with asyncio.timeout(timeout_s):
            raw = await request.body()
    except TimeoutError:
        raise RequestTimeout(f"The request's body did not arrive within {timeout_s:g} s.") from None
    for coding in reversed(_codings(request.headers.get("content-encoding", ""))):
        raw = unpacked(raw, coding, limit_bytes)
    return raw


def refuse_foreign_page(request: Request) -> None:
    """Raise Forbidden for what a page of another site can send without asking its browser's leave."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind in _SIMPLE and request.headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
        raise Forbidden("Send the body as Content-Type: application/json or application/octet-stream.")


def unpacked(packed: bytes, coding: str, limit_bytes: int) -> bytes:
    """Undo one coding. Raises InputTooLarge as soon as there is more than `limit_bytes`, BadRequest where it is broken."""
    if coding == "identity":
        return packed
    if coding not in _WINDOW_BITS:
        raise BadRequest("The body's Content-Encoding must be gzip or deflate.")
    bits = _WINDOW_BITS[coding]
    if coding == "deflate" and not _has_zlib_header(packed):
        bits = _RAW_DEFLATE_BITS
    stream = zlib.decompressobj(bits)
    try:
        whole = stream.decompress(packed, limit_bytes + 1)
    except zlib.error:
        raise BadRequest(f"The body is not valid {coding}.") from None
    if len(whole) > limit_bytes:
        raise InputTooLarge(f"The request's body is over the limit of {limit_bytes} bytes.")
    if not stream.eof or stream.unused_data:
        raise BadRequest(f"The body is not valid {coding}.")
    return whole


def asked_coding(accept: str) -> str:
    """The coding that a client asks for by naming that one alone; empty otherwise.

    A list is what HTTP libraries say that they can read, and PCM is not worth packing for those.
    """
    named = [part.split(";") for part in accept.lower().split(",") if part.strip()]
    wanted = [name.strip() for name, *options in named if not any(_is_zero(option) for option in options)]
    return wanted[0] if len(wanted) == 1 and wanted[0] in ("gzip", "deflate") else ""


def compressed(content: bytes, coding: str) -> bytes:
    """Pack a reply; blocking."""
    packer = zlib.compressobj(_COMPRESSION_LEVEL, wbits=_WINDOW_BITS[coding])
    return packer.compress(content) + packer.flush()


def _codings(header: str) -> list[str]:
    codings = [part.strip().lower() for part in header.split(",") if part.strip()]
    if len(codings) > 2:
        raise BadRequest("The body's Content-Encoding must be gzip or deflate.")
    return codings


def _has_zlib_header(packed: bytes) -> bool:
    return len(packed) > 1 and packed[0] & 0x0F == 8 and (packed[0] << 8 | packed[1]) % 31 == 0


def _is_zero(option: str) -> bool:
    name, _, value = option.strip().partition("=")
    return name == "q" and value.strip().rstrip("0") in ("", "0", "0.", ".")
