import asyncio
import datetime
import ipaddress
import json
import ssl
from contextlib import aclosing
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from vivavoce.errors import ConfigError
from vivavoce.predictors.cluster import Cluster
from vivavoce.predictors.discovery import Target, source_for
from vivavoce.predictors.kubernetes import EndpointSliceSource

PATH = "/apis/discovery.k8s.io/v1/namespaces/tts/endpointslices"


def piece(name, *addresses, version=1, ports=((8080, "http1"),), conditions=None, node=None, kind="IPv4"):
    return {
        "metadata": {"name": name, "resourceVersion": str(version)},
        "addressType": kind,
        "ports": [{"name": name, "port": port} for port, name in ports],
        "endpoints": [
            {"addresses": [address], "conditions": conditions or {"ready": True}, "nodeName": node}
            for address in addresses
        ],
    }


class Api:
    """An API server: `items` is what a list gives, `tell` sends an event to whoever watches."""

    def __init__(self) -> None:
        self.items: list[dict] = []
        self.version = 10
        self.lists: list[dict[str, str]] = []
        self.watches: list[dict[str, str]] = []
        self.tokens: list[str] = []
        self.status = 200
        self.current = None

    async def __call__(self, asked) -> None:
        query = dict(pair.split("=") for pair in asked.path.partition("?")[2].split("&"))
        self.tokens.append(asked.headers.get("authorization", ""))
        if self.status != 200:
            return await asked.whole({"kind": "Status", "code": self.status}, self.status)
        if "watch" not in query:
            self.lists.append(query)
            return await asked.whole({"metadata": {"resourceVersion": str(self.version)}, "items": self.items})
        self.watches.append(query)
        self.current = asked
        await asked.head(Transfer_Encoding="chunked", Content_Type="application/json")
        await asyncio.Event().wait()

    async def tell(self, kind: str, item: dict, *, cut: int = 0) -> None:
        line = json.dumps({"type": kind, "object": item}).encode() + b"\n"
        for at in range(0, len(line), cut or len(line)):
            await self.current.chunk(line[at : at + (cut or len(line))])


@pytest.fixture
async def api(serve):
    api = Api()
    server = await serve({PATH: api})
    api.server = server
    api.url = server.url
    return api


@pytest.fixture
async def watch(api, tmp_path, monkeypatch):
    """What a source sees, one set at a time."""
    monkeypatch.setattr("vivavoce.predictors.kubernetes._FIRST_RETRY_S", 0.01)
    token = tmp_path / "token"
    token.write_text("first\n")
    started = []

    def start(**kw):
        started.append(EndpointSliceSource(Cluster(api.url, token), "tts", "floor-lb", **kw).watch())
        return started[-1]

    yield start
    for seen in started:
        await seen.aclose()


def urls(targets) -> list[str]:
    return sorted(target.url for target in targets)


async def following(generator):
    async with asyncio.timeout(5):
        return await anext(generator)


async def test_what_is_listed_and_what_changes(api, watch, kit) -> None:
    api.items = [piece("floor-a", "10.0.0.1", "10.0.0.2", node="node-1")]
    seen = watch(tier="burst")
    first = await following(seen)
    assert first == {
        Target("http://10.0.0.1:8080", "burst", node="node-1"),
        Target("http://10.0.0.2:8080", "burst", node="node-1"),
    }
    coming = asyncio.ensure_future(following(seen))
    await kit.until(lambda: api.current)
    await api.tell("ADDED", piece("floor-b", "10.0.0.3", version=11))
    assert urls(await coming)[-1] == "http://10.0.0.3:8080"
    coming = asyncio.ensure_future(following(seen))
    await api.tell("BOOKMARK", {"metadata": {"resourceVersion": "15"}})
    await api.tell("MODIFIED", piece("floor-a", "10.0.0.2", version=16), cut=7)
    assert urls(await coming) == ["http://10.0.0.2:8080", "http://10.0.0.3:8080"]
    coming = asyncio.ensure_future(following(seen))
    await api.tell("DELETED", piece("floor-b", version=17))
    assert urls(await coming) == ["http://10.0.0.2:8080"]
    assert api.lists == [{"labelSelector": "kubernetes.io%2Fservice-name%3Dfloor-lb"}]
    assert (api.watches[0]["resourceVersion"], api.watches[0]["allowWatchBookmarks"]) == ("10", "true")


