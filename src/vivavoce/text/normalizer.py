"""Text becomes the words that are said."""

from __future__ import annotations

from collections.abc import Sequence

from .builder import Builder
from .english import read_english
from .lexicon import Lexicon
from .locale import TIGHT, read_local
from .markup import Markup, Stretch, Wait
from .rules.sanitize import sanitize
from .rules.ssml import Style, say_as
from .split_marks import SPEAKABLE
from .spoken import Part, Spoken

__all__ = ["Normalizer", "speak"]

# A text of signs is silent, but for one of these.
SAID_ALONE = frozenset("%&@$€£")
CODE_WORDS = {"en": "code block", "de": "Codeblock", "fr": "bloc de code", "es": "bloque de código", "it": "blocco di codice",
              "pt": "bloco de código", "nl": "codeblok"}  # fmt: skip


def speak(text: str, language: str = "en", lexicon: Lexicon | None = None) -> Spoken:
    """What will be said for one text, and where each word came from. Never raises on any input."""
    return Normalizer(language, lexicon).speak(text)


class Normalizer:
    """Speaks the segments of one utterance in order; markup left open in one stays open in the next.

    `language` is a BCP 47 tag. `name_emoji` says the names of emoji instead of dropping them. `code_words` announces a
    code block, an empty string passes over it in silence; by default the announcement is in the language, where it is
    known.
    """

    def __init__(
        self,
        language: str = "en",
        lexicon: Lexicon | None = None,
        name_emoji: bool = False,
        code_words: str | None = None,
    ) -> None:
        self.language = language
        self.lexicon = lexicon
        self.name_emoji = name_emoji
        announced = CODE_WORDS.get(_base(language), "") if code_words is None else code_words
        self._markup = Markup(announced)
        self._mute = False

    def speak(self, segment_text: str) -> Spoken:
        """The words of the next segment; spans count in code points of `segment_text`."""
        clean, origin = sanitize(segment_text)
        self._mute = not SPEAKABLE.search(clean) and clean.strip() not in SAID_ALONE
        builder = Builder(_base(self.language) in TIGHT)
        for piece in self._markup.read(clean):
            if isinstance(piece, Wait):
                self._wait(builder, piece)
            else:
                builder.enter(piece.origin, piece.style)
                self._stretch(builder, piece)
        spoken = builder.done()
        parts = spoken.parts
        if not isinstance(origin, range):
            parts = tuple(_moved(part, origin) for part in parts)
        return Spoken(spoken.text, _covering(segment_text, parts))

    def _wait(self, builder: Builder, wait: Wait) -> None:
        if wait.rule == "code":
            builder.announce(wait.start, wait.end, wait.words, "code")
        else:
            builder.wait(wait.start, wait.end, wait.rule, wait.pause_ms)

    def _stretch(self, builder: Builder, stretch: Stretch) -> None:
        text, style = stretch.text, stretch.style
        if style.mode and self._replaced(builder, text, style):
            return
        done = 0
        if self.lexicon is not None:
            for start, end, entry in self.lexicon.find(text, 0, len(text)):
                self._words(builder, stretch, done, start)
                builder.word(start, end, entry.say, "lexicon", entry.ipa)
                done = end
        self._words(builder, stretch, done, len(text))

    def _words(self, builder: Builder, stretch: Stretch, start: int, end: int) -> None:
        """Read a part of a stretch; the rules see nothing beyond it."""
        if end <= start:
            return
        text = stretch.text
        if start or end < len(text):
            builder.enter(stretch.origin[start : end + 1], stretch.style)
            text = text[start:end]
        language = stretch.style.language or self.language
        if _base(language) == "en":
            day_first = stretch.style.mode == "date" and stretch.style.value.lower().startswith("d")
            read_english(builder, text, day_first or language.lower() == "en-gb", self.name_emoji, self._mute)
        else:
            read_local(builder, text, _base(language), self.name_emoji)
        builder.enter(stretch.origin, stretch.style)

    def _replaced(self, builder: Builder, text: str, style: Style) -> bool:
        """Say what `sub`, `phoneme` or `say-as` asks for instead of the text; false where the usual rules do."""
        start, end = len(text) - len(text.lstrip()), len(text.rstrip())
        if end <= start:
            return False
        if style.mode == "sub":
            words = speak(style.value, style.language or self.language).text
            said: tuple[str, str | None] | None = (words, None)
        elif style.mode == "phoneme":
            said = (speak(text, style.language or self.language).text, style.value)
        else:
            said = say_as(style.mode, text[start:end]) if _base(style.language or self.language) == "en" else None
        if said is None:
            return False
        builder.word(start, end, said[0], style.mode, said[1])
        return True


def _base(language: str) -> str:
    return language.replace("_", "-").split("-")[0].lower()


def _moved(part: Part, origin: Sequence[int]) -> Part:
    end = origin[part.end - 1] + 1 if part.end > part.start else origin[part.end]
    return part._replace(start=origin[part.start], end=end)


def _covering(text: str, parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """Add a silent part for every mark of markup that was passed over, so that no character of the source is missing."""
    found: list[Part] = []
    done, at, kept = 0, 0, 0
    for index, part in enumerate(parts):
        start, end = part[:2]
        if start > done and not text[done:start].isspace():
            found += parts[kept:index]
            found.append(_passed(text, done, start, at))
            kept = index
        if end > done:
            done = end
        at = part.out_end
    if not text[done:].strip():
        return (*found, *parts[kept:]) if found else parts
    return (*found, *parts[kept:], _passed(text, done, len(text), at))


def _passed(text: str, start: int, end: int, at: int) -> Part:
    piece = text[start:end]
    start += len(piece) - len(piece.lstrip())
    return Part(start, start + len(piece.strip()), "", "markup", at, at)
