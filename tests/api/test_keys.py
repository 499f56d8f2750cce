"""Keys from the environment and from files."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import logging
import os

import pytest

from vivavoce.api.keys import Keyring, secret_of
from vivavoce.config import Settings
from vivavoce.errors import ConfigError, Unauthorized
from vivavoce.speech.admission import Caller

SECRET = b"one secret for every gateway"
NEW_YEAR_2027_S = 1_798_761_600


class Hands:
    """The clock on the wall, and the one by which the file is looked at."""

    def __init__(self):
        self.wall_s = NEW_YEAR_2027_S - 1.0
        self.look_s = 0.0


@pytest.fixture
def hands():
    return Hands()


@pytest.fixture
def keyring(tmp_path, hands):
    """`keyring(text, **settings)`: a Keyring on a file with that text, or on no file."""

    def make(text=None, **settings):
        if text is not None:
            settings["api_keys_file"] = tmp_path / "keys"
            write(settings["api_keys_file"], text)
        return Keyring(Settings(**settings), SECRET, now_s=lambda: hands.wall_s, look_s=lambda: hands.look_s)

    return make


def write(path, text):
    """As a mounted secret changes: another file takes the name's place."""
    fresh = path.with_suffix(".new")
    fresh.write_bytes(text if isinstance(text, bytes) else text.encode())
    os.replace(fresh, path)


TOML = f"""
# the front desk
[keys.front-desk]
key = "fd-2f6c"
streams = 4
characters_per_minute = 6000

[keys."night shift"]
sha256 = "{hashlib.sha256(b"moon").hexdigest()}"
expires = 2027-01-01

[keys.plain]
key = "plain-key"
"""


def test_without_keys_everybody_is_nobody(keyring):
    ring = keyring()
    assert ring.open
    for offered in (None, "", "whatever", b"\xff", "\ud800"):
        assert ring.caller_of(offered) == Caller()


def test_named_keys_have_their_own_limits_and_else_the_settings(keyring):
    ring = keyring(TOML, stream_limit=9, characters_per_minute=100)
    assert not ring.open
    assert ring.caller_of("fd-2f6c") == Caller("front-desk", 4, 6_000)
    assert ring.caller_of(b"moon") == Caller("night shift", 9, 100)
    assert ring.caller_of("plain-key") == Caller("plain", 9, 100)


@pytest.mark.parametrize(
    "text",
    [
        '{"front": "k-1", "back": {"key": "k-2", "streams": 3}}',
        '\n {"keys": {"front": {"key": "k-1"}, "back": {"key": "k-2", "streams": 3}}}',
        '[keys]\nfront = "k-1"\n[keys.back]\nkey = "k-2"\nstreams = 3',
        'keys.front = "k-1"\nkeys.back = {key = "k-2", streams = 3}',
        '\ufeff[keys.front]\nkey = " k-1 "\n[keys.back]\nkey = "k-2"\nstreams = 3\n',
    ],
)
def test_json_of_a_secret_store_and_toml_say_the_same(keyring, text):
    ring = keyring(text)
    assert (ring.caller_of("k-1"), ring.caller_of("k-2")) == (Caller("front"), Caller("back", 3))


@pytest.mark.parametrize("key", ["c2VjcmV0IGtleQ==", "user=1234", "sk-a.b:c/d+e", "curly}", "a#b", "key"])
def test_a_line_may_be_any_key(keyring, key):
    assert keyring(f"{key}\n").caller_of(key).name


def test_a_comment_may_follow_a_key(keyring):
    ring = keyring("k-1 # the kiosk\n  # a#b\nk-2\t#the desk's\n#k-3\n")
    assert ring.caller_of("k-1").name != ring.caller_of("k-2").name
    for none in ("k-1 # the kiosk", "a#b", "k-3"):
        with pytest.raises(Unauthorized):
            ring.caller_of(none)


def test_lines_have_no_names_but_keys_are_told_apart_without_being_given_away(keyring):
    ring = keyring("# ours\nfirst\n\n  second \n", api_keys="zero, first")
    names = {key: ring.caller_of(key).name for key in ("zero", "first", "second")}
    assert len(set(names.values())) == 3
    for key, name in names.items():
        assert key not in name
        assert hashlib.sha256(key.encode()).hexdigest()[:8] not in name
    assert keyring("second\nfirst\n").caller_of("first").name == names["first"]


