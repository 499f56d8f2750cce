"""Text is read while it arrives; bytes are written however slowly they are taken."""

import asyncio
import contextlib
import os

import pytest

from vivavoce.cli.pipes import text_from, write_all


@pytest.fixture
def pipe():
    reading, writing = os.pipe()
    ends = {"r": reading, "w": writing}
    yield ends
    for fd in ends.values():
        if fd is not None:
            os.close(fd)


def close(ends, name):
    os.close(ends[name])
    ends[name] = None


async def test_text_is_there_before_the_input_ends_and_without_a_line_end(pipe):
    pieces = text_from(pipe["r"])
    os.write(pipe["w"], b"The kettle")
    assert await anext(pieces) == "The kettle"
    os.write(pipe["w"], b" sings")
    assert await anext(pieces) == " sings"
    close(pipe, "w")
    assert [piece async for piece in pieces] == []


@pytest.mark.parametrize("text", ["Grüße aus Köln", "東京は夜。", "🎻🎺", "\ufeffmarked"])
async def test_a_character_cut_in_two_arrives_whole(pipe, text):
    async def feed():
        for byte in text.encode():
            os.write(pipe["w"], bytes([byte]))
            await asyncio.sleep(0)
        close(pipe, "w")

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(feed())
        heard = "".join([piece async for piece in text_from(pipe["r"])])
    assert heard == text.removeprefix("\ufeff")


@pytest.mark.parametrize("raw, text", [(b"caf\xe9!", "caf\ufffd!"), (b"end\xe2\x82", "end\ufffd"), (b"\xff", "\ufffd")])
async def test_invalid_utf8_is_marked_and_never_an_error(pipe, raw, text):
    os.write(pipe["w"], raw)
    close(pipe, "w")
    assert "".join([piece async for piece in text_from(pipe["r"])]) == text


async def test_a_plain_file_and_an_empty_device_are_read_too(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("words " * 30_000, encoding="utf-8")
    for name, length in ((path, 180_000), ("/dev/null", 0)):
        fd = os.open(name, os.O_RDONLY)
        try:
            assert len("".join([piece async for piece in text_from(fd)])) == length
        finally:
            os.close(fd)


async def test_waiting_for_text_can_be_given_up(pipe):
    waiting = asyncio.ensure_future(anext(text_from(pipe["r"])))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    os.write(pipe["w"], b"still ours")
    assert await anext(text_from(pipe["r"])) == "still ours"


async def test_a_reader_that_takes_its_time_gets_every_byte(pipe):
    sent = bytes(range(256)) * 4_000
    got = bytearray()

    os.set_blocking(pipe["r"], False)

    async def read():
        while len(got) < len(sent):
            with contextlib.suppress(BlockingIOError):
                got.extend(os.read(pipe["r"], 10_000))
            await asyncio.sleep(0)

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(read())
        tasks.create_task(write_all(pipe["w"], sent))
    assert bytes(got) == sent


async def test_a_reader_that_leaves_while_we_wait_is_noticed(pipe):
    writing = asyncio.ensure_future(write_all(pipe["w"], bytes(1_000_000)))
    await asyncio.sleep(0.01)
    assert not writing.done()
    close(pipe, "r")
    with pytest.raises(BrokenPipeError):
        await writing
