"""What the gateway adds to the bare SDK: one no-op tool, 64 calls in flight, over pipes.

Both servers and one client each run in the same minute, round by round in turn:

    python benches/bench_mcp_gateway.py [calls in a round]
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import time
from contextlib import AsyncExitStack

from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

ROUNDS = 7
IN_FLIGHT = 64

BARE = """
import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp_types import CallToolResult, ListToolsResult, TextContent, Tool

async def listed(context, params):
    schema = {"type": "object", "properties": {"number": {"type": "integer"}}}
    return ListToolsResult(tools=[Tool(name="echo", input_schema=schema)])

async def call(context, params):
    return CallToolResult(content=[TextContent(text=str(params.arguments["number"]))])

async def main():
    server = Server("bare", on_list_tools=listed, on_call_tool=call)
    async with stdio_server() as (reader, writer):
        await server.run(reader, writer, server.create_initialization_options())

anyio.run(main)
"""

GATEWAY = """
import asyncio
from ethos_registry import Personality, Tool, ToolRegistry, ok
from ethos_registry.mcp import McpGateway

async def echo(args, context):
    return ok(str(args["number"]))

schema = {"type": "object", "properties": {"number": {"type": "integer"}}}
gateway = McpGateway(ToolRegistry([Tool("echo", "", schema, echo)]), Personality("all"))
asyncio.run(SERVE)
"""
OWN_TRANSPORT = "gateway.serve_stdio()"
OVER_SDK = GATEWAY.replace(
    "asyncio.run(SERVE)",
    """
from mcp.server.stdio import stdio_server

async def main():
    server = gateway.server()
    async with stdio_server() as (reader, writer):
        await server.run(reader, writer, server.create_initialization_options())

asyncio.run(main())
""",
)
SERVERS = {
    "bare SDK": BARE,
    "gateway, on the SDK's transport": OVER_SDK,
    "gateway": GATEWAY.replace("SERVE", OWN_TRANSPORT),
}


async def milliseconds_a_call(client: Client, calls: int) -> float:
    numbers = iter(range(calls))

    async def work() -> None:
        for number in numbers:
            result = await client.call_tool("echo", {"number": number})
            assert result.content[0].text == str(number)

    started = time.perf_counter()
    await asyncio.gather(*(work() for _ in range(IN_FLIGHT)))
    return (time.perf_counter() - started) * 1000 / calls


async def main(calls: int) -> None:
    for mode in ("legacy", "auto"):
        async with AsyncExitStack() as stack:
            clients = {}
            for name, source in SERVERS.items():
                parameters = StdioServerParameters(command=sys.executable, args=["-c", source])
                client = Client(stdio_client(parameters), mode=mode)
                clients[name] = await stack.enter_async_context(client)
            times: dict[str, list[float]] = {name: [] for name in SERVERS}
            for client in clients.values():
                await milliseconds_a_call(client, calls // 4)
            for _ in range(ROUNDS):
                for name, client in clients.items():
                    times[name].append(await milliseconds_a_call(client, calls))
            revision = clients["gateway"].protocol_version
        bare = times["bare SDK"]
        print(f"revision {revision}, {IN_FLIGHT} in flight, ms a call, median of {ROUNDS} rounds")
        for name, found in times.items():
            added = statistics.median(one - other for one, other in zip(found, bare, strict=True))
            print(f"  {name:32} {statistics.median(found):6.3f}  over the bare SDK {added:+.3f}")


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 2_000))
