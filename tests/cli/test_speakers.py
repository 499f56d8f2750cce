"""Sound reaches whichever player this machine has, while it is still being made."""

import asyncio
import sys
import types

import pytest

from vivavoce.cli.speakers import Speakers, who_plays
from vivavoce.errors import PlaybackFailed

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
    record = players.recorder("play")
    assert await who_plays() == "play"
    assert sound(record)[1] == bytes(4_800)


async def test_nothing_to_play_starts_nothing(players):
    record = players.recorder("aplay")
    async with Speakers(RATE_HZ):
        pass
    assert record.read_bytes() == b""


async def test_a_mac_without_sounddevice_hears_pieces_in_order(players):
    heard = players.reader("afplay")
    async with Speakers(RATE_HZ) as speakers:
        for n in range(1, 60):
            await speakers.write(bytes([n]) * 2_400)
            await asyncio.sleep(0.002)
    pieces = heard.read_bytes().split(b"RIFF")[1:]
    assert b"".join(piece[40:] for piece in pieces) == b"".join(bytes([n]) * 2_400 for n in range(1, 60))


async def test_afplay_that_fails_is_reported(players):
    players.deaf("afplay")
    with pytest.raises(PlaybackFailed, match="afplay: ended with code 1"):
        async with Speakers(RATE_HZ) as speakers:
            await speakers.write(bytes(480))


class FakeStream:
    """PortAudio's stream: a test calls for sound when it likes."""

    opened = []  # noqa: RUF012 - one test, one list

    def __init__(self, samplerate, channels, dtype, callback, finished_callback):
        self.rate_hz, self.callback, self.gone = samplerate, callback, finished_callback
        self.played, self.state = b"", "new"
        FakeStream.opened.append(self)

    def pull(self, frames):
        out = bytearray(b"\xee" * frames * 2)
        self.callback(out, frames, None, None)
        self.played += bytes(out)

    def start(self):
        self.state = "started"

    def stop(self):
        self.state = "stopped"

    def abort(self):
        self.state = "aborted"

    def close(self):
        self.state += " closed"


async def opened(device):
    for _ in range(1_000):
        if device:
            return
        await asyncio.sleep(0.001)
    raise AssertionError("no stream was opened")


@pytest.fixture
def device(players, monkeypatch):
    FakeStream.opened = []
    fake = types.SimpleNamespace(RawOutputStream=FakeStream, check_output_settings=lambda **_: None)
    monkeypatch.setitem(sys.modules, "sounddevice", fake)
    return FakeStream.opened


async def test_the_device_plays_everything_and_silence_where_speech_is_late(device):
    async def pull():
        await opened(device)
        device[0].pull(100)
        device[0].pull(100)
        while device[0].state == "started":
            device[0].pull(1_000)
            await asyncio.sleep(0.001)

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(pull())
        async with Speakers(RATE_HZ) as speakers:
            await speakers.write(b"\x01\x02" * 100)
            await asyncio.sleep(0.01)
            await speakers.write(b"\x03\x04" * 5_000)
    stream = device[0]
    assert stream.rate_hz == RATE_HZ
    assert stream.played[:200] == b"\x01\x02" * 100
    assert stream.played.replace(b"\0", b"") == b"\x01\x02" * 100 + b"\x03\x04" * 5_000
    assert stream.state == "aborted closed"


async def test_the_device_holds_the_writer_back_and_is_silent_at_once_when_given_up(device):
    async with asyncio.TaskGroup() as tasks:

        async def speak():
            async with Speakers(RATE_HZ) as speakers:
                for _ in range(100):
                    await speakers.write(bytes(48_000))

        speaking = tasks.create_task(speak())
        await asyncio.sleep(0.05)
        assert not speaking.done()
        speaking.cancel()
    assert device[0].state == "aborted closed"


async def test_a_device_that_cannot_be_opened_is_followed_by_a_program(device, players, monkeypatch):
    record = players.recorder("aplay")
    monkeypatch.setattr(FakeStream, "start", lambda self: (_ for _ in ()).throw(OSError("busy")))
    async with Speakers(RATE_HZ) as speakers:
        await speakers.write(b"\x05\x06" * 50)
    assert sound(record)[1] == b"\x05\x06" * 50


async def test_a_device_that_is_pulled_out_is_followed_by_a_program_while_nobody_has_heard_much(device, players):
    record = players.recorder("aplay")

    async def unplug():
        await opened(device)
        device[0].gone()

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(unplug())
        async with Speakers(RATE_HZ) as speakers:
            await speakers.write(b"\x07\x08" * RATE_HZ * 3)
    assert sound(record)[1] == b"\x07\x08" * RATE_HZ * 3


async def test_sound_that_stops_after_it_was_heard_is_an_error_and_not_repeated(device, players):
    record = players.recorder("aplay")
    with pytest.raises(PlaybackFailed, match=r"the sound stopped: sounddevice: the device is gone"):
        async with Speakers(RATE_HZ) as speakers:
            for _ in range(12):
                await speakers.write(bytes(RATE_HZ * 2))
                device[0].pull(RATE_HZ)
            device[0].gone()
            await speakers.write(bytes(RATE_HZ * 6))
    assert record.read_bytes() == b""
