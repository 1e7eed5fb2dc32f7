"""`ethos-registry demo`: a real turn on the current folder."""

from __future__ import annotations

import os
from time import perf_counter

from ethos_registry import (
    ToolContext,
    ToolRegistry,
    default_reducers,
    ready_tools,
    standard_backends,
    todo_tools,
)
from ethos_registry.cli.live_calls import live_calls
from ethos_registry.cli.plan import demo_plan
from ethos_registry.cli.report import TurnReport, turn_report

__all__ = ["run_demo"]


def run_demo(budget_chars: int) -> TurnReport:
    """Run the demo's calls in parallel with the ready tools, and report on them.

    No file is written, not even git's index; the todo list is kept in memory.
    """
    folder = os.getcwd()
    os.environ["GIT_OPTIONAL_LOCKS"] = "0"
    plan = demo_plan(folder)
    registry = ToolRegistry(
        [*ready_tools(), *todo_tools()],
        capability_backends=standard_backends(key_values=":memory:"),
        reducer_registry=default_reducers(),
    )
    with live_calls(plan.calls) as live:
        context = ToolContext(
            working_dir=folder, result_budget_chars=budget_chars, emit=live.on_event
        )
        started = perf_counter()
        results = registry.execute_parallel_sync(plan.calls, context, on_result=live.on_result)
        elapsed = perf_counter() - started
    return turn_report(
        plan.calls,
        results,
        budget_chars=budget_chars,
        elapsed_seconds=elapsed,
        skipped=plan.skipped,
    )
