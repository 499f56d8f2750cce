"""Sound reaches whichever player this machine has, while it is still being made."""

import asyncio

import pytest

from vivavoce.cli.failures import PlaybackFailed
from vivavoce.cli.speakers import Speakers, ways_to_play

RATE_HZ = 24_000


def sound(record):
    """The samples that a recorder got, without its arguments and a WAV header."""
    arguments, _, rest = record.read_bytes().partition(b"]\n")
    return arguments.decode(), rest[44:] if rest.startswith(b"RIFF") else rest


async def grown(record, at_least):
    for _ in range(1_000):
        if record.stat().st_size >= at_least:
            return
        await asyncio.sleep(0.01)
    raise AssertionError(f"{record} never held {at_least} bytes")


@pytest.mark.parametrize("name", ["paplay", "aplay", "ffplay", "play"])
async def test_each_program_gets_every_sample(players, name):
    record = players.recorder(name)
    said = [bytes([n]) * 4_800 for n in range(20)]
    async with Speakers(RATE_HZ) as speakers:
        for pcm in said:
            await speakers.write(pcm)
    arguments, heard = sound(record)
    assert heard == b"".join(said)
    assert name == "ffplay" or str(RATE_HZ) in arguments


async def test_sound_is_played_before_the_rest_is_made(players):
    record = players.recorder("aplay")
    async with Speakers(RATE_HZ) as speakers:
        await speakers.write(b"\x01\x02" * 100)
        await grown(record, 200)
        await speakers.write(b"\x03\x04" * 100)
    assert sound(record)[1] == b"\x01\x02" * 100 + b"\x03\x04" * 100


async def test_a_player_without_a_device_is_followed_by_the_next_from_the_start(players):
    players.deaf("paplay", "Connection refused")
    players.deaf("ffplay", "audio open failed", code=0)
    record = players.recorder("play")
    async with Speakers(RATE_HZ) as speakers:
        for n in range(30):
            await speakers.write(bytes([n]) * 2_400)
            await asyncio.sleep(0)
    assert sound(record)[1] == b"".join(bytes([n]) * 2_400 for n in range(30))


async def test_no_player_at_all_is_an_error_that_names_the_way_out(players):
    assert ways_to_play() == []
    with pytest.raises(PlaybackFailed, match=r"-o speech\.wav"):
        async with Speakers(RATE_HZ) as speakers:
            await speakers.write(bytes(480))


async def test_when_every_player_fails_each_says_why(players):
    players.deaf("paplay", "Connection refused")
    players.deaf("play", "no default audio device")
    with pytest.raises(PlaybackFailed, match=r"paplay: Connection refused; play: no default audio device"):
        async with Speakers(RATE_HZ) as speakers:
            await speakers.write(bytes(480))


async def test_an_error_on_the_way_kills_the_player_at_once(players):
    record = players.recorder("aplay")
    with pytest.raises(KeyError):
        async with Speakers(RATE_HZ) as speakers:
            await speakers.write(bytes(480))
            await grown(record, 480)
            player = speakers._player._process
            raise KeyError
    assert player.returncode == -9


async def test_pw_play_without_raw_is_left_out(players):
    players.deaf("pw-play", "unknown option")
    assert ways_to_play() == []


async def test_nothing_to_play_starts_nothing(players):
    record = players.recorder("aplay")
    async with Speakers(RATE_HZ):
        pass
    assert record.read_bytes() == b""
