"""Tools of a worker that writes to the channel of its pool."""

from __future__ import annotations

import asyncio
import gc
import os
import socket
import time

from ethos_registry import ToolRegistry
from ethos_registry.transports._worker import Channel

registry = ToolRegistry()
EARLY = "ETHOS_TEST_EARLY_LINE"


def write(data: bytes) -> None:
    """To the channel, as any code of the worker can."""
    [channel] = [each for each in gc.get_objects() if isinstance(each, Channel)]
    os.set_blocking(channel.descriptor, True)
    view = memoryview(data)
    while view:
        view = view[os.write(channel.descriptor, view) :]


@registry.tool
async def disturb(line: str, times: int = 1) -> str:
    """Write to the channel."""
    await asyncio.sleep(0.2)  # the call is reported as accepted before
    for _ in range(times):
        write(line.encode())
    await asyncio.sleep(60)
    return "not reached"


@registry.tool
def misuse(way: str) -> str:
    """Do something to the queue of the worker that no worker does."""
    [channel] = [each for each in gc.get_objects() if isinstance(each, Channel)]
    tickets = channel._tickets
    tickets.setblocking(True)
    if way == "take a part":
        tickets.recv(3)
    elif way == "take all and wait for more":
        while True:
            tickets.recv(4_096)
    elif way == "shut":
        tickets.shutdown(socket.SHUT_RDWR)
    time.sleep(600)
    return "not reached"


@registry.tool
def plain() -> str:
    """Answer, as a plain function."""
    return "plain"


@registry.tool
async def hello() -> str:
    """Answer."""
    return "hello"


def early() -> ToolRegistry:
    """The registry, after a line that comes before what the worker reports."""
    write(os.environ[EARLY].encode() + b"\n")
    return registry
