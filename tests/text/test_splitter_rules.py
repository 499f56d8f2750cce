"""The data of the languages is well-formed; a word has one kind."""

import tomllib
from collections import Counter
from pathlib import Path

import pytest

from vivavoce.text import abbreviations
from vivavoce.text.abbreviations import sentence_rules

FILES = sorted((Path(abbreviations.__file__).parent / "sentence_rules").glob("*.toml"))
KINDS = {"never", "before_number", "number_or_word", "ending", "closing", "clock", "general", "inner", "measure"}
WORDS = {"starters", "months", "fronting", "after_clock", "saying", "open_words", "brands", "vowelless", "never_starts"}
SWITCHES = {"lower_starts", "ordinals", "nouns_capital", "consonants_abbreviate", "inline_code", "soft_dot"}
OTHERS = {"extra_stops", "spaced_by_phrase"}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_file_has_known_keys_and_each_abbreviation_once(file):
    data = tomllib.loads(file.read_text(encoding="utf-8"))
    assert set(data) <= KINDS | WORDS | SWITCHES | OTHERS
    assert all(isinstance(data[key], bool) for key in SWITCHES & set(data))
    words = Counter(word for kind in KINDS for word in data.get(kind, "").split())
    assert [word for word, count in words.items() if count > 1] == []
    assert not any(word.endswith(".") for word in words)
    assert all(word == word.lower() for name in WORDS for word in data.get(name, "").split())


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_each_file_is_read(file):
    rules = sentence_rules(file.stem)
    assert rules.candidate.search("One. Two.").start() == 3


@pytest.mark.parametrize(
    ("tag", "language"),
    [
        ("en-US", "en"),
        ("EN_gb", "en"),
        ("zh-Hans-CN", "zh"),
        ("nb", "no"),
        ("nn-NO", "no"),
        ("iw", "he"),
        ("cmn", "zh"),
    ],
)
def test_a_tag_finds_its_language(tag, language):
    assert sentence_rules(tag) is sentence_rules(language)


@pytest.mark.parametrize("tag", ["", "xx", "tlh", "../en", "common", "en/../de", "\x00"])
def test_any_other_tag_has_the_common_rules(tag):
    rules = sentence_rules(tag)
    assert rules.kinds["dr"] == "never"
    assert not rules.lower_starts
