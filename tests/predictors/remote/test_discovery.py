import asyncio
import logging
from contextlib import aclosing

import pytest

from vivavoce.config import Settings
from vivavoce.errors import ConfigError
from vivavoce.predictors.discovery import DnsSource, StaticSource, Target, source_for
from vivavoce.predictors.pool_setup import pool_from_settings


class Names:
    """A name server: what it says next is set from outside."""

    def __init__(self, *addresses: str) -> None:
        self.addresses: frozenset[str] | OSError = frozenset(addresses)
        self.asked = 0

    async def __call__(self, host: str, port: int) -> frozenset[str]:
        self.asked += 1
        if isinstance(self.addresses, OSError):
            raise self.addresses
        return self.addresses


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("http://10.1.2.3:8080", Target("http://10.1.2.3:8080", "burst", "v2")),
        ("tts-lb.tts.svc:8080", Target("http://tts-lb.tts.svc:8080", "burst", "v2")),
        ("https://gpu.example/pool/", Target("https://gpu.example/pool", "burst", "v2")),
        ("http://host:8000/v1", Target("http://host:8000/v1", "burst", "speech")),
        ("http://host:8000/v1/", Target("http://host:8000/v1", "burst", "speech")),
        ("https://a.example/x/v1/audio/speech", Target("https://a.example/x/v1/audio/speech", "burst", "speech")),
        ("http://[fd00::7]:8080", Target("http://[fd00::7]:8080", "burst", "v2")),
    ],
)
async def test_addresses(url, target) -> None:
    source = source_for(url, "burst")
    assert isinstance(source, StaticSource)
    async with aclosing(source.watch()) as seen:
        assert await anext(seen) == {target}


@pytest.mark.parametrize(
    "url",
    [
        "ftp://host",
        "dns://host",
        "dns://:80",
        "http://",
        "k8s://ns",
        "k8s://ns/",
        "http://h:port",
        "http://h?x=1",
        "dns://h:0",
        "http://h:0",
        "http://h:65536",
        "http://[fd00::7",
        "http://[nonsense]:80",
    ],
)
def test_what_is_no_address_is_a_wrong_setting(url) -> None:
    with pytest.raises(ConfigError, match=r"http\(s\)://host"):
        source_for(url, "floor")


def test_addresses_kept_apart_by_spaces_are_a_wrong_setting() -> None:
    with pytest.raises(ConfigError, match="commas"):
        source_for("http://one:8080 http://two:8080/x y", "floor")
    with pytest.raises(ConfigError, match="commas"):
        source_for("http://one two:8080", "floor")


def test_a_key_in_an_address_would_be_shown() -> None:
    with pytest.raises(ConfigError, match="VIVAVOCE_PREDICTOR_KEY"):
        source_for("http://user:s3cret@host:8080", "floor")


def test_a_gateway_needs_predictors() -> None:
    with pytest.raises(ConfigError, match="VIVAVOCE_PREDICTOR_URL"):
        pool_from_settings(Settings.load())


async def test_with_two_stacks_a_pod_counts_once() -> None:
    for told, found in (({"10.0.0.1", "fd00::1"}, "http://10.0.0.1:80"), ({"fd00::1"}, "http://[fd00::1]:80")):
        async with aclosing(DnsSource("pods", 80, resolve=Names(*told)).watch()) as seen:
            assert await anext(seen) == {Target(found)}


async def test_every_address_behind_a_name(kit) -> None:
    names = Names("10.0.0.1", "10.0.0.2")
    async with aclosing(DnsSource("pods.tts.svc", 8080, tier="burst", resolve=names, interval_s=0.002).watch()) as seen:
        assert await anext(seen) == {
            Target("http://10.0.0.1:8080", "burst"),
            Target("http://10.0.0.2:8080", "burst"),
        }
        names.addresses = frozenset({"10.0.0.9"})
        assert await anext(seen) == {Target("http://10.0.0.9:8080", "burst")}


async def test_a_name_that_is_not_known_for_a_while_changes_nothing(kit, caplog) -> None:
    names = Names("10.0.0.1")
    caplog.set_level(logging.WARNING)
    async with aclosing(DnsSource("pods", 1, resolve=names, interval_s=0.002).watch()) as seen:
        await anext(seen)
        coming = asyncio.ensure_future(anext(seen))
        for answer in (OSError("temporary failure"), frozenset(), OSError("temporary failure")):
            names.addresses, before = answer, names.asked
            await kit.until(lambda before=before: names.asked > before + 2)
        assert not coming.done()
        names.addresses = frozenset({"10.0.0.2"})
        assert await coming == {Target("http://10.0.0.2:1")}
    assert [record.getMessage() for record in caplog.records].count("pods cannot be looked up: temporary failure") == 2


async def test_the_resolver_of_the_machine() -> None:
    async with aclosing(DnsSource("localhost", 8080).watch()) as seen:
        assert "http://127.0.0.1:8080" in {target.url for target in await anext(seen)}
