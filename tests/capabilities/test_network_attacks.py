"""Attacks on scoped fetches over real sockets: the addresses that are connected to are asserted."""

from __future__ import annotations

import asyncio
import gzip
import ipaddress
import socket
import threading
import time
from types import SimpleNamespace

import httpcore
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ethos_registry import _core
from ethos_registry.capabilities import (
    ConnectionPools,
    FetchLimits,
    FetchResponse,
    HostNotAllowedError,
    _guarded_connections,
)
from ethos_registry.capabilities._address_guard import HostRules, target_of
from ethos_registry.capabilities._fetch import ReachFetch
from ethos_registry.capabilities._guarded_connections import GuardedBackend
from ethos_registry.capabilities._network import decoded_by
from ethos_registry.tools._fetch_url import decoded
from loopback_http import response, serving
from network_attacks import PUBLIC, Attack, connects, resolver


@pytest.fixture(autouse=True)
def public_loopback(monkeypatch):
    def closed_address(address: str):
        return None if address == PUBLIC else _core.closed_address(address)

    monkeypatch.setattr(
        _guarded_connections, "_core", SimpleNamespace(closed_address=closed_address)
    )


LOOPBACK = [
    "127.0.0.1",
    "127.1",
    "2130706433",
    "0x7f000001",
    "0x7F.0.0.0x1",
    "0177.0.0.01",
    "017700000001",
    "127.0.0.1.",
    "0",
    "[::1]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::127.0.0.1]",
    "[64:ff9b::127.0.0.1]",
    "[2002:7f00:1::]",
    "localhost",
    "localhost.",
    "LOCALHOST",
    "\u24db\u24de\u24d2\u24d0\u24db\u24d7\u24de\u24e2\u24e3",
    "loc\u00adalhost",
    "\uff11\uff12\uff17.0.0.1",
    "127\u30020\uff0e0\uff611",
]
CLOSED = [
    "10.0.0.5",
    "172.31.255.254",
    "192.168.1.1",
    "100.64.0.1",
    "169.254.7.7",
    "192.0.2.1",
    "198.18.0.1",
    "198.51.100.9",
    "203.0.113.9",
    "192.88.99.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "fe80::1",
    "febf::1",
    "fec0::1",
    "fd12::1",
    "ff02::1",
    "2001:db8::1",
    "2001::1",
    "64:ff9b:1::1",
    "fe80::1%lo",
]
METADATA = [
    "169.254.169.254",
    "2852039166",
    "0xa9fea9fe",
    "[::ffff:169.254.169.254]",
    "[64:ff9b::a9fe:a9fe]",
    "[2002:a9fe:a9fe::]",
    "[fd00:ec2::254]",
    "100.100.100.200",
    "168.63.129.16",
    "metadata.google.internal",
    "metadata.google.internal.",
]
USERINFO = [
    "http://127.0.0.1@pub.test:{port}/",
    "http://pub.test@127.0.0.1:{port}/",
    "http://pub.test:80@127.0.0.1:{port}/",
    "http://pub.test%40127.0.0.1:{port}/",
    "http://pub.test\\@127.0.0.1:{port}/",
    "http://@127.0.0.1:{port}/",
    "http://127.0.0.1:{port}\\.pub.test/",
    "http://127.0.0.1%00.pub.test:{port}/",
    "http://127.0.0.1%2fpub.test:{port}/",
    "http://pub.test\t@127.0.0.1:{port}/",
]
ZONES = [
    "http://[::1%lo]:{port}/",
    "http://[::1%25lo]:{port}/",
    "http://[fe80::1%25eth0]:{port}/",
    "http://[::1%25]:{port}/",
    "http://[::1]lo:{port}/",
]

