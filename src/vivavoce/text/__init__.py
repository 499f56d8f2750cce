"""Characters become segments, segments become words that can be spoken. Pure: no engine, no socket."""

from .lexicon import Lexicon
from .normalizer import Normalizer, speak
from .segment import Segment
from .splitter import Splitter
from .spoken import Part, Spoken

__all__ = ["Lexicon", "Normalizer", "Part", "Segment", "Splitter", "Spoken", "speak"]
