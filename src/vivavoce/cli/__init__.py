"""The `vivavoce` command: one file per command, everything heavy imported only by the command that needs it."""

from __future__ import annotations

__all__ = ["main"]


def main() -> None:
    """Run the command line and leave with its exit code (`vivavoce --help` lists the codes)."""
    try:
        from .app import run

        run()
    except KeyboardInterrupt:
        raise SystemExit(130) from None
