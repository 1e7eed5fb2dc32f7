"""Tools that report where they run, and tools that keep state."""

from __future__ import annotations

import asyncio
import os

from ethos_registry import ToolContext, ToolRegistry
from transports.tools import count, count_again, wait

registry = ToolRegistry([count, count_again, wait])
counted: dict[str, int] = {}
running = most_running = 0


@registry.tool
async def where(seconds: float = 0.0) -> str:
    """The node and the process that run the tool."""
    import ray

    await asyncio.sleep(seconds)
    return f"{ray.get_runtime_context().get_node_id()} {os.getpid()}"


@registry.tool
async def add(context: ToolContext, seconds: float = 0.0) -> str:
    """Count the calls of this process, and how many ran at once."""
    global running, most_running
    running += 1
    most_running = max(most_running, running)
    await asyncio.sleep(seconds)
    counted[context.session_id] = counted.get(context.session_id, 0) + 1
    running -= 1
    return f"{os.getpid()} {counted[context.session_id]} {most_running}"
