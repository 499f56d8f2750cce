"""Voices of a pool: those that its predictors tell, and whatever else may be theirs."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from vivavoce.errors import UnknownModel, UnknownVoice, UnsupportedLanguage
from vivavoce.predictors.info import EndpointInfo, RemoteVoice
from vivavoce.predictors.pool_catalog import PoolCatalog

ADA = RemoteVoice("ada", "en-GB", "female", "Warm", ("nova",))
BO = RemoteVoice("bo", "sv-SE", "male")
TELLING = EndpointInfo(voices=(ADA, BO), languages=("en", "sv"), model="lark")
SILENT = EndpointInfo(model="omni", design=True)


@dataclass
class Endpoint:
    info: EndpointInfo
    state: str = "ready"


@dataclass
class Pool:
    endpoints: list[Endpoint] = field(default_factory=list)


def catalog(*infos: EndpointInfo) -> PoolCatalog:
    return PoolCatalog(Pool([Endpoint(info) for info in infos]), "tts")


@pytest.mark.parametrize(("asked", "name"), [("ada", "ada"), ("ADA", "ada"), ("Nova", "ada"), ("bo", "bo")])
def test_a_told_voice_is_found_by_any_of_its_names_and_brings_its_language(asked: str, name: str) -> None:
    choice = catalog(TELLING).resolve(asked, None, None)
    assert choice.voice.name == name
    assert choice.language == choice.voice.language


def test_an_untold_voice_is_an_error_only_where_every_predictor_tells_its_voices() -> None:
    with pytest.raises(UnknownVoice, match="ada"):
        catalog(TELLING).resolve("adda", None, None)
    assert catalog(TELLING, SILENT).resolve("my-upload", None, None).voice.name == "my-upload"
    assert catalog().resolve("anyone", None, None).voice.name == "anyone"


def test_without_a_voice_one_that_all_share_speaks_the_whole_text() -> None:
    other = EndpointInfo(voices=(RemoteVoice("cy", "en-US"), RemoteVoice("ADA", "en-GB")), languages=("en",))
    assert catalog(TELLING, other).resolve(None, None, None).voice.name == "ada"
    assert catalog(other).resolve(None, None, "en").voice.name == "cy"
    choice = catalog(TELLING, other).resolve(None, None, "sv")
    assert (choice.voice.name, choice.language) == ("bo", "sv")


def test_without_a_voice_the_predictor_chooses_where_one_tells_none() -> None:
    assert catalog(TELLING, SILENT).resolve(None, None, "sv").voice.name == ""
    assert catalog(SILENT).resolve("  ", None, "auto").language == "en"


@pytest.mark.parametrize(
    ("asked", "tag"), [("en-US", "en-US"), ("yue", "yue"), ("Cantonese", "yue"), ("deu", "deu"), ("b", "en-GB")]
)
def test_any_of_the_646_may_be_spoken_where_one_tells_no_languages(asked: str, tag: str) -> None:
    assert catalog(TELLING, SILENT).resolve(None, None, asked).language == tag


@pytest.mark.parametrize("asked", ["xx", "Klingonish"])
def test_what_is_no_language_is_an_error(asked: str) -> None:
    with pytest.raises(UnsupportedLanguage) as caught:
        catalog(SILENT).resolve(None, None, asked)
    assert caught.value.param == "language"


def test_a_language_that_nobody_tells_is_an_error_where_all_tell_theirs() -> None:
    with pytest.raises(UnsupportedLanguage):
        catalog(TELLING).resolve(None, None, "ja")


def test_models_are_the_pools_the_predictors_and_openais() -> None:
    names = [entry.name for entry in catalog(TELLING, SILENT).models()]
    assert names[:3] == ["tts", "lark", "omni"]
    assert "tts-1" in names
    assert catalog(TELLING).resolve("ada", "LARK", None).voice.name == "ada"
    with pytest.raises(UnknownModel):
        catalog(TELLING).resolve("ada", "tss", None)


def test_voices_languages_and_design_are_those_of_all() -> None:
    pool = catalog(TELLING, TELLING, SILENT)
    assert [entry.name for entry in pool.voices()] == ["ada", "bo"]
    assert pool.languages() == {"en-GB": 1, "sv-SE": 1, "en": 0, "sv": 0}
    assert pool.designs
    assert not catalog(TELLING).designs


def test_who_is_not_ready_is_not_asked_while_another_is() -> None:
    pool = Pool([Endpoint(TELLING), Endpoint(SILENT, "ejected")])
    with pytest.raises(UnknownVoice):
        PoolCatalog(pool, "tts").resolve("stranger", None, None)
    pool.endpoints[0].state = "unready"
    assert PoolCatalog(pool, "tts").resolve("ada", None, None).language == "en-GB"


@pytest.mark.parametrize(
    ("told", "asked", "tag"),
    [
        ("cmn", "zh", "cmn"),
        ("cmn", "Chinese", "cmn"),
        ("zh", "zh-TW", "zh-TW"),
        ("zh", "cmn", "zh"),
        ("nb", "no", "nb"),
        ("ar", "arb", "ar"),
        ("he", "iw", "he"),
        ("fa", "Persian", "fa"),
        ("de", "German", "de"),
        ("vi-vn-x-central", "vi", "vi"),
    ],
)
def test_a_language_is_found_under_each_of_its_tags_and_names_and_asked_for_as_told(
    told: str, asked: str, tag: str
) -> None:
    info = EndpointInfo(voices=(RemoteVoice("ada", "en-GB"), RemoteVoice("eve", told)), languages=("en", told))
    choice = catalog(info).resolve(None, None, asked)
    assert (choice.voice.name, choice.language) == ("eve", tag)
    assert info.speaks("", asked)
    assert not info.speaks("", "sw")
