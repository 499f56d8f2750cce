"""How far a download is: a bar on a terminal, a line for each large step elsewhere."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..models import OnProgress, Progress

__all__ = ["progress_shown"]

# Steps over less than this take no time worth a line in a log.
WORTH_A_LINE_BYTES = 5_000_000


@contextlib.contextmanager
def progress_shown(*, lines: bool = True) -> Iterator[OnProgress]:
    """What a pull calls with its progress, shown on standard error; without `lines` only where a person watches."""
    if sys.stderr.isatty():
        with _bar() as told:
            yield told
    else:
        yield _Lines().told if lines else _unseen


def _unseen(_: Progress) -> None:
    """Nobody watches."""


class _Lines:
    """One line when a step begins."""

    def __init__(self) -> None:
        self._doing = ""

    def told(self, progress: Progress) -> None:
        if progress.doing != self._doing and not 0 < progress.total_bytes < WORTH_A_LINE_BYTES:
            self._doing = progress.doing
            print(f"{progress.model}: {progress.doing}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def _bar() -> Iterator[OnProgress]:
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeElapsedColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)

        def told(progress: Progress) -> None:
            bar.update(
                task,
                description=f"{progress.model}: {progress.doing}",
                completed=progress.done_bytes,
                total=progress.total_bytes or None,
            )

        yield told
