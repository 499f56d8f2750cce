"""`vivavoce doctor`: can it speak here, how fast, and what to do about what is missing."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import typer

from .failures import FAILED
from .output import note, print_json, print_table
from .prose import prose

__all__ = ["register"]

HELP = prose(
    """
Check what is installed and which engines can speak, and measure how fast they are on this machine.

Speed is told as time to first audio for a word, a button and a sentence of twenty words, each spoken anew, with the
number of threads. The same once more from memory is what a screen reader meets when it repeats itself.
"""
)

EXAMPLES = prose(
    """
Examples:

  vivavoce doctor

  vivavoce doctor --no-measure

  vivavoce doctor --json > doctor.json

Exit codes: 0 something can speak · 1 nothing can.
"""
)

# A load of more than this share of the cores slows down what is measured.
BUSY_SHARE = 0.75
MARKS = {True: "ok", False: "PROBLEM", None: "missing"}


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("doctor", help=HELP, epilog=EXAMPLES)(doctor)


def doctor(
    measure: Annotated[bool, typer.Option("--measure/--no-measure", help="Speak, and tell how fast.")] = True,
    runs: Annotated[int, typer.Option("--runs", min=1, help="How often each text is spoken.")] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Check; the help that users see stands above."""
    from .checks import all_checks
    from .machine import hardware
    from .paces import paces

    checks = all_checks()
    report: dict[str, Any] = {
        "hardware": hardware(),
        "checks": [check.facts() for check in checks],
        "paces": asyncio.run(paces(runs, note)) if measure else [],
    }
    report["can_speak"] = any(check.kind == "engine" and check.good for check in checks)
    if as_json:
        print_json(report)
    else:
        _print(report)
    if not report["can_speak"]:
        raise typer.Exit(FAILED)


def _print(report: dict[str, Any]) -> None:
    """The findings for people: what is there, what to do, how fast it is."""
    machine = report["hardware"]
    memory = f", {machine['memory_gib']} GiB" if machine["memory_gib"] else ""
    print(f"{machine['cpu']}, {machine['cores']} cores{memory}, {machine['system']}")
    print_table(["", "", "FOUND"], [[MARKS[c["good"]], c["name"], c["found"]] for c in report["checks"]])
    advice = [(c["name"], c["advice"]) for c in report["checks"] if c["advice"]]
    if advice:
        print("\nWhat to do:")
        for name, what in advice:
            print(f"  {name}: {what}")
    if report["paces"]:
        print()
        _print_paces(report["paces"])
        if (machine["load_1min"] or 0) > machine["cores"] * BUSY_SHARE:
            print(f"The machine was busy (load {machine['load_1min']}); when it is idle, speech is faster than this.")
    print("\nIt can speak." if report["can_speak"] else "\nNothing can speak here yet; see what to do above.")


def _print_paces(paces: list[dict[str, Any]]) -> None:
    rows = []
    for pace in paces:
        if pace["problem"]:
            rows.append([pace["engine"], pace["voice"], pace["text"], "", "", "", "", pace["problem"]])
            continue
        first, cached = pace["ttfa_ms"], pace["cached_ttfa_ms"]
        rows.append(
            [
                pace["engine"],
                pace["voice"],
                _short(pace["text"]),
                f"{first['p50']:.0f} ms",
                f"{first['p95']:.0f} ms",
                f"{cached['p50']:.1f} ms",
                f"{pace['rtf']['p50']:.3f}",
                f"{pace['runs']} runs, threads: {pace['threads']}",
            ]
        )
    print_table(["ENGINE", "VOICE", "TEXT", "FIRST SOUND P50", "P95", "AGAIN P50", "TIME/AUDIO", "MEASURED WITH"], rows)


def _short(text: str) -> str:
    words = text.split()
    return text if len(words) < 6 else f"{' '.join(words[:3])} … ({len(words)} words)"
