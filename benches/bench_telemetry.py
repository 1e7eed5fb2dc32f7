"""What telemetry adds to a call: nothing with the API alone, a span's own cost with an SDK."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from beside import beside
from ethos_registry import Tool, ToolCall, ToolRegistry, ok
from ethos_registry.telemetry import OpenTelemetry
from ethos_registry.usage import UsageLedger

pytest.importorskip("opentelemetry.sdk")

BATCHES = {1: 100, 64: 4}
"""Calls in a batch -> batches in one round."""


async def at_once(args: Any, context: Any) -> Any:
    return ok("done")


def providers(kind: str) -> dict[str, Any]:
    """The arguments of an observer; with the API alone there are none."""
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.sampling import ALWAYS_OFF

    if kind == "API only":
        return {}
    if kind == "not sampled":
        return {"tracer_provider": TracerProvider(sampler=ALWAYS_OFF)}
    return {"tracer_provider": TracerProvider(), "meter_provider": MeterProvider()}


@pytest.mark.parametrize("count", BATCHES, ids="batches of {}".format)
@pytest.mark.parametrize("kind", ["API only", "not sampled", "spans and metrics"])
def test_telemetry(benchmark: Any, kind: str, count: int) -> None:
    loop = asyncio.new_event_loop()
    calls = [ToolCall(str(number), "now", {}) for number in range(count)]

    def running(**settings: Any) -> Callable[[], Callable[[], object]]:
        registry = ToolRegistry([Tool("now", "A tool.", {"type": "object"}, at_once)], **settings)

        async def run() -> Any:
            for _ in range(BATCHES[count]):
                results = await registry.execute_parallel(calls)
            return results

        return lambda: lambda: loop.run_until_complete(run())

    observed = running(observers=[OpenTelemetry(**providers(kind))])
    assert [result.ok for result in observed()()] == [True] * count
    beside(
        benchmark,
        observed,
        {"no observer": running(), "a ledger in memory": running(observers=[UsageLedger()])},
        group=f"telemetry of a call, batches of {count}",
        rounds=100,
        per_round=BATCHES[count] * count,
    )
    loop.close()
