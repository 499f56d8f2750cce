"""Which server is asked, and when."""

from __future__ import annotations

import pytest

from vivavoce.client.cursor import Cursor
from vivavoce.client.faults import ConnectionLost, close_fault, status_fault, told_fault
from vivavoce.client.servers import Patience, Servers, Tries
from vivavoce.client.wire import address
from vivavoce.errors import (
    Busy,
    ConfigError,
    InputTooLarge,
    InternalError,
    PredictorFailed,
    RateLimited,
    RequestTimeout,
    Unauthorized,
    UnknownVoice,
)

LOST = ConnectionLost("gone")


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("ws://host:8000", "ws://host:8000/ws/synthesize"),
        ("host:8000", "ws://host:8000/ws/synthesize"),
        ("http://host", "ws://host/ws/synthesize"),
        ("https://host/voice/", "wss://host/voice/ws/synthesize"),
        ("wss://host/ws/synthesize", "wss://host/ws/synthesize"),
        ("ws://[::1]:9000/", "ws://[::1]:9000/ws/synthesize"),
    ],
)
def test_addresses(said, meant):
    assert address(said) == meant


@pytest.mark.parametrize("said", ["", "ftp://host", "ws://", "/only/a/path"])
def test_what_is_no_address_is_refused(said):
    with pytest.raises(ConfigError):
        address(said)


def test_no_address_at_all_is_refused():
    with pytest.raises(ConfigError):
        Servers([], Patience())


def test_the_other_server_is_asked_at_once_and_the_first_again_later():
    servers = Servers(["ws://a", "ws://b"], Patience(first_wait_s=1, longest_wait_s=8), chance=lambda: 0.0)
    a, b = address("ws://a"), address("ws://b")
    assert servers.next(0) == (a, 0)
    servers.failed(a, LOST, 0)
    assert servers.next(0) == (b, 0)
    servers.failed(b, LOST, 0.5)
    assert servers.next(0.5) == (a, 0.5)
    servers.failed(a, LOST, 1)
    assert servers.next(1) == (b, 0.5)


def test_waits_grow_to_a_limit_and_chance_shortens_them():
    for chance, shares in ((0.0, 1.0), (0.5, 0.75), (1.0, 0.5)):
        servers = Servers("ws://a", Patience(first_wait_s=1, longest_wait_s=5), chance=lambda chance=chance: chance)
        waits = []
        for _ in range(5):
            servers.failed(address("ws://a"), LOST, 0)
            waits.append(servers.next(0)[1])
        assert waits == [share * shares for share in (1, 2, 4, 5, 5)]


def test_a_server_that_says_when_to_come_back_is_taken_at_its_word():
    servers = Servers("ws://a", Patience(first_wait_s=0.1), chance=lambda: 0.0)
    servers.failed(address("ws://a"), Busy("full", retry_after_s=4), 10)
    assert servers.next(11) == (address("ws://a"), 3)


def test_the_server_that_worked_last_is_preferred():
    servers = Servers(["ws://a", "ws://b"], Patience(), chance=lambda: 0.0)
    servers.failed(address("ws://a"), LOST, 0)
    servers.worked(address("ws://b"))
    assert servers.next(1_000)[0] == address("ws://b")


def test_tries_are_counted_since_the_last_progress():
    tries = Tries(Patience(tries=3, give_up_s=100))
    tries.failed(LOST, 0)
    tries.failed(LOST, 1)
    tries.progressed()
    tries.failed(LOST, 2)
    tries.failed(LOST, 3)
    with pytest.raises(ConnectionLost):
        tries.failed(LOST, 4)


def test_a_wait_beyond_all_patience_is_not_begun():
    tries = Tries(Patience(tries=100, give_up_s=20))
    tries.failed(Busy("full", retry_after_s=5), 0)
    with pytest.raises(Busy):
        tries.failed(Busy("full", retry_after_s=15), 6)


def test_what_never_changes_is_not_tried_again():
    with pytest.raises(Unauthorized):
        Tries(Patience()).failed(Unauthorized("no"), 0)


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (1000, ConnectionLost),
        (1006, ConnectionLost),
        (None, ConnectionLost),
        (1011, ConnectionLost),
        (1012, ConnectionLost),
        (1013, Busy),
        (4401, Unauthorized),
        (4408, RequestTimeout),
        (4413, InputTooLarge),
        (4429, RateLimited),
    ],
)
def test_close_codes_are_typed(code, kind):
    assert type(close_fault(code, "", None)) is kind


def test_what_the_server_said_before_it_closed_is_the_reason():
    told = UnknownVoice("no such voice")
    assert close_fault(1011, "", told) is told
    assert type(close_fault(4401, "", told)) is Unauthorized


@pytest.mark.parametrize("status", [401, 403, 404, 429, 500, 502, 503])
def test_handshakes_that_fail_say_whether_to_come_back(status):
    assert status_fault(status, "7").retryable == (status in (429, 500, 502, 503))


def test_errors_of_the_tree_come_back_as_themselves_and_others_keep_what_matters():
    def fault(code, retryable):
        return told_fault(code, "so", retryable=retryable, param="voice", retry_after_s=None)

    assert type(fault("unknown_voice", False)) is UnknownVoice and fault("unknown_voice", False).param == "voice"
    assert type(fault("of_a_newer_server", True)) is PredictorFailed
    assert type(fault("of_a_newer_server", False)) is InternalError
    assert "of_a_newer_server" in fault("of_a_newer_server", False).message


def test_the_cursor_follows_the_clock_and_stands_still_when_dry():
    cursor = Cursor()
    assert cursor.heard(5) == 0
    cursor.give(100, 1_000)
    assert (cursor.heard(1_040), cursor.ahead(1_040)) == (40, 60)
    assert cursor.heard(9_000) == 100
    cursor.give(50, 9_000)
    assert cursor.heard(9_020) == 120
    cursor.report(60, 9_020)
    assert cursor.heard(9_030) == 70
    cursor.report(1e9, 9_040)
    assert cursor.heard(9_040) == 150
