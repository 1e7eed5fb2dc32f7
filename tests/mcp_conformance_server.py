"""The gateway of the conformance suite: tools, and what a bridged server offers beside them.

Prints its URL on standard error and serves until it is ended.
"""

import asyncio
import sys
from pathlib import Path

from ethos_registry import Personality
from ethos_registry.mcp import McpBridge, McpGateway, McpServer
from mcp_conformance_tools import registry

SERVER = str(Path(__file__).parent / "mcp_resource_server.py")


async def main() -> None:
    upstream = McpServer(
        name="resources",
        command=sys.executable,
        args=[SERVER],
        resources=True,
        connect_timeout_seconds=60,
    )
    everything = Personality("everything", mcp_servers=["resources"])
    async with McpBridge([upstream]) as bridge:
        bridge.attach(registry)
        gateway = McpGateway(registry, everything, bridge=bridge)
        await gateway.serve_http(
            port=0, on_ready=lambda urls: print(f"serving at {urls[0]}", file=sys.stderr)
        )


asyncio.run(main())
