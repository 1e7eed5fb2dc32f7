"""What telemetry adds to a call: nothing with the API alone, a span's own cost with an SDK."""

from __future__ import annotations

import asyncio
import time
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


def traced(settings: dict[str, Any]) -> Callable[[Any, Any], Any]:
    """The tool with a span and a metric of its own, with the same number of attributes."""
    from opentelemetry.trace import NoOpTracerProvider

    span_provider = settings.get("tracer_provider") or NoOpTracerProvider()
    tracer = span_provider.get_tracer("bench")
    meter = settings.get("meter_provider")
    duration = None if meter is None else meter.get_meter("bench").create_histogram("duration")
    kind = {"gen_ai.tool.name": "now", "gen_ai.tool.type": "function"}

    async def with_span(args: Any, context: Any) -> Any:
        attributes = {"gen_ai.operation.name": "execute_tool", **kind}
        with tracer.start_as_current_span("execute_tool now", attributes=attributes) as span:
            start = time.monotonic()
            result = await at_once(args, context)
            chars = len(result.text)
            if span.is_recording():
                span.set_attributes(
                    {
                        "gen_ai.tool.call.id": context.tool_call_id,
                        "gen_ai.tool.description": "A tool.",
                        "batch.id": "0123456789abcdef",
                        "raw_chars": chars,
                        "reduced_chars": chars,
                        "sent_chars": chars,
                    }
                )
            if duration is not None:
                duration.record(time.monotonic() - start, kind)
            return result

    return with_span


@pytest.mark.parametrize("count", BATCHES, ids="batches of {}".format)
@pytest.mark.parametrize("kind", ["API only", "not sampled", "spans and metrics"])
def test_telemetry(benchmark: Any, kind: str, count: int) -> None:
    loop = asyncio.new_event_loop()
    calls = [ToolCall(str(number), "now", {}) for number in range(count)]

    def running(execute: Any = at_once, **settings: Any) -> Callable[[], Callable[[], object]]:
        registry = ToolRegistry([Tool("now", "A tool.", {"type": "object"}, execute)], **settings)

        async def run() -> Any:
            for _ in range(BATCHES[count]):
                results = await registry.execute_parallel(calls)
            return results

        return lambda: lambda: loop.run_until_complete(run())

    given = providers(kind)
    observed = running(observers=[OpenTelemetry(**given)])
    assert [result.ok for result in observed()()] == [True] * count
    beside(
        benchmark,
        observed,
        {
            "no observer": running(),
            "a span made by the tool": running(traced(given)),
            "a ledger in memory": running(observers=[UsageLedger()]),
        },
        group=f"telemetry of a call, batches of {count}",
        rounds=100,
        per_round=BATCHES[count] * count,
    )
    loop.close()
