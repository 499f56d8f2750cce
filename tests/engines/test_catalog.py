from __future__ import annotations

import pytest

from vivavoce.engines.aliases import VOICE_ALIASES
from vivavoce.engines.base import Voice
from vivavoce.engines.catalog import Catalog, default_catalog
from vivavoce.engines.kokoro_voices import VOICES
from vivavoce.errors import UnknownModel, UnknownVoice, UnsupportedLanguage, VoiceNotInstalled


class Fake:
    """An engine that only knows names."""

    rate_hz = 24_000
    native_speed = True
    word_times = "exact"

    def __init__(self, name: str, voices: tuple[Voice, ...], ready: bool = True) -> None:
        self.name = name
        self._voices = voices
        self.ready = ready

    def voices(self) -> tuple[Voice, ...]:
        return self._voices

    def ready_voices(self) -> tuple[Voice, ...]:
        return self._voices if self.ready else ()

    def hint(self, voice: str) -> str:
        return f"Get it with: vivavoce models pull {self.name}"

    def speaks(self, voice: str, language: str) -> bool:
        base = language.lower().split("-")[0]
        return any(v.name == voice and v.language.split("-")[0] == base for v in self._voices)

    def load(self, voice: str) -> None: ...

    def synthesize(self, *_: object) -> None: ...


@pytest.fixture
def engines() -> dict[str, Fake]:
    return {
        "hibari": Fake("hibari", (Voice("heart", "en-US", "female"),)),
        "kokoro": Fake("kokoro", VOICES),
        "espeak-ng": Fake("espeak-ng", tuple(Voice(f"espeak/{c}", c) for c in ("de", "en-us", "fr-fr", "sw"))),
    }


@pytest.fixture
def catalog(engines: dict[str, Fake]) -> Catalog:
    return Catalog(engines.values())


OPENAI_VOICES = [
    "alloy",
    "ash",
    "ballad",
    "cedar",
    "coral",
    "echo",
    "fable",
    "marin",
    "nova",
    "onyx",
    "sage",
    "shimmer",
    "verse",
]


def test_kokoro_fastapi_479_openai_names_are_real_voices_each_another(catalog: Catalog) -> None:
    chosen = {name: catalog.resolve(name, "gpt-4o-mini-tts", None).voice.name for name in OPENAI_VOICES}
    assert chosen["alloy"] == "heart"
    assert len(set(chosen.values())) == len(OPENAI_VOICES)
    assert chosen == {name: VOICE_ALIASES[name] for name in OPENAI_VOICES}


@pytest.mark.parametrize(
    ("voice", "model", "expected"),
    [
        ("alloy", None, "heart"),
        ("ALLOY", "TTS-1", "heart"),
        ("alloy", "kokoro", "af_alloy"),
        ("Heart", "hibari", "heart"),
        ("heart", "kokoro", "af_heart"),
        (" am_michael ", "tts-1-hd", "am_michael"),
        ("alloy", "gpt-4o-mini-tts-2025-12-15", "heart"),
        ("alloy", "tts-1-1106", "heart"),
        ("BF_Emma", None, "bf_emma"),
        ("espeak/DE", None, "espeak/de"),
        ("espeak/en-US", "espeak-ng", "espeak/en-us"),
        ("espeak/sw", "espeak", "espeak/sw"),
        (None, None, "heart"),
        ("", "", "heart"),
        (None, "kokoro", "af_heart"),
        (None, "espeak-ng", "espeak/en-us"),
    ],
)
def test_names_find_their_voice(catalog: Catalog, voice: str | None, model: str | None, expected: str) -> None:
    assert catalog.resolve(voice, model, None).voice.name == expected


@pytest.mark.parametrize(
    ("language", "expected", "tag"),
    [
        ("en", "heart", "en"),
        ("EN_us", "heart", "en-US"),
        ("en-GB", "bf_emma", "en-GB"),
        ("b", "bf_emma", "en-GB"),
        ("a", "heart", "en-US"),
        ("fr", "ff_siwis", "fr"),
        ("pt", "pf_dora", "pt"),
        ("de", "espeak/de", "de"),
        ("auto", "heart", "en"),
        ("English", "heart", "en"),
        (" german ", "espeak/de", "de"),
        ("Portuguese", "pf_dora", "pt"),
    ],
)
def test_a_language_finds_its_best_voice(catalog: Catalog, language: str, expected: str, tag: str) -> None:
    selection = catalog.resolve(None, None, language)
    assert (selection.voice.name, selection.language) == (expected, tag)


def test_without_a_language_it_is_the_voices_own(catalog: Catalog) -> None:
    assert catalog.resolve("ff_siwis", None, None).language == "fr-FR"
    assert catalog.resolve("bf_emma", None, "en-US").language == "en-US"


@pytest.mark.parametrize("model", ["tts-2", "hibari2", "kokoro-2025", "-1106", "tts-1-11", "../kokoro", "x" * 10_000])
def test_unknown_models(catalog: Catalog, model: str) -> None:
    with pytest.raises(UnknownModel) as caught:
        catalog.resolve("alloy", model, None)
    assert caught.value.param == "model"
    assert len(caught.value.message) < 300


@pytest.mark.parametrize(
    "voice",
    ["aloy", "af_hart", "../../etc/passwd", "heart/../af_bella", "espeak/../de", "voices\\af_heart", "\0", "v" * 9_999],
)
def test_kokoro_fastapi_070_paths_and_other_names_are_unknown_voices(catalog: Catalog, voice: str) -> None:
    with pytest.raises(UnknownVoice) as caught:
        catalog.resolve(voice, None, None)
    assert caught.value.param == "voice"
    assert len(caught.value.message) < 300


