"""Who makes the batches of a view, and under which policy they run."""

from __future__ import annotations

from collections.abc import Coroutine, Mapping, Sequence
from contextvars import Context
from dataclasses import dataclass, replace
from typing import Any

from ethos_registry._table.admission import Admission
from ethos_registry.execution._batch_run import BatchRun
from ethos_registry.execution._call import BatchRequest
from ethos_registry.execution._results import CallResults
from ethos_registry.execution._runtime import Runtime
from ethos_registry.execution._usage_limits import ViewLimits
from ethos_registry.providers._by_name import reply_parser
from ethos_registry.registry._batch_request import (
    ApprovalAnswer,
    checked_request,
    checked_resume,
    read_reply,
)
from ethos_registry.registry._stream import BrokenStreamPolicy, StreamCallbacks, StreamDispatcher
from ethos_registry.types._call import CallResult
from ethos_registry.types._policy import Personality
from ethos_registry.types._turn import DispatchContext


@dataclass(frozen=True, slots=True)
class Caller:
    """Makes the batches of a view; the parameters of its methods are those of `View`."""

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
        """A batch of these calls; `None` for calls that come one by one."""
        return checked_request(
            calls,
            context,
            turn_attachments,
            options,
            self.admission,
            self.runtime,
            self.personality,
            self.turn,
            self.limits,
        )

    def execute(
        self,
        reply: object,
        context: object,
        turn_attachments: Sequence[Any] | None,
        options: Mapping[str, Any],
    ) -> Coroutine[Any, Any, CallResults]:
        """The coroutine of a batch; what is raised for its arguments is raised here."""
        calls = read_reply(reply, self.runtime)
        return BatchRun(self.request(calls, context, turn_attachments, options)).run()

    def resume(
        self,
        answer: ApprovalAnswer,
        context: object,
        turn_attachments: Sequence[Any] | None,
        options: Mapping[str, Any],
    ) -> Coroutine[Any, Any, CallResult]:
        """The coroutine of a call that waited for approval."""
        request = self.request(None, context, turn_attachments, options)
        return checked_resume(request, answer, self.agent_id)

    def dispatcher(
        self,
        context: object,
        turn_attachments: Sequence[Any] | None,
        options: Mapping[str, Any],
        provider: str,
        callbacks: StreamCallbacks,
        on_broken_stream: BrokenStreamPolicy,
        task_context: Context | None = None,
    ) -> StreamDispatcher:
        """The batch of a streamed reply; `task_context` is for the tasks of its calls."""
        request = self.request(None, context, turn_attachments, options)
        if callbacks.on_start is not None:
            request.options = replace(request.options, on_start=callbacks.on_start)
        return StreamDispatcher(
            reply_parser(provider), request, callbacks, on_broken_stream, task_context
        )
