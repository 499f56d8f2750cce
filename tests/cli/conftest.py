"""What the tests of the command line share: a machine with only the players a test puts there."""

import os
import stat
import sys
import tempfile
from dataclasses import dataclass

import numpy as np
import pytest

from vivavoce.engines.base import Chunk, Voice
from vivavoce.engines.catalog import Catalog
from vivavoce.errors import VoiceNotInstalled

RECORDER = """#!{python}
import os, sys
with open({record!r}, "ab", buffering=0) as record:
    record.write(b"[" + " ".join([str(os.getpid()), *sys.argv[1:]]).encode() + b"]\\n")
    while data := sys.stdin.buffer.raw.read(65536):
        record.write(data)
"""

READER = """#!{python}
import sys
with open({record!r}, "ab") as record, open(sys.argv[-1], "rb") as piece:
    record.write(piece.read())
"""

DEAF = """#!{python}
import sys
print({complaint!r}, file=sys.stderr)
sys.exit({code})
"""


class Bin:
    """A folder that is the whole PATH, with the programs that a test puts into it."""

    def __init__(self, folder):
        self.folder = folder

    def _put(self, name, script):
        path = self.folder / name
        path.write_text(script)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def recorder(self, name):
        """A player that plays into a file; gives the file."""
        record = self.folder / f"{name}.heard"
        record.touch()
        self._put(name, RECORDER.format(python=sys.executable, record=str(record)))
        return record

    def reader(self, name):
        """A player that is given files; gives the file that holds all of them."""
        record = self.folder / f"{name}.heard"
        self._put(name, READER.format(python=sys.executable, record=str(record)))
        return record

    def deaf(self, name, complaint="no sound card", code=1):
        """A player that finds no device."""
        self._put(name, DEAF.format(python=sys.executable, complaint=complaint, code=code))


@pytest.fixture
def players(tmp_path, monkeypatch):
    """An empty PATH for players, and no sounddevice."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setitem(sys.modules, "sounddevice", None)
    return Bin(folder)


@dataclass
class Done:
    """A command that ended."""

    returncode: int
    stdout: bytes
    stderr: bytes


@pytest.fixture
def one_line():
    """Checks that a complaint is one line without a traceback, and gives it."""

    def check(err):
        lines = err.decode().strip().splitlines()
        assert len(lines) == 1, lines
        assert lines[0].startswith("vivavoce: ")
        return lines[0]

    return check


@pytest.fixture(scope="session")
def voices_loaded():
    """The machine's voices, loaded once for all tests."""
    from vivavoce.engines.catalog import default_catalog

    return default_catalog()


@pytest.fixture
def vivavoce(monkeypatch, capfdbinary):
    """Run a command in this process, with `text` as its standard input, as `vivavoce …` would."""
    kept = os.dup(0)

    def run_command(*arguments, text=""):
        from vivavoce.cli.app import run

        with tempfile.TemporaryFile() as given:
            given.write(text.encode())
            given.seek(0)
            os.dup2(given.fileno(), 0)
        monkeypatch.setattr(sys, "stdin", os.fdopen(0, closefd=False))
        monkeypatch.setattr(sys, "argv", ["vivavoce", *arguments])
        with pytest.raises(SystemExit) as ended:
            run()
        out, err = capfdbinary.readouterr()
        return Done(ended.value.code or 0, out, err)

    yield run_command
    os.dup2(kept, 0)
    os.close(kept)


@pytest.fixture
def say(vivavoce, voices_loaded, monkeypatch):
    """`vivavoce say` with the voices that are loaded already."""
    monkeypatch.setattr("vivavoce.cli.casting.default_catalog", lambda **_: voices_loaded)
    return lambda *arguments, text="": vivavoce("say", *arguments, text=text)


class Tone:
    """An engine that hums: 50 ms a letter, in two chunks."""

    rate_hz, native_speed, word_times = 24_000, True, "estimated"

    def __init__(self, name, *voices, ready=True, language="en"):
        self.name, self.ready, self.language, self.spoken = name, ready, language, []
        self._voices = tuple(Voice(voice, language, "neutral", "hums") for voice in voices)

    def voices(self):
        return self._voices

    def ready_voices(self):
        return self._voices if self.ready else ()

    def speaks(self, voice, language):
        return language.split("-")[0] == self.language

    def load(self, voice):
        if not self.ready:
            raise VoiceNotInstalled(f"{voice} is not here")

    def hint(self, voice):
        return f"Get it with: pull {self.name}"

    def synthesize(self, phrase, voice, speed, cancelled):
        self.spoken.append(phrase.text)
        for _ in range(2):
            yield Chunk(np.sin(np.arange(len(phrase.text) * 600, dtype=np.float32) / 10) / 3)


@pytest.fixture
def engines(monkeypatch):
    """Put engines of a test's own into the machine."""

    def have(*engines):
        monkeypatch.setattr("vivavoce.engines.catalog.default_catalog", lambda **_: Catalog(engines))
        monkeypatch.setattr("vivavoce.cli.casting.default_catalog", lambda **_: Catalog(engines))
        return engines

    return have


@pytest.fixture
def tone():
    """The class of engines that hum."""
    return Tone