ATTACKS = [
    *(Attack(f"loopback as {host}", f"http://{host}:{{port}}/") for host in LOOPBACK),
    *(
        Attack(
            f"a name with the address {address}",
            "http://x.test:{port}/",
            names={"x.test": [address]},
        )
        for address in CLOSED
    ),
    *(
        Attack(
            f"a public and the address {address}",
            "http://x.test:{port}/",
            names={"x.test": [PUBLIC, address]},
        )
        for address in ("127.0.0.1", "10.0.0.5", "::1", "169.254.169.254")
    ),
    *(
        Attack(f"metadata as {host}", f"http://{host}:{{port}}/", allow_private=True)
        for host in METADATA
    ),
    *(Attack(f"user info in {url}", url) for url in USERINFO),
    *(Attack(f"a zone in {url}", url, allow_private=True) for url in ZONES),
    *(
        Attack(
            f"a redirect to {host}",
            "http://pub.test:{port}/",
            location=f"http://{host}:{{port}}/",
            reaches=(PUBLIC,),
        )
        for host in (*LOOPBACK[:18], *METADATA)
    ),
    *(
        Attack(f"a redirect to {url}", "http://pub.test:{port}/", location=url, reaches=(PUBLIC,))
        for url in (
            *USERINFO[:5],
            *ZONES,
            "//127.0.0.1:{port}/",
            "file:///etc/passwd",
            "gopher://127.0.0.1:{port}/x",
            "http://other.test:{port}/",
        )
    ),
    Attack(
        "a redirect beyond the declared hosts",
        "http://pub.test:{port}/",
        ("pub.test",),
        location="http://evil.test:{port}/",
        reaches=(PUBLIC,),
    ),
    Attack(
        "a redirect to a denied host",
        "http://pub.test:{port}/",
        location="http://evil.test:{port}/",
        deny=("evil.test",),
        reaches=(PUBLIC,),
    ),
    Attack("a denied host with a dot", "http://evil.test.:{port}/", deny=("evil.test",)),
    Attack("a denied host in capitals", "http://EVIL.test:{port}/", deny=("evil.TEST",)),
    Attack(
        "a denied host in Unicode",
        "http://xn--bcher-kva.test:{port}/",
        deny=("b\u00fccher.test",),
        names={"xn--bcher-kva.test": [PUBLIC]},
    ),
    Attack("a denied address as a number", "http://2130706434:{port}/", deny=(PUBLIC,)),
    Attack("a denied address by a name", "http://pub.test:{port}/", deny=(PUBLIC,)),
    Attack(
        "a denied address in a mapped form",
        "http://[::ffff:127.0.0.2]:{port}/",
        deny=(PUBLIC,),
        allow_private=True,
    ),
    Attack(
        "a name that looks alike",
        "http://p\u0430ypal.test:{port}/",
        ("paypal.test",),
        names={"xn--pypal-4ve.test": [PUBLIC]},
    ),
    Attack("a longer name", "http://pub.test.evil.test:{port}/", ("pub.test",)),
    Attack("another host of the domain", "http://apub.test:{port}/", ("*.pub.test", "pub.test")),
    Attack("a host that the personality omits", "http://pub.test:{port}/", allow=("b.test",)),
    Attack("a personality without hosts", "http://pub.test:{port}/", allow=()),
    *(
        Attack(f"a header {name!r}: {value!r}", "http://pub.test:{port}/", headers={name: value})
        for name, value in (
            ("X", "a\r\nHost: evil"),
            ("X", "a\nTransfer-Encoding: chunked"),
            ("X\r\nHost", "evil"),
            ("Host", "evil.test"),
            ("Content-Length", "0"),
            ("Transfer-Encoding", "chunked"),
            ("Proxy-Connection", "keep-alive"),
            ("X Y", "a"),
            ("X", "\u2028a"),
        )
    ),
]
NAMES = {
    "pub.test": [PUBLIC],
    "evil.test": [PUBLIC],
    "evil.test.": [PUBLIC],
    "apub.test": [PUBLIC],
    "pub.test.evil.test": [PUBLIC],
    "other.test": ["127.0.0.1"],
    "metadata.google.internal": [PUBLIC],
    "metadata.google.internal.": [PUBLIC],
    "localhost": ["127.0.0.1"],
    "localhost.": ["127.0.0.1"],
}


