"""PCM arithmetic, seams, containers and resampling. Pure: no engine, no socket. FFmpeg and soxr load on first use."""

from .encoder import Encoder, encoder_for, preload
from .formats import FORMATS, Format, format_named
from .joiner import Joiner
from .leveler import Leveler
from .limiter import Limiter
from .pcm import FRAME_BYTES, FrameAligner, Samples, finite, frames_in, from_pcm16, silence, to_pcm16
from .playback import Playback, Underruns
from .resampler import MAX_RATE_HZ, MIN_RATE_HZ, RATES_HZ, Resampler
from .stretch import MAX_SPEED, MIN_SPEED, TimeStretch
from .trimmer import Trimmer
from .wav import read_wav, wav_header

__all__ = [
    "FORMATS",
    "FRAME_BYTES",
    "MAX_RATE_HZ",
    "MAX_SPEED",
    "MIN_RATE_HZ",
    "MIN_SPEED",
    "RATES_HZ",
    "Encoder",
    "Format",
    "FrameAligner",
    "Joiner",
    "Leveler",
    "Limiter",
    "Playback",
    "Resampler",
    "Samples",
    "TimeStretch",
    "Trimmer",
    "Underruns",
    "encoder_for",
    "finite",
    "format_named",
    "frames_in",
    "from_pcm16",
    "preload",
    "read_wav",
    "silence",
    "to_pcm16",
    "wav_header",
]
