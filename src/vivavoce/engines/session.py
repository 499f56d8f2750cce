"""Opening ONNX models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..errors import ModelCorrupt, VoiceNotInstalled

__all__ = ["open_session"]


def open_session(model: bytes | Path, threads: int, name: str) -> Any:
    """An onnxruntime session on the CPU that uses `threads` cores; sessions may be shared between threads.

    Raises VoiceNotInstalled without onnxruntime and ModelCorrupt when `model` cannot be loaded; `name` is the model's
    name in the message.
    """
    try:
        import onnxruntime
    except ImportError as error:
        raise VoiceNotInstalled("onnxruntime is not installed; install it with: pip install 'vivavoce[tts]'") from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # Threads that spin while they wait win 2 % on an idle machine and lose tenfold on a busy one.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    source = model if isinstance(model, bytes) else str(model)
    try:
        return onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's own errors share no public base class
        raise ModelCorrupt(
            f"The model {name} cannot be loaded. See `vivavoce models verify {name}`, "
            f"then `vivavoce models pull --force {name}`."
        ) from error
