"""What a speech server says: that it is well, a piece of sound as an event, and the last event."""

import base64
import json

SPEECH = "/v1/audio/speech"
DONE = b'event: speech.audio.done\ndata: {"type":"speech.audio.done","usage":{"total_tokens":9}}\n\n'


def delta(data: bytes, **more) -> bytes:
    body = {"type": "speech.audio.delta", "audio": base64.b64encode(data).decode(), "response_format": "pcm"} | more
    return b"event: speech.audio.delta\ndata: " + json.dumps(body).encode() + b"\n\n"


def health(asked):
    return asked.whole({"status": "healthy"})
