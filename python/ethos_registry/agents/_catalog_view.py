"""What one agent sees and may call."""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import Context, ContextVar, copy_context
from time import monotonic
from typing import Any, NamedTuple

from ethos_registry._table.admission import Admission
from ethos_registry.execution._results import CallResults
from ethos_registry.execution._runtime import Runtime
from ethos_registry.execution._usage_limits import ViewLimits
from ethos_registry.registry._batch_request import checked_resume, checked_tool_context
from ethos_registry.registry._stream import StreamDispatcher
from ethos_registry.registry._view import View
from ethos_registry.types._call import CallResult
from ethos_registry.types._context import CONTEXT_FIELDS, ToolContext
from ethos_registry.types._policy import Personality

__all__ = ["CallScope", "CatalogView", "DelegatedContext", "current_scope", "scope_of"]


# Who is acting for whom: the chain of agents through which a call came.


class CallScope(NamedTuple):
    """What a batch hands to the delegations that its calls make."""

    path: tuple[str, ...]
    """The agents from the first caller to the one that acts."""
    max_concurrency: int | None = None
    deadline: float | None = None
    """Monotonic seconds."""


current_scope: ContextVar[CallScope | None] = ContextVar("ethos_registry_scope", default=None)


class DelegatedContext(ToolContext):
    """The context of an agent that works on a task of another."""

    __slots__ = ("scope",)

    scope: CallScope

    @classmethod
    def made(cls, context: ToolContext, scope: CallScope, **changes: Any) -> DelegatedContext:
        """A copy of a context, for the last agent of the scope."""
        fields = {name: getattr(context, name) for name in CONTEXT_FIELDS}
        made = cls(**fields | {"agent_id": scope.path[-1]} | changes)
        made.scope = scope
        return made

    def replace(self, **changes: Any) -> DelegatedContext:
        """A context with some fields changed, in the same scope."""
        return DelegatedContext.made(self, self.scope, **{"agent_id": self.agent_id} | changes)


def scope_of(context: ToolContext, agent_id: str) -> CallScope:
    """The scope in which an agent acts now.

    The context knows it where an agent passes its own on, even from a thread of its own; else the
    context variables of the task that runs the agent do.
    """
    scope = context.scope if isinstance(context, DelegatedContext) else current_scope.get()
    if scope is None:
        return CallScope((agent_id,))
    if scope.path[-1] == agent_id:
        return scope
    return scope._replace(path=(*scope.path, agent_id))


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
        limits: ViewLimits | None = None,
    ) -> None:
        super().__init__(
            visible,
            runtime,
            personality=personality,
            freeze_availability=freeze_availability,
            limits=limits,
        )
        self._called = View(callable_, runtime, personality=personality, limits=limits)
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
        context = checked_tool_context(context)
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
        context = checked_tool_context(context)
        scope = self._scope(
            context, options.get("deadline_seconds"), options.get("max_concurrency")
        )
        before = current_scope.set(scope)
        called = self._called
        try:
            return await checked_resume(
                called._request(None, self._own(context), turn_attachments, options),
                token,
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
        context = checked_tool_context(context)
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
