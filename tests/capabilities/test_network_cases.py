"""Conformance of requests, attachments and injected objects with the TypeScript system.

The pairs of `data/ethos_network_cases.json` fix outcomes: what was allowed, refused and sent; error
texts are ours. Where that system does what is a fault, the answer of this project is tested.
"""

from __future__ import annotations

import ipaddress
import json
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpcore
import pytest

from ethos_registry import Tool, ToolContext, ToolRegistry, ok
from ethos_registry.capabilities import (
    AttachmentNotFoundError,
    ConnectionPools,
    HostNotAllowedError,
    KeyValueDatabase,
    NetworkPolicy,
    ToolCapabilities,
    standard_backends,
)
from ethos_registry.capabilities._address_guard import HostRules
from ethos_registry.capabilities._fetch import ReachFetch
from ethos_registry.capabilities._files import TurnAttachments
from ethos_registry.capabilities._resolver import resolve_capabilities
from ethos_registry.capabilities._standard import storage_scope
from ethos_registry.types import Attachment
from network_attacks import resolver

_FILE = Path(__file__).parents[1] / "data" / "ethos_network_cases.json"
CASES: list[dict[str, Any]] = json.loads(_FILE.read_text(encoding="ascii"))["cases"]


def cases(op: str) -> list[Any]:
    return [pytest.param(case, id=case["id"]) for case in CASES if case["op"] == op]


def test_no_case_is_silently_left_out() -> None:
    assert Counter(case["op"] for case in CASES) == {
        "scoped_fetch": 45,
        "resolve_hosts": 6,
        "execute": 5,
        "resolve_injected": 4,
        "scoped_attachments": 4,
    }
    assert {case["id"] for case in CASES if "defect" in case} == {
        "fetch-ssrf-private-ok-meta-v6-mapped",
        "fetch-ssrf-meta-v6-compat",
        "fetch-ssrf-meta-nat64",
        "fetch-ssrf-private-ok-meta-nat64",
        "fetch-ssrf-meta-6to4",
        "fetch-ssrf-link-local-v6-feb",
        "fetch-ssrf-benchmark",
        "fetch-dns-fails",
        "fetch-redirect-undeclared-host",
        "hosts-allow-empty",
    }


class Web(httpcore.AsyncNetworkBackend):
    """Every address answers, from the replies of a case; requests are recorded."""

    def __init__(self, responses: dict[str, Any]) -> None:
        self.responses = responses
        self.requests: list[str] = []

    async def connect_tcp(self, host: str, port: int, *_: Any, **__: Any) -> Connection:
        return Connection(self, host, port)

    async def sleep(self, seconds: float) -> None:
        raise AssertionError("no attempt is repeated")


class Connection(httpcore.AsyncNetworkStream):
    """A connection that passes for TLS too."""

    def __init__(self, web: Web, address: str, port: int, scheme: str = "http") -> None:
        self.web, self.address, self.port, self.scheme = web, address, port, scheme
        self._reply = b""

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109
        if not buffer:
            return
        lines = buffer.decode().split("\r\n")
        host = next(line[6:] for line in lines if line.startswith("Host: "))
        url = f"{self.scheme}://{host}{lines[0].split(' ')[1]}"
        self.web.requests.append(url)
        given = self.web.responses.get(url, {})
        location = f"Location: {given['location']}\r\n" if "location" in given else ""
        self._reply = f"HTTP/1.1 {given.get('status', 200)} X\r\n{location}".encode()
        if given.get("status") != 304:
            self._reply += b"Content-Length: 0\r\n"
        self._reply += b"\r\n"

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109
        reply, self._reply = self._reply, b""
        return reply

    async def start_tls(self, *_: Any, **__: Any) -> Connection:
        return Connection(self.web, self.address, self.port, "https")

    async def aclose(self) -> None:
        pass

    def get_extra_info(self, info: str) -> Any:
        return self if info == "socket" else None

    def getpeername(self) -> tuple[str, int]:
        return self.address, self.port

    def getsockname(self) -> tuple[str, int]:
        return "192.0.2.77", 50_000


