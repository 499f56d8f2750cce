"""`vivavoce models`: what is on this machine, bringing more, checking it, letting it go."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from .failures import FAILED
from .output import print_json, print_table
from .prose import prose
from .pulling import progress_shown

if TYPE_CHECKING:
    from ..models import FileReport, Store

__all__ = ["app"]

HELP = prose(
    """
    The models on this machine: list, pull, verify and remove them.

    They are kept in the user's data folder, or in the one that VIVAVOCE_HOME names.
    """
)
LIST_EXAMPLES = prose(
    """
    Examples:

    vivavoce models list

    vivavoce models list --json
    """
)
PULL_EXAMPLES = prose(
    """
    Examples:

    vivavoce models pull kokoro

    vivavoce models pull --force kokoro

    VIVAVOCE_HOME=/srv/voices vivavoce models pull --all

    Exit codes: 0 everything is here and whole · 2 no such model · 4 no source could give it.
    """
)
VERIFY_EXAMPLES = prose(
    """
    Examples:

    vivavoce models verify

    vivavoce models verify kokoro --json

    Exit codes: 0 every file is what its checksum says · 1 a file is damaged or missing · 2 no such model.
    """
)
REMOVE_EXAMPLES = prose(
    """
    Examples:

    vivavoce models remove kokoro

    Exit codes: 0 it is gone · 2 no such model · 4 it is part of an installed package, which is named.
    """
)

Names = Annotated[list[str] | None, typer.Argument(metavar="MODEL", help="See `vivavoce models list`.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]

app = typer.Typer(help=HELP, no_args_is_help=True, rich_markup_mode="rich")


@app.command("list", epilog=LIST_EXAMPLES)
def list_models(as_json: AsJson = False) -> None:
    """List every known model: is it here, how large, under which licence, from where."""
    from ..models import Store

    states = Store().list()
    if as_json:
        print_json(
            [
                {
                    "name": state.model.name,
                    "state": state.state,
                    "purpose": state.model.purpose,
                    "licence": state.model.licence,
                    "source": state.model.source,
                    "size_bytes": state.model.size_bytes,
                    "here_bytes": state.here_bytes,
                    "folder": str(state.folder),
                    "files": [
                        {"name": file.name, "size_bytes": file.size_bytes, "sha256": file.sha256}
                        for file in state.model.files
                    ],
                }
                for state in states
            ]
        )
        return
    print_table(
        ["MODEL", "STATE", "SIZE", "LICENCE", "FOR", "SOURCE"],
        [
            [s.model.name, s.state, _size(s.model.size_bytes), s.model.licence, s.model.purpose, s.model.source]
            for s in states
        ],
    )
    if any(state.state != "ready" for state in states):
        typer.echo("Bring one here: vivavoce models pull MODEL", err=True)


@app.command("pull", epilog=PULL_EXAMPLES)
def pull(
    names: Names = None,
    everything: Annotated[bool, typer.Option("--all", "-a", help="Every known model.")] = False,
    force: Annotated[bool, typer.Option("--force", "-f", help="Fetch files again that are here and whole.")] = False,
    as_json: AsJson = False,
) -> None:
    """Bring models here: resumed where it stopped, from the first source that answers, every file checked."""
    from ..models import Store

    store = Store()
    wanted = _wanted(store, names, everything)
    reports: dict[str, tuple[FileReport, ...]] = {}
    for name in wanted:
        with progress_shown() as progress:
            reports[name] = store.pull(name, force=force, progress=progress)
        if not as_json:
            _print_pulled(store, name, reports[name])
    if as_json:
        print_json({name: [asdict(report) for report in files] for name, files in reports.items()})


@app.command("verify", epilog=VERIFY_EXAMPLES)
def verify(names: Names = None, as_json: AsJson = False) -> None:
    """Read every file of the models (all that are here, unless named) and compare its checksum."""
    from ..models import Store

    store = Store()
    here = [state.model.name for state in store.list() if state.state != "missing"]
    reports: dict[str, tuple[FileReport, ...]] = {}
    for name in [store.model(name).name for name in names or here]:
        with progress_shown(lines=False) as progress:
            reports[name] = store.verify(name, progress)
    if as_json:
        print_json({name: [asdict(report) for report in files] for name, files in reports.items()})
    elif not reports:
        print("no model is here")
    for name, files in reports.items():
        wrong = [report for report in files if report.state != "ok"]
        if not as_json:
            _print_verified(name, files, wrong)
    if any(report.state != "ok" for files in reports.values() for report in files):
        raise typer.Exit(FAILED)


@app.command("remove", epilog=REMOVE_EXAMPLES)
def remove(names: Names = None) -> None:
    """Delete models from this machine; `pull` brings them back."""
    from ..models import Store

    store = Store()
    for name in _wanted(store, names, everything=False):
        freed = store.remove(name)
        print(f"{name}: {_size(freed)} freed" if freed else f"{name} was not here")


def _wanted(store: Store, names: list[str] | None, everything: bool) -> list[str]:
    """The models that are meant, each once; all names are checked before anything is done. Raises UnknownModel."""
    known = [state.model.name for state in store.list()]
    if everything:
        return known
    if not names:
        raise typer.BadParameter(f"name one or more of {', '.join(known)}", param_hint="MODEL")
    return list(dict.fromkeys(store.model(name).name for name in names))


def _print_pulled(store: Store, name: str, files: tuple[FileReport, ...]) -> None:
    count = f"{len(files)} files" if len(files) > 1 else "1 file"
    print(f"{name} is here: {count}, {_size(store.model(name).size_bytes)}, every checksum right")
    for report in files:
        if report.recorded:
            print(f"  {report.name}: sha256 {report.sha256}, recorded now, for none was known")


def _print_verified(name: str, files: tuple[FileReport, ...], wrong: list[FileReport]) -> None:
    if not wrong:
        print(f"{name}: all {len(files)} files are whole" if len(files) > 1 else f"{name}: its file is whole")
        return
    for report in wrong:
        print(f"{name}: {report.name} is {'damaged' if report.state == 'corrupt' else 'missing'}")
    print(f"  get it again: vivavoce models pull {name}")


def _size(size_bytes: int) -> str:
    return f"{size_bytes / 1e6:.1f} MB" if size_bytes >= 100_000 else f"{size_bytes / 1e3:.1f} kB"