@pytest.mark.parametrize(
    "offered",
    [
        None,
        "",
        " ",
        "FD-2F6C",
        "fd-2f6",
        "fd-2f6cc",
        "fd-2f6c ",
        "front-desk",
        b"\xff\xfe",
        "\ud800",
        "plain",
        "x" * 9_999,
        hashlib.sha256(b"moon").hexdigest(),
        "vvt_",
        "vvt_a.b",
        "vvt_fd-2f6c",
    ],
)
def test_anything_else_opens_nothing(keyring, offered):
    with pytest.raises(Unauthorized):
        keyring(TOML).caller_of(offered)


@pytest.mark.parametrize(
    ("expires", "last_s"),
    [
        ("2027-01-01", NEW_YEAR_2027_S),
        ('"2027-01-01"', NEW_YEAR_2027_S),
        ('"2027-01-01T00:00:00Z"', NEW_YEAR_2027_S),
        ("2027-01-01T02:30:00", NEW_YEAR_2027_S + 9_000),
        ("2027-01-01T02:30:00+02:00", NEW_YEAR_2027_S + 1_800),
    ],
)
def test_a_key_expires(keyring, hands, expires, last_s):
    ring = keyring(f'[keys.a]\nkey = "a-key"\nexpires = {expires}\n')
    hands.wall_s = last_s - 1
    assert ring.caller_of("a-key").name == "a"
    hands.wall_s = last_s
    with pytest.raises(Unauthorized, match="expired"):
        ring.caller_of("a-key")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (b"", "holds no key"),
        (b"# nothing\n\n", "holds no key"),
        (b"\xff\xfe", "not UTF-8"),
        ("good\nschlüssel\n", "ASCII"),
        ("good\nbell\x07\n", "ASCII"),
        ("{", "not valid JSON"),
        ('{"a": "k",}', "not valid JSON"),
        ("{}", "holds no key"),
        ('{"a": 5}', "neither key nor sha256"),
        ('{"a": ["k"]}', "neither key nor sha256"),
        ('{"a": ""}', "empty"),
        ('{"": "k"}', "a name has"),
        ('{"a\\u0007": "k"}', "a name has"),
        ('{"a": "same", "b": "same"}', "same key"),
        ("[keys.a]\nkey = ", "not valid TOML"),
        ("[keys.a]\n", "needs one of"),
        ('[keys.a]\nkey = "k"\nsha256 = "' + "0" * 64 + '"', "needs one of"),
        ('[keys.a]\nsha256 = "abc"', "64 hexadecimal"),
        ('[keys.a]\nkey = "k"\nstream = 4', "unknown field stream"),
        ('[keys.a]\nkey = "k"\nstreams = 0', "1 or more"),
        ('[keys.a]\nkey = "k"\nstreams = true', "1 or more"),
        ('[keys.a]\nkey = "k"\ncharacters_per_minute = "many"', "1 or more"),
        ('[keys.a]\nkey = "k"\nexpires = "soon"', "expires at no date"),
        ('[keys.a]\nkey = "k"\nexpires = 7', "expires at no date"),
        ('[keys.a]\nkey = "k"\n[other]\nx = 1', r"\[other\] is no part"),
        ("keys = 5", "keys are written as"),
        ('[[keys]]\nkey = "k"', "keys are written as"),
        ('["a", "b"]', "not valid TOML"),
        ('[key.front]\nkey = "k"', r"\[key\] is no part"),
        ("[keys.front]\nkey: k", "not valid TOML"),
        ('front = "k"', r"\[front\] is no part"),
    ],
)
def test_a_file_that_is_wrong_stops_the_start_and_quotes_no_key(keyring, text, complaint):
    with pytest.raises(ConfigError, match=complaint) as caught:
        keyring(text)
    assert "VIVAVOCE_API_KEYS_FILE" in caught.value.message
    assert "schl" not in caught.value.message
    assert 'same"' not in caught.value.message


def test_a_file_that_is_not_there_stops_the_start(tmp_path):
    with pytest.raises(ConfigError, match="VIVAVOCE_API_KEYS_FILE cannot be read"):
        Keyring(Settings(api_keys_file=tmp_path / "none"), SECRET)


@pytest.mark.parametrize("key", ["schlüssel", "клюв", "bell\x07", "emoji🔑"])
def test_a_key_that_not_every_client_can_send_is_refused(keyring, key):
    with pytest.raises(ConfigError, match="VIVAVOCE_API_KEYS: a key may hold printable ASCII only"):
        keyring(api_keys=key)


def test_a_file_that_changes_is_read_again_and_looked_at_once_a_second(keyring, hands, tmp_path, caplog):
    ring = keyring("old\n")
    write(tmp_path / "keys", '{"new": "new-key"}')
    hands.look_s = 0.5
    assert ring.caller_of("old")
    hands.look_s = 1.5
    with caplog.at_level(logging.INFO):
        assert ring.caller_of("new-key") == Caller("new")
    with pytest.raises(Unauthorized):
        ring.caller_of("old")
    assert "keys read again" in caplog.text
    assert "new-key" not in caplog.text


