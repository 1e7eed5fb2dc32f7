"""A host with running workers, for tests that kill it: prints a line when its tool runs."""

from __future__ import annotations

import asyncio
import sys

from ethos_registry import ToolRegistry
from ethos_registry.transports import ProcessTransport
from transports import tools

if __name__ == "__main__":
    pool = ProcessTransport("transports.tools:registry", workers=2)
    registry = ToolRegistry(tools.registry.all(), transports={"*": pool})
    calls = [
        {"id": "1", "name": "tick_plain", "args": {"file": sys.argv[1], "seconds": 300}},
        {"id": "2", "name": "tick", "args": {"file": sys.argv[2], "seconds": 300}},
    ]
    asyncio.run(registry.execute_parallel(calls))
