import subprocess

import pytest

from vivavoce.engines import espeak_program
from vivavoce.engines.base import Ipa, Phrase
from vivavoce.engines.foreign import ForeignReader
from vivavoce.engines.ipa import to_model, untied
from vivavoce.errors import PredictorFailed, VoiceNotInstalled

needs_espeak = pytest.mark.skipif(espeak_program.program() is None, reason=espeak_program.HOW_TO_INSTALL)


def read(voice: str, text: str, *ipa: Ipa) -> tuple[str, list[tuple[str, str]]]:
    reading = ForeignReader(voice).read(Phrase(text, ipa=ipa))
    return reading.symbols, [(text[w.start : w.end], reading.symbols[w.first : w.last]) for w in reading.words]


@needs_espeak
@pytest.mark.parametrize(
    ("voice", "text", "expected"),
    [
        ("es", "¿Qué hora es? Son las tres.", ["Qué", "hora", "es", "Son", "las", "tres"]),
        ("fr-fr", "L'eau, c'est la vie ; n'est-ce pas ?", ["L'eau", "c'est", "la", "vie", "n'est-ce", "pas"]),
        ("fr-fr", "Les enfants « adorent » le week-end.", ["Les", "enfants", "adorent", "le", "week-end"]),
        ("it", "Perché no? C'è tempo…", ["Perché", "no", "C'è", "tempo"]),
        ("pt-br", "Não, obrigado — até logo!", ["Não", "obrigado", "até", "logo"]),
        ("hi", "यह अच्छा है। धन्यवाद", ["यह", "अच्छा", "है", "धन्यवाद"]),
        ("es", "-v de --version", ["v", "de", "version"]),
    ],
)
def test_every_word_has_its_span_and_its_sound(voice: str, text: str, expected: list[str]) -> None:
    _, words = read(voice, text)
    assert [word for word, _ in words] == expected
    assert all(sound and not set(sound) & set("-_()\u200d^ ") - {" "} for _, sound in words)


@needs_espeak
def test_punctuation_stays_between_the_words() -> None:
    symbols, words = read("es", "¡Hola!, dijo (muy bajo); «adiós».")
    outside = symbols
    for _, sound in words:
        outside = outside.replace(sound, "_", 1)
    assert outside == "_!, _ (_ _); “_”."


@needs_espeak
def test_a_given_pronunciation_replaces_espeaks() -> None:
    _, words = read("it", "una gif animata", Ipa(4, 7, "/d͡ʒif/"))
    assert words[1] == ("gif", "ʤif")
    assert words[2][1] != "ʤif"


@needs_espeak
@pytest.mark.parametrize("symbols", ["", "☃", "12", "ˈ", "..."])
def test_ipa_that_says_nothing_leaves_the_word_as_it_is_spelled(symbols: str) -> None:
    assert read("it", "una mela rossa", Ipa(4, 8, symbols)) == read("it", "una mela rossa")


@needs_espeak
def test_a_pronunciation_of_several_words_is_said_once() -> None:
    _, words = read("it", "buon giorno signora", Ipa(0, 11, "bɔnˈdʒorno"))
    assert words[0] == ("buon", "bɔnˈdʒorno")
    assert all(word != "giorno" or not sound for word, sound in words)
    assert words[-1][0] == "signora" and words[-1][1]


def test_when_espeak_joins_words_each_is_read_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []

    def phonemes(lines: list[str], voice: str) -> list[str]:
        asked.append(list(lines))
        return ["ab c"] if len(asked) == 1 else [line.upper() for line in lines]

    monkeypatch.setattr(espeak_program, "phonemes", phonemes)
    _, words = read("fr-fr", "x y z")
    assert words == [("x", "X"), ("y", "Y"), ("z", "Z")]
    assert asked == [["x y z"], ["x", "y", "z"]]


def test_missing_espeak_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(espeak_program, "program", lambda: None)
    with pytest.raises(VoiceNotInstalled, match=r"apt install espeak-ng .* brew install espeak-ng"):
        read("es", "hola")


def test_espeak_that_hangs_or_fails_is_a_typed_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(espeak_program, "program", lambda: "/bin/false")
    with pytest.raises(PredictorFailed):
        read("es", "hola")

    def hang(*_: object, **__: object) -> None:
        raise subprocess.TimeoutExpired("espeak-ng", 20)

    monkeypatch.setattr(espeak_program.subprocess, "run", hang)
    with pytest.raises(PredictorFailed):
        read("es", "hola")


def test_ipa_as_people_write_it() -> None:
    assert to_model("ˈtʃiːz") == "ʧˈiz"
    assert to_model("ˈtʃiːz", british=True) == "ʧˈiːz"
    assert to_model("ˈdʒɔɪ.fəl") == "ʤˈYfəl"
    assert to_model("ɡoʊ raʊnd") == "ɡO ɹWnd"


def test_ties_join_sounds() -> None:
    assert untied("t\u200dʃao d\u0361ʒ a^ɪ") == "ʧao ʤ I"
    assert untied("tʃ le-z") == "tʃ lez"
