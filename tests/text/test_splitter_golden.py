"""Every file under sentences/ is a kind of text; add cases there, not here."""

import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

FILES = sorted((Path(__file__).parent / "sentences").glob("*.toml"))


def cases() -> Iterator[tuple[str, str, str, list[str]]]:
    for file in FILES:
        data = tomllib.loads(file.read_text(encoding="utf-8"))
        joiner = data.get("joiner", " ")
        texts = [(joiner.join(case), case) for case in data.get("cases", [])]
        texts += [(case["text"], case["sentences"]) for case in data.get("texts", [])]
        for number, (text, sentences) in enumerate(texts, 1):
            yield f"{file.stem}-{number}", data["language"], text, [sentence.strip() for sentence in sentences]


CASES = list(cases())


@pytest.mark.parametrize(("language", "text", "sentences"), [case[1:] for case in CASES], ids=[c[0] for c in CASES])
def test_each_sentence_is_one_segment(split, language, text, sentences):
    assert [segment.text.strip() for segment in split(text, language, join_short=False)] == sentences


@pytest.mark.parametrize(("language", "text", "sentences"), [case[1:] for case in CASES], ids=[c[0] for c in CASES])
def test_joining_only_takes_boundaries_away(split, language, text, sentences):
    alone = {segment.end for segment in split(text, language, join_short=False)}
    assert {segment.end for segment in split(text, language)} <= alone


def test_the_corpus_is_broad():
    languages = Counter(language.split("-")[0] for _, language, _, _ in CASES)
    assert len(CASES) >= 300
    assert len(languages) >= 12
    assert languages["en"] >= 150


def test_the_corpus_has_no_text_twice():
    assert [text for text, count in Counter((case[1], case[2]) for case in CASES).items() if count > 1] == []
