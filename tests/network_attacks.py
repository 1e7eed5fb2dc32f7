"""What attacks on scoped fetches share: who was connected to, by name and by number."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ethos_registry.capabilities import ConnectionPools
from ethos_registry.capabilities._address_guard import HostRules, system_addresses
from ethos_registry.capabilities._fetch import ReachFetch

PUBLIC = "127.0.0.2"
"""Counts as a public address in these tests."""

_RECORDING: list[list[str]] = []


def _on_event(event: str, arguments: tuple[Any, ...]) -> None:
    if _RECORDING and event == "socket.connect" and isinstance(arguments[1], tuple):
        _RECORDING[-1].append(str(arguments[1][0]))


sys.addaudithook(_on_event)


def _record_connections_of(loops: Any) -> None:
    """uvloop raises no audit event: its sockets are native."""
    connect = loops.create_connection

    async def create_connection(
        loop: Any, factory: Any, host: Any = None, *rest: Any, **options: Any
    ) -> Any:
        if _RECORDING and host is not None:
            _RECORDING[-1].append(host)
        return await connect(loop, factory, host, *rest, **options)

    loops.create_connection = create_connection


if os.environ.get("ETHOS_REGISTRY_TEST_LOOP") == "uvloop":
    import uvloop

    _record_connections_of(uvloop.Loop)


@contextlib.contextmanager
def connects() -> Iterator[list[str]]:
    """The addresses that this process tries to connect to, in order."""
    found: list[str] = []
    _RECORDING.append(found)
    try:
        yield found
    finally:
        _RECORDING.remove(found)


Answers = dict[str, list[str] | Callable[[], list[str]]]


def resolver(names: Answers) -> Callable[[str, int], list[str]]:
    """A resolver that knows these names, and asks the system about numbers."""

    def resolve(host: str, port: int) -> list[str]:
        found = names.get(host)
        if found is None:
            return system_addresses(host, port)
        return found() if callable(found) else found

    return resolve


@dataclass
class Attack:
    """One attempt to reach what is not permitted."""

    name: str
    url: str
    """`{port}` is the port of both servers."""
    declared: tuple[str, ...] = ("*",)
    reaches: tuple[str, ...] = ()
    """The addresses that may be connected to."""
    location: str | None = None
    """Where the public server redirects to."""
    names: Answers = field(default_factory=dict)
    allow_private: bool = False
    deny: tuple[str, ...] = ()
    allow: tuple[str, ...] | None = None
    headers: dict[str, str] = field(default_factory=dict)

    def fetch(self, pools: ConnectionPools) -> ReachFetch:
        rules = HostRules(self.declared, self.allow, self.deny, self.allow_private)
        return ReachFetch(rules, pools)
