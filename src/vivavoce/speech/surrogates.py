"""Text that was cut in the midst of a character."""

from __future__ import annotations

__all__ = ["Surrogates"]

_HIGH, _LOW = 0xD800, 0xDC00


class Surrogates:
    """Puts together characters whose halves arrive in two pieces, as from JavaScript that sends code unit by unit.

    What is fed comes out with whole characters only; a half that stays alone becomes U+FFFD.
    """

    def __init__(self) -> None:
        self._half = ""

    def feed(self, piece: str) -> str:
        """The characters that are whole now."""
        if not self._half and piece.isascii():
            return piece
        text = self._half + piece
        self._half = ""
        if text and _HIGH <= ord(text[-1]) < _LOW:
            text, self._half = text[:-1], text[-1]
        return text if _whole(text) else _joined(text)

    def flush(self) -> str:
        """What is left: U+FFFD for half a character, else nothing."""
        left, self._half = self._half, ""
        return "\ufffd" if left else ""


def _whole(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _joined(text: str) -> str:
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
