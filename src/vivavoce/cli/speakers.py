"""The speakers of this machine: sound is heard while later sound is still being made."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator

from ..errors import PlaybackFailed
from .afplay import AFPLAY, PiecePlayer
from .device import DevicePlayer, device_problem
from .players import Player, ProgramPlayer, installed_programs

__all__ = ["Speakers", "who_plays"]

# A player without a device ends within its first moments; one that took this much sound has one.
PROVEN_MS = 10_000
PROBE_TIMEOUT_S = 10


async def who_plays() -> str:
    """The name of the player that sound would go to, found by playing a moment of silence. Raises PlaybackFailed."""
    async with asyncio.timeout(PROBE_TIMEOUT_S), Speakers(24_000) as speakers:
        await speakers.write(bytes(4_800))
    return speakers.played_by


class Speakers:
    """Sound goes to the first player that takes it.

    A player that turns out to have no device is followed by the next one, which plays everything from the start. Used
    as an asynchronous context: leaving it waits for the last sound; leaving it with an error is silence at once. Raises
    PlaybackFailed, naming what was tried and `-o`. `played_by` is the name of the player that has the sound now.
    """

    def __init__(self, rate_hz: int) -> None:
        self._rate_hz = rate_hz
        self._candidates = self._players()
        self._player: Player | None = None
        self._unproven: bytearray | None = bytearray()
        self._problems: list[str] = []
        self._silenced = False
        self.played_by = ""

    async def __aenter__(self) -> Speakers:
        return self

    async def write(self, pcm: bytes) -> None:
        """Play whole frames of s16le mono after what came before."""
        if self._unproven is not None:
            self._unproven += pcm
        if self._player is None:
            await self._turn_to_next()
            return
        try:
            await self._player.write(pcm)
        except PlaybackFailed as failed:
            await self._turn_to_next(failed)
        if self._unproven is not None and len(self._unproven) > PROVEN_MS * self._rate_hz * 2 // 1000:
            self._unproven = None

    def silence(self) -> None:
        """Be silent at once, whatever still waits; to be called from the event loop, before the error arrives."""
        self._silenced = True
        if self._player is not None:
            self._player.silence()

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        try:
            while kind is None and self._player is not None:
                try:
                    await self._player.finish()
                    return
                except PlaybackFailed as failed:
                    await self._turn_to_next(failed)
        finally:
            await self._close()

    async def _turn_to_next(self, failed: PlaybackFailed | None = None) -> None:
        """Find the next player that takes everything up to now."""
        while True:
            await self._close()
            if failed is not None:
                self._problems.append(failed.message)
                if self._unproven is None or self._silenced:
                    raise PlaybackFailed(f"the sound stopped: {failed.message}")
            self._player = next(self._candidates, None)
            if self._player is None:
                raise self._nobody()
            self.played_by = self._player.name
            try:
                await self._player.write(bytes(self._unproven or b""))
                return
            except PlaybackFailed as unusable:
                failed = unusable

    async def _close(self) -> None:
        player, self._player = self._player, None
        if player is not None:
            await player.close()

    def _players(self) -> Iterator[Player]:
        """Every way to be heard, each looked for only when the ones before it failed."""
        problem = device_problem()
        if problem is None:
            yield DevicePlayer(self._rate_hz)
        else:
            self._problems.append(f"sounddevice: {problem}")
        for program in installed_programs():
            yield ProgramPlayer(program, self._rate_hz)
        if shutil.which(AFPLAY):
            yield PiecePlayer(self._rate_hz)

    def _nobody(self) -> PlaybackFailed:
        if len(self._problems) == 1:
            self._problems.append("none of pw-play, paplay, aplay, ffplay, play and afplay is installed")
        tried = "; ".join(self._problems)
        return PlaybackFailed(f"no sound can be played here ({tried}). Write a file instead: -o speech.wav")