@pytest.mark.parametrize("face", ["async", "sync"])
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: ascii(attack.name))
def test_only_permitted_addresses_are_connected_to(attack, face):
    with serving(lambda target, head: response(body=b"private")) as private:

        def answer(target, head):
            if attack.location is None:
                return response(body=b"public")
            place = attack.location.format(port=private.port)
            return response(302, Location=place.encode().decode("latin-1"))

        with serving(answer, PUBLIC, private.port) as public, connects() as reached:
            pools = ConnectionPools(resolve=resolver(NAMES | attack.names))
            fetch = attack.fetch(pools)
            url = attack.url.format(port=private.port)

            async def ask() -> None:
                try:
                    if face == "async":
                        await fetch.fetch(url, headers=attack.headers)
                    else:
                        await asyncio.to_thread(fetch.sync.fetch, url, headers=attack.headers)
                finally:
                    await pools.aclose()

            with pytest.raises(HostNotAllowedError, match=r"^HOST_NOT_ALLOWED: "):
                asyncio.run(ask())
            assert tuple(reached) == attack.reaches
            assert private.reached_at == []
            assert tuple(public.reached_at) == attack.reaches


def test_at_least_eighty_attacks_are_tried():
    assert len({attack.name for attack in ATTACKS}) == len(ATTACKS) >= 120


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("http://pub.test:{port}/#@127.0.0.1/", "pub.test"),
        ("http://pub.test:{port}?@127.0.0.1/", "pub.test"),
        ("http://pub.test:{port}/@127.0.0.1", "pub.test"),
        ("http://PUB.TEST:{port}/", "pub.test"),
        ("http://p\u00adub.test:{port}/", "pub.test"),
        ("http://2130706434:{port}/", PUBLIC),
    ],
)
async def test_what_is_only_unusual_reaches_the_host_that_was_checked(url, host):
    with serving(lambda target, head: response(), PUBLIC) as public, connects() as reached:
        pools = ConnectionPools(resolve=resolver(NAMES))
        fetch = ReachFetch(HostRules((host,)), pools)
        reply = await fetch.fetch(url.format(port=public.port))
        await pools.aclose()
        assert (reply.status, reached, public.reached_at) == (200, [PUBLIC], [PUBLIC])
        assert f"Host: {host}:".encode() in public.requests[0]


@pytest.mark.parametrize("face", ["async", "sync"])
@pytest.mark.parametrize("closes", ["yes", "no"])
async def test_a_redirect_to_the_same_name_is_looked_up_and_checked_again(face, closes):
    """A name that leads to another address as soon as it was checked."""
    answers = iter([[PUBLIC], ["127.0.0.1"]])
    place = {"Connection": "close"} if closes == "yes" else {}
    with (
        serving(lambda target, head: response(302, Location="/x", **place), PUBLIC) as public,
        serving(lambda target, head: response(), port=public.port) as private,
        connects() as reached,
    ):
        pools = ConnectionPools(resolve=lambda host, port: next(answers))
        fetch = ReachFetch(HostRules(("*",)), pools)
        url = f"http://r.test:{public.port}/"
        with pytest.raises(HostNotAllowedError, match=r"not public|more than 5 redirects"):
            await (
                fetch.fetch(url) if face == "async" else asyncio.to_thread(fetch.sync.fetch, url)
            )
        await pools.aclose()
        assert (reached, private.reached_at) == ([PUBLIC], [])


