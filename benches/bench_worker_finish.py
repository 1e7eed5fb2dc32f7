"""What it saves that workers shorten results before they send them.

64 long results in one batch, trimmed to the budget: by the worker, and by the caller after the
whole text has travelled. Both pools are asked in turn, in one run.
"""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import statistics
import time

from ethos_registry import ToolContext, ToolRegistry
from ethos_registry.transports import ProcessTransport, TransportTraits

CALLS = 64

registry = ToolRegistry(redact=False)


@registry.tool
async def answer(characters: int) -> str:
    """A long result."""
    return "line of an output\n" * (characters // 18)


class WholeResults(ProcessTransport):
    """As before workers could shorten results."""

    @property
    def traits(self) -> TransportTraits:
        return dataclasses.replace(super().traits, finishes_results=False)


async def batch_seconds(pool: ProcessTransport, characters: int) -> float:
    away = ToolRegistry(registry.all(), transports={"*": pool}, redact=False)
    calls = [
        {"id": f"{n}", "name": "answer", "args": {"characters": characters}} for n in range(CALLS)
    ]
    started = time.perf_counter()
    results = await away.execute_parallel(calls, ToolContext())
    seconds = time.perf_counter() - started
    assert all(result.truncated_from == characters // 18 * 18 for result in results)
    return seconds


async def main(rounds: int) -> None:
    tools = "bench_worker_finish:registry"
    async with ProcessTransport(tools, workers=2) as here, WholeResults(tools, workers=2) as whole:
        await here.start()
        await whole.start()
        for characters in (100_000, 10_000_000):
            taken: list[tuple[float, float]] = []
            for number in range(rounds + 1):
                pair = (
                    await batch_seconds(here, characters),
                    await batch_seconds(whole, characters),
                )
                if number:
                    taken.append(pair)
            worker, caller = (statistics.median(each) for each in zip(*taken, strict=True))
            ratio = statistics.median(one / other for one, other in taken)
            print(
                f"{CALLS} results of {characters:,} characters: "
                f"by the worker {worker * 1e3:,.0f} ms, by the caller {caller * 1e3:,.0f} ms, "
                f"median ratio {ratio:.3f}"
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    asyncio.run(main(parser.parse_args().rounds))
