"""What a batch is given, checked before any tool starts, and its start."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from ethos_registry._table.admission import Admission
from ethos_registry.execution._approvals import resumed_call
from ethos_registry.execution._batch_run import BatchRun
from ethos_registry.execution._call import BatchRequest
from ethos_registry.execution._options import DEFAULT_OPTIONS, BatchOptions, checked_options
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


@lru_cache(maxsize=16)
def _default_context(working_dir: str) -> ToolContext:
    """It is never changed, and no tool gets it: each call has a context of its own."""
    return ToolContext(working_dir=working_dir)


def checked_tool_context(context: object) -> ToolContext:
    """The context of a batch, by default an empty one; `ConfigError` for anything else."""
    if context is None:
        return _default_context(os.getcwd())
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
        lambda kind: runtime.log_message(f"a reply holds an element of unknown type {kind!r}"),
    )


def checked_calls(calls: object) -> list[Any]:
    """The calls of a batch, as they are now; `ConfigError` for anything but a list of them."""
    if type(calls) is not list and (
        isinstance(calls, str | bytes | Mapping) or not isinstance(calls, Sequence)
    ):
        raise ConfigError(
            f"`calls` must be a list of calls, got {type(calls).__name__}; put one call in a list, "
            "and give a whole reply to `view.execute(reply)`"
        )
    return list(calls)  # a sequence may change, and lie about its length


def checked_request(
    calls: list[Any] | None,
    context: object,
    turn_attachments: Sequence[Any] | None,
    options: Mapping[str, Any],
    admission: Admission,
    runtime: Runtime,
    personality: Personality | None,
    turn: DispatchContext | None,
    limits: ViewLimits | None = None,
) -> BatchRequest:
    """A batch before any tool starts; see `RegistryReader.execute_parallel` for what is raised."""
    checked_in = context if type(context) is ToolContext else checked_tool_context(context)
    checked = DEFAULT_OPTIONS
    if options or turn_attachments is not None:
        checked = checked_options(options, turn_attachments)
    if limits is not None:
        checked = dataclasses.replace(checked, limits=limits.of_batch(checked_in, runtime))
    if checked.filters or runtime.filters:
        refuse_unmatched_filters((*runtime.filters, *checked.filters), admission.snapshot)
    if runtime.reducers is not None:
        report_unmatched_reducers(admission.snapshot, runtime)
    if runtime.transports is not None:
        for key in runtime.transports.idle_keys(admission.snapshot):
            runtime.log_message(f"`transports` names {key!r}, which no registered tool has")
    return BatchRequest(calls, checked_in, checked, admission, runtime, personality, turn)


class ResumeOptions(BatchOptions, total=False):
    """The options of `View.resume`."""

    edited_args: Any
    reason: str | None
    context: ToolContext | None
    turn_attachments: Sequence[Any] | None


class ApprovalAnswer(NamedTuple):
    """What a person decided about a call; the arguments of `View.resume`."""

    token: str
    approved: bool
    edited_args: Any
    reason: str | None


async def checked_resume(
    request: BatchRequest, answer: ApprovalAnswer, agent_id: str | None = None
) -> CallResult:
    """Continue a call that waits for approval; see `View.resume`."""
    personality = request.personality
    call, resumed = resumed_call(
        request.runtime.approvals,
        answer.token,
        request.admission.snapshot,
        personality_id=None if personality is None else personality.id,
        agent_id=agent_id,
        session_id=request.context.session_id,
        is_approved=_checks.boolean(answer.approved, "approved"),
        edited_args=answer.edited_args,
        reason=_checks.optional_unicode_text(answer.reason, "reason"),
    )
    options = dataclasses.replace(request.options, resumed=resumed)
    [result] = await BatchRun(dataclasses.replace(request, calls=[call], options=options)).run()
    if resumed.is_used:
        raise ApprovalError("used", f"the approval of tool `{call.name}` was used before")
    return result
