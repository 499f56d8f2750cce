"""Whose sentences are right, and how fast: vivavoce, pysbd, blingfire, nltk's punkt. See README.md."""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import time
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from splitters import SPLITTERS, missing

from vivavoce.text import Splitter

ROOT = Path(__file__).resolve().parents[2]
CORPUS = ROOT / "tests" / "text" / "sentences"
RESULTS = ROOT / "bench" / "results"
HOSTILE = ["1", "1.", "(", "<", '"', "```", "a. ", "A. ", "“a. ", "あ", "e\u0301"]


def corpus() -> Iterator[dict[str, Any]]:
    """Every text of the golden corpus, the hard ones that vivavoce gets wrong included."""
    for file in sorted(CORPUS.glob("*.toml")):
        data = tomllib.loads(file.read_text(encoding="utf-8"))
        joiner = data.get("joiner", " ")
        texts = [(joiner.join(case), case) for case in data.get("cases", []) + data.get("hard", [])]
        texts += [(case["text"], case["sentences"]) for case in data.get("texts", [])]
        for text, sentences in texts:
            stripped = [sentence.strip() for sentence in sentences]
            yield {"kind": file.stem, "language": data["language"], "text": text, "sentences": stripped}


def accuracy(names: list[str]) -> tuple[list[dict[str, Any]], dict[str, dict[str, list[int]]]]:
    """Each text with each answer, and for each splitter the right and all texts of each language."""
    rows, score = [], {name: defaultdict(lambda: [0, 0]) for name in names}
    for case in corpus():
        language = {"nb": "no"}.get(case["language"], case["language"].split("-")[0])
        wrong = {}
        for name in names:
            answer = [piece.strip() for piece in SPLITTERS[name](case["text"], language) if piece.strip()]
            right = answer == case["sentences"]
            score[name][language][0] += right
            score[name][language][1] += 1
            if not right:
                wrong[name] = answer
        rows.append({**case, "wrong": wrong})
    return rows, {name: dict(languages) for name, languages in score.items()}