@pytest.mark.parametrize("face", ["async", "sync"])
@pytest.mark.parametrize(
    "second",
    [
        HostRules(("*",)),
        HostRules(("*",), deny=("a.test",), allow_private_urls=True),
        HostRules(("*",), deny=("127.0.0.1",), allow_private_urls=True),
        HostRules(("*",), allow=(), allow_private_urls=True),
        HostRules(("b.test",), allow_private_urls=True),
    ],
    ids=["public only", "denied", "denied address", "none permitted", "not declared"],
)
async def test_a_kept_connection_of_one_policy_serves_no_other(face, second):
    with serving(lambda target, head: response()) as server, connects() as reached:
        pools = ConnectionPools(resolve=lambda host, port: ["127.0.0.1"])
        url = f"http://a.test:{server.port}/"

        async def ask(rules):
            fetch = ReachFetch(rules, pools)
            asking = (
                fetch.fetch(url) if face == "async" else asyncio.to_thread(fetch.sync.fetch, url)
            )
            return await asking

        first = HostRules(("*",), allow_private_urls=True)
        assert (await ask(first)).status == 200
        with pytest.raises(HostNotAllowedError):
            await ask(second)
        assert (await ask(first)).status == 200  # reused
        await pools.aclose()
        assert (reached, server.connections) == (["127.0.0.1"], 1)


def _slow(*pieces: bytes, every_seconds: float = 0.05, count: int = 400):
    """A server that sends the pieces and then repeats the last one."""
    listener = socket.create_server(("127.0.0.1", 0))

    def run() -> None:
        try:
            connection, _ = listener.accept()
            with connection:
                for piece in pieces[:-1]:
                    connection.sendall(piece)
                for _ in range(count):
                    connection.sendall(pieces[-1])
                    time.sleep(every_seconds)
        except OSError:
            pass

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return listener, thread


@pytest.mark.parametrize("face", ["async", "sync"])
@pytest.mark.parametrize(
    "pieces",
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n", b"x"),
        (b"HTTP/1.1 200 OK\r\n", b"X: y\r\n"),
        (b"H", b"T"),
        (b"", b"HTTP/1.1 103 Early Hints\r\n\r\n"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1", b";x"),
    ],
    ids=["body", "headers", "status line", "early hints", "chunks", "chunk extension"],
)
async def test_no_drip_outlasts_the_total_time(face, pieces):
    listener, thread = _slow(*pieces)
    pools = ConnectionPools()
    rules = HostRules(("*",), allow_private_urls=True)
    fetch = ReachFetch(rules, pools, FetchLimits(total_seconds=0.4))
    url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
    started = time.monotonic()
    with pytest.raises((TimeoutError, httpcore.RemoteProtocolError)):
        await (fetch.fetch(url) if face == "async" else asyncio.to_thread(fetch.sync.fetch, url))
    assert time.monotonic() - started < 8
    await pools.aclose()
    listener.close()
    thread.join(10)


@pytest.mark.parametrize("face", ["async", "sync"])
async def test_a_resolver_that_hangs_ends_at_the_total_time(face):
    released = threading.Event()

    def hang(host: str, port: int):
        released.wait(20)
        return ["127.0.0.1"]

    pools = ConnectionPools(resolve=hang)
    fetch = ReachFetch(HostRules(("*",)), pools, FetchLimits(total_seconds=0.3))
    started = time.monotonic()
    url = "http://a.test/"
    with pytest.raises(TimeoutError, match=r"longer than 0\.3 s"):
        await (fetch.fetch(url) if face == "async" else asyncio.to_thread(fetch.sync.fetch, url))
    assert time.monotonic() - started < 8
    released.set()
    await pools.aclose()


@pytest.mark.parametrize("face", ["async", "sync"])
async def test_a_bomb_in_many_gzip_members_is_stopped(face):
    packed = gzip.compress(b"\0" * 1_000_000) * 40
    with serving(lambda target, head: response(body=packed, Content_Encoding="gzip")) as server:
        pools = ConnectionPools()
        rules = HostRules(("*",), allow_private_urls=True)
        fetch = ReachFetch(rules, pools, FetchLimits(max_decoded_bytes=3_000_000))
        url = f"http://127.0.0.1:{server.port}/"
        with pytest.raises(OSError, match=r"longer than 3000000 bytes"):
            await (
                fetch.fetch(url) if face == "async" else asyncio.to_thread(fetch.sync.fetch, url)
            )
        await pools.aclose()


