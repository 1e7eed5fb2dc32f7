"""`RayTransport` beside a bare actor call with the same number of requests: medians.

Needs the extra `ray`: `python benches/bench_transport_ray.py`.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable

from ethos_registry import ToolContext, tool
from ethos_registry.transports import ToolExecuteRequest
from ethos_registry.transports.ray import RayTransport
from ethos_registry.types import AbortController

BATCH, ROUNDS = 64, 40


@tool
async def echo(number: int) -> str:
    """Return a number."""
    return str(number)


class Bare:
    """An actor without anything of ours."""

    async def many(self, requests: list[dict[str, int]]) -> list[str]:
        """Answer each request."""
        return [str(request["number"]) for request in requests]


async def measure(sides: dict[str, Callable[[], Awaitable[object]]]) -> None:
    """Print the median of each side; sides take turns."""
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(ROUNDS):
        for name, side in sides.items():
            started = time.perf_counter()
            await side()
            seconds[name].append(time.perf_counter() - started)
    for name, values in seconds.items():
        print(f"{name:28} {statistics.median(values[5:]) * 1e3:8.2f} ms")


async def main() -> None:
    """Measure a batch and a single call."""
    import ray

    ray.init(
        num_cpus=2,
        include_dashboard=False,
        object_store_memory=200 << 20,
        log_to_driver=False,
        configure_logging=False,
    )
    bare = ray.remote(num_cpus=0, max_concurrency=64)(Bare).remote()
    signal = AbortController().signal
    context = ToolContext()
    requests = [ToolExecuteRequest(str(n), "echo", {"number": n}, context) for n in range(BATCH)]
    payload = [{"number": n} for n in range(BATCH)]
    async with RayTransport("bench_transport_ray:echo") as transport:

        async def ours(count: int) -> None:
            async for _ in transport.execute_many(requests[:count], signal):
                pass

        async def theirs(count: int) -> None:
            await bare.many.remote(payload[:count])

        await measure(
            {
                f"bare actor, {BATCH} in a call": lambda: theirs(BATCH),
                f"RayTransport, {BATCH} in a batch": lambda: ours(BATCH),
                "bare actor, 1": lambda: theirs(1),
                "RayTransport, 1": lambda: ours(1),
            }
        )
    ray.shutdown()


if __name__ == "__main__":
    os.environ.setdefault("RAY_AUTH_MODE", "disabled")
    os.environ["HOME"] = tempfile.mkdtemp()
    asyncio.run(main())
