"""The `vivavoce` command: one file per command, everything heavy imported only by the command that needs it."""

from __future__ import annotations

import sys

__all__ = ["main"]

_SERVERS = ("serve", "gateway", "engine", "adapter")


def main() -> None:
    """Run the command line and leave with its exit code (`vivavoce --help` lists the codes)."""
    try:
        if sys.argv[1:2] and sys.argv[1] in _SERVERS:
            from ..signals import leave_when_told

            leave_when_told()
        from .app import run

        run()
    except KeyboardInterrupt:
        raise SystemExit(130) from None
