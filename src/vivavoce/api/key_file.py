"""What a file of keys says."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import ConfigError

__all__ = ["Entry", "digest_of", "entries_of_keys", "parse_key_file"]

_LONGEST_NAME = 64
_SHA256 = re.compile(r"[0-9a-fA-F]{64}")
_COMMENT = re.compile(r"(?:^|[ \t])#.*")
# A table, or a name that is given a value: such a line was never meant to be a key itself.
_TOML = re.compile(r"""^[ \t]*\[|^[^#=\n]+=[ \t]*["'{\[]|^[ \t]*keys[ \t]*=""", re.MULTILINE)
_FIELDS = ("key", "sha256", "streams", "characters_per_minute", "expires")


@dataclass(frozen=True, slots=True)
class Entry:
    """One key, as the digest by which it is known, and what it allows. `name` is "" where the file gives none."""

    digest: bytes
    name: str = ""
    streams: int | None = None
    characters_per_minute: int | None = None
    expires_s: float | None = None
    """Seconds since 1970 from which on the key opens nothing."""


def digest_of(key: bytes) -> bytes:
    """What is kept of a key."""
    return hashlib.sha256(key).digest()


def entries_of_keys(keys: Iterable[str]) -> tuple[Entry, ...]:
    """Entries of keys that have neither name nor limits. Raises ConfigError for one that cannot be sent."""
    return tuple(Entry(_digest_of_text(key)) for key in keys)


def parse_key_file(text: str) -> tuple[Entry, ...]:
    """The keys of a file, in any of its three forms. Raises ConfigError that quotes no key.

    - One key a line; blank lines, and what follows a `#` at its start or behind a space, are passed over.
    - TOML: `[keys.<name>]` with `key = "…"` or `sha256 = "…"` (of the key, in hexadecimal digits), and `streams`,
      `characters_per_minute`, `expires` (a date, or a date and a time, in UTC where it says nothing else) as needed.
    - JSON, as secret stores mount it: `{"<name>": "<key>"}`, or an object with the same fields for a key.
    """
    if text.lstrip().startswith("{"):
        return _named(_json(text))
    if _TOML.search(text):
        return _named(_toml(text))
    lines = (_COMMENT.sub("", line).strip() for line in text.splitlines())
    return entries_of_keys(line for line in lines if line)


def _json(text: str) -> Mapping[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        raise ConfigError("it is not valid JSON") from None
    keys = value.get("keys")
    return keys if isinstance(keys, dict) else value


def _toml(text: str) -> Mapping[str, Any]:
    try:
        value = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        where = re.search(r"at line \d+", str(error))
        raise ConfigError(f"it is not valid TOML ({where.group() if where else 'at its end'})") from None
    if stray := set(value) - {"keys"}:
        raise ConfigError(f"[{min(stray)}] is no part of it; keys are written as [keys.<name>]")
    keys = value.get("keys")
    if not isinstance(keys, dict):
        raise ConfigError("keys are written as [keys.<name>]")
    return keys


def _named(keys: Mapping[str, Any]) -> tuple[Entry, ...]:
    entries = tuple(_entry(name, fields) for name, fields in keys.items())
    seen: dict[bytes, str] = {}
    for entry in entries:
        if entry.digest in seen:
            raise ConfigError(f"{seen[entry.digest]} and {entry.name} have the same key")
        seen[entry.digest] = entry.name
    return entries


def _entry(name: str, fields: object) -> Entry:
    if not name.strip() or len(name) > _LONGEST_NAME or not name.isprintable():
        raise ConfigError(f"a name has 1 to {_LONGEST_NAME} printable characters")
    if isinstance(fields, str):
        fields = {"key": fields}
    if not isinstance(fields, dict):
        raise ConfigError(f"{name} has neither key nor sha256")
    if stray := set(fields) - set(_FIELDS):
        raise ConfigError(f"{name} has an unknown field {min(stray)}; there are {', '.join(_FIELDS)}")
    return Entry(
        digest=_digest(name, fields),
        name=name,
        streams=_limit(name, fields, "streams"),
        characters_per_minute=_limit(name, fields, "characters_per_minute"),
        expires_s=_moment(name, fields["expires"]) if "expires" in fields else None,
    )


def _digest(name: str, fields: Mapping[str, Any]) -> bytes:
    key, sha256 = fields.get("key"), fields.get("sha256")
    if (key is None) == (sha256 is None):
        raise ConfigError(f"{name} needs one of key and sha256")
    if sha256 is None:
        if not isinstance(key, str):
            raise ConfigError(f"{name} has a key that is no text")
        return _digest_of_text(key.strip())
    if not isinstance(sha256, str) or not _SHA256.fullmatch(sha256):
        raise ConfigError(f"{name} has a sha256 that is not 64 hexadecimal digits")
    return bytes.fromhex(sha256)


def _digest_of_text(key: str) -> bytes:
    if not key:
        raise ConfigError("a key is empty")
    if not (key.isascii() and key.isprintable()):
        raise ConfigError("a key may hold printable ASCII only: not every client can send other characters")
    return digest_of(key.encode("ascii"))


def _limit(name: str, fields: Mapping[str, Any], field: str) -> int | None:
    value = fields.get(field)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ConfigError(f"{name} has a {field} that is not a whole number of 1 or more")
    return value


def _moment(name: str, value: object) -> float:
    """Seconds since 1970; a date is the moment at which it begins."""
    if isinstance(value, str):
        try:
            value = dt.datetime.fromisoformat(value)
        except ValueError:
            value = None
    if isinstance(value, dt.date) and not isinstance(value, dt.datetime):
        value = dt.datetime.combine(value, dt.time())
    if not isinstance(value, dt.datetime):
        raise ConfigError(f'{name} expires at no date; write it as "2027-01-31" or "2027-01-31T12:00:00Z"')
    return (value if value.tzinfo else value.replace(tzinfo=dt.UTC)).timestamp()
