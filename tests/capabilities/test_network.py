"""Scoped fetch: only permitted hosts and judged addresses are ever connected to."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import gzip
import ipaddress
import socket
import ssl
import threading
import time
import zlib
from types import SimpleNamespace

import httpcore
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ethos_registry import _core
from ethos_registry.capabilities import (
    ConnectionPools,
    FetchLimits,
    HostNotAllowedError,
    NetworkPolicy,
    ResponseTooLargeError,
    _address_guard,
    _guarded_connections,
)
from ethos_registry.capabilities._address_guard import HostRules, host_matches, target_of
from ethos_registry.capabilities._fetch import ReachFetch
from loopback_http import response, serving

ANY = HostRules(("*",))
PRIVATE = HostRules(("*",), allow_private_urls=True)


_OPEN: list[ConnectionPools] = []


@pytest.fixture(autouse=True)
async def closed_pools():
    yield
    while _OPEN:
        await _OPEN.pop().aclose()


def fetcher(rules=PRIVATE, addresses=None, **limits) -> ReachFetch:
    """A fetch whose names resolve as given; numbers resolve as the system says."""
    names = {"a.test": ["127.0.0.1"], "b.test": ["127.0.0.1"]} | (addresses or {})

    def resolve(host: str, port: int):
        found = names.get(host)
        if callable(found):
            return found()
        return _address_guard.system_addresses(host, port) if found is None else found

    pools = ConnectionPools(resolve=resolve)
    _OPEN.append(pools)
    return ReachFetch(rules, pools, FetchLimits(**limits))


@pytest.fixture
def public_loopback(monkeypatch):
    """127.0.0.2 counts as a public address, so that a chain may start somewhere."""

    def closed_address(address: str):
        return None if address == "127.0.0.2" else _core.closed_address(address)

    monkeypatch.setattr(
        _guarded_connections, "_core", SimpleNamespace(closed_address=closed_address)
    )


LOOPBACK_SPELLINGS = [
    "127.0.0.1",
    "127.1",
    "127.0.1",
    "2130706433",
    "0x7f000001",
    "0x7f.1",
    "0x7f.0x0.0x0.0x1",
    "0177.0.0.1",
    "017700000001",
    "127.0.0.1.",
    "0",
    "0.0.0.0",
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::127.0.0.1]",
    "[::]",
    "localhost",
    "LOCALHOST",
    "\uff11\uff12\uff17.0.0.1",
    "127\u30020.0.1",
    "\u2460\u2461\u2466.0.0.1",
    "127.0.0.2",
    "127.255.255.254",
]


@pytest.mark.parametrize("host", LOOPBACK_SPELLINGS)
async def test_loopback_is_refused_in_every_spelling(host):
    with serving(lambda target, head: response(body=b"secret")) as server:
        with pytest.raises((HostNotAllowedError, httpcore.ConnectError)):
            await fetcher(ANY).fetch(f"http://{host}:{server.port}/")
        assert server.connections == 0


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "127.1"])
async def test_the_same_spellings_connect_where_private_addresses_are_permitted(host):
    with serving(lambda target, head: response(body=b"secret")) as server:
        reply = await fetcher(PRIVATE).fetch(f"http://{host}:{server.port}/")
        assert (reply.status, reply.content, server.connections) == (200, b"secret", 1)


METADATA = [
    "169.254.169.254",
    "2852039166",
    "0xa9fea9fe",
    "0251.0376.0251.0376",
    "169.254.43518",
    "169.16689662",
    "[::ffff:169.254.169.254]",
    "[::169.254.169.254]",
    "[64:ff9b::a9fe:a9fe]",
    "[2002:a9fe:a9fe::]",
    "[fd00:ec2::254]",
    "169.254.170.2",
    "100.100.100.200",
    "168.63.129.16",
    "192.0.0.192",
    "\uff11\uff16\uff19.254.169.254",
]


@pytest.mark.parametrize("rules", [ANY, PRIVATE], ids=["public only", "private permitted"])
@pytest.mark.parametrize("host", METADATA)
async def test_cloud_metadata_is_always_refused(host, rules):
    with pytest.raises(HostNotAllowedError, match="metadata"):
        await fetcher(rules).fetch(f"http://{host}/latest/meta-data/")


@pytest.mark.parametrize("address", ["169.254.169.254", "fd00:ec2::254", "::ffff:a9fe:a9fe"])
async def test_a_name_that_resolves_to_metadata_is_refused(address):
    with pytest.raises(HostNotAllowedError, match="metadata"):
        await fetcher(PRIVATE, {"m.test": [address]}).fetch("http://m.test/")


@pytest.mark.parametrize(
    "address",
    [
        "10.0.0.5",
        "192.168.1.1",
        "172.16.0.1",
        "100.64.0.1",
        "198.18.0.1",
        "192.0.2.1",
        "203.0.113.9",
        "224.0.0.1",
        "255.255.255.255",
        "240.0.0.1",
        "192.88.99.1",
        "fe80::1",
        "febf::1",
        "fec0::1",
        "fc00::1",
        "ff02::1",
        "2001:db8::1",
        "64:ff9b::7f00:1",
        "64:ff9b:1::1",
        "2002:7f00:1::",
        "2001::1",
        "::127.0.0.1",
        "3fff::1",
        "100::1",
    ],
)
async def test_a_name_that_resolves_to_a_special_address_is_refused(address):
    with pytest.raises(HostNotAllowedError, match="not public"):
        await fetcher(ANY, {"x.test": [address]}).fetch("http://x.test/")


async def test_a_name_with_a_public_and_a_private_address_is_refused():
    with serving(lambda target, head: response()) as server:
        fetch = fetcher(ANY, {"x.test": ["93.184.216.34", "127.0.0.1"]})
        with pytest.raises(HostNotAllowedError):
            await fetch.fetch(f"http://x.test:{server.port}/")
        assert server.connections == 0


async def test_an_address_with_a_zone_is_refused():
    with pytest.raises(HostNotAllowedError, match="zone"):
        await fetcher(PRIVATE, {"x.test": ["fe80::1%eth0"]}).fetch("http://x.test/")
    with pytest.raises(HostNotAllowedError):
        target_of("http://[fe80::1%25eth0]/")


async def test_the_address_that_was_checked_is_the_one_that_is_connected_to(public_loopback):
    """A resolver that answers a public address first and a private one at the next question."""
    answers = iter([["127.0.0.2"], ["127.0.0.1"], ["127.0.0.1"]])
    asked = []

    def rebinding():
        asked.append(1)
        return next(answers)

    with (
        serving(lambda target, head: response(body=b"public"), "127.0.0.2") as public,
        serving(lambda target, head: response(body=b"private"), port=public.port) as private,
    ):
        fetch = fetcher(ANY, {"r.test": rebinding})
        reply = await fetch.fetch(f"http://r.test:{public.port}/")
        assert (reply.content, len(asked), private.connections) == (b"public", 1, 0)
        # The connection is kept: no second lookup, no other address.
        assert (await fetch.fetch(f"http://r.test:{public.port}/")).content == b"public"
        assert private.connections == 0


async def test_a_new_connection_is_checked_again(public_loopback):
    answers = iter([["127.0.0.2"], ["127.0.0.1"]])
    with (
        serving(lambda target, head: response(Connection="close"), "127.0.0.2") as public,
        serving(lambda target, head: response(), port=public.port) as private,
    ):
        fetch = fetcher(ANY, {"r.test": lambda: next(answers)})
        await fetch.fetch(f"http://r.test:{public.port}/")
        with pytest.raises(HostNotAllowedError):
            await fetch.fetch(f"http://r.test:{public.port}/")
        assert private.connections == 0


REDIRECTS = [
    "http://127.0.0.1:{port}/",
    "http://localhost:{port}/",
    "http://2130706433:{port}/",
    "http://[::ffff:127.0.0.1]:{port}/",
    "//127.0.0.1:{port}/",
    "http://169.254.169.254/latest",
    "http://evil.test/",
    "http://pub.test.evil.test/",
    "https://user:pass@pub.test/",
    "file:///etc/passwd",
    "ftp://pub.test/",
    "gopher://pub.test/",
    "data:text/plain,x",
    "javascript:alert(1)",
    "http://pub.test\\@127.0.0.1:{port}/",
    "http://pub.test:0/",
]


@pytest.mark.parametrize("location", REDIRECTS)
@pytest.mark.parametrize("status", [301, 307])
async def test_no_redirect_leads_to_what_is_not_permitted(public_loopback, location, status):
    rules = HostRules(("pub.test", "127.0.0.1", "localhost", "2130706433", "169.254.169.254"))
    with serving(lambda target, head: response(body=b"private")) as private:
        place = location.format(port=private.port)
        with serving(lambda target, head: response(status, Location=place), "127.0.0.2") as public:
            fetch = fetcher(rules, {"pub.test": ["127.0.0.2"], "evil.test": ["127.0.0.2"]})
            with pytest.raises(HostNotAllowedError):
                await fetch.fetch(f"http://pub.test:{public.port}/")
            assert (public.connections, len(public.requests), private.connections) == (1, 1, 0)


async def test_a_permitted_redirect_is_followed_and_says_where_it_ended():
    def reply(target, head):
        return response(302, Location="/end?x=1") if target == "/" else response(body=b"end")

    with serving(reply) as server:
        found = await fetcher().fetch(f"http://a.test:{server.port}/")
        assert (found.content, found.url) == (b"end", f"http://a.test:{server.port}/end?x=1")


async def test_redirects_are_counted():
    with serving(lambda target, head: response(302, Location="/again")) as server:
        with pytest.raises(HostNotAllowedError, match="more than 3 redirects"):
            await fetcher(max_redirects=3).fetch(f"http://a.test:{server.port}/")
        assert len(server.requests) == 4


CREDENTIALS = [
    "Authorization",
    "Cookie",
    "Proxy-Authorization",
    "X-Api-Key",
    "X-Auth-Token",
    "Private-Token",
]


@pytest.mark.parametrize("name", CREDENTIALS)
async def test_credentials_stay_with_their_origin(name):
    with serving(lambda target, head: response(body=b"other")) as other:
        place = f"http://b.test:{other.port}/"
        with serving(lambda target, head: response(307, Location=place)) as first:
            await fetcher().fetch(
                f"http://a.test:{first.port}/", headers={name: "hunter2hunter2", "X-Plain": "p"}
            )
        assert b"hunter2" in first.requests[0]
        assert b"hunter2" not in other.requests[0]
        assert b"X-Plain: p" in other.requests[0]


async def test_credentials_are_kept_within_one_origin():
    def reply(target, head):
        return response(307, Location="/end") if target == "/" else response()

    with serving(reply) as server:
        await fetcher().fetch(f"http://a.test:{server.port}/", headers={"Authorization": "x y"})
        assert all(b"Authorization: x y" in one for one in server.requests)


@pytest.mark.parametrize(
    ("status", "method"), [(301, "GET"), (302, "GET"), (303, "GET"), (307, "POST"), (308, "POST")]
)
async def test_a_redirected_post_becomes_a_get_where_browsers_do_so(status, method):
    def reply(target, head):
        return response(status, Location="/end") if target == "/" else response()

    with serving(reply) as server:
        await fetcher().fetch(f"http://a.test:{server.port}/", method="POST", json={"a": 1})
        assert server.requests[1].startswith(f"{method} /end".encode())
        assert (b'{"a":1}' in server.requests[1]) == (method == "POST")


@pytest.mark.parametrize(
    "headers",
    [
        {"X": "a\r\nHost: evil"},
        {"X": "a\nb"},
        {"X": "a\0b"},
        {"X\r\nY": "a"},
        {"X Y": "a"},
        {"": "a"},
        {"X:": "a"},
        {"Host": "evil"},
        {"host": "evil"},
        {"Content-Length": "0"},
        {"Transfer-Encoding": "chunked"},
        {"Connection": "upgrade"},
        {"Upgrade": "h2c"},
        {"X": "\u20ac"},
    ],
)
async def test_headers_cannot_change_the_request(headers):
    with serving(lambda target, head: response()) as server:
        with pytest.raises(HostNotAllowedError):
            await fetcher().fetch(f"http://a.test:{server.port}/", headers=headers)
        assert server.requests == []


@pytest.mark.parametrize(
    "url",
    [
        "",
        "nope",
        "http://",
        "http:///x",
        "http://a b/",
        "http://a\tb/",
        "http://a\n/",
        "http://a\\b/",
        "http://a.test:99999/",
        "http://a.test:x/",
        "http://[::1/",
        "http://a%2eb/",
        "http://a.test@b.test/",
        "http://user@a.test/",
        "http://:p@a.test/",
        "http://a_b@c/",
        "http://a<b>/",
        "http://a.test:0/",
        "HTTP+UNIX://x/",
        "ws://a.test/",
        "//a.test/",
        "http://" + "a" * 300 + "/",
        "http://a.test/" + "x" * 9_000,
        "http://a\u0000/",
        "http://a..test/",
        "http://.a.test/",
        "http://./",
        "http://../",
        "http://" + "a" * 64 + ".test/",
        "http://a.test..:80/",
    ],
)
def test_a_url_that_could_be_read_in_two_ways_is_refused(url):
    with pytest.raises(HostNotAllowedError):
        target_of(url)


def test_a_url_is_normalised():
    target = target_of("HTTP://EXAMPLE.com:80/a b".replace(" ", "%20") + "?q=é#frag")
    assert target.url == "http://example.com/a%20b?q=%C3%A9"
    assert target_of("https://b\u00fccher.example/").host == "xn--bcher-kva.example"


async def test_a_control_character_in_the_path_never_reaches_the_wire():
    with serving(lambda target, head: response()) as server:
        await fetcher().fetch(f"http://a.test:{server.port}/%0d%0aX:y?z=%0d%0a")
        assert b"\r\nX:y" not in server.requests[0]


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
async def test_a_compressed_reply_is_decompressed(encoding):
    packed = gzip.compress(b"x" * 1_000) if encoding == "gzip" else zlib.compress(b"x" * 1_000)
    with serving(lambda target, head: response(body=packed, Content_Encoding=encoding)) as server:
        reply = await fetcher().fetch(f"http://a.test:{server.port}/")
        assert reply.content == b"x" * 1_000


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
async def test_a_bomb_is_stopped_at_the_limit(encoding):
    bomb = b"\0" * 50_000_000
    packed = gzip.compress(bomb) if encoding == "gzip" else zlib.compress(bomb)
    with (
        serving(lambda target, head: response(body=packed, Content_Encoding=encoding)) as server,
        pytest.raises(ResponseTooLargeError, match="decompressed"),
    ):
        await fetcher(max_decoded_bytes=1_000_000).fetch(f"http://a.test:{server.port}/")


async def test_a_long_reply_is_stopped_at_the_limit():
    with serving(lambda target, head: response(body=b"x" * 100_000)) as server:
        with pytest.raises(ResponseTooLargeError):
            await fetcher(max_wire_bytes=99_999).fetch(f"http://a.test:{server.port}/")
        reply = await fetcher(max_wire_bytes=100_000).fetch(f"http://a.test:{server.port}/")
        assert len(reply.content) == 100_000


@pytest.mark.parametrize("encoding", ["br", "zstd", "compress", "gzip, gzip", "x"])
async def test_an_encoding_that_was_not_asked_for_is_refused(encoding):
    with (
        serving(lambda target, head: response(body=b"x", Content_Encoding=encoding)) as server,
        pytest.raises(HostNotAllowedError, match="was not requested"),
    ):
        await fetcher().fetch(f"http://a.test:{server.port}/")


async def test_a_damaged_compressed_reply_is_an_error():
    with (
        serving(lambda target, head: response(body=b"no", Content_Encoding="gzip")) as server,
        pytest.raises(OSError, match="decompressed"),
    ):
        await fetcher().fetch(f"http://a.test:{server.port}/")


async def test_a_reply_that_does_not_come_ends_at_the_total_time():
    with serving(lambda target, head: time.sleep(30) or b"") as server:
        fetch = fetcher(total_seconds=0.3)
        started = time.monotonic()
        with pytest.raises(TimeoutError):
            await fetch.fetch(f"http://a.test:{server.port}/")
        with pytest.raises((TimeoutError, httpcore.ReadTimeout)):
            fetch.sync.fetch(f"http://a.test:{server.port}/")
        assert time.monotonic() - started < 28


@pytest.mark.parametrize("face", ["async", "sync"])
async def test_a_reply_that_drips_ends_at_the_total_time(face):
    """No single read is slow, so only a clock over the whole fetch ends it."""
    listener = socket.create_server(("127.0.0.1", 0))

    def drip() -> None:
        connection, _ = listener.accept()
        with connection, contextlib.suppress(OSError):
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
            for _ in range(400):
                connection.sendall(b"x")
                time.sleep(0.05)

    thread = threading.Thread(target=drip, daemon=True)
    thread.start()
    fetch = fetcher(total_seconds=0.5)
    url = f"http://a.test:{listener.getsockname()[1]}/"
    asking = fetch.fetch(url) if face == "async" else asyncio.to_thread(fetch.sync.fetch, url)
    started = time.monotonic()
    with pytest.raises(TimeoutError):
        await asking
    assert time.monotonic() - started < 18
    listener.close()
    thread.join(10)


async def test_pools_that_are_closed_end_a_fetch_of_a_plain_function():
    is_requested, is_over = threading.Event(), threading.Event()

    def late(target, head):
        is_requested.set()
        is_over.wait(10)
        return response()

    with serving(late) as server:
        fetch = fetcher()

        def fetch_in_vain():
            with pytest.raises(concurrent.futures.CancelledError):
                fetch.sync.fetch(f"http://a.test:{server.port}/")

        task = asyncio.create_task(asyncio.to_thread(fetch_in_vain))
        assert await asyncio.to_thread(is_requested.wait, 5)
        await fetch._pools.aclose()
        await asyncio.wait_for(task, 5)
        is_over.set()


def test_pools_that_are_closed_end_a_fetch_that_has_not_begun():
    pools, ended = ConnectionPools(), threading.Event()

    async def nothing():
        pass

    def fetch():
        is_closing.wait()
        with contextlib.suppress(concurrent.futures.CancelledError):
            pools.wait(nothing)
        ended.set()

    def occupy_the_loop():  # until the fetch waits behind the end of the loop
        is_closing.set()
        time.sleep(0.2)

    async def close():
        loop = asyncio.get_running_loop()
        thread.end()
        loop.call_soon(loop.call_soon, occupy_the_loop)

    pools.wait(nothing)
    [thread] = pools._threads.values()
    is_closing = threading.Event()
    threading.Thread(target=fetch, daemon=True).start()
    pools.wait(close)
    assert ended.wait(5)


async def test_connections_of_one_policy_are_not_used_under_another(public_loopback):
    pools = ConnectionPools(resolve=lambda host, port: ["127.0.0.1"])
    _OPEN.append(pools)
    with serving(lambda target, head: response()) as server:
        url = f"http://a.test:{server.port}/"
        await ReachFetch(PRIVATE, pools).fetch(url)
        with pytest.raises(HostNotAllowedError):
            await ReachFetch(ANY, pools).fetch(url)
        assert server.connections == 1


async def test_a_proxy_of_the_environment_is_not_used(monkeypatch):
    with serving(lambda target, head: response(body=b"proxy")) as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        with serving(lambda target, head: response(body=b"direct")) as server:
            reply = await fetcher().fetch(f"http://a.test:{server.port}/")
        assert (reply.content, proxy.connections) == (b"direct", 0)


def test_the_plain_face_does_the_same():
    with serving(lambda target, head: response(body=b'{"a": 1}')) as server:
        found = fetcher().sync.fetch(f"http://a.test:{server.port}/", method="POST", content="é")
        assert (found.json(), found.ok) == ({"a": 1}, True)
        assert server.requests[0].endswith("é".encode())
        with pytest.raises(HostNotAllowedError):
            fetcher(ANY).sync.fetch(f"http://a.test:{server.port}/")
        assert len(server.requests) == 1


async def test_tls_verifies_the_name_and_not_the_address(tmp_path):
    trustme = pytest.importorskip("trustme")
    authority = trustme.CA()
    certificate = authority.issue_cert("good.test")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate.configure_cert(context)
    trusted = ssl.create_default_context()
    authority.configure_trust(trusted)

    async def answer(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(response(body=b"tls", Connection="close"))
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=context)
    port = server.sockets[0].getsockname()[1]
    pools = ConnectionPools(ssl_context=trusted, resolve=lambda host, _: ["127.0.0.1"])
    fetch = ReachFetch(PRIVATE, pools)
    try:
        assert (await fetch.fetch(f"https://good.test:{port}/")).content == b"tls"
        with pytest.raises(httpcore.ConnectError, match="ertificate"):
            await fetch.fetch(f"https://other.test:{port}/")
        with pytest.raises(httpcore.ConnectError, match="ertificate"):
            await fetch.fetch(f"https://127.0.0.1:{port}/")
    finally:
        await pools.aclose()
        server.close()


@pytest.mark.parametrize(
    ("declared", "policy", "host", "is_allowed"),
    [
        (["a.com"], None, "a.com", True),
        (["a.com"], None, "A.COM", True),
        (["a.com"], None, "b.a.com", False),
        (["a.com"], None, "a.com.", False),
        (["a.com"], None, "a.com.evil.com", False),
        (["a.com"], None, "evil-a.com", False),
        (["*.a.com"], None, "x.y.a.com", True),
        (["*.a.com"], None, "a.com", False),
        (["*.a.com"], None, "xa.com", False),
        ([], None, "a.com", False),
        (["*"], None, "a.com", True),
        (["*"], NetworkPolicy(allow=["b.com"]), "a.com", False),
        (["*"], NetworkPolicy(allow=["b.com"]), "b.com", True),
        (["*.a.com"], NetworkPolicy(allow=["x.a.com"]), "x.a.com", True),
        (["*.a.com"], NetworkPolicy(allow=["x.a.com"]), "y.a.com", False),
        (["a.com"], NetworkPolicy(allow=["*.a.com"]), "a.com", False),
        (["a.com"], NetworkPolicy(allow=[]), "a.com", False),
        (["a.com"], NetworkPolicy(allow=["*"]), "a.com", True),
        (["a.com"], NetworkPolicy(deny=["a.com"]), "a.com", False),
        (["*"], NetworkPolicy(allow=["a.com"], deny=["a.com"]), "a.com", False),
        (["*"], NetworkPolicy(deny=["*.a.com"]), "x.a.com", False),
        (["*"], NetworkPolicy(deny=["*.a.com"]), "a.com", False),
        (["*"], NetworkPolicy(deny=["*.a.com"]), "xa.com", True),
        (["*"], NetworkPolicy(allow=["*.a.com"]), "a.com", True),
        (["*"], NetworkPolicy(allow=["*.a.com"]), "xa.com", False),
        (["*.a.com"], NetworkPolicy(allow=["*.a.com"]), "a.com", False),
    ],
)
def test_a_host_must_be_declared_and_permitted(declared, policy, host, is_allowed):
    rules = HostRules.of(declared, policy)
    if is_allowed:
        rules.check(host)
    else:
        with pytest.raises(HostNotAllowedError):
            rules.check(host)


@given(st.integers(0, 2**32 - 1), st.sampled_from(["decimal", "hex", "octal", "parts", "short"]))
def test_every_numeric_spelling_is_checked_as_the_address_it_connects_to(number, spelling):
    address = ipaddress.IPv4Address(number)
    parts = address.packed
    text = {
        "decimal": str(number),
        "hex": hex(number),
        "octal": f"0{number:o}",
        "parts": ".".join(
            hex(part) if index % 2 else f"0{part:o}" for index, part in enumerate(parts)
        ),
        "short": f"{parts[0]}.{number & 0xFFFFFF}",
    }[spelling]
    resolved = _address_guard.system_addresses(target_of(f"http://{text}/").host, 80)
    assert resolved == [str(address)]
    is_open = _core.closed_address(str(address)) is None
    try:
        _guarded_connections.GuardedBackend(ANY).check_addresses(text, resolved)
    except HostNotAllowedError:
        assert not is_open
    else:
        assert is_open
        assert address.is_global


@given(st.integers(0, 2**128 - 1))
def test_an_open_ipv6_address_is_global_unicast_and_carries_nothing(number):
    address = ipaddress.IPv6Address(number)
    if _core.closed_address(str(address)) is None:
        assert address in ipaddress.ip_network("2000::/3")
        assert address.is_global
        assert (address.sixtofour, address.teredo, address.ipv4_mapped) == (None, None, None)


@given(st.integers(0, 2**32 - 1))
def test_an_ipv4_address_that_python_calls_private_is_closed_in_every_form(number):
    address = ipaddress.IPv4Address(number)
    forms = [
        address,
        ipaddress.IPv6Address(f"::ffff:{address}"),
        ipaddress.IPv6Address(f"::{address}"),
        ipaddress.IPv6Address(f"64:ff9b::{address}"),
    ]
    for form in forms:
        closed = _core.closed_address(str(form))
        assert closed is not None or (form is address and address.is_global)


@given(st.text(max_size=30))
def test_matching_a_host_never_matches_a_longer_name(host):
    assert not host_matches("example.com", host + "x.example.com") or host == ""
    assert not host_matches("*.example.com", f"{host}.example.com.evil.org")
