"""What the bridge costs over the client of the SDK, with the same server, 64 calls in flight.

    python benches/bench_mcp_bridge.py          # prints both, and the difference per call
    python benches/bench_mcp_bridge.py --check  # fails above 0.15 ms of processor time per call

Rounds alternate between the two sides. Each has a server of its own: that of the SDK over stdio,
with a tool that does nothing. Printed are the time that passed and the processor time of this
process; on a machine with other work only the latter shows what the bridge adds.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from statistics import median
from time import perf_counter, process_time
from typing import NamedTuple

from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from ethos_registry import Personality, ToolRegistry
from ethos_registry.mcp import McpBridge

IN_FLIGHT = 64
BATCHES = 10
ROUNDS = 7
LIMIT_MS = 0.15
SERVER = '''
from mcp.server.mcpserver import MCPServer

server = MCPServer("bench", log_level="ERROR")

@server.tool()
async def nothing(number: int) -> str:
    """Do nothing."""
    return "done"

server.run()
'''


class Times(NamedTuple):
    """Milliseconds per call."""

    passed: float
    processor: float


async def times_per_call(batch: Callable[[], Awaitable[object]]) -> Times:
    passed, processor = perf_counter(), process_time()
    for _ in range(BATCHES):
        await batch()
    scale = 1000 / (BATCHES * IN_FLIGHT)
    return Times((perf_counter() - passed) * scale, (process_time() - processor) * scale)


async def measure(protocol: str) -> tuple[list[Times], list[Times]]:
    """The times of each round: of the SDK's client, and of the bridge."""
    command = [sys.executable, "-c", SERVER]
    parameters = StdioServerParameters(command=command[0], args=command[1:])
    registry = ToolRegistry()
    async with (
        Client(stdio_client(parameters), mode=protocol) as client,
        McpBridge.from_command("bench", *command, protocol=protocol) as bridge,
    ):
        bridge.attach(registry)
        await client.list_tools()
        view = registry.view(Personality("bench", mcp_servers=["bench"]))
        calls = [
            {"id": str(number), "name": "mcp__bench__nothing", "args": {"number": number}}
            for number in range(IN_FLIGHT)
        ]

        async def bare() -> None:
            results = await asyncio.gather(
                *(client.call_tool("nothing", {"number": number}) for number in range(IN_FLIGHT))
            )
            assert all(result.content[0].text == "done" for result in results)  # type: ignore[union-attr]

        async def bridged() -> None:
            results = await view.execute(calls)
            assert all(result.text == "done" for result in results)

        sides = [(bare, list[Times]()), (bridged, list[Times]())]
        await bare()
        await bridged()
        for number in range(ROUNDS):
            for batch, times in sides if number % 2 else sides[::-1]:
                times.append(await times_per_call(batch))
    return sides[0][1], sides[1][1]


def main() -> int:
    is_within = True
    for protocol in ("auto", "legacy"):
        bare, bridged = asyncio.run(measure(protocol))
        for field in Times._fields:
            theirs = [getattr(times, field) for times in bare]
            ours = [getattr(times, field) for times in bridged]
            added = median(mine - other for mine, other in zip(ours, theirs, strict=True))
            print(
                f"{protocol:6} {field:9} SDK {median(theirs):.3f} ms a call, "
                f"bridge {median(ours):.3f} ms, added {added:+.3f} ms"
            )
        is_within = is_within and added <= LIMIT_MS
    return 0 if is_within or "--check" not in sys.argv else 1


if __name__ == "__main__":
    sys.exit(main())
