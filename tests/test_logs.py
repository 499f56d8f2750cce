"""Log lines."""

from __future__ import annotations

import io
import json
import logging

import pytest

from vivavoce.logs import configure_logs, log_ending, request_id
from vivavoce.metrics import Ending
from vivavoce.speech import Timeline


@pytest.fixture
def root():
    logger = logging.getLogger()
    handlers, level = list(logger.handlers), logger.level
    yield logger
    logger.handlers[:] = handlers
    logger.setLevel(level)


def test_json_lines_carry_the_request_and_the_fields(root):
    stream = io.StringIO()
    configure_logs("info", "json", stream)
    token = request_id.set("req_7")
    logging.getLogger("vivavoce.x").info("request", extra={"status": 200})
    request_id.reset(token)
    line = json.loads(stream.getvalue())
    assert (line["message"], line["request_id"], line["status"], line["level"]) == ("request", "req_7", 200, "info")


def test_text_lines_are_single(root):
    stream = io.StringIO()
    configure_logs("info", "text", stream)
    logging.getLogger("vivavoce.x").info("request", extra={"status": 200})
    assert stream.getvalue().endswith("INFO vivavoce.x request status=200\n")


def _fail(text):
    try:
        raise KeyError(text)
    except KeyError as error:
        raise RuntimeError(f"and quoted again: {text}") from error


@pytest.mark.parametrize("style", ["text", "json"])
@pytest.mark.parametrize(("level", "shown"), [("info", False), ("debug", True)])
def test_tracebacks_show_messages_only_at_debug(root, style, level, shown):
    stream = io.StringIO()
    configure_logs(level, style, stream)
    try:
        _fail("quokka " * 2)
    except RuntimeError:
        logging.getLogger("vivavoce.x").exception("broke")
    assert "RuntimeError" in stream.getvalue()
    assert "_fail" in stream.getvalue()
    assert ("quokka quokka" in stream.getvalue()) == shown


def test_configuring_twice_does_not_double_the_lines(root):
    stream = io.StringIO()
    configure_logs("info", "text", io.StringIO())
    configure_logs("info", "text", stream)
    logging.getLogger("vivavoce.x").info("once")
    assert stream.getvalue().count("once") == 1


def test_a_json_line_always_says_whose_it_is(root):
    stream = io.StringIO()
    configure_logs("info", "json", stream)
    logging.getLogger("vivavoce.x").info("nobody's")
    assert json.loads(stream.getvalue())["request_id"] is None


@pytest.mark.parametrize("value", [float("nan"), float("-inf"), b"bytes", {1, 2}, {"deep": float("nan")}, object()])
def test_no_field_breaks_a_json_line_or_takes_the_place_of_another(root, value):
    stream = io.StringIO()
    configure_logs("info", "json", stream)
    logging.getLogger("vivavoce.x").info("odd", extra={"field": value, "level": "none", "request_id": "forged"})
    (written,) = stream.getvalue().splitlines()
    line = json.loads(written, parse_constant=pytest.fail)
    assert (line["message"], line["level"], line["request_id"]) == ("odd", "info", None)
    assert "field" in line


def test_an_utterance_is_one_line_with_its_outcome(root):
    stream = io.StringIO()
    configure_logs("info", "json", stream)
    timeline = Timeline(10.0, first_audio_ms=52.34, audio_ms=1_234.5, synthesis_ms=31.0, retries=1)
    log_ending(Ending("websocket", "client_gone", timeline))
    log_ending(Ending("websocket", "shed", Timeline(10.0), "busy", "queue_full"))
    log_ending(Ending("openai", "error", None, "invalid_request"))
    gone, shed, error = (json.loads(line) for line in stream.getvalue().splitlines())
    assert (gone["door"], gone["outcome"], gone["ttfa_ms"], gone["retries"]) == ("websocket", "client_gone", 42.3, 1)
    assert "code" not in gone
    assert (shed["outcome"], shed["code"], shed["reason"]) == ("shed", "busy", "queue_full")
    assert "ttfa_ms" not in shed
    assert (error["outcome"], error["code"]) == ("error", "invalid_request")


def test_utterances_leave_no_line_where_only_warnings_are_wanted(root):
    stream = io.StringIO()
    configure_logs("warning", "text", stream)
    log_ending(Ending("openai", "ok", Timeline(10.0)))
    assert stream.getvalue() == ""


def test_a_reply_that_was_broken_off_on_purpose_is_no_error(root):
    stream = io.StringIO()
    configure_logs("info", "text", stream)
    logging.getLogger("uvicorn.error").error("ASGI callable returned without completing response.")
    logging.getLogger("uvicorn.error").error("Something else went wrong.")
    assert stream.getvalue().count("\n") == 1
    assert "Something else" in stream.getvalue()
