"""Where a command's text comes from: its arguments, or standard input."""

from __future__ import annotations

import sys

import typer

__all__ = ["STDIN", "text_or_stdin", "whole_text"]

STDIN = 0


def text_or_stdin(text: list[str] | None) -> str | int:
    """The words of the command line as one text, or the descriptor that the text arrives on.

    Raises BadParameter when there is neither: a person at a terminal who gave no text gets told, not waited for.
    """
    if text and text != ["-"]:
        return _decoded(" ".join(text))
    if sys.stdin is None or (sys.stdin.isatty() and not text):
        raise typer.BadParameter('give a TEXT, pipe one in, or say "-" to type it here', param_hint="TEXT")
    return STDIN


def whole_text(text: list[str] | None) -> str:
    """The same, read to its end; a byte order mark is dropped and invalid UTF-8 becomes U+FFFD."""
    source = text_or_stdin(text)
    if isinstance(source, str):
        return source
    return sys.stdin.buffer.read().decode("utf-8-sig", errors="replace")


def _decoded(argument: str) -> str:
    """The text of an argument in UTF-8 that the locale could not read: Python keeps its bytes as lone surrogates."""
    try:
        return argument.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    except UnicodeEncodeError:
        return argument
