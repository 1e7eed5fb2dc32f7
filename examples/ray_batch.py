"""A batch of 200 calls on the actors of a Ray cluster, with one result per call, in order.

    pip install '.[ray]'
    python examples/ray_batch.py                   # starts a small cluster on this machine
    python examples/ray_batch.py --address auto    # uses the cluster that runs

The actors import the tools by name (`ray_batch:registry`), so nothing is pickled.
"""

import argparse
import asyncio
import json
import time
from collections import Counter

from ethos_registry import Personality, ToolContext, ToolRegistry

registry = ToolRegistry()


@registry.tool(toolset="numbers", timeout_seconds=20, idempotent=True)
def count_primes(first: int, last: int) -> dict[str, int]:
    """Count the prime numbers from `first` to `last`."""
    if last < first:
        raise ValueError(f"last must be at least {first}, got {last}")
    found = 0
    for number in range(max(first, 2), last + 1):
        found += all(number % divisor for divisor in range(2, int(number**0.5) + 1))
    return {"first": first, "last": last, "primes": found}


async def main(workers: int) -> None:
    """Send 200 calls as one batch; one of them is wrong."""
    import ray_batch  # the actors know the tools under this name

    from ethos_registry.transports.ray import RayTransport

    calls = [
        {
            "id": str(number),
            "name": "count_primes",
            "args": {"first": number * 100, "last": number * 100 + (99 if number != 7 else -1)},
        }
        for number in range(200)
    ]
    async with RayTransport("ray_batch:registry", workers=workers, num_cpus=0.5) as transport:
        remote = ToolRegistry(ray_batch.registry.all(), transports={"toolset:numbers": transport})
        view = remote.view(Personality("counter"))
        began = time.monotonic()
        results = await view.execute(calls, ToolContext(result_budget_chars=100_000))
        seconds = time.monotonic() - began
    print(dict(Counter("ok" if result.ok else "error" for result in results)))
    print([result.tool_call_id for result in results] == [call["id"] for call in calls])
    print(results[0].text)
    print(results[7].text)
    total = sum(json.loads(result.text)["primes"] for result in results if result.ok)
    print(f"{total} primes, 200 calls in {seconds:.1f} s")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Run a batch on a Ray cluster.")
    parser.add_argument("--address", help="of a cluster; without it, one is started here")
    parser.add_argument("--workers", type=int, default=2, help="actors (default 2)")
    chosen = parser.parse_args()

    import ray

    ray.init(address=chosen.address, include_dashboard=False, log_to_driver=False)
    try:
        asyncio.run(main(chosen.workers))
    finally:
        ray.shutdown()