def test_near_names_are_offered(catalog: Catalog) -> None:
    with pytest.raises(UnknownVoice, match="am_michael"):
        catalog.resolve("am_micheal", None, None)
    with pytest.raises(UnknownModel, match="kokoro"):
        catalog.resolve(None, "kokorro", None)


def test_a_voice_of_another_model_is_not_taken(catalog: Catalog) -> None:
    with pytest.raises(UnknownVoice, match="'hibari'"):
        catalog.resolve("am_michael", "hibari", None)


@pytest.mark.parametrize("language", ["xx", "tlh", "not a language", "ja"])
def test_a_language_of_no_engine_is_refused(catalog: Catalog, language: str) -> None:
    for voice in (None, "alloy"):
        with pytest.raises(UnsupportedLanguage) as caught:
            catalog.resolve(voice, None, language)
        assert caught.value.param == "language"


def test_a_voice_that_does_not_speak_it_names_those_that_do(catalog: Catalog) -> None:
    with pytest.raises(UnsupportedLanguage, match="ff_siwis"):
        catalog.resolve("alloy", None, "fr")
    with pytest.raises(UnsupportedLanguage, match="espeak/de"):
        catalog.resolve(None, "kokoro", "de")


def test_a_voice_that_is_not_here_is_never_another(catalog: Catalog, engines: dict[str, Fake]) -> None:
    engines["kokoro"].ready = False
    with pytest.raises(VoiceNotInstalled, match="vivavoce models pull kokoro"):
        catalog.resolve("nova", "tts-1", None)
    with pytest.raises(VoiceNotInstalled, match="vivavoce models pull kokoro"):
        catalog.resolve(None, None, "it")
    assert catalog.resolve(None, None, "fr").voice.name == "espeak/fr-fr"
    assert catalog.resolve(None, None, "en-GB").voice.name == "heart"


class Clock:
    """Time that only moves when told."""

    ms = 0.0

    def now_ms(self) -> float:
        return self.ms


def test_the_disk_is_not_asked_again_for_every_sentence(engines: dict[str, Fake]) -> None:
    asked: list[str] = []
    kokoro, clock = engines["kokoro"], Clock()
    kokoro.ready_voices = lambda: asked.append("") or VOICES
    catalog = Catalog(engines.values(), clock)
    for _ in range(50):
        assert catalog.resolve("nova", "tts-1", None).voice.name == "af_nova"
        assert catalog.resolve(None, "kokoro", "it").voice.language == "it"
    assert len(asked) == 2
    clock.ms += 1001
    catalog.resolve("nova", "tts-1", None)
    assert len(asked) == 3


def test_a_voice_that_was_pulled_meanwhile_speaks_at_once_and_one_that_left_is_told(engines: dict[str, Fake]) -> None:
    clock = Clock()
    catalog = Catalog(engines.values(), clock)
    engines["kokoro"].ready = False
    for _ in range(2):
        with pytest.raises(VoiceNotInstalled):
            catalog.resolve("am_puck", None, None)
    engines["kokoro"].ready = True
    assert catalog.resolve("am_puck", None, None).voice.name == "am_puck"
    engines["kokoro"].ready = False
    clock.ms += 1001
    with pytest.raises(VoiceNotInstalled):
        catalog.resolve("am_puck", None, None)


def test_names_in_every_spelling_do_not_pile_up(catalog: Catalog) -> None:
    for index in range(2000):
        assert catalog.resolve("heart" + " " * index, None, None).voice.name == "heart"
    assert len(catalog._known) <= 256


def test_listing_tells_what_is_here_and_how_to_get_the_rest(catalog: Catalog, engines: dict[str, Fake]) -> None:
    engines["kokoro"].ready = False
    entries = {entry.name: entry for entry in catalog.voices()}
    assert entries["heart"].ready
    assert entries["heart"].aliases == ("alloy",)
    assert entries["heart"].hint == ""
    assert not entries["af_nova"].ready
    assert entries["af_nova"].aliases == ("nova",)
    assert "vivavoce models pull kokoro" in entries["af_nova"].hint
    assert len(entries) == 1 + len(VOICES) + 4


def test_models_are_engines_and_openais(catalog: Catalog) -> None:
    entries = {entry.name: entry for entry in catalog.models()}
    assert list(entries) == ["hibari", "kokoro", "espeak-ng", "tts-1", "tts-1-hd", "gpt-4o-mini-tts"]
    assert entries["tts-1"].engine == ""
    assert all(entry.ready for entry in entries.values())


def test_engine_of_takes_exact_names_only(catalog: Catalog) -> None:
    assert catalog.engine_of("am_echo").name == "kokoro"
    for name in ("alloy", "HEART", "nobody"):
        with pytest.raises(UnknownVoice):
            catalog.engine_of(name)


def test_the_real_catalog_has_no_name_twice_and_no_dangling_alias() -> None:
    names = [voice.name for engine in default_catalog().engines for voice in engine.voices()]
    assert len(set(names)) == len(names)
    assert set(VOICE_ALIASES.values()) <= set(names)
    assert not set(VOICE_ALIASES) & set(names)


def test_japanese_and_chinese_voices_of_kokoro_are_explained() -> None:
    catalog = default_catalog()
    with pytest.raises(UnknownVoice, match="left out"):
        catalog.resolve("jf_alpha", None, None)
    with pytest.raises(UnsupportedLanguage, match="left out"):
        catalog.resolve(None, "kokoro", "zh-CN")
