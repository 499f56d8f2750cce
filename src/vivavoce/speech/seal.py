"""Small notes that only this server, and those that share its secret, can have written."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac

__all__ = ["Seal", "decode_base64url"]

_MOST_CHARACTERS = 8_192


class Seal:
    """Seals notes for one purpose: nobody without the secret can make or change one; anybody can read it.

    A note sealed for another purpose, or with another secret, does not open. A sealed note holds ASCII letters, digits,
    `-`, `_` and `.` only, so that it may stand in a header or a subprotocol.
    """

    def __init__(self, secret: bytes, purpose: str) -> None:
        self._key = hmac.digest(secret, purpose.encode(), "sha256")

    def close(self, note: bytes) -> str:
        """The note in its seal."""
        body = _encode(note)
        return f"{body}.{_encode(self._sign(body))}"

    def open(self, sealed: str) -> bytes | None:
        """The note; None where the seal is not ours."""
        if len(sealed) > _MOST_CHARACTERS or not sealed.isascii():
            return None
        body, _, signature = sealed.rpartition(".")
        if not hmac.compare_digest(_encode(self._sign(body)), signature):
            return None
        return decode_base64url(body)

    def _sign(self, body: str) -> bytes:
        # Keyed BLAKE2 (RFC 7693): every utterance waits for it, and OpenSSL's HMAC takes ten times as long to begin.
        return hashlib.blake2b(body.encode("ascii"), key=self._key, digest_size=32).digest()


def decode_base64url(text: str) -> bytes | None:
    """The bytes that a base64url text stands for, padded or not; None where it is no such text."""
    text = text.rstrip("=")
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        return None


def _encode(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode("ascii")
