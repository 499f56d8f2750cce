"""Figures, the targets they are held to, and how both are written down."""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import machine

__all__ = ["Figure", "Report", "percentile", "spread"]

RESULTS = Path(__file__).resolve().parent / "results"


def percentile(values: Sequence[float], share: float) -> float:
    """The value that `share` (0 to 1) of the values do not exceed: nearest rank, so always a measured one."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def spread(values: Sequence[float]) -> dict[str, float]:
    """Count, mean, p50, p95, least and most of the values."""
    return {
        "n": len(values),
        "mean": round(statistics.fmean(values), 4),
        "p50": round(statistics.median(values), 4),
        "p95": round(percentile(values, 0.95), 4),
        "min": round(min(values), 4),
        "max": round(max(values), 4),
    }


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured number. `at_most` or `at_least` is its target; a figure without one only informs."""

    name: str
    value: float
    unit: str
    at_most: float | None = None
    note: str = ""
    at_least: float | None = None

    @property
    def has_target(self) -> bool:
        """Whether it is held to anything."""
        return self.at_most is not None or self.at_least is not None

    @property
    def missed(self) -> bool:
        """Whether there is a target and the value lies beyond it."""
        too_much = self.at_most is not None and not self.value <= self.at_most
        return too_much or (self.at_least is not None and not self.value >= self.at_least)

    def row(self) -> str:
        """The figure as a line of a Markdown table."""
        bounds = ((sign, bound) for sign, bound in (("≤", self.at_most), ("≥", self.at_least)) if bound is not None)
        target = ", ".join(f"{sign} {_plain(bound)} {self.unit}".rstrip() for sign, bound in bounds)
        verdict = "" if not self.has_target else ("**missed**" if self.missed else "met")
        return f"| {self.name} | {_plain(self.value)} {self.unit} | {target} | {verdict} | {self.note} |"


@dataclass(slots=True)
class Report:
    """The outcome of one bench: its figures, the raw numbers behind them, and the machine."""

    name: str
    title: str
    figures: list[Figure] = field(default_factory=list)
    raw: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    machine: dict[str, Any] = field(default_factory=machine.facts)

    def add(
        self,
        name: str,
        value: float,
        unit: str = "",
        *,
        at_most: float | None = None,
        at_least: float | None = None,
        note: str = "",
    ) -> None:
        """Put a figure under the ones there are."""
        self.figures.append(Figure(name, value, unit, at_most, note, at_least))

    @property
    def missed(self) -> list[Figure]:
        """The figures beyond their targets."""
        return [figure for figure in self.figures if figure.missed]

    def markdown(self) -> str:
        """The report as a page a person reads."""
        facts = self.machine
        lines = [
            f"# {self.title}",
            "",
            f"{facts['measured_at']}, revision {facts['revision'] or 'unknown'}"
            f"{'' if facts['revision_is_clean'] else ' with uncommitted changes'}; {facts['cpu']}, "
            f"{facts['cores_usable']} cores ({', '.join(facts['cpu_flags']) or 'flags unknown'}), "
            f"Python {facts['python']}, load before the run {facts['load_average_1m']}.",
            "",
            "| what | measured | target | | note |",
            "|---|---|---|---|---|",
            *(figure.row() for figure in self.figures),
            "",
            *(f"- {note}" for note in self.notes),
        ]
        return "\n".join(lines).rstrip() + "\n"

    def save(self, folder: Path = RESULTS) -> Path:
        """Write `NAME.json` (everything, raw numbers included) and `NAME.md`; gives the path of the page."""
        folder.mkdir(parents=True, exist_ok=True)
        document = {
            "bench": self.name,
            "machine": self.machine,
            "figures": [
                {
                    "name": figure.name,
                    "value": figure.value,
                    "unit": figure.unit,
                    "at_most": figure.at_most,
                    "at_least": figure.at_least,
                    "missed": figure.missed,
                    "note": figure.note,
                }
                for figure in self.figures
            ],
            "notes": self.notes,
            "raw": self.raw,
        }
        (folder / f"{self.name}.json").write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n")
        page = folder / f"{self.name}.md"
        page.write_text(self.markdown())
        return page


def _plain(value: float) -> str:
    if value != value:
        return "not measured"
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"
