"""Being told to stop before there is anything to stop."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from vivavoce.api import serve
from vivavoce.config import Settings
from vivavoce.errors import ConfigError

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals are POSIX")


def test_a_server_gives_the_signal_back_when_it_cannot_start():
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(ConfigError):
        serve(Settings(host="0.0.0.0"))
    assert signal.getsignal(signal.SIGTERM) is before


ARMED = """
from vivavoce.signals import leave_when_told
leave_when_told()
print("armed", flush=True)
import sys
sys.argv = ["vivavoce", "serve", "--port", "0"]
from vivavoce.cli import main
main()
"""


@pytest.mark.parametrize("after_s", [0.0, 0.02, 0.1, 0.4, 0.9])
def test_told_to_stop_while_it_starts_it_leaves_without_a_word(after_s):
    environment = {**os.environ, "VIVAVOCE_LOG_FORMAT": "json"}
    with subprocess.Popen(
        [sys.executable, "-c", ARMED], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        try:
            assert process.stdout.readline() == "armed\n"
            time.sleep(after_s)
            process.send_signal(signal.SIGTERM)
            assert process.wait(20) == 0
            told = process.stderr.read()
        finally:
            process.kill()
    assert "Traceback" not in told
    assert all(json.loads(line)["level"] == "info" for line in told.splitlines())
