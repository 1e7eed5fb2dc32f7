"""Names are looked up on threads of their own: a slow resolver delays nothing else."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from ipaddress import ip_address
from typing import TypeAlias

__all__ = ["Resolve", "look_up", "look_up_blocking", "system_addresses"]

Resolve: TypeAlias = Callable[[str, int], Sequence[str]]
"""The addresses of a host, as text; blocking. The default asks the system."""


def system_addresses(host: str, port: int) -> list[str]:
    """The addresses that the system's resolver gives; including numeric notations."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[4][0]) for address in found))


async def look_up(resolve: Resolve, host: str, port: int) -> Sequence[str]:
    """The addresses of a host, for code on an event loop."""
    if _is_address(host):
        return [host]
    return await asyncio.wrap_future(_started(resolve, host, port))


def look_up_blocking(
    resolve: Resolve, host: str, port: int, timeout_seconds: float | None
) -> Sequence[str]:
    """The same for plain functions; `TimeoutError` if the resolver takes too long."""
    if _is_address(host):
        return [host]
    return _started(resolve, host, port).result(timeout_seconds)


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return "%" not in host


def _started(resolve: Resolve, host: str, port: int) -> Future[Sequence[str]]:
    """A lookup on a daemon thread: one that hangs holds up neither a pool nor the exit."""
    future: Future[Sequence[str]] = Future()
    future.set_running_or_notify_cancel()

    def run() -> None:
        try:
            future.set_result(resolve(host, port))
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, name=f"lookup of {host}", daemon=True).start()
    return future
