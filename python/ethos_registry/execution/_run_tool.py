"""Running a call inside the filters of its batch."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from time import monotonic
from typing import Any

from ethos_registry import _core
from ethos_registry._table.entry import Entry
from ethos_registry.execution import _refusals
from ethos_registry.execution._approvals import PendingResult, pending_result
from ethos_registry.execution._call import Call
from ethos_registry.execution._options import (
    AFTER_SECONDS,
    Invocation,
    InvocationFilter,
    matching,
)
from ethos_registry.execution._refusals import BadResultError, checked_result
from ethos_registry.execution._threads import NoThreadError
from ethos_registry.types._blocking import awaited, measured, watched
from ethos_registry.types._call import CallResult, Pending
from ethos_registry.types._checks import guarded
from ethos_registry.types._context import ToolContext
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._observer import StartedCall
from ethos_registry.types._result import NO_EXTRA, ToolError, ToolResult
from ethos_registry.types._tool import RetryRule
from ethos_registry.types._turn import DispatchContext


async def run_filtered(
    filters: Sequence[InvocationFilter],
    call: Call,
    run_tool: Callable[[Call], Awaitable[Any]],
) -> ToolResult:
    """What the tool returns, or what a filter answers in its place.

    The exception of a `before` that raises passes; then neither the tool nor any `after` runs.
    """
    invocation = Invocation(call)
    value = await _answer_before(filters, invocation, call)
    if value is None:
        call.tool_args = invocation.args
        value = await run_tool(call)
    call.stop_clock()
    result = _checked(value)
    for item in reversed(filters):
        if item.after is not None:
            result = await _after(item, invocation, result, call)
    return result


def _report_blocking(call: Call, which: str, seconds: float) -> None:
    what = f"filter `{which}` of tool `{call.plan.name}`"
    call.batch.runtime.report_blocking(what, seconds)


async def _answer_before(
    filters: Sequence[InvocationFilter], invocation: Invocation, call: Call
) -> ToolResult | None:
    resumed = call.batch.options.resumed
    if resumed is not None and not resumed.is_approved:
        await resumed.claim(call)
    for position, item in enumerate(filters):
        if item.before is None:
            continue
        if resumed is not None:
            invocation.is_approved = _place(position, item, call) in resumed.granted
        report = partial(_report_blocking, call, "before")
        answer = await awaited(report, item.before, invocation)
        if call.stop_reason is not None:  # it swallowed its cancellation: nothing starts any more
            raise asyncio.CancelledError
        if answer is None:
            continue
        if not isinstance(answer, Pending):
            return _checked(answer, "the filter before it answered: ", "`None` lets the call run")
        if not invocation.is_approved:
            raise pending_result(call, answer, _place(position, item, call))
    if resumed is not None:
        await resumed.claim(call)
    return None


def _place(position: int, item: InvocationFilter, call: Call) -> str:
    """Which filter this is: its place among those of the registry or of the batch, and its name.

    An approval must not count for another filter that a later version has in the same place.
    """
    of_registry = len(matching(call.batch.runtime.filters, call.plan.entry))
    before: Any = item.before
    name = getattr(before, "__qualname__", type(before).__qualname__)
    if position < of_registry:
        return f"registry:{position}:{name}"
    return f"batch:{position - of_registry}:{name}"


def _checked(value: Any, source: str = "", way_out: str = "") -> ToolResult:
    """What a tool or a `before` returned, as a result."""
    try:
        return checked_result(value)
    except ConfigError as problem:
        raise BadResultError(f"{source}{problem}{way_out and f'; {way_out}'}") from None


async def _after(
    item: InvocationFilter, invocation: Invocation, result: ToolResult, call: Call
) -> ToolResult:
    """The result after one filter; one that fails, or takes too long, leaves it unchanged."""
    assert item.after is not None
    task = asyncio.current_task()
    cancellations = 0 if task is None else task.cancelling()
    try:
        report = partial(_report_blocking, call, "after")
        begun = monotonic()
        answer = item.after(invocation, result)
        report(monotonic() - begun)
        if answer is not None and inspect.isawaitable(answer):
            answer = await _in_time(watched(answer, report), call)
        return result if answer is None else _checked(answer, "a filter after it answered: ")
    except KeyboardInterrupt:
        raise
    except BadResultError as problem:
        message = f"tool {invocation.tool_name}: {problem}"
        call.batch.runtime.log_message(message, is_mistake=True)
        return result
    except BaseException as error:
        if task is not None and task.cancelling() > cancellations:
            raise  # the call was stopped, or its task cancelled
        call.batch.runtime.log_once(f"filter `after` of tool `{invocation.tool_name}`", error)
        return result


async def _in_time(answer: Awaitable[Any], call: Call) -> Any:
    """What an `after` answers; `TimeoutError` after `AFTER_SECONDS`.

    The timer of the batch watches it, as it watches tools: a timeout object would cost more than
    the filter.
    """
    call.begin_limit(AFTER_SECONDS)
    try:
        value = await answer
    except asyncio.CancelledError:
        if call.end_limit():
            raise TimeoutError(f"it took longer than {AFTER_SECONDS:g} s") from None
        raise
    except BaseException:
        call.end_limit()
        raise
    call.end_limit()
    return value


# Calls inside a turn: counted and reported to its hooks once their arguments are valid.


def async_execute_in_turn(
    entry: Entry, turn: DispatchContext
) -> Callable[[Any, Call], Awaitable[Any]]:
    """The `execute` of an async tool that also reports each call to the turn, before it runs."""
    started, binding = turn.starts_of(entry.name), entry.binding
    if binding is None:
        execute = entry.execute

        def report_and_execute(args: Any, call: Call) -> Awaitable[Any]:
            _count_start(started, call, call.args)
            result: Awaitable[Any] = execute(args, call)
            return result

        return report_and_execute

    bind, run = binding.bind, binding.call

    async def bind_and_execute(args: Any, call: Call) -> Any:
        values = bind(args, call)
        if isinstance(values, ToolError):
            return values
        shown = _without_context(values) if turn.has_hooks else None
        _count_start(started, call, shown)
        return await run(values)

    return bind_and_execute


def _count_start(started: Callable[..., Any], call: Call, shown: Any) -> None:
    """Report a call to the turn. Its hooks may block the loop, which is not the tool's fault."""
    begun = monotonic()
    execution = started(call._tool_call_id, call.args, shown)
    if execution is not None:
        call.execution = execution
        call.callback_seconds += monotonic() - begun