async def test_only_ready_endpoints_count(api, watch) -> None:
    api.items = [
        piece("a", "10.0.0.1", conditions={"ready": False, "serving": True, "terminating": True}),
        piece("b", "10.0.0.2", conditions={"ready": None}),
        piece("c", "10.0.0.3"),
        {"metadata": {"name": "d"}, "ports": None, "endpoints": None},
    ]
    assert urls(await following(watch())) == ["http://10.0.0.2:8080", "http://10.0.0.3:8080"]


async def test_with_two_stacks_an_endpoint_counts_once(api, watch) -> None:
    api.items = [piece("a", "fd00::1", "fd00::2", kind="IPv6"), piece("b", "10.0.0.1", "10.0.0.2")]
    assert urls(await following(watch())) == ["http://10.0.0.1:8080", "http://10.0.0.2:8080"]
    api.items = [piece("a", "fd00::1", kind="IPv6"), piece("b")]
    assert urls(await following(watch())) == ["http://[fd00::1]:8080"]
    api.items = [piece("a", "pod-1.tts", kind="FQDN")]
    assert urls(await following(watch())) == ["http://pod-1.tts:8080"]


@pytest.mark.parametrize(
    ("wanted", "ports", "found"),
    [
        ("", ((8080, "http1"),), 8080),
        ("", ((9090, "metrics"), (8080, "http1")), 8080),
        ("", ((9000, "what"), (9001, "ever")), 9000),
        ("v2", ((8000, "engine"), (8080, "v2")), 8080),
        ("8000", ((8000, "engine"), (8080, "v2")), 8000),
        ("80", ((8080, "http1"),), 8080),
        ("80", (), 80),
        ("absent", ((8080, "http1"),), None),
    ],
)
async def test_the_port_that_is_meant(api, watch, wanted, ports, found) -> None:
    api.items = [piece("a", "10.0.0.1", ports=ports)]
    assert urls(await following(watch(port=wanted))) == ([f"http://10.0.0.1:{found}"] if found else [])