async def test_members_and_raw_deflate_are_read_and_a_cut_stream_is_an_error():
    import zlib

    raw = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    bodies = {
        "/members": ("gzip", gzip.compress(b"a" * 500) + gzip.compress(b"b" * 500)),
        "/raw": ("deflate", raw.compress(b"a" * 500) + raw.flush()),
        "/cut": ("gzip", gzip.compress(bytes(range(256)) * 9)[:-20]),
        "/empty": ("gzip", b""),
    }

    def answer(target, head):
        encoding, body = bodies[target]
        return response(body=body, Content_Encoding=encoding)

    with serving(answer) as server:
        pools = ConnectionPools()
        fetch = ReachFetch(HostRules(("*",), allow_private_urls=True), pools)
        base = f"http://127.0.0.1:{server.port}"
        assert (await fetch.fetch(f"{base}/members")).content == b"a" * 500 + b"b" * 500
        assert (await fetch.fetch(f"{base}/raw")).content == b"a" * 500
        assert (await fetch.fetch(f"{base}/empty")).content == b""
        with pytest.raises(OSError, match="ends early"):
            await fetch.fetch(f"{base}/cut")
        await pools.aclose()


SECRET_HEADERS = [
    ("Authorization", "Bearer x"),
    ("Cookie", "a=b"),
    ("X-Subscription-Token", "abc"),
    ("Ocp-Apim-Subscription-Key", "abc"),
    ("X-Goog-Api-Key", "abc"),
    ("DPoP", "abc"),
    ("X-Session-Id", "abc"),
    ("X-Signature", "abc"),
    ("X-User-Key", "abc"),
    ("X-Note", "ghp_" + "a1B2" * 9),
]


@pytest.mark.parametrize(("name", "value"), SECRET_HEADERS)
@pytest.mark.parametrize("face", ["async", "sync"])
async def test_secret_headers_stay_with_their_origin(name, value, face):
    with serving(lambda target, head: response(body=b"other")) as other:
        place = f"http://b.test:{other.port}/"
        with serving(lambda target, head: response(307, Location=place)) as first:
            pools = ConnectionPools(resolve=lambda host, port: ["127.0.0.1"])
            fetch = ReachFetch(HostRules(("*",), allow_private_urls=True), pools)
            url, headers = f"http://a.test:{first.port}/", {name: value, "X-Plain": "p"}
            if face == "async":
                await fetch.fetch(url, headers=headers)
            else:
                await asyncio.to_thread(fetch.sync.fetch, url, headers=headers)
            await pools.aclose()
        assert value.encode() in first.requests[0]
        assert value.encode() not in other.requests[0]
        assert b"X-Plain: p" in other.requests[0]


# Numbers


@st.composite
def spelled(draw, numbers):
    """An IPv4 address, and one of the ways to write it."""
    number = draw(numbers)
    parts = draw(st.integers(1, 4))
    values = list(number.to_bytes(4, "big"))[: parts - 1]
    values.append(number & ((1 << (8 * (5 - parts))) - 1))
    styles = [
        draw(st.sampled_from(["decimal", "hex", "HEX", "octal", "long octal"])) for _ in values
    ]
    shown = {
        "decimal": str,
        "hex": hex,
        "HEX": lambda value: f"0X{value:X}",
        "octal": lambda value: f"0{value:o}",
        "long octal": lambda value: f"000{value:o}",
    }
    text = ".".join(shown[style](value) for style, value in zip(styles, values, strict=True))
    if draw(st.booleans()):
        text = text.translate({ord(str(digit)): 0xFF10 + digit for digit in range(10)})
    return str(ipaddress.IPv4Address(number)), text


