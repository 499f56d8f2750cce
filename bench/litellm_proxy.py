"""LiteLLM's proxy in front of a /v1/audio/speech server, in an environment of its own (`.venv-bench-litellm`)."""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
import venv
from collections.abc import Iterator
from pathlib import Path

from server import free_port

__all__ = ["VERSION", "litellm_proxy"]

ENVIRONMENT = Path(__file__).resolve().parent.parent / ".venv-bench-litellm"
VERSION = "1.108.7"
PACKAGE = f"litellm[proxy]=={VERSION}"
CONFIG = """
model_list:
  - model_name: tts
    litellm_params:
      model: openai/tts
      api_base: http://127.0.0.1:{upstream}/v1
      api_key: none
litellm_settings:
  telemetry: false
"""


def prepare() -> Path:
    """The environment's programs, after making the environment if it is not there. Raises CalledProcessError."""
    programs = ENVIRONMENT / "bin"
    stamp = ENVIRONMENT / "installed.txt"
    if not stamp.exists() or stamp.read_text().strip() != PACKAGE:
        venv.create(ENVIRONMENT, with_pip=True)
        subprocess.run([str(programs / "python"), "-m", "pip", "install", "--quiet", PACKAGE], check=True)
        stamp.write_text(PACKAGE + "\n")
    return programs


@contextlib.contextmanager
def litellm_proxy(upstream: int) -> Iterator[int]:
    """The proxy as its manual starts it, one worker, for the length of a `with` block; gives its port."""
    programs = prepare()
    port = free_port()
    with tempfile.TemporaryDirectory() as name:
        config, log = Path(name) / "config.yaml", Path(name) / "litellm.log"
        config.write_text(CONFIG.format(upstream=upstream))
        command = [str(programs / "litellm"), "--config", str(config), "--host", "127.0.0.1", "--port", str(port)]
        environment = {
            **os.environ,
            "PATH": f"{programs}:{os.environ.get('PATH', '')}",
            "LITELLM_LOG": "ERROR",
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "LITELLM_MODE": "PRODUCTION",
            # Nobody but the bench reaches it, and so it has no keys to look up.
            "LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY": "true",
        }
        with log.open("wb") as stream:
            process = subprocess.Popen(command, stdout=stream, stderr=stream, env=environment)
        try:
            _wait_for(port, process, log)
            yield port
        finally:
            process.terminate()
            process.wait(15)


def _wait_for(port: int, process: subprocess.Popen[bytes], log: Path, timeout_s: float = 90.0) -> None:
    ends = time.monotonic() + timeout_s
    while process.poll() is None and time.monotonic() < ends:
        with contextlib.suppress(OSError):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/health/liveliness", timeout=2).close()
            return
        time.sleep(0.2)
    raise RuntimeError(f"LiteLLM's proxy did not start:\n{log.read_text(errors='replace')[-2000:]}")
