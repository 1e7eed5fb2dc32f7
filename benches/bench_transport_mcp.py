"""`McpTransport` to a gateway over HTTP and over pipes: medians per call, 64 in flight and alone.

Needs the extra `mcp`: `python benches/bench_transport_mcp.py`. Printed beside them: the same calls
in this process.
"""

from __future__ import annotations

import asyncio
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from ethos_registry import ToolRegistry, tool
from ethos_registry.mcp import McpServer
from ethos_registry.transports import McpTransport

BATCH, ROUNDS, WARM_UP = 64, 40, 5
HERE = str(Path(__file__).parent)


@tool
async def echo(number: int) -> str:
    """Return a number."""
    return str(number)


def calls(count: int) -> list[dict[str, object]]:
    return [{"id": str(n), "name": "echo", "args": {"number": n}} for n in range(count)]


def command(policy: Path, *options: str) -> list[str]:
    serve = ["serve", "--personality", str(policy), "--tools", "bench_transport_mcp:echo"]
    return [sys.executable, "-m", "ethos_registry", *serve, *options]


async def measure(sides: dict[str, Callable[[], Awaitable[object]]], count: int) -> None:
    """Print the median of each side per call; sides take turns."""
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(ROUNDS):
        for name, side in sides.items():
            started = time.perf_counter()
            await side()
            seconds[name].append((time.perf_counter() - started) / count)
    for name, values in seconds.items():
        print(
            f"{count:3} calls  {name:16} {statistics.median(values[WARM_UP:]) * 1e6:8.0f} us a call"
        )


async def main() -> None:
    """Measure a batch and a single call."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([HERE, *filter(None, sys.path)])}
    policy = Path(tempfile.mkdtemp()) / "personality.yaml"
    policy.write_text("id: all\n")
    serve = command(policy, "--http", "127.0.0.1:0")
    http = subprocess.Popen(serve, env=environment, stderr=subprocess.PIPE, text=True)  # noqa: ASYNC220
    assert http.stderr is not None
    url = next(found[0] for line in http.stderr if (found := re.search(r"http://\S+", line)))
    [program, *arguments] = command(policy)
    piped = McpServer(
        name="pipes",
        command=program,
        args=arguments,
        env={"PYTHONPATH": environment["PYTHONPATH"]},
    )
    try:
        async with (
            McpTransport(piped) as pipes,
            McpTransport(McpServer(name="http", url=url)) as far,
        ):
            registries = {
                "in this process": ToolRegistry([echo]),
                "over pipes": ToolRegistry([echo], transports={"*": pipes}),
                "over HTTP": ToolRegistry([echo], transports={"*": far}),
            }
            for count in (1, BATCH):
                sides = {
                    name: lambda registry=registry, count=count: registry.execute_parallel(
                        calls(count)
                    )
                    for name, registry in registries.items()
                }
                results = [await side() for side in sides.values()]
                assert all(result.result.ok for batch in results for result in batch)
                await measure(sides, count)
    finally:
        http.terminate()
        http.wait()


if __name__ == "__main__":
    asyncio.run(main())
