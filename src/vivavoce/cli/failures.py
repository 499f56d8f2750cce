"""How a command ends: which exit code, and what is said about it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import traceback
from collections.abc import Iterator

import typer

from ..errors import (
    BadRequest,
    ConfigError,
    EmptyInput,
    ModelCorrupt,
    ModelUnavailable,
    UnknownModel,
    VivavoceError,
    VoiceNotInstalled,
)

__all__ = [
    "FAILED",
    "INTERRUPTED",
    "NOTHING_TO_SAY",
    "NOT_INSTALLED",
    "USAGE",
    "complain",
    "ending",
    "exit_code",
]

FAILED = 1
USAGE = 2
NOTHING_TO_SAY = 3
NOT_INSTALLED = 4
INTERRUPTED = 130

_CODES: tuple[tuple[type[VivavoceError], int], ...] = (
    (EmptyInput, NOTHING_TO_SAY),
    (VoiceNotInstalled, NOT_INSTALLED),
    (ModelUnavailable, NOT_INSTALLED),
    (ModelCorrupt, NOT_INSTALLED),
    (BadRequest, USAGE),
    (UnknownModel, USAGE),
    (ConfigError, USAGE),
)


def exit_code(error: VivavoceError) -> int:
    """The exit code for an error, by its class."""
    return next((code for kind, code in _CODES if isinstance(error, kind)), FAILED)


def complain(message: str) -> None:
    """Say on standard error, in one line (red on a terminal), what went wrong."""
    line = f"vivavoce: {' '.join(message.split())}"
    red = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
    with contextlib.suppress(OSError):
        print(f"\x1b[31m{line}\x1b[0m" if red else line, file=sys.stderr, flush=True)


@contextlib.contextmanager
def ending(*, debug: bool = False) -> Iterator[None]:
    """Turn every way in which a command can fail into one line and an exit code; `debug` adds the traceback."""
    try:
        yield
        sys.stdout.flush()
    except BaseException as error:
        error = _innermost(error)
        if isinstance(error, BrokenPipeError):
            _leave_stdout()
            raise typer.Exit(0) from None
        if isinstance(error, KeyboardInterrupt | asyncio.CancelledError):
            raise typer.Exit(INTERRUPTED) from None
        code, message = _judge(error)
        if debug:
            traceback.print_exception(error)
        complain(message)
        raise typer.Exit(code) from None


def _judge(error: BaseException) -> tuple[int, str]:
    """The exit code and the line for an error; re-raises what typer itself knows how to end."""
    match error:
        case VivavoceError():
            return exit_code(error), error.message
        case OSError():
            return FAILED, f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror or error)
        case ModuleNotFoundError():
            return NOT_INSTALLED, f"the package {error.name} is not installed; try: pip install 'vivavoce[tts]'"
        case MemoryError() | RecursionError() | AssertionError():
            return FAILED, f"internal error: {type(error).__name__} (run again with --debug to see where)"
        case _ if type(error).__module__.startswith(("typer", "click")) or isinstance(error, SystemExit):
            raise error
        case _:
            return FAILED, f"internal error: {type(error).__name__}: {error} (run again with --debug to see where)"


def _innermost(error: BaseException) -> BaseException:
    """The one error inside the groups that task groups wrap around it."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _leave_stdout() -> None:
    """Point standard output at nothing, so that the interpreter's last flush does not complain either."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
