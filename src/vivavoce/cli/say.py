"""`vivavoce say`: speak a text, or what arrives on standard input, while it is still arriving."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Annotated

import typer

from .prose import prose
from .source import text_or_stdin

__all__ = ["register"]

HELP = prose(
    """
Speak TEXT, or standard input as it arrives; play it, or write it to a file.

Without TEXT (or with "-") the text is read from standard input, and the first sentence is heard while the rest is
still being written. Without -o it is played.
"""
)

EXAMPLES = prose(
    """
Examples:

  vivavoce say "Good morning."

  vivavoce say --voice nova --speed 1.2 -o greeting.mp3 "Good morning."

  printf 'One. Two' | vivavoce say -o out.wav

  my-llm | vivavoce say

  vivavoce say --json -o talk.wav < talk.txt > times.json

  vivavoce say -o - --format wav "Piped." | aplay

  vivavoce say --server ws://voice.example:8000 "Spoken there, heard here."

Exit codes: 0 spoken · 1 failed · 2 wrong usage, unknown voice or format · 3 nothing to say · 4 the voice or its model is
not installed · 130 interrupted (an unfinished file is removed).
"""
)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("say", help=HELP, epilog=EXAMPLES)(say)


def say(
    text: Annotated[
        list[str] | None, typer.Argument(metavar="TEXT", help='What to say; "-" reads standard input.')
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Write .wav, .mp3, .opus, .ogg, .flac, .aac or .pcm; - is stdout."
        ),
    ] = None,
    audio_format: Annotated[
        str | None, typer.Option("--format", "-f", help="wav, mp3, opus, flac, aac or pcm; else told by the file name.")
    ] = None,
    voice: Annotated[str | None, typer.Option("--voice", "-v", help="See `vivavoce voices`.")] = None,
    language: Annotated[
        str | None, typer.Option("--language", "-l", help="A tag such as en, en-GB or de; else the voice's own.")
    ] = None,
    speed: Annotated[
        float, typer.Option("--speed", "-s", min=0.25, max=4.0, help="1.0 is the voice's own pace.")
    ] = 1.0,
    lexicon: Annotated[
        Path | None, typer.Option("--lexicon", metavar="FILE", help="TOML file of words and how to say them.")
    ] = None,
    rate_hz: Annotated[int, typer.Option("--rate", "-r", min=8_000, max=48_000, help="Sample rate in Hz.")] = 24_000,
    name_emoji: Annotated[bool, typer.Option("--name-emoji", help="Say the names of emoji.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print segments, words and times as JSON when it is spoken.")
    ] = False,
    server: Annotated[
        str | None,
        typer.Option(
            "--server",
            envvar="VIVAVOCE_SERVER",
            metavar="URL",
            help="Let a server speak, such as ws://host:8000; of several, comma-separated, any that can.",
        ),
    ] = None,
    api_key: Annotated[
        str | None, typer.Option("--api-key", envvar="VIVAVOCE_API_KEY", help="The server's key.", show_envvar=True)
    ] = None,
) -> None:
    """Speak a text; the help that users see stands above."""
    source = text_or_stdin(text)
    if math.isnan(speed):
        raise typer.BadParameter("the speed is no number", param_hint="--speed")
    if as_json and output == "-":
        raise typer.BadParameter("--json and -o - both want standard output", param_hint="--json")
    if output == "-" and sys.stdout.isatty():
        raise typer.BadParameter("sound is not written to a terminal; send it into a pipe or a file", param_hint="-o")
    from .speaking import Order, speak_now

    speak_now(
        Order(
            source=source,
            output=output,
            audio_format=audio_format,
            voice=voice,
            language=language,
            speed=speed,
            lexicon=lexicon,
            rate_hz=rate_hz,
            name_emoji=name_emoji,
            as_json=as_json,
            server=server or None,
            api_key=api_key or None,
        )
    )
