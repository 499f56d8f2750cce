"""A file's name tells its format."""

import pytest

from vivavoce.cli.formats import format_for
from vivavoce.errors import UnsupportedFormat


@pytest.mark.parametrize(
    "output, asked, expected",
    [
        ("talk.wav", None, "wav"),
        ("talk.MP3", None, "mp3"),
        ("talk.ogg", None, "opus"),
        ("a.b/talk.opus", None, "opus"),
        ("talk.flac", None, "flac"),
        ("talk.aac", None, "aac"),
        ("talk.pcm", None, "pcm"),
        ("talk.raw", None, "pcm"),
        ("-", None, "pcm"),
        ("-", "wav", "wav"),
        ("-", "OGG", "opus"),
        ("/dev/null", None, "pcm"),
        ("noending", "flac", "flac"),
        ("talk.txt", ".mp3", "mp3"),
        (None, None, "pcm"),
    ],
)
def test_format(output, asked, expected):
    assert format_for(output, asked) == expected


@pytest.mark.parametrize(
    "output, asked", [("talk.m4a", None), ("talk", None), ("talk.wav.bak", None), ("x.wav", "wma")]
)
def test_what_tells_no_format_is_an_error_that_lists_them(output, asked):
    with pytest.raises(UnsupportedFormat, match=r"wav.*flac|flac.*wav"):
        format_for(output, asked)
