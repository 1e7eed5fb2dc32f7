"""What the bridge costs over the client of the SDK, with the same server, 64 calls in flight.

    python benches/bench_mcp_bridge.py          # prints both, and the difference per call
    python benches/bench_mcp_bridge.py --check  # fails above 0.15 ms per call

Rounds alternate between the two sides; each side has a process of its own. The server is the one of
the SDK over stdio, with a tool that does nothing.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
from collections.abc import Awaitable, Callable
from time import perf_counter

from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from ethos_registry import McpBridge, Personality, ToolRegistry

IN_FLIGHT = 64
BATCHES = 10
ROUNDS = 7
LIMIT_MS = 0.15
SERVER = '''
from mcp.server.mcpserver import MCPServer

server = MCPServer("bench", log_level="ERROR")

@server.tool()
def nothing(number: int) -> str:
    """Do nothing."""
    return "done"

server.run()
'''


async def milliseconds_per_call(batch: Callable[[], Awaitable[object]]) -> float:
    started = perf_counter()
    for _ in range(BATCHES):
        await batch()
    return (perf_counter() - started) * 1000 / (BATCHES * IN_FLIGHT)


async def measure(protocol: str) -> tuple[list[float], list[float]]:
    """Milliseconds per call of each round: of the SDK's client, and of the bridge."""
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

        rounds: tuple[list[float], list[float]] = ([], [])
        await bare()
        await bridged()
        for _ in range(ROUNDS):
            rounds[0].append(await milliseconds_per_call(bare))
            rounds[1].append(await milliseconds_per_call(bridged))
    return rounds


def main() -> int:
    is_within = True
    for protocol in ("auto", "legacy"):
        bare, bridged = asyncio.run(measure(protocol))
        added = statistics.median(ours - theirs for ours, theirs in zip(bridged, bare, strict=True))
        is_within = is_within and added <= LIMIT_MS
        print(
            f"{protocol:7} SDK {statistics.median(bare):.3f} ms a call, bridge "
            f"{statistics.median(bridged):.3f} ms, added {added:+.3f} ms "
            f"(median of {ROUNDS} interleaved rounds of {BATCHES * IN_FLIGHT} calls)"
        )
    return 0 if is_within or "--check" not in sys.argv else 1


if __name__ == "__main__":
    sys.exit(main())