def long_texts(characters: int) -> dict[str, str]:
    """Prose, and the corpus's English with its few characters to a hard sentence, each over and over."""
    texts = [case["text"] for case in corpus() if case["language"] == "en" and "```" not in case["text"]]
    hard = "\n\n".join(" ".join(texts[start : start + 6]) for start in range(0, len(texts), 6))
    prose = (Path(__file__).parent / "prose.txt").read_text(encoding="utf-8").strip()
    sources = {"prose": prose + "\n\n", "the corpus": hard + "\n\n"}
    return {name: (once * (characters // len(once) + 1))[:characters] for name, once in sources.items()}


def one_at_a_time(text: str, language: str) -> list[str]:
    """Vivavoce, fed as a model writes at its slowest."""
    splitter = Splitter(language, join_short=False)
    return [segment.text for character in text for segment in splitter.feed(character)] + [
        segment.text for segment in splitter.flush()
    ]


def speed(names: list[str], rounds: int) -> dict[str, dict[str, dict[str, float]]]:
    """CPU milliseconds for each 1,000 characters of each text, in turn; pysbd, which takes seconds, goes once."""
    ways = {name: SPLITTERS[name] for name in names} | {"vivavoce, one character at a time": one_at_a_time}
    figures = {}
    for kind, text in long_texts(100_000).items():
        times: dict[str, list[float]] = defaultdict(list)
        for number in range(rounds):
            for name, split in ways.items():
                if name == "pysbd" and number:
                    continue
                started = time.process_time()
                split(text, "en")
                times[name].append((time.process_time() - started) * 1000 / (len(text) / 1000))
        figures[kind] = {name: {"median": statistics.median(of), "least": min(of)} for name, of in times.items()}
    return figures


def hostile() -> dict[str, dict[str, float]]:
    """CPU milliseconds for 50,000 and 100,000 characters made to hurt, whole and one character at a time."""
    figures = {}
    for unit in HOSTILE:
        row = {}
        for size in (50_000, 100_000):
            text = (unit * size)[:size]
            for way, split in (("whole", SPLITTERS["vivavoce"]), ("one at a time", one_at_a_time)):
                started = time.process_time()
                split(text, "en")
                row[f"{way} {size}"] = (time.process_time() - started) * 1000
        figures[unit] = row
    return figures


def table(report: dict[str, Any]) -> str:
    """The report as Markdown."""
    names = list(report["score"])
    languages = sorted(report["score"]["vivavoce"], key=lambda each: (each != "en", each))
    share = {name: [sum(column) for column in zip(*report["score"][name].values(), strict=True)] for name in names}

    def cell(right: int, of: int) -> str:
        return f"{100 * right / of:.1f} %"

    lines = [
        "# Sentences: vivavoce beside pysbd, blingfire and punkt",
        "",
        f"{report['measured_at']}, Python {report['python']}, {report['cores']} cores, load {report['load']}; "
        + ", ".join(f"{name} {version}" for name, version in report["versions"].items())
        + ".",
        "",
        *([f"Not run, for want of a package: {', '.join(report['missing'])}.", ""] if report["missing"] else []),
        f"| right, of {share['vivavoce'][1]} texts in {len(languages)} languages | {' | '.join(names)} |",
        f"|---|{'---:|' * len(names)}",
        f"| all | {' | '.join(f'**{cell(*share[name])}**' for name in names)} |",
    ]
    for language in languages:
        of = report["score"]["vivavoce"][language][1]
        cells = " | ".join(cell(*report["score"][name][language]) for name in names)
        lines.append(f"| {language} ({of}) | {cells} |")
    kinds = list(report["speed"])
    lines += ["", f"| CPU ms for 1,000 characters, median | {' | '.join(kinds)} |", f"|---|{'---:|' * len(kinds)}"]
    for name in report["speed"][kinds[0]]:
        cells = " | ".join(f"{report['speed'][kind][name]['median']:.3f}" for kind in kinds)
        lines.append(f"| {name} | {cells} |")
    if "pysbd" in names:
        times = {kind: row["pysbd"]["median"] / row["vivavoce"]["median"] for kind, row in report["speed"].items()}
        told = " and ".join(f"{ratio:.0f} times as long on {kind}" for kind, ratio in times.items())
        lines += ["", f"pysbd takes {told}."]
    lines += [
        "",
        "| hostile text, CPU ms | whole, 50,000 | 100,000 | one at a time, 50,000 | 100,000 |",
        "|---|---:|---:|---:|---:|",
    ]
    for unit, row in report["hostile"].items():
        figures = [row[key] for key in ("whole 50000", "whole 100000", "one at a time 50000", "one at a time 100000")]
        lines.append(f"| `{unit!r}` again and again | {' | '.join(f'{figure:.0f}' for figure in figures)} |")
    wrong = Counter(kind for row in report["texts"] if "vivavoce" in row["wrong"] for kind in [row["kind"]])
    lines += ["", f"vivavoce is wrong in {sum(wrong.values())}: {dict(wrong) or 'none'}."]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Measure, print and write the results."""
    parser = argparse.ArgumentParser(description="Compare sentence splitters; see README.md.")
    parser.add_argument("--rounds", type=int, default=7, help="rounds of the speed measurement")
    parser.add_argument("--smoke", action="store_true", help="one round, nothing written")
    arguments = parser.parse_args()
    absent = missing()
    names = [name for name in SPLITTERS if name not in absent]
    load = round(os.getloadavg()[0], 2)
    texts, score = accuracy(names)
    packages = {"vivavoce": "vivavoce", "pysbd": "pysbd", "blingfire": "blingfire", "punkt": "nltk"}
    report = {
        "measured_at": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "load": load,
        "versions": {packages[name]: metadata.version(packages[name]) for name in names},
        "missing": absent,
        "score": score,
        "speed": speed(names, 1 if arguments.smoke else arguments.rounds),
        "hostile": hostile() if not arguments.smoke else {},
        "texts": texts,
    }
    page = table(report)
    print(page)
    if not arguments.smoke:
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / "sentences.md").write_text(page, encoding="utf-8")
        (RESULTS / "sentences.json").write_text(
            json.dumps(report, ensure_ascii=False, indent=1) + "\n", encoding="utf-8"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
