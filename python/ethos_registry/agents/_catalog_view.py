"""What one agent sees and may call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextvars import Context, ContextVar, copy_context
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any, NamedTuple

from ethos_registry.execution._call import BatchRequest
from ethos_registry.execution._results import CallResults
from ethos_registry.registry._caller import Caller, checked_tool_context
from ethos_registry.registry._definitions import ViewDefinitions
from ethos_registry.registry._view import View
from ethos_registry.types._context import CONTEXT_FIELDS, ToolContext

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

    def __init__(self, context: ToolContext, scope: CallScope, **changes: Any) -> None:
        super().__init__(**{name: getattr(context, name) for name in CONTEXT_FIELDS} | changes)
        self.scope = scope

    def replace(self, **changes: Any) -> DelegatedContext:
        """A context with some fields changed, in the same scope."""
        return DelegatedContext(self, self.scope, **changes)


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


@dataclass(slots=True, kw_only=True)
class AgentCaller(Caller):
    """Makes the batches of an agent.

    Agents that its calls delegate to share `max_concurrency` and the deadline of the batch.
    """

    agent_id: str

    def request(
        self,
        calls: list[Any] | None,
        context: object,
        turn_attachments: Sequence[Any] | None,
        options: Mapping[str, Any],
    ) -> BatchRequest:
        """A batch under the name of this agent, whatever agent the context names."""
        own = checked_tool_context(context)
        if own.agent_id != self.agent_id:
            own = own.replace(agent_id=self.agent_id)
        return Caller.request(self, calls, own, turn_attachments, options)

    async def run(self, request: BatchRequest) -> CallResults:
        """Run a batch in its scope."""
        scope, callers = self._scope(request), request.options.callers
        if callers is not None:
            own = tuple(_in_scope(each, scope) for each in callers)
            request.options = replace(request.options, callers=own)
        token = current_scope.set(scope)
        try:
            return await Caller.run(self, request)
        finally:
            current_scope.reset(token)

    def task_context(self, request: BatchRequest) -> Context:
        """The context variables of the starter, in the scope of the batch."""
        return _in_scope(copy_context(), self._scope(request))

    def _scope(self, request: BatchRequest) -> CallScope:
        """What agents that are delegated to share with these calls."""
        options = request.options
        scope = scope_of(request.context, self.agent_id)
        if options.max_concurrency is not None:
            scope = scope._replace(max_concurrency=options.max_concurrency)
        if options.deadline_seconds is not None:
            end = monotonic() + options.deadline_seconds
            if scope.deadline is not None:
                end = min(end, scope.deadline)
            scope = scope._replace(deadline=end)
        return scope


class CatalogView(View):
    """An agent's tools: its own and those it was granted, in stable order.

    `definitions` shows them, by default in the order built-in, plugin, MCP, each by name. `execute`
    runs what is shown, and where the catalogue was made with `open_calls` every tool that is not
    excluded. Calls are counted under the agent, whatever agent the given context names; agents that
    they delegate to share `max_concurrency` and the deadline.
    """

    __slots__ = ("agent_id",)

    def __init__(self, definitions: ViewDefinitions, caller: AgentCaller) -> None:
        super().__init__(definitions, caller)
        self.agent_id = caller.agent_id

    def __repr__(self) -> str:
        tools = len(self._definitions.admission.visible())
        return f"<CatalogView of {self.agent_id!r}, {tools} tools>"


def _in_scope(caller: Context, scope: CallScope) -> Context:
    """A copy of context variables, for calls that delegate in this scope."""
    own = caller.copy()
    own.run(current_scope.set, scope)
    return own
