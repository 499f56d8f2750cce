"""`vivavoce say --server` where nobody answers."""

from functools import partial

import pytest

from vivavoce.cli import remote
from vivavoce.cli.speaking import Order
from vivavoce.client import ConnectionLost, Patience, connect


@pytest.mark.parametrize(("note_after_s", "is_told"), [(0.0, True), (60.0, False)])
async def test_a_person_who_waits_for_a_server_is_told_for_whom(monkeypatch, capsys, tmp_path, note_after_s, is_told):
    patience = Patience(tries=3, first_wait_s=0.02)
    monkeypatch.setattr(remote, "_NOTE_AFTER_S", note_after_s)
    monkeypatch.setattr(remote, "connect", partial(connect, patience=patience))
    order = Order(source="Hello.", output=str(tmp_path / "x.wav"), server="ws://127.0.0.1:1, 127.0.0.1:2")
    with pytest.raises(ConnectionLost):
        await remote.speak_remotely(order)
    told = capsys.readouterr().err
    assert ("waiting for an answer of ws://127.0.0.1:1, 127.0.0.1:2" in told) is is_told
