"""The execute step: run the tool, however it is written."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from functools import partial
from time import monotonic
from typing import Any

from ethos_registry.contract.observer import StartedCall
from ethos_registry.contract.result import ToolError
from ethos_registry.execution import refusals
from ethos_registry.execution.blocking import watched
from ethos_registry.execution.call import Call
from ethos_registry.execution.filter_chain import run_filtered
from ethos_registry.execution.pending import Answered
from ethos_registry.execution.threads import NoThreadError
from ethos_registry.execution.turn_calls import start_function

__all__ = ["execute", "run_elsewhere", "run_in_turn", "run_tool"]


def execute(call: Call) -> Awaitable[Any]:
    """What the tool returns, inside the filters that apply to it. Its exception passes."""
    plan = call.plan
    if plan.filters or call.batch.options.resumed is not None:
        call.clock_started = monotonic()
        return run_filtered(plan.filters, call, plan.run_tool)
    return plan.run_tool(call)


async def run_in_turn(run: Callable[[Call], Awaitable[Any]], call: Call) -> Any:
    """What the tool returns when its limits let it start. Waiting does not count as its time."""
    throttle = call.plan.entry.throttle
    assert throttle is not None
    if call.clock_started is not None:  # a filter ran before
        call.pause_clock()
    must_leave = await throttle.enter()
    call.resume_clock()
    try:
        return await run(call)
    finally:
        if must_leave:
            throttle.leave()


async def run_tool(call: Call, *, is_first: bool = True) -> Any:
    """One attempt. Only the first one is reported to observers and to the hooks of a turn."""
    plan = call.plan
    if plan.entry.is_coroutine:
        call.started = monotonic()
        if not is_first:
            return await watched(plan.entry.execute(call.tool_args, call), call.report_blocking)
        _report_start(call, call.started)
        return await watched(plan.execute(call.tool_args, call), call.report_blocking)
    run: ToolError | Callable[[], Any]
    if call.batch.turn is None or not is_first:
        run = partial(plan.entry.execute, call.tool_args, call)
    else:
        run = start_function(call.batch.turn, call)
        if isinstance(run, ToolError):
            return run
    value = await _run_on_thread(call, run, is_first=is_first)
    if not inspect.isawaitable(value):
        return value
    if call.stop_reason is not None:  # while on its thread: the rest does not begin
        if inspect.iscoroutine(value):
            value.close()
        raise asyncio.CancelledError
    return await watched(value, call.report_blocking)


async def _run_on_thread(call: Call, run: Callable[[], Any], *, is_first: bool) -> Any:
    """What a plain function returns. Waiting for a thread does not count as its time."""
    threads = call.batch.runtime.threads
    if call.clock_started is None:
        call.clock_started = monotonic()
    if is_first:
        _report_start(call, monotonic())
    try:
        job = call.job = threads.submit(run)
    except NoThreadError as problem:
        if not is_first:
            raise
        raise Answered(refusals.no_thread(call.plan.name, str(problem))) from None
    call.watch_thread_wait()
    try:
        value, error = await threads.outcome(job)
    finally:
        call.job = None
        if job.started_at is not None:
            call.started = job.started_at
            call.leave_out(job.started_at - job.submitted_at)
    if error is not None:
        raise error
    return value


async def run_elsewhere(run: Callable[[Call], Awaitable[Any]], call: Call) -> Any:
    """What a tool returns that another process runs. Its arguments are bound here first."""
    binding = call.plan.entry.binding
    if call.batch.turn is not None:
        started = start_function(call.batch.turn, call)
        if isinstance(started, ToolError):
            return started
    elif binding is not None:
        values = binding.bind(call.tool_args, call)
        if isinstance(values, ToolError):
            return values
    _report_start(call, monotonic())
    return await run(call)


def _report_start(call: Call, moment: float) -> None:
    """Report to the observers, and to a registry elsewhere, that the tool is about to run."""
    batch, entry = call.batch, call.plan.entry
    if batch.options.sink is not None:
        batch.options.sink.on_started(call.index)
    observers = batch.observers
    if observers is None or not observers.call_started:
        return
    started = StartedCall(
        call.tool_call_id,
        entry.name,
        call.args,
        call,
        batch.context.agent_id,
        call.personality_id,
        entry.owner,
        entry.plugin_id,
        entry.mcp_server,
        batch.wall_clock(moment),
        call.index,
    )
    for callback in observers.call_started:
        batch.runtime.guard("the `call_started` of an observer", callback, started)
