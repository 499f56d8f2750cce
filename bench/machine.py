"""What a figure was measured on: hardware, threads, versions, revision, and how busy the machine was."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

__all__ = ["facts", "load_average"]

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = (
    "vivavoce",
    "hibari-tts",
    "onnxruntime",
    "numpy",
    "scipy",
    "soxr",
    "av",
    "fastapi",
    "starlette",
    "uvicorn",
    "uvloop",
    "faster-whisper",
    "ctranslate2",
)
# The flags that decide how fast an int8 model runs on x86 and on Arm.
FLAGS = ("avx2", "avx512f", "avx512_vnni", "avx_vnni", "amx_int8", "asimddp", "i8mm")
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OPENBLAS_CORETYPE", "VIVAVOCE_THREADS")


def facts() -> dict[str, Any]:
    """Everything a reader needs to judge the figures beside it; the load is read now, before the run."""
    model, flags = _cpu()
    return {
        "measured_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "revision": _git("rev-parse", "--short=12", "HEAD"),
        "revision_is_clean": not _git("status", "--porcelain", "--untracked-files=no", "--", "src", "bench"),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": platform.python_version(),
        "cpu": model,
        "cores_usable": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "cpu_flags": flags,
        "memory_gib": _memory_gib(),
        "load_average_1m": load_average(),
        "thread_variables": {name: os.environ[name] for name in THREAD_VARIABLES if name in os.environ},
        "versions": {name: version for name in PACKAGES if (version := _version(name))},
    }


def load_average() -> float | None:
    """Runnable processes over the last minute, or None where the system does not say."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


def _cpu() -> tuple[str, list[str]]:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        lines = dict(
            (key.strip(), value.strip())
            for key, found, value in (line.partition(":") for line in cpuinfo.read_text().splitlines())
            if found
        )
        present = set((lines.get("flags") or lines.get("Features") or "").split())
        return lines.get("model name", platform.processor()), [flag for flag in FLAGS if flag in present]
    if sys.platform == "darwin":
        return _run("sysctl", "-n", "machdep.cpu.brand_string"), []
    return platform.processor(), []


def _memory_gib() -> float | None:
    if "SC_PHYS_PAGES" not in os.sysconf_names:
        return None
    return round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30, 1)


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _git(*arguments: str) -> str:
    return _run("git", "-C", str(ROOT), *arguments)


def _run(*command: str) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""
