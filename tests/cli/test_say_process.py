"""`vivavoce say` as a process: its pipes, its signals, its terminal, its exit code."""

import contextlib
import os
import pty
import signal
import subprocess
import sys
import time

import pytest

pytestmark = pytest.mark.models

SAY = [sys.executable, "-m", "vivavoce", "say"]
PATIENCE_S = 60


def say(*arguments, text=None, **options):
    """Run it to its end, with `text` on standard input (None: an input that is at its end)."""
    given = text.encode() if isinstance(text, str) else text
    return subprocess.run([*SAY, *arguments], input=given or b"", capture_output=True, timeout=PATIENCE_S, **options)


def started(*arguments, **options):
    return subprocess.Popen(
        [*SAY, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options
    )


def ended(process):
    out, err = process.communicate(timeout=PATIENCE_S)
    return process.returncode, out, err.decode()


def at_terminal(arguments):
    """Run it with a terminal for all three streams; gives what it shows and its exit code."""
    main, side = pty.openpty()
    process = subprocess.Popen([*SAY, *arguments], stdin=side, stdout=side, stderr=side)
    os.close(side)
    shown = b""
    with contextlib.suppress(OSError):
        while data := os.read(main, 4_096):
            shown += data
    os.close(main)
    assert process.wait(timeout=PATIENCE_S) == 2
    return shown.decode(), process.returncode


def no_sounddevice(folder):
    """A folder whose sounddevice has no device, whatever this machine has."""
    (folder / "sounddevice.py").write_text("raise OSError('PortAudio library not found')\n")
    return folder


def until(true):
    for _ in range(PATIENCE_S * 50):
        if true():
            return
        time.sleep(0.02)
    raise AssertionError("it never became true")


def test_the_first_sentence_is_heard_before_the_input_ends():
    process = started("-o", "-")
    process.stdin.write(b"The first train leaves at noon. And then ")
    process.stdin.flush()
    first = process.stdout.read(20_000)
    assert len(first) == 20_000
    assert process.poll() is None
    process.stdin.write(b"comes the second.")
    code, rest, err = ended(process)
    assert (code, err) == (0, "")
    assert len(rest) > 20_000
    assert (len(first) + len(rest)) % 2 == 0


@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 130)])
def test_an_interruption_leaves_no_half_file_and_keeps_the_old_one(tmp_path, number, code):
    path = tmp_path / "out.wav"
    path.write_bytes(b"the old one")
    process = started("-o", str(path))
    process.stdin.write(b"This is the beginning of a long story. It never ends, ")
    process.stdin.flush()
    part = tmp_path / f".out.wav.{process.pid}.part"
    until(lambda: part.exists() and part.stat().st_size > 1_000)
    process.send_signal(number)
    got, out, err = ended(process)
    assert (got, out, err) == (code, b"", "")
    assert path.read_bytes() == b"the old one"
    assert os.listdir(tmp_path) == ["out.wav"]


def test_an_interruption_stops_the_player_at_once(tmp_path, players):
    record = players.recorder("aplay")
    process = started(env={**os.environ, "PATH": str(players.folder), "PYTHONPATH": str(no_sounddevice(tmp_path))})
    process.stdin.write(b"This is heard while the next word is awaited. So ")
    process.stdin.flush()
    until(lambda: record.stat().st_size > 10_000)
    process.send_signal(signal.SIGINT)
    code, out, err = ended(process)
    assert (code, out, err) == (130, b"", "")


def test_a_reader_that_leaves_early_is_no_failure():
    process = started("-o", "-")
    process.stdin.write(b"A sentence that is longer than what its reader wants to hear of it. " * 20)
    process.stdin.flush()
    process.stdout.read(1_000)
    process.stdout.close()
    process.stdout = None
    code, _, err = ended(process)
    assert (code, err) == (0, "")


def test_at_a_terminal_it_asks_for_a_text_and_never_prints_sound():
    asked, _ = at_terminal([])
    assert "TEXT" in asked
    refused, _ = at_terminal(["-o", "-", "Hello."])
    assert "terminal" in refused


def test_a_voice_whose_model_is_not_here_is_exit_code_4_and_says_how_to_get_it(tmp_path, one_line):
    done = say("-o", str(tmp_path / "out.wav"), "-v", "nova", "Hello.", env={**os.environ, "VIVAVOCE_HOME": "/nowhere"})
    assert done.returncode == 4
    assert "vivavoce models pull kokoro" in one_line(done.stderr)
    assert os.listdir(tmp_path) == []
