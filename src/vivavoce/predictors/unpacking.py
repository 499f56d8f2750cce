"""Bodies that a server, or a proxy before it, packs though nobody asked for it. Pure."""

from __future__ import annotations

import zlib

from ..errors import PredictorFailed

__all__ = ["Unpacker"]

_WINDOW_BITS = {"gzip": 31, "x-gzip": 31, "deflate": 15}
_RAW_DEFLATE_BITS = -15


class Unpacker:
    """Undoes gzip or deflate, piece by piece; deflate is understood with its zlib header and without.

    Raises PredictorFailed for any other coding.
    """

    def __init__(self, coding: str) -> None:
        self._coding = coding.strip().lower()
        if self._coding not in _WINDOW_BITS:
            raise PredictorFailed(f"The predictor's reply is packed as {coding[:40]!r}, which nobody asked for.")
        self._stream = zlib.decompressobj(_WINDOW_BITS[self._coding])
        self._is_fresh = True

    def feed(self, packed: bytes, limit_bytes: int) -> bytes:
        """What the next bytes hold, a byte over the limit at most; maybe nothing yet. Raises PredictorFailed."""
        try:
            data = self._stream.decompress(packed, limit_bytes + 1)
        except zlib.error:
            if not self._is_fresh or self._coding != "deflate":
                raise PredictorFailed(f"The predictor's reply is not the {self._coding} that it says.") from None
            self._stream, self._is_fresh = zlib.decompressobj(_RAW_DEFLATE_BITS), False
            return self.feed(packed, limit_bytes)
        self._is_fresh = False
        return data

    def finish(self) -> None:
        """The body is over. Raises PredictorFailed where its packing is not."""
        if not self._stream.eof:
            raise PredictorFailed(f"The predictor's reply is not the {self._coding} that it says.")