def start_function(turn: DispatchContext, call: Call) -> ToolError | Callable[[], Any]:
    """Report a plain function's call to the turn, on the loop's thread.

    Returns what runs the function, or why its arguments do not fit.
    """
    entry, shown = call.plan.entry, call.args
    run: Callable[[], Any]
    if entry.binding is None:
        run = partial(entry.execute, call.tool_args, call)
    else:
        values = entry.binding.bind(call.tool_args, call)
        if isinstance(values, ToolError):
            return values
        run, shown = partial(entry.binding.call, values), _without_context(values)
    started = turn.starts_of(entry.name)
    call.execution = started(call._tool_call_id, call.args, shown)
    return run


def _without_context(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if not isinstance(value, ToolContext)}


# The execute step: run the tool, however it is written.


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


async def run_attempt(call: Call, *, is_first: bool = True) -> Any:
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
        refusal = _refusals.not_started(call.plan.name, str(problem), "unavailable")
        raise PendingResult(refusal) from None
    # A filter or an attempt may have run before: the timer sleeps longer then.
    call.batch.wake_at(call.thread_deadline())
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


async def run_remotely(run: Callable[[Call], Awaitable[Any]], call: Call) -> Any:
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


# Running a tool again when it fails, inside its timeout.

_MAX_TEXT_CHARS = 400


async def run_with_retry(call: Call) -> Any:
    """What the last attempt returns or raises; earlier ones are reported to the observers."""
    rule = call.plan.entry.retry
    assert rule is not None
    args = call.tool_args
    if call.clock_started is None:  # one clock for all attempts
        call.clock_started = monotonic()
    failed = 0
    while True:
        call.tool_args = _core.isolated_arguments(args)
        value: Any = None
        failure: Exception | ToolError | None
        try:
            value = await run_attempt(call, is_first=failed == 0)
            failure = _returned_error(rule, value)
        except PendingResult:
            raise
        except Exception as error:
            failure = error
        failed += 1
        is_ended = call.stop_reason is not None or call.has_ended
        if failure is not None and failed < rule.attempts and not is_ended:
            delay = _delay(rule, failure, failed, call)
            if delay is not None:
                ended = monotonic()
                await asyncio.sleep(delay)
                _report(call, failure, ended)
                continue
        if isinstance(failure, Exception):
            raise failure
        return value


def _returned_error(rule: RetryRule, value: Any) -> ToolError | None:
    """The error that the tool itself returned, for a rule that looks at these."""
    if isinstance(rule.on, tuple):
        return None
    try:
        result = checked_result(value)
    except ConfigError:
        return None
    # With a reason it is the registry's own: arguments that do not fit never will.
    return result if isinstance(result, ToolError) and result.reason is None else None


def _delay(
    rule: RetryRule, failure: Exception | ToolError, failed: int, call: Call
) -> float | None:
    """The seconds until the next attempt; `None` if there is none."""
    what, runtime = f"the `retry` of tool `{call.plan.name}`", call.batch.runtime

    def seconds() -> float | None:
        with measured(partial(runtime.report_blocking, what)):
            return rule.delay_seconds(failed) if rule.wants(failure) else None

    return guarded(partial(runtime.log_once, what), seconds)  # functions of the tool's author


def _report(call: Call, failure: Exception | ToolError, ended: float) -> None:
    """Report an attempt that failed, now that another one follows it."""
    batch, plan, started = call.batch, call.plan, call.started
    extra = NO_EXTRA
    if isinstance(failure, Exception):
        _refusals.log_raised(plan.name, failure, plan.redact)
        extra = {"exception_type": _refusals.class_name(failure)}
        failure = ToolError(_refusals.exception_text(failure), "execution_failed", "raised")
    if batch.observers is None or started is None:
        return
    text = failure.error if plan.redact is None else plan.redact(failure.error)
    text = text[:_MAX_TEXT_CHARS]
    chars = len(text)
    answer = CallResult(
        call.tool_call_id,
        plan.name,
        ToolError(text, failure.code, failure.reason, None, failure.cost_usd, extra),
        raw_chars=chars,
        reduced_chars=chars,
        sent_chars=0,
        duration_seconds=max(ended - started, 0.0),
    )
    batch.attempts.append((call.index, answer, plan.entry, started))
