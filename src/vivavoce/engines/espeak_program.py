"""The espeak-ng program: where it is, and text in through its standard input."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence

from ..errors import PredictorFailed, VoiceNotInstalled

__all__ = ["HOW_TO_INSTALL", "phonemes", "program"]

HOW_TO_INSTALL = (
    "espeak-ng is not on this machine; get it with: apt install espeak-ng (Debian), brew install espeak-ng (macOS)"
)
_TIMEOUT_S = 20


def program() -> str | None:
    """The path of espeak-ng, or None."""
    return shutil.which("espeak-ng")


def phonemes(lines: Sequence[str], voice: str) -> list[str]:
    """IPA of each line in espeak's voice, sounds of several letters tied by a zero-width joiner.

    The result has another length than `lines` when espeak breaks a line up. Raises VoiceNotInstalled, PredictorFailed.
    """
    found = program()
    if found is None:
        raise VoiceNotInstalled(HOW_TO_INSTALL)
    text = "\n".join(" ".join(line.split()) for line in lines) + "\n"
    command = [found, "-q", "--ipa=3", "-v", voice]
    try:
        done = subprocess.run(
            command, input=text.encode("utf-8", "ignore"), capture_output=True, timeout=_TIMEOUT_S, check=True
        )
    except (subprocess.SubprocessError, OSError) as error:
        raise PredictorFailed(f"espeak-ng failed to read text in {voice}: {error}") from error
    return [line.strip() for line in done.stdout.decode("utf-8", "replace").splitlines() if line.strip()]
