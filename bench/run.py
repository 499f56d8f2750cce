"""Run the benches: `python bench/run.py [--smoke] [NAME…]`, all of them when none is named.

Results go to `bench/results/NAME.json` (raw) and `NAME.md`; `--smoke` takes few samples and writes nothing. Exits 1
when a bench could not run; a missed target is told, and is no failure of the run.
"""

from __future__ import annotations

import argparse
import importlib
import subprocess
import sys
import time
import traceback
from pathlib import Path

REPORTS = (
    "startup",
    "http_speech",
    "http_kokoro",
    "peers",
    "roundtrip",
    "word_times",
    "long_form",
    "gateway_added",
    "streams_held",
    "cancel",
    "gateway_memory",
)
# Benches with a command line of their own: for a run that writes its results, and for a look.
PROGRAMS = {
    "sentences": (["sentences/compare.py"], ["sentences/compare.py", "--smoke"]),
    "text": (["text/normalizer.py", "--write"], ["text/normalizer.py"]),
}
BENCHES = (*REPORTS, *PROGRAMS)


def main() -> int:
    """Run what was asked for and summarize."""
    parser = argparse.ArgumentParser(description="Measure vivavoce; see bench/README.md.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(BENCHES)}")
    parser.add_argument("--smoke", action="store_true", help="few samples, nothing written")
    arguments = parser.parse_args()
    if unknown := sorted(set(arguments.names) - set(BENCHES)):
        parser.error(f"no bench is named {', '.join(unknown)}; there are {', '.join(BENCHES)}")
    outcomes = {name: _run(name, arguments.smoke) for name in arguments.names or BENCHES}
    print("\n".join(["", *(f"{name:12} {outcome}" for name, outcome in outcomes.items())]))
    return int(any(outcome.startswith("failed") for outcome in outcomes.values()))


def _run(name: str, smoke: bool) -> str:
    print(f"\n== {name}", flush=True)
    started = time.monotonic()
    if name in PROGRAMS:
        program, *options = PROGRAMS[name][smoke]
        ended = subprocess.run([sys.executable, str(Path(__file__).parent / program), *options])
        return (
            f"failed: exit code {ended.returncode}"
            if ended.returncode
            else f"ran in {time.monotonic() - started:.0f} s"
        )
    try:
        report = importlib.import_module(name).run(smoke)
    except Exception as error:
        traceback.print_exc()
        return f"failed: {error}"
    print(report.markdown(), flush=True)
    if not smoke:
        report.save()
    targets = sum(figure.has_target for figure in report.figures)
    missed = "; ".join(figure.name for figure in report.missed)
    took = f"in {time.monotonic() - started:.0f} s"
    return f"missed {len(report.missed)} of {targets} targets {took}: {missed}" if missed else f"met {targets} {took}"


if __name__ == "__main__":
    sys.exit(main())