@pytest.mark.parametrize("case", cases("scoped_fetch"))
async def test_requests(case: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    given, expected = case["input"], case["expected"]
    policy = dict(given.get("policy") or {})
    # Here `allowed_hosts` is what a declaration and `allow` come to; the cases of `resolve_hosts`
    # show that an empty `allow` leaves no host.
    if not policy.get("allow"):
        policy.pop("allow", None)
    web = Web(given.get("responses", {}))
    monkeypatch.setattr(httpcore, "AnyIOBackend", lambda: web)
    names = {name: list(found) for name, found in given["dns"].items()}
    nothing: dict[str, Any] = {"nx.example.com": _unknown}
    known = {urlsplit(given["url"]).hostname: ["93.184.216.34"]}
    if _is_number(given["url"]):
        known = {}
    pools = ConnectionPools(resolve=resolver(known | names | nothing))
    rules = HostRules.of(given["allowed_hosts"], NetworkPolicy(**policy))
    try:
        reply = await ReachFetch(rules, pools).fetch(given["url"])
        actual: dict[str, Any] = {"ok": reply.ok or reply.status == 304, "status": reply.status}
    except (HostNotAllowedError, httpcore.ConnectError) as error:
        actual = {"error": str(error)}
    finally:
        await pools.aclose()
    sent = [item["url"] for item in expected["requests"]]
    if "defect" in case:
        assert "error" in actual
        assert web.requests == sent[: -1 if "redirect" in case["id"] else 0]
    elif "error" in expected:
        assert actual["error"].startswith("HOST_NOT_ALLOWED: ")
        assert web.requests == sent
    else:
        assert actual["status"] == expected["status"]
        assert [_same(url) for url in web.requests] == [_same(url) for url in sent]


def _unknown() -> list[str]:
    raise OSError("no such name")


def _is_number(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    return host[:1].isdigit() or ":" in host


def _same(url: str) -> tuple[Any, ...]:
    """A URL by what it means: an IPv6 address has more than one spelling."""
    parts = urlsplit(url)
    host: Any = parts.hostname or ""
    return parts.scheme, ipaddress.ip_address(host) if ":" in host else host, parts.path


@pytest.mark.parametrize("case", cases("resolve_hosts"))
def test_hosts_of_a_declaration_under_a_policy(case: dict[str, Any]) -> None:
    given = case["input"]
    policy = None if given["policy"] is None else NetworkPolicy(**given["policy"])
    rules = HostRules.of(given["declared"], policy)
    permitted = set()
    for pattern in given["declared"]:
        try:
            rules.check(pattern.replace("*", "any.example" if pattern == "*" else "any"))
            permitted.add(pattern)
        except HostNotAllowedError:
            pass
    # An empty list permits nothing, here and in the checks before a call.
    assert permitted == set(case["expected"]["hosts"])


@pytest.mark.parametrize("case", cases("execute"))
async def test_a_tool_without_backends_does_not_run(case: dict[str, Any]) -> None:
    given = case["input"]
    ran: list[Any] = []
    [described] = given["tools"]
    tool = Tool(
        described["name"],
        "A tool.",
        {"type": "object"},
        lambda args, context: ran.append(args) or ok("ran"),
        capabilities=ToolCapabilities.from_wire(described["capabilities"]),
    )
    calls = [
        {"id": call["tool_call_id"], "name": call["name"], "args": call["args"]}
        for call in given["calls"]
    ]
    results = await ToolRegistry([tool]).execute_parallel(calls)
    [expected] = case["expected"]["results"]
    assert [result.result.to_wire() for result in results] == [expected["result"]]
    assert ran == []


FIELDS = {"kvStore": "kv_store", "scopedProcess": "scoped_process"}


@pytest.mark.parametrize("case", cases("resolve_injected"))
async def test_a_tool_gets_the_objects_that_it_declared(case: dict[str, Any]) -> None:
    given, expected = case["input"], case["expected"]
    declared = ToolCapabilities.from_wire(given["capabilities"])
    scope = given["scope"]
    context = ToolContext(session_id=scope["sessionId"], personality_id=scope["personalityId"])
    if not given["backends"]:
        # A declared capability whose own backend is missing fails closed.
        tool = Tool(
            "t", "T.", {"type": "object"}, lambda args, context: ok(""), capabilities=declared
        )
        registry = ToolRegistry([tool], capability_backends={})
        [result] = await registry.execute_parallel([{"id": "1", "name": "t"}], context)
        assert result.result.code == "not_available"
        return
    database = KeyValueDatabase(":memory:")
    backends = standard_backends(key_values=database)
    scoped = resolve_capabilities("mytool", declared, backends, context)
    assert sorted(scoped) == sorted(FIELDS[name] for name in expected["fields"])
    if expected["kv_scope"] is not None:
        assert storage_scope("mytool", declared.storage or {}, context) == expected["kv_scope"]
    database.close()


@pytest.mark.parametrize("case", cases("scoped_attachments"))
async def test_attachments(case: dict[str, Any]) -> None:
    given, expected = case["input"], case["expected"]
    listed = [Attachment.from_wire(item) for item in given["attachments"]]
    attachments = TurnAttachments({"kinds": given["kinds"]}, listed)
    call = given["call"]
    if call["op"] == "list":
        assert [item.ref for item in attachments.list()] == expected["refs"]
        return
    assert "error" in expected
    opened = Attachment.from_wire(call["att"]) if call["op"] == "open" else call["ref"]
    with pytest.raises(AttachmentNotFoundError):
        await attachments.open(opened)
