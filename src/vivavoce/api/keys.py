"""Who calls, by the key or token that they offer."""

from __future__ import annotations

import hmac
import logging
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass

from ..config import Settings
from ..errors import ConfigError, Unauthorized
from ..speech.admission import Caller
from .browser_tokens import BrowserTokens
from .key_file import Entry, digest_of, entries_of_keys, parse_key_file

__all__ = ["Credential", "Keyring", "secret_of"]

logger = logging.getLogger("vivavoce.keys")

_LOOK_EVERY_S = 1.0
_SHORTEST_SECRET = 16
_Stamp = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Credential:
    """Whose the call is, and whether a token stood for the key."""

    caller: Caller
    by_token: bool = False


def secret_of(settings: Settings) -> bytes:
    """What the server signs with: the operator's secret, or one that ends with the process. Raises ConfigError."""
    if settings.token_secret is None:
        if settings.predictor_url:
            logger.info("speech can go on at this gateway only: VIVAVOCE_TOKEN_SECRET is not set")
        return secrets.token_bytes(32)
    secret = settings.token_secret.get_secret_value().encode()
    if len(secret) < _SHORTEST_SECRET:
        raise ConfigError(f"VIVAVOCE_TOKEN_SECRET is shorter than {_SHORTEST_SECRET} characters, and could be guessed")
    return secret


class Keyring:
    """Every key that opens the doors: those of `api_keys`, and those of `api_keys_file`, read again when it changes.

    Keys are kept as digests and compared in constant time. A file that cannot be read any more, or is broken, leaves
    the keys as they were and is an error in the log. Without any key the server is `open`: everybody is `Caller()`.
    Raises ConfigError for a file that cannot be read at the start.
    """

    def __init__(
        self,
        settings: Settings,
        secret: bytes,
        *,
        now_s: Callable[[], float] = time.time,
        look_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._tokens = BrowserTokens(secret, now_s)
        self._settings = settings
        self._secret = secret
        self._now_s = now_s
        self._look_s = look_s
        self._file = settings.api_keys_file
        self._fixed = _fixed(settings)
        self._stamp = self._stamp_now()
        self._looked_s = look_s()
        self._entries = self._read()

    @property
    def open(self) -> bool:
        """Whether nobody needs a key."""
        return not self._entries

    def caller_of(self, offered: str | bytes | None) -> Caller:
        """Whose key or token this is. Raises Unauthorized."""
        return self.credential_of(offered).caller

    def credential_of(self, offered: str | bytes | None) -> Credential:
        """Whose key or token this is, and which of the two. Raises Unauthorized."""
        self._look()
        if self.open:
            return Credential(Caller())
        if not offered:
            raise Unauthorized("You did not provide an API key; send it as Authorization: Bearer <key>.")
        key = offered.encode("utf-8", "surrogatepass") if isinstance(offered, str) else offered
        handle = self._tokens.read(key.decode("ascii", "replace"))
        by_token = handle is not None
        if handle is None:
            handle = self._handle_of(digest_of(key))
        entry = self._entries.get(handle)
        if entry is None:
            raise Unauthorized("The API key is not one of this server's.")
        if entry.expires_s is not None and self._now_s() >= entry.expires_s:
            raise Unauthorized("The API key has expired.")
        return Credential(self._caller(handle, entry), by_token)

    def mint(self, caller: Caller) -> tuple[str, float]:
        """A token that stands for the caller's key for a while, and when it ends, in seconds since 1970."""
        names = {_name(handle, entry): handle for handle, entry in self._entries.items()}
        return self._tokens.mint(names.get(caller.name, ""), self._settings.token_ttl_s)

    def _handle_of(self, digest: bytes) -> str:
        """Every key is compared, so that the time taken tells nothing."""
        found = [handle for handle, entry in self._entries.items() if hmac.compare_digest(entry.digest, digest)]
        return found[0] if found else ""

    def _caller(self, handle: str, entry: Entry) -> Caller:
        return Caller(
            _name(handle, entry),
            entry.streams or self._settings.stream_limit,
            entry.characters_per_minute or self._settings.characters_per_minute,
        )

    def _look(self) -> None:
        """Read the file again if it is another one than before."""
        if self._file is None or self._look_s() - self._looked_s < _LOOK_EVERY_S:
            return
        self._looked_s = self._look_s()
        stamp = self._stamp_now()
        if stamp == self._stamp:
            return
        self._stamp = stamp
        try:
            self._entries = self._read()
        except ConfigError as error:
            logger.error("the keys stay as they were: %s", error.message)
        else:
            logger.info("keys read again", extra={"keys": len(self._entries)})

    def _stamp_now(self) -> _Stamp | None:
        if self._file is None:
            return None
        try:
            status = self._file.stat()
        except OSError:
            return None
        return (status.st_mtime_ns, status.st_size, status.st_ino)

    def _read(self) -> dict[str, Entry]:
        """Every key, by a handle that does not give it away and is the same on every server with the same secret."""
        entries = (*self._fixed, *self._read_file())
        return {hmac.digest(self._secret, entry.digest, "sha256").hex()[:16]: entry for entry in entries}

    def _read_file(self) -> tuple[Entry, ...]:
        if self._file is None:
            return ()
        try:
            entries = parse_key_file(self._file.read_text(encoding="utf-8-sig"))
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
            raise ConfigError(f"VIVAVOCE_API_KEYS_FILE cannot be read: {reason}") from None
        except ConfigError as error:
            raise ConfigError(f"VIVAVOCE_API_KEYS_FILE: {error.message}") from None
        if not entries:
            raise ConfigError("VIVAVOCE_API_KEYS_FILE holds no key")
        return entries


def _fixed(settings: Settings) -> tuple[Entry, ...]:
    try:
        return entries_of_keys(key.get_secret_value() for key in settings.api_keys)
    except ConfigError as error:
        raise ConfigError(f"VIVAVOCE_API_KEYS: {error.message}") from None


def _name(handle: str, entry: Entry) -> str:
    return entry.name or f"key-{handle}"
