"""Running a tool again when it fails, inside its timeout."""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import Any

from ethos_registry.contract.call import CallResult
from ethos_registry.contract.errors import ConfigError
from ethos_registry.contract.result import NO_EXTRA, ToolError
from ethos_registry.contract.retry import RetryRule
from ethos_registry.execution import refusals
from ethos_registry.execution.call import Call
from ethos_registry.execution.execute import run_tool
from ethos_registry.execution.isolated_arguments import isolated_arguments
from ethos_registry.execution.returned import checked_result

__all__ = ["run_with_retry"]

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
        call.tool_args = isolated_arguments(args)
        value: Any = None
        failure: Exception | ToolError | None
        try:
            value = await run_tool(call, is_first=failed == 0)
            failure = _returned_error(rule, value)
        except Exception as error:
            failure = error
        failed += 1
        if failure is not None and failed < rule.attempts and _may_go_on(call):
            delay = _delay(rule, failure, failed, call)
            if delay is not None:
                ended = monotonic()
                await asyncio.sleep(delay)
                _report(call, failure, ended)
                continue
        if isinstance(failure, Exception):
            raise failure
        return value


def _may_go_on(call: Call) -> bool:
    return call.stop_reason is None and not call.has_ended


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
    try:
        return rule.delay_seconds(failed) if rule.wants(failure) else None
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # functions of the tool's author
        call.batch.runtime.log_once(f"the `retry` of tool `{call.plan.name}`", error)
        return None


def _report(call: Call, failure: Exception | ToolError, ended: float) -> None:
    """Report an attempt that failed, now that another one follows it."""
    batch, plan, started = call.batch, call.plan, call.started
    extra = NO_EXTRA
    if isinstance(failure, Exception):
        refusals.log_raised(plan.name, failure, plan.redact)
        extra = {"exception_type": refusals.class_name(failure)}
        failure = ToolError(refusals.exception_text(failure), "execution_failed", "raised")
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
