"""What a batch is given, checked before any tool starts, and its start."""

from __future__ import annotations

import dataclasses
from collections.abc import Coroutine, Mapping, Sequence
from typing import Any

from ethos_registry._table.admission import Admission
from ethos_registry.execution._approvals import resumed_call
from ethos_registry.execution._batch_run import execute_batch
from ethos_registry.execution._options import CheckedOptions, checked_options
from ethos_registry.execution._results import CallResults
from ethos_registry.execution._runtime import Runtime
from ethos_registry.execution._usage_limits import ViewLimits
from ethos_registry.providers._reply import reply_calls
from ethos_registry.registry._explain import refuse_unmatched_filters, report_unmatched_reducers
from ethos_registry.types import _checks
from ethos_registry.types._call import CallResult
from ethos_registry.types._context import ToolContext
from ethos_registry.types._errors import ApprovalError, ConfigError
from ethos_registry.types._policy import Personality
from ethos_registry.types._turn import DispatchContext

__all__ = [
    "checked_batch",
    "checked_execution",
    "checked_resume",
    "checked_tool_context",
    "limited",
    "read_reply",
    "report_unmatched",
]


def checked_tool_context(context: object) -> ToolContext:
    """The context of a batch, by default an empty one; `ConfigError` for anything else."""
    if context is None:
        return ToolContext()
    if not isinstance(context, ToolContext):
        raise ConfigError(
            f"`context` must be a ToolContext, got {type(context).__name__}; "
            "`ToolContext(...)` makes one"
        )
    return context


def read_reply(reply: object, runtime: Runtime) -> list[Any]:
    """The calls of what a view is given to execute; an unknown element is logged once."""
    return reply_calls(
        reply,
        lambda kind: runtime.warn_once(f"a reply holds an element of unknown type {kind!r}"),
    )


def checked_batch(calls: object, context: object) -> tuple[list[Any], ToolContext]:
    """The calls and the context of a batch; `ConfigError` before any tool starts."""
    if type(calls) is not list and (
        isinstance(calls, str | bytes | Mapping) or not isinstance(calls, Sequence)
    ):
        raise ConfigError(
            f"`calls` must be a list of calls, got {type(calls).__name__}; put one call in a list, "
            "and give a whole reply to `view.execute(reply)`"
        )
    # A copy of now: a sequence may change, and lie about its length.
    return list(calls), checked_tool_context(context)


def checked_execution(
    calls: object,
    context: object,
    turn_attachments: Sequence[Any] | None,
    options: Mapping[str, Any],
    admission: Admission,
    runtime: Runtime,
    personality: Personality | None,
    turn: DispatchContext | None,
    limits: ViewLimits | None = None,
) -> Coroutine[Any, Any, CallResults]:
    """The coroutine of a batch; see `RegistryReader.execute_parallel` for what is raised."""
    calls, context = checked_batch(calls, context)
    checked = limited(checked_options(options, turn_attachments), limits, context, runtime)
    report_unmatched(checked, admission, runtime)
    if runtime.transports is not None:
        for key in runtime.transports.idle_keys(admission.snapshot):
            runtime.warn_once(f"`transports` names {key!r}, which no registered tool has")
    return execute_batch(calls, admission, runtime, context, checked, personality, turn)


async def checked_resume(
    token: str,
    context: object,
    turn_attachments: Sequence[Any] | None,
    options: Mapping[str, Any],
    admission: Admission,
    runtime: Runtime,
    personality: Personality | None,
    turn: DispatchContext | None,
    *,
    approved: bool,
    edited_args: Any,
    reason: str | None,
    agent_id: str | None = None,
    limits: ViewLimits | None = None,
) -> CallResult:
    """Continue a call that waits for approval; see `View.resume`."""
    _, checked_in = checked_batch([], context)
    call, resumed = resumed_call(
        runtime.approvals,
        token,
        admission.snapshot,
        personality_id=None if personality is None else personality.id,
        agent_id=agent_id,
        session_id=checked_in.session_id,
        is_approved=_checks.boolean(approved, "approved"),
        edited_args=edited_args,
        reason=_checks.optional_unicode_text(reason, "reason"),
    )
    checked = dataclasses.replace(checked_options(options, turn_attachments), resumed=resumed)
    checked = limited(checked, limits, checked_in, runtime)
    report_unmatched(checked, admission, runtime)
    [result] = await execute_batch(
        [call], admission, runtime, checked_in, checked, personality, turn
    )
    if resumed.is_used:
        raise ApprovalError("used", f"the approval of tool `{call.name}` was used before")
    return result


def limited(
    options: CheckedOptions, limits: ViewLimits | None, context: ToolContext, runtime: Runtime
) -> CheckedOptions:
    """The options with the limits of a view; `ConfigError` if the context does not fit them."""
    if limits is None:
        return options
    return dataclasses.replace(options, limits=limits.of_batch(context, runtime))


def report_unmatched(options: CheckedOptions, admission: Admission, runtime: Runtime) -> None:
    """Raise `ConfigError` for filters that match no tool; log reducers that match none."""
    if options.filters or runtime.filters:
        refuse_unmatched_filters((*runtime.filters, *options.filters), admission.snapshot)
    if runtime.reducers is not None:
        report_unmatched_reducers(admission.snapshot, runtime)
