"""Programs that play sound from their standard input while it is still being made."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import subprocess
import tempfile
from asyncio.subprocess import DEVNULL, PIPE, Process
from dataclasses import dataclass
from typing import Protocol

from ..audio import wav_header
from ..errors import PlaybackFailed

__all__ = ["PROGRAMS", "Player", "Program", "ProgramPlayer", "installed_programs"]

PROBE_TIMEOUT_S = 5


class Player(Protocol):
    """One way to be heard. `write` and `finish` raise PlaybackFailed where it turns out to be none."""

    name: str

    async def write(self, pcm: bytes) -> None:
        """Take whole frames of s16le mono; waits while enough is waiting to be heard."""
        ...

    async def finish(self) -> None:
        """Return once everything has been heard."""
        ...

    def silence(self) -> None:
        """Be silent at once; only `close` may follow."""
        ...

    async def close(self) -> None:
        """Be silent and give everything back; safe after `finish`."""
        ...


@dataclass(frozen=True, slots=True)
class Program:
    """A player program.

    `arguments` may name `{rate}`. `wav` asks for a WAV header before the samples; without it they are bare s16le mono.
    `refusal` is what it prints when it had no device and still ended as if all were well; `probe` is a word that its
    `--help` must show.
    """

    name: str
    arguments: tuple[str, ...]
    wav: bool = False
    refusal: str = ""
    probe: str = ""

    def command(self, rate_hz: int) -> list[str]:
        """The command line that plays mono sound at that rate."""
        return [self.name, *(argument.format(rate=rate_hz) for argument in self.arguments)]


# In the order they are tried: those that talk to the desktop's sound server first, as it may hold the bare device.
PROGRAMS = (
    # Before it learnt --raw, pw-play wanted a file that it can seek in.
    Program("pw-play", ("--raw", "--format=s16", "--rate={rate}", "--channels=1", "-"), probe="--raw"),
    Program("paplay", ("--raw", "--format=s16le", "--rate={rate}", "--channels=1")),
    Program("aplay", ("-q", "-t", "raw", "-f", "S16_LE", "-r", "{rate}", "-c", "1")),
    # With a WAV header, because ffplay's option for "mono" changed its name between versions.
    Program(
        "ffplay",
        (
            *("-nodisp", "-autoexit", "-loglevel", "error"),
            *("-probesize", "64", "-analyzeduration", "0", "-f", "wav", "-i", "pipe:0"),
        ),
        wav=True,
        refusal="audio open failed",
    ),
    Program("play", ("-q", "-t", "raw", "-r", "{rate}", "-e", "signed-integer", "-b", "16", "-c", "1", "-")),
)


def installed_programs() -> list[Program]:
    """The player programs on this machine, best first."""
    return [program for program in PROGRAMS if shutil.which(program.name) and _usable(program)]


def _usable(program: Program) -> bool:
    if not program.probe:
        return True
    try:
        shown = subprocess.run([program.name, "--help"], capture_output=True, timeout=PROBE_TIMEOUT_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return program.probe.encode() in shown.stdout + shown.stderr


class ProgramPlayer:
    """Plays through a program, started with the first sound and killed by `close`."""

    def __init__(self, program: Program, rate_hz: int) -> None:
        self.name = program.name
        self._program = program
        self._rate_hz = rate_hz
        self._process: Process | None = None
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the player, closed by close()

    async def write(self, pcm: bytes) -> None:
        """Take whole frames of s16le mono."""
        if self._process is None:
            self._process = await self._start()
            pcm = wav_header(self._rate_hz, None) + pcm if self._program.wav else pcm
        assert self._process.stdin is not None  # noqa: S101 - it was asked for with PIPE
        try:
            self._process.stdin.write(pcm)
            await self._process.stdin.drain()
        except (BrokenPipeError, ConnectionResetError):
            await self._process.wait()
            raise self._failure() from None

    async def finish(self) -> None:
        """Wait until the program has played everything and ended."""
        if self._process is None or self._process.stdin is None:
            return
        self._process.stdin.close()
        if await self._process.wait() or (self._program.refusal and self._program.refusal in self._said()):
            raise self._failure()

    def silence(self) -> None:
        """Kill the program if it still plays."""
        if self._process is not None and self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()

    async def close(self) -> None:
        """Kill the program if it still plays, and wait until it is gone."""
        self.silence()
        if self._process is not None:
            await self._process.wait()
        self._complaints.close()

    async def _start(self) -> Process:
        # A session of its own keeps the terminal's Ctrl-C away from the program: whoever holds the player ends it.
        try:
            return await asyncio.create_subprocess_exec(
                *self._program.command(self._rate_hz),
                stdin=PIPE,
                stdout=DEVNULL,
                stderr=self._complaints,
                start_new_session=True,
            )
        except OSError as error:
            raise PlaybackFailed(f"{self._program.name}: {error.strerror}") from None

    def _said(self) -> str:
        self._complaints.seek(0)
        return self._complaints.read().decode(errors="replace")

    def _failure(self) -> PlaybackFailed:
        lines = [line.strip() for line in self._said().splitlines() if line.strip()]
        told = [line for line in lines if self._program.refusal and self._program.refusal in line] or lines[-1:]
        return PlaybackFailed(f"{self._program.name}: {told[0] if told else 'ended before the sound did'}")
