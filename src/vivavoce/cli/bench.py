"""`vivavoce bench`: how fast this machine, or a server, speaks."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Annotated, Any

import typer

from .output import print_json, print_table
from .prose import prose

__all__ = ["register"]

HELP = prose(
    """
Measure the time to first audio, the pace, and how often a listener would have run dry.

Without --url the engine in this process is measured, without a server or a cache; with it, the OpenAI speech API that
answers there. Requests before the first measured one (--warm-up) are not counted.
"""
)

EXAMPLES = prose(
    """
Examples:

  vivavoce bench

  vivavoce bench --voice nova --requests 10 --threads 2 --json

  vivavoce bench --url http://localhost:8000/v1 --requests 200 --concurrency 8 --json > numbers.json

Exit codes: 0 measured · 1 a request failed · 2 wrong usage · 4 the voice or its model is not installed.
"""
)

SENTENCE = "The last bus to the harbour has number {n}, so please be ready."


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("bench", help=HELP, epilog=EXAMPLES)(bench)


def bench(
    url: Annotated[
        str | None, typer.Option("--url", help="Base address of a server, such as http://localhost:8000/v1.")
    ] = None,
    requests: Annotated[int, typer.Option("--requests", "-n", min=1, help="Measured requests.")] = 20,
    concurrency: Annotated[int, typer.Option("--concurrency", "-c", min=1, help="Requests at the same time.")] = 1,
    warm_up: Annotated[int, typer.Option("--warm-up", min=0, help="Requests before the first measured one.")] = 3,
    text: Annotated[
        str, typer.Option("--text", "-t", help="What is spoken; {n} becomes the request's number.")
    ] = SENTENCE,
    voice: Annotated[str | None, typer.Option("--voice", "-v", help="See `vivavoce voices`.")] = None,
    language: Annotated[str | None, typer.Option("--language", "-l", help="A tag such as en or de.")] = None,
    model: Annotated[str, typer.Option("--model", help="The model a server is asked for.")] = "tts-1",
    api_key: Annotated[
        str | None,
        typer.Option("--api-key", envvar=["VIVAVOCE_API_KEY", "OPENAI_API_KEY"], help="The key a server wants."),
    ] = None,
    threads: Annotated[
        int | None, typer.Option("--threads", min=1, help="Threads of the engine in this process.")
    ] = None,
    save: Annotated[
        Path | None, typer.Option("--save", metavar="FILE", help="Also write the JSON with every number there.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON with every single number.")] = False,
) -> None:
    """Measure; the help that users see stands above."""
    from .bench_run import Plan, measure

    plan = Plan(
        text=text,
        requests=requests,
        concurrency=concurrency,
        warm_up=warm_up,
        url=url,
        voice=voice,
        language=language,
        model=model,
        api_key=api_key,
        threads=threads,
    )
    report = asyncio.run(measure(plan))
    if save is not None:
        save.write_text(json.dumps(report, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    if as_json:
        print_json(report)
    else:
        _print(report)


def _print(report: dict[str, Any]) -> None:
    """The summary for people, with what it depends on."""
    machine, numbers = report["hardware"], report["summary"]
    print(f"{machine['cpu']}, {machine['cores']} cores, {machine['system']}, Python {machine['python']}")
    threads = f", engine threads: {report['engine_threads']}" if "engine_threads" in report else ""
    print(
        f"{report['target']}, voice {report['voice']}{threads}: {numbers['requests']} requests, "
        f"{report['concurrency']} at a time, after {report['warm_up']} to warm up"
    )
    rows = [
        ["first audio", *(f"{numbers['ttfa_ms'][share]:.1f} ms" for share in ("p50", "p95", "max"))],
        ["time / audio", *(f"{numbers['rtf'][share]:.4f}" for share in ("p50", "p95", "max"))],
    ]
    print_table(["", "P50", "P95", "MAX"], rows)
    if report["repeated"]:
        print("The text was the same each time, so a cache may have answered.")
    print(f"{numbers['underruns']} underruns, {numbers['stalled_ms']:.0f} ms in all")
