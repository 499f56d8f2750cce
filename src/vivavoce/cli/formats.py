"""Which audio format a file name asks for."""

from __future__ import annotations

from pathlib import Path

from ..audio import FORMATS
from ..errors import UnsupportedFormat

__all__ = ["format_for"]

_BY_SUFFIX = {**{f".{name}": name for name in FORMATS}, ".ogg": "opus", ".oga": "opus", ".raw": "pcm", ".wave": "wav"}


def format_for(output: str | None, asked: str | None) -> str:
    """The format for `-o` and `--format`: what was asked for, else what the file's name says, else bare samples.

    Raises UnsupportedFormat for a format that does not exist and for a file name that tells none.
    """
    if asked is not None:
        asked = asked.lower().lstrip(".")
        asked = "opus" if asked == "ogg" else asked
        if asked not in FORMATS:
            raise UnsupportedFormat(f"{asked!r} is no format; there are {', '.join(FORMATS)}.", param="format")
        return asked
    if output is None or output == "-" or output.startswith("/dev/"):
        return "pcm"
    suffix = Path(output).suffix.lower()
    if suffix not in _BY_SUFFIX:
        raise UnsupportedFormat(
            f"{output}: the name tells no format; let it end in .{', .'.join(FORMATS)} or .ogg, or say --format.",
            param="output",
        )
    return _BY_SUFFIX[suffix]
