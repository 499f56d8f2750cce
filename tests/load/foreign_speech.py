"""A server of /v1/audio/speech that knows nothing of this project: espeak-ng behind OpenAI's contract, whole WAVs."""

from __future__ import annotations

import asyncio
import sys

from aiohttp import web


async def speech(request: web.Request) -> web.Response:
    body = await request.json()
    program = await asyncio.create_subprocess_exec(
        "espeak-ng", "--stdout", "--stdin", stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    wav, _ = await program.communicate(body["input"].encode())
    return web.Response(body=wav, content_type="audio/wav")


async def models(_request: web.Request) -> web.Response:
    return web.json_response({"object": "list", "data": [{"id": "espeak", "object": "model"}]})


app = web.Application()
app.router.add_post("/v1/audio/speech", speech)
app.router.add_get("/v1/models", models)
web.run_app(app, host="127.0.0.1", port=int(sys.argv[1]), print=None)