async def test_410_gone_lists_anew(api, watch, kit) -> None:
    api.items = [piece("a", "10.0.0.1")]
    seen = watch()
    await following(seen)
    coming = asyncio.ensure_future(following(seen))
    await kit.until(lambda: api.current)
    api.items, api.version = [piece("a", "10.0.0.9")], 99
    await api.tell("ERROR", {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old"})
    assert urls(await coming) == ["http://10.0.0.9:8080"]
    assert len(api.lists) == 2
    coming = asyncio.ensure_future(following(seen))
    await kit.until(lambda: len(api.watches) == 2)
    coming.cancel()
    assert api.watches[-1]["resourceVersion"] == "99"


async def test_a_watch_that_ends_goes_on_where_it_was(api, watch, kit) -> None:
    api.items = [piece("a", "10.0.0.1")]
    seen = watch()
    await following(seen)
    coming = asyncio.ensure_future(following(seen))
    await kit.until(lambda: api.current)
    await api.tell("BOOKMARK", {"metadata": {"resourceVersion": "33"}})
    await api.current.raw(b"0\r\n\r\n")
    api.current.writer.close()
    await kit.until(lambda: len(api.watches) == 2)
    assert (api.watches[1]["resourceVersion"], len(api.lists)) == ("33", 1)
    await api.tell("ADDED", piece("b", "10.0.0.2", version=34))
    assert urls(await coming) == ["http://10.0.0.1:8080", "http://10.0.0.2:8080"]


@pytest.mark.parametrize("fault", ["reset", "nonsense", "half a line", "error event", "forbidden", "down"])
async def test_what_was_known_stays_known_until_the_api_server_is_back(api, watch, kit, serve, fault) -> None:
    api.items = [piece("a", "10.0.0.1")]
    seen = watch()
    await following(seen)
    coming = asyncio.ensure_future(following(seen))
    await kit.until(lambda: api.current)
    port = api.server.port
    if fault == "reset":
        api.current.reset()
    elif fault == "nonsense":
        await api.current.chunk(b"<html>\n")
    elif fault == "half a line":
        await api.current.chunk(b'{"type": "ADDED", "obj')
        api.current.writer.close()
    elif fault == "error event":
        await api.tell("ERROR", {"code": 500, "message": "etcd"})
    elif fault == "forbidden":
        api.status = 403
        api.current.reset()
        await kit.until(lambda: len(api.tokens) > 4)
    else:
        await api.server.stop()
        await asyncio.sleep(0.03)
    assert not coming.done()
    api.items, api.status = [piece("a", "10.0.0.4")], 200
    if fault == "down":
        await serve({PATH: api}, port)
    assert urls(await coming) == ["http://10.0.0.4:8080"]


async def test_a_token_that_was_renewed_is_used(api, watch, kit, tmp_path) -> None:
    api.items = [piece("a", "10.0.0.1")]
    seen = watch()
    await following(seen)
    (tmp_path / "token").write_text("second")
    coming = asyncio.ensure_future(following(seen))
    await kit.until(lambda: api.current)
    coming.cancel()
    assert api.tokens == ["Bearer first", "Bearer second"]


async def test_a_slice_of_a_thousand_endpoints_is_one_line(api, watch, kit) -> None:
    api.items = [piece("a", "10.0.0.1")]
    seen = watch()
    await following(seen)
    coming = asyncio.ensure_future(following(seen))
    await kit.until(lambda: api.current)
    many = [f"10.0.{high}.{low}" for high in range(4) for low in range(250)]
    await api.tell("MODIFIED", piece("a", *many, version=12))
    assert len(await coming) == 1_000


def certify(path: Path) -> None:
    """Write a certificate that 127.0.0.1 signed itself, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False)
        .add_extension(x509.BasicConstraints(True, None), True)
        .sign(key, hashes.SHA256())
    )
    path.with_suffix(".crt").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    path.with_suffix(".key").write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )


async def test_the_pods_own_authority_is_trusted_and_no_other(tmp_path) -> None:
    async def reply(reader, writer) -> None:
        await reader.readuntil(b"\r\n\r\n")
        body = json.dumps({"metadata": {"resourceVersion": "1"}, "items": [piece("a", "10.0.0.1")]}).encode()
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%b" % (len(body), body))
        await writer.drain()
        writer.close()

    for name in ("server", "stranger"):
        certify(tmp_path / name)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(tmp_path / "server.crt", tmp_path / "server.key")
    server = await asyncio.start_server(reply, "127.0.0.1", 0, ssl=context)
    url = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server:
        trusting = EndpointSliceSource(Cluster(url, None, tmp_path / "server.crt"), "tts", "lb")
        async with aclosing(trusting.watch()) as seen:
            assert urls(await following(seen)) == ["http://10.0.0.1:8080"]
        wary = EndpointSliceSource(Cluster(url, None, tmp_path / "stranger.crt"), "tts", "lb")
        async with aclosing(wary.watch()) as seen:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.3):
                    await anext(seen)


def test_what_a_pod_is_told(tmp_path, monkeypatch) -> None:
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    with pytest.raises(ConfigError, match="inside a Kubernetes cluster"):
        source_for("k8s://tts/floor", "floor")
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "fd00::1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "6443")
    with pytest.raises(ConfigError, match="no token"):
        Cluster.of_this_pod(tmp_path)
    (tmp_path / "token").write_text("t")
    (tmp_path / "ca.crt").write_text("c")
    cluster = Cluster.of_this_pod(tmp_path)
    assert (cluster.url, cluster.ca_file) == ("https://[fd00::1]:6443", tmp_path / "ca.crt")
