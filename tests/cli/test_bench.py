"""`vivavoce bench` measures this process or a server, and keeps every number."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest


class Speaker(BaseHTTPRequestHandler):
    """A server that answers with a second of sound in three odd pieces, or as it is told."""

    protocol_version = "HTTP/1.1"
    asked, status = [], 200

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        Speaker.asked.append((self.path, self.headers["authorization"], body))
        self.send_response(Speaker.status)
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for size in (16_001, 15_999, 16_000) if Speaker.status == 200 else (11,):
            self.wfile.write(b"%x\r\n" % size + b"x" * size + b"\r\n")
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    Speaker.asked, Speaker.status = [], 200
    running = ThreadingHTTPServer(("127.0.0.1", 0), Speaker)
    thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{running.server_port}"
    running.shutdown()
    thread.join()
    running.server_close()


@pytest.mark.parametrize("path", ["", "/", "/v1", "/v1/"])
def test_a_server_is_asked_as_often_as_told(vivavoce, server, path):
    done = vivavoce(
        "bench", "--url", server + path, "-n", "7", "-c", "3", "--warm-up", "2", "--json", "--voice", "nova"
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert len(Speaker.asked) == 9
    assert {asked[0] for asked in Speaker.asked} == {"/v1/audio/speech"}
    assert len({asked[2]["input"] for asked in Speaker.asked}) == 9, "a cache could have answered"
    assert Speaker.asked[0][2]["response_format"] == "pcm"
    assert Speaker.asked[0][2]["voice"] == "nova"
    assert (told["summary"]["requests"], len(told["readings"]), told["concurrency"]) == (7, 7, 3)
    assert told["summary"]["audio_ms"] == pytest.approx(7_000)
    for reading in told["readings"]:
        assert 0 < reading["ttfa_ms"] <= reading["wall_ms"]


def test_the_key_goes_where_keys_go(vivavoce, server, monkeypatch):
    monkeypatch.setenv("VIVAVOCE_API_KEY", "opensesame")
    assert vivavoce("bench", "--url", server, "-n", "1", "--warm-up", "0").returncode == 0
    assert Speaker.asked[0][1] == "Bearer opensesame"


def test_a_refusal_is_told_with_the_servers_words(vivavoce, server, one_line):
    Speaker.status = 401
    done = vivavoce("bench", "--url", server, "-n", "2")
    assert done.returncode == 1
    assert "401: xxxxxxxxxxx" in one_line(done.stderr)


def test_a_server_that_is_not_there_is_one_line(vivavoce, one_line):
    done = vivavoce("bench", "--url", "http://127.0.0.1:9/v1", "-n", "3", "-c", "3")
    assert done.returncode == 1
    one_line(done.stderr)


def test_the_engine_of_this_process_is_measured_with_its_threads(vivavoce, engines, tone, tmp_path):
    (engine,) = engines(tone("hibari", "heart"))
    file = tmp_path / "numbers.json"
    done = vivavoce("bench", "-n", "3", "--warm-up", "1", "--text", "Hello you.", "--save", str(file))
    told = json.loads(file.read_text())
    assert done.returncode == 0
    assert len(engine.spoken) == 4
    assert (told["target"], told["engine"], told["voice"], told["engine_threads"]) == ("engine", "hibari", "heart", 1)
    assert told["hardware"]["cpu"]
    assert told["text"] == "Hello you."
    shown = done.stdout.decode()
    assert "engine threads: 1" in shown
    assert "a cache may have answered" in shown
    assert told["repeated"]
    assert "3 requests, 1 at a time, after 1 to warm up" in shown


def test_the_threads_that_were_asked_for_are_those_that_are_told(vivavoce, engines, tone):
    engines(tone("kokoro", "af_x"))
    told = json.loads(vivavoce("bench", "-n", "1", "--warm-up", "0", "--threads", "3", "--json").stdout)
    assert told["engine_threads"] == 3


@pytest.mark.parametrize(
    "arguments, code", [(["--voice", "nobody"], 2), (["--voice", "af_x"], 4), (["-n", "0"], 2), (["--text", "!"], 3)]
)
def test_what_cannot_be_measured_has_its_exit_code(vivavoce, engines, tone, arguments, code):
    engines(tone("hibari", "heart"), tone("kokoro", "af_x", ready=False))
    assert vivavoce("bench", *arguments).returncode == code
