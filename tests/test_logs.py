"""Log lines."""

from __future__ import annotations

import io
import json
import logging

import pytest

from vivavoce.logs import configure_logs, request_id


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