class Recorder:
    """A network without a network: what would be connected to."""

    def __init__(self) -> None:
        self.addresses: list[str] = []

    async def connect_tcp(self, host, *_):
        self.addresses.append(host)
        raise httpcore.ConnectError("no network here")


@given(spelled(st.integers(0, 2**32 - 1)), st.booleans())
def test_random_numbers_are_checked_as_the_address_that_they_connect_to(spelling, allow_private):
    address, text = spelling
    backend = GuardedBackend(HostRules(("*",), allow_private_urls=allow_private))
    backend._backend = recorder = Recorder()
    host = target_of(f"http://{text}/").host
    closed = _guarded_connections._core.closed_address(address)
    try:
        asyncio.run(backend.connect_tcp(host, 80))
    except HostNotAllowedError:
        assert closed is not None
        assert closed[1] or not allow_private
        assert recorder.addresses == []
    except httpcore.ConnectError:
        assert recorder.addresses == [address]
        assert closed is None or (allow_private and not closed[1])


@pytest.fixture(scope="module")
def everywhere():
    with serving(lambda target, head: response(), "0.0.0.0") as server:
        pools = ConnectionPools()
        yield server, pools
        asyncio.run(pools.aclose())


@given(spelling=spelled(st.integers(0x7F000001, 0x7F00FFFF)))
@settings(max_examples=40, deadline=None)
def test_a_random_spelling_reaches_the_address_that_it_means(everywhere, spelling):
    server, pools = everywhere
    address, text = spelling
    open_fetch = ReachFetch(HostRules((address,), allow_private_urls=True), pools)
    with connects() as reached:
        assert open_fetch.sync.fetch(f"http://{text}:{server.port}/").status == 200
    if reached:  # else a kept connection to the same address
        assert (reached, server.reached_at[-1]) == ([address], address)
    if address != PUBLIC:
        with connects() as reached, pytest.raises(HostNotAllowedError, match="not public"):
            ReachFetch(HostRules(("*",)), pools).sync.fetch(f"http://{text}:{server.port}/")
        assert reached == []


# The life of connections


def test_connections_end_with_their_loop_and_are_made_again_in_the_next():
    with serving(lambda target, head: response()) as server:
        pools = ConnectionPools()
        fetch = ReachFetch(HostRules(("*",), allow_private_urls=True), pools)

        async def twice():
            for _ in range(2):
                await fetch.fetch(f"http://127.0.0.1:{server.port}/")

        for _ in range(5):
            asyncio.run(twice())
            assert pools._async == {}
        assert server.connections == 5


@pytest.mark.parametrize("face", ["async", "plain"])
async def test_bytes_behind_a_reply_are_not_the_reply_to_the_next_request(face):
    behind = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"
    with serving(lambda target, head: response(body=b"own") + behind) as server, connects():
        pools = ConnectionPools(resolve=lambda host, port: ["127.0.0.1"])
        fetch = ReachFetch(HostRules(("*",), allow_private_urls=True), pools)
        url = f"http://a.test:{server.port}/"
        for _ in range(3):
            asking = (
                fetch.fetch(url) if face == "async" else asyncio.to_thread(fetch.sync.fetch, url)
            )
            assert (await asking).content == b"own"
        assert server.connections == 3
        await pools.aclose()


@pytest.mark.parametrize("charset", ["punycode", "idna", "unicode_escape", "zlib", "undefined"])
def test_no_charset_of_a_reply_takes_long_or_decodes_anything_but_text(charset):
    data = b"a" * 200_000 + b"-" + b"b" * 200_000
    start = time.monotonic()
    assert decoded_by(charset, data) == data.decode()
    reply = FetchResponse(200, {"content-type": f"text/html; charset={charset}"}, "", data)
    assert reply.text == data.decode()
    assert decoded(data, charset) == data.decode()
    assert time.monotonic() - start < 2
