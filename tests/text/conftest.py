from collections.abc import Callable

import pytest

from vivavoce.text import Segment, Splitter

Split = Callable[..., list[Segment]]


def cut(text: str, way: str) -> list[str]:
    if way == "whole":
        return [text]
    if way == "characters":
        return list(text)
    if way == "cyclic":
        pieces, at = [], 0
        while at < len(text):
            for size in (1, 2, 4):
                pieces.append(text[at : at + size])
                at += size
        return [piece for piece in pieces if piece]
    return [piece for dotted in text.split(".") for piece in (dotted, ".")][:-1]  # right before and after each dot


@pytest.fixture(params=["whole", "characters", "cyclic", "dots"])
def way(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def split(way: str) -> Split:
    """Split a text, cut into pieces in one of four ways; the spans are checked on every call."""

    def split(text: str, language: str = "en", **options: object) -> list[Segment]:
        splitter = Splitter(language, **options)
        segments = [segment for piece in cut(text, way) for segment in splitter.feed(piece)] + splitter.flush()
        at = 0
        for segment in segments:
            assert (segment.start, segment.text) == (at, text[segment.start : segment.end])
            at = segment.end
        assert at == len(text)
        return segments

    return split
