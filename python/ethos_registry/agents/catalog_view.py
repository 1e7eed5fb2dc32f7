"""What one agent sees and may call."""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import Context, copy_context
from time import monotonic
from typing import Any

from ethos_registry.agents.scope import CallScope, current_scope, scope_of
from ethos_registry.contract.call import CallResult
from ethos_registry.contract.context import ToolContext
from ethos_registry.contract.policy import Personality
from ethos_registry.execution.results import CallResults
from ethos_registry.execution.runtime import Runtime
from ethos_registry.registry.batch_arguments import checked_context, checked_resume
from ethos_registry.registry.dispatcher import StreamDispatcher
from ethos_registry.registry.view import View
from ethos_registry.table.admission import Admission

__all__ = ["CatalogView"]


class CatalogView(View):
    """An agent's tools: its own and those it was granted, in stable order.

    `definitions` shows them, by default in the order built-in, plugin, MCP, each by name. `execute`
    runs what is shown, and where the catalogue was made with `open_calls` every tool that is not
    excluded. Calls are counted under the agent, whatever agent the given context names.
    """

    __slots__ = ("_called", "agent_id")

    def __init__(
        self,
        agent_id: str,
        visible: Admission,
        callable_: Admission,
        runtime: Runtime,
        *,
        personality: Personality | None = None,
        freeze_availability: bool = False,
    ) -> None:
        super().__init__(
            visible,
            runtime,
            personality=personality,
            freeze_availability=freeze_availability,
        )
        self._called = View(callable_, runtime, personality=personality)
        self.agent_id = agent_id

    def __repr__(self) -> str:
        return f"<CatalogView of {self.agent_id!r}, {len(self._admission.visible())} tools>"

    async def execute(
        self,
        reply: Any,
        context: ToolContext | None = None,
        turn_attachments: Sequence[Any] | None = None,
        *,
        deadline_seconds: float | None = None,
        max_concurrency: int | None = None,
        callers: Sequence[Context] | None = None,
        **options: Any,
    ) -> CallResults:
        """Run the calls of the agent; one result a call, in order.

        The parameters are those of `View.execute`. Agents that these calls
        delegate to share `max_concurrency` and the deadline.
        """
        context = checked_context(context)
        scope = self._scope(context, deadline_seconds, max_concurrency)
        token = current_scope.set(scope)
        if callers is not None:
            callers = [_in_scope(each, scope) for each in callers]
        try:
            return await self._called.execute(
                reply,
                self._own(context),
                turn_attachments,
                deadline_seconds=deadline_seconds,
                max_concurrency=max_concurrency,
                callers=callers,
                **options,
            )
        finally:
            current_scope.reset(token)

    async def resume(
        self,
        token: str,
        *,
        approved: bool,
        edited_args: Any = None,
        reason: str | None = None,
        context: ToolContext | None = None,
        turn_attachments: Sequence[Any] | None = None,
        **options: Any,
    ) -> CallResult:
        """Continue a call of this agent that waits for approval; see `View.resume`."""
        context = checked_context(context)
        scope = self._scope(
            context, options.get("deadline_seconds"), options.get("max_concurrency")
        )
        before = current_scope.set(scope)
        called = self._called
        try:
            return await checked_resume(
                token,
                self._own(context),
                turn_attachments,
                options,
                called._admission,
                called._runtime,
                called._personality,
                called._turn,
                approved=approved,
                edited_args=edited_args,
                reason=reason,
                agent_id=self.agent_id,
            )
        finally:
            current_scope.reset(before)

    def dispatch(self, context: ToolContext | None = None, **options: Any) -> StreamDispatcher:
        """Run the calls of a reply while it is streamed; see `View.dispatch`.

        Agents that these calls delegate to share `max_concurrency` and the deadline.
        """
        context = checked_context(context)
        scope = self._scope(
            context, options.get("deadline_seconds"), options.get("max_concurrency")
        )
        task_context = _in_scope(copy_context(), scope)
        return self._called._dispatcher(self._own(context), task_context, **options)

    def _scope(
        self, context: ToolContext, deadline_seconds: Any, max_concurrency: Any
    ) -> CallScope:
        """What agents that are delegated to share with these calls."""
        scope = scope_of(context, self.agent_id)
        if max_concurrency is not None:
            scope = scope._replace(max_concurrency=max_concurrency)
        if isinstance(deadline_seconds, int | float):
            end = monotonic() + deadline_seconds
            if scope.deadline is not None:
                end = min(end, scope.deadline)
            scope = scope._replace(deadline=end)
        return scope

    def _own(self, context: ToolContext) -> ToolContext:
        """The context under the name of this agent, whatever agent it names."""
        if context.agent_id == self.agent_id:
            return context
        return context.replace(agent_id=self.agent_id)


def _in_scope(caller: Context, scope: CallScope) -> Context:
    """A copy of context variables, for calls that delegate in this scope."""
    own = caller.copy()
    own.run(current_scope.set, scope)
    return own