@pytest.mark.parametrize("broken", ["", "{", "[keys.a]\nkey = 5", b"\xff", None])
def test_a_new_file_that_is_broken_leaves_the_keys_as_they_were(keyring, hands, tmp_path, caplog, broken):
    ring, path = keyring("old\n"), tmp_path / "keys"
    if broken is None:
        path.unlink()
    else:
        write(path, broken)
    for second in range(2, 6):
        hands.look_s = second
        assert not ring.open
        assert ring.caller_of("old")
        with pytest.raises(Unauthorized):
            ring.caller_of("{")
    assert caplog.text.count("the keys stay as they were") == 1
    write(path, "better\n")
    hands.look_s = 10
    assert ring.caller_of("better")


def test_every_key_is_compared_whoever_calls(keyring, monkeypatch):
    ring, compared = keyring("one\ntwo\nthree\n"), []
    real = hmac.compare_digest
    monkeypatch.setattr(hmac, "compare_digest", lambda a, b: compared.append(len(b)) or real(a, b))
    for offered in ("one", "three", "x", "x" * 5_000):
        compared.clear()
        with contextlib.suppress(Unauthorized):
            ring.caller_of(offered)
        assert compared == [32] * 3


def test_nothing_of_a_key_stays_in_memory_in_the_clear(keyring):
    assert "fd-2f6c" not in repr(vars(keyring(TOML))["_entries"])


# Tokens


def test_a_token_stands_for_its_key_until_it_ends(keyring, hands):
    ring = keyring(TOML)
    token, ends_s = ring.mint(Caller("front-desk"))
    assert ends_s == hands.wall_s + 300
    credential = ring.credential_of(token)
    assert (credential.caller, credential.by_token) == (Caller("front-desk", 4, 6_000), True)
    assert not ring.credential_of("fd-2f6c").by_token
    hands.wall_s += 299
    assert ring.caller_of(token).name == "front-desk"
    hands.wall_s += 1
    with pytest.raises(Unauthorized):
        ring.caller_of(token)


def test_a_token_ends_with_its_key_and_follows_its_limits(keyring, hands, tmp_path):
    ring = keyring(TOML)
    token, _ = ring.mint(Caller("front-desk"))
    write(tmp_path / "keys", TOML.replace("streams = 4", "streams = 2"))
    hands.look_s = 2
    assert ring.caller_of(token).streams == 2
    write(tmp_path / "keys", TOML.replace("fd-2f6c", "fd-9a41"))
    hands.look_s = 4
    with pytest.raises(Unauthorized):
        ring.caller_of(token)
    night, _ = ring.mint(Caller("night shift"))
    assert ring.caller_of(night)
    hands.wall_s += 1
    with pytest.raises(Unauthorized, match="expired"):
        ring.caller_of(night)


def test_a_token_of_a_key_without_a_name_works_too(keyring):
    ring = keyring("lonely\n")
    token, _ = ring.mint(ring.caller_of("lonely"))
    assert ring.caller_of(token) == ring.caller_of("lonely")


@pytest.mark.parametrize(
    "change", [lambda t: t[:-1], lambda t: t + "A", lambda t: t.upper(), lambda t: t.replace(".", "")]
)
def test_a_token_that_was_changed_opens_nothing(keyring, change):
    ring = keyring(TOML)
    with pytest.raises(Unauthorized):
        ring.caller_of(change(ring.mint(Caller("front-desk"))[0]))


def test_a_token_of_another_secret_or_of_an_open_server_opens_nothing(keyring):
    other = Keyring(Settings(api_keys="fd-2f6c"), b"another secret of enough letters")
    for ring, caller in ((other, other.caller_of("fd-2f6c")), (keyring(), Caller()), (keyring("x\n"), Caller("gone"))):
        token, _ = ring.mint(caller)
        with pytest.raises(Unauthorized):
            keyring(TOML).caller_of(token)


def test_the_secret_is_the_operators_or_a_fresh_one_and_a_gateway_says_which(caplog):
    assert secret_of(Settings(token_secret="sixteen letters!")) == b"sixteen letters!"
    assert len({secret_of(Settings()) for _ in range(3)}) == 3
    assert not caplog.records
    with caplog.at_level(logging.INFO):
        secret_of(Settings(predictor_url="http://127.0.0.1:1"))
        assert "VIVAVOCE_TOKEN_SECRET is not set" in caplog.text
    with pytest.raises(ConfigError, match="VIVAVOCE_TOKEN_SECRET"):
        secret_of(Settings(token_secret="guess me"))
