"""How long the splitter and the normalizer take: ordinary prose per 1,000 characters, and hostile input doubled.

Run: python bench/text/normalizer.py [--write]. Times are process times, the best of several runs, so that a busy machine
disturbs them little. `--write` puts the raw numbers into bench/results/text_normalizer.json.
"""

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path

from vivavoce.text import Normalizer, Splitter, speak

RESULTS = Path(__file__).parent.parent / "results" / "text_normalizer.json"
PROSE = (
    "The morning light came slowly over the harbour, and the fishermen were already at work on their nets. Nobody had "
    "told them that the ferry would be late, nor that Mr. Lindqvist had left his luggage in the café. \"It's quite all "
    'right," she said, smiling; "we can\'t be everywhere at once." In 1999 the company sold 3,500 boats for $5.3 million, '
    "and by May 3rd, 2005 it had opened offices in the U.S. and Japan. They were not sure how things would go — but "
    "well-known facts remain: the CPUs ran at 85°C, and nobody had asked why. "
)
HOSTILE = (
    "1", "1.", "<", "*", "[", "@", "a.", "-", "`", "a<", "[a](", "<a ", "(", "http://", "/a", "谢", "🎉", "\\", "&", "|",
    "1 ", "a_", "**a", "' ", "1,111", "^2", "e\u0301", "<!--", "[pause:", "#a ", "> ", "IV ", "A. ", "$1", "x^", "\n",
)  # fmt: skip
SIZE = 100_000


def both(text: str) -> None:
    """Split and normalize, as an utterance does."""
    splitter, normalizer = Splitter(), Normalizer()
    for segment in (*splitter.feed(text), *splitter.flush()):
        normalizer.speak(segment.text)


def best_ms(work: Callable[[], object], runs: int) -> float:
    """The shortest of several runs, in ms of process time."""
    times = []
    for _ in range(runs):
        begun = time.process_time()
        work()
        times.append((time.process_time() - begun) * 1000)
    return min(times)


def main() -> None:
    """Measure, show, and keep what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="keep the raw numbers")
    asked = parser.parse_args()
    prose = (PROSE * 20)[:10_000]
    both(prose)
    shown: dict[str, object] = {
        "python": platform.python_version(),
        "machine": platform.machine(),
        "cpus": os.cpu_count(),
        "load": os.getloadavg()[0],
        "prose_ms_per_1k_chars": {
            "normalizer": round(best_ms(lambda: speak(prose), 15) / 10, 4),
            "splitter_and_normalizer": round(best_ms(lambda: both(prose), 15) / 10, 4),
        },
    }
    hostile = {}
    for unit in HOSTILE:
        once = unit * (SIZE // len(unit))
        single = best_ms(lambda once=once: speak(once), 3)  # type: ignore[misc]
        double = best_ms(lambda once=once: speak(once + once), 3)  # type: ignore[misc]
        hostile[unit] = {"ms_per_100k_chars": round(single, 2), "doubled": round(double / max(single, 0.01), 2)}
    shown["hostile"] = hostile
    text = json.dumps(shown, indent=1, ensure_ascii=False)
    sys.stdout.write(text + "\n")
    if asked.write:
        RESULTS.parent.mkdir(parents=True, exist_ok=True)
        RESULTS.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
