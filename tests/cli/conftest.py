"""What the tests of the command line share: a machine with only the players a test puts there."""

import stat
import sys

import pytest

RECORDER = """#!{python}
import sys
with open({record!r}, "ab", buffering=0) as record:
    record.write(b"[" + " ".join(sys.argv[1:]).encode() + b"]\\n")
    while data := sys.stdin.buffer.raw.read(65536):
        record.write(data)
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
