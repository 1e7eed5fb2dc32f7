"""Who makes the batches of a registry or a view, and under which policy they run."""

from __future__ import annotations

import os
from collections.abc import Coroutine, Mapping, Sequence
from contextvars import Context
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from ethos_registry._table.admission import Admission
from ethos_registry.execution._approvals import resumed_call
from ethos_registry.execution._batch_run import BatchRun
from ethos_registry.execution._call import BatchRequest
from ethos_registry.execution._options import DEFAULT_OPTIONS, checked_options
from ethos_registry.execution._results import CallResults
from ethos_registry.execution._runtime import Runtime
from ethos_registry.execution._usage_limits import ViewLimits
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


@dataclass(slots=True)
class Caller:
    """Makes and runs batches, each checked before any tool starts."""

    admission: Admission
    """What may run."""
    runtime: Runtime
    personality: Personality | None = None
    turn: DispatchContext | None = None
    limits: ViewLimits | None = None
    agent_id: str | None = None
    """The agent that calls, if it is one of a catalogue: only it may resume its calls."""

    def request(
        self,
        calls: list[Any] | None,
        context: object,
        turn_attachments: Sequence[Any] | None,
        options: Mapping[str, Any],
    ) -> BatchRequest:
        """A batch of these calls, `None` for calls that come one by one.

        See `RegistryReader.execute_parallel` for what is raised.
        """
        checked_in = context if type(context) is ToolContext else checked_tool_context(context)
        checked, runtime, snapshot = DEFAULT_OPTIONS, self.runtime, self.admission.snapshot
        if options or turn_attachments is not None:
            checked = checked_options(options, turn_attachments)
        if self.limits is not None:
            checked = replace(checked, limits=self.limits.of_batch(checked_in, runtime))
        if checked.filters or runtime.filters:
            refuse_unmatched_filters((*runtime.filters, *checked.filters), snapshot)
        if runtime.reducers is not None:
            report_unmatched_reducers(snapshot, runtime)
        if runtime.transports is not None:
            for key in runtime.transports.idle_keys(snapshot):
                runtime.log_message(f"`transports` names {key!r}, which no registered tool has")
        return BatchRequest(
            calls, checked_in, checked, self.admission, runtime, self.personality, self.turn
        )

    def run(self, request: BatchRequest) -> Coroutine[Any, Any, CallResults]:
        """The coroutine of a batch of this caller."""
        return BatchRun(request).run()

    def task_context(self, request: BatchRequest) -> Context | None:
        """The context variables of calls that are started one by one; by default the starter's."""
        return None

    async def resume(
        self,
        request: BatchRequest,
        token: str,
        *,
        approved: bool,
        edited_args: Any,
        reason: str | None,
    ) -> CallResult:
        """Continue a call that waits for approval in a batch of its own; see `View.resume`."""
        call, resumed = resumed_call(
            request,
            token,
            agent_id=self.agent_id,
            is_approved=_checks.boolean(approved, "approved"),
            edited_args=edited_args,
            reason=_checks.optional_unicode_text(reason, "reason"),
        )
        options = replace(request.options, resumed=resumed)
        [result] = await self.run(replace(request, calls=[call], options=options))
        if resumed.is_used:
            raise ApprovalError("used", f"the approval of tool `{call.name}` was used before")
        return result
