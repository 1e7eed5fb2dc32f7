"""What one agent sees and may call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import Context, ContextVar, copy_context
from dataclasses import dataclass
from time import monotonic
from typing import Any, NamedTuple

from ethos_registry.execution._results import CallResults
from ethos_registry.registry._batch_request import ApprovalAnswer, checked_tool_context
from ethos_registry.registry._caller import Caller
from ethos_registry.registry._definitions import ViewDefinitions
from ethos_registry.registry._stream import BrokenStreamPolicy, StreamCallbacks, StreamDispatcher
from ethos_registry.registry._view import View
from ethos_registry.types._call import CallResult
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


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentCaller(Caller):
    """Makes the batches of an agent.

    Agents that its calls delegate to share `max_concurrency` and the deadline of the batch.
    """

    agent_id: str

    async def execute(
        self,
        reply: object,
        context: object,
        turn_attachments: Sequence[Any] | None,
        options: Mapping[str, Any],
    ) -> CallResults:
        """Run the calls of the agent; one result a call, in order."""
        own = self._own(context)
        scope = self._scope(own, options)
        callers = options.get("callers")
        if callers is not None:
            options = {**options, "callers": [_in_scope(each, scope) for each in callers]}
        with _entered(scope):
            return await Caller.execute(self, reply, own, turn_attachments, options)

    async def resume(
        self,
        answer: ApprovalAnswer,
        context: object,
        turn_attachments: Sequence[Any] | None,
        options: Mapping[str, Any],
    ) -> CallResult:
        """Continue a call of this agent that waits for approval."""
        own = self._own(context)
        with _entered(self._scope(own, options)):
            return await Caller.resume(self, answer, own, turn_attachments, options)

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
        """The batch of a streamed reply."""
        own = self._own(context)
        in_scope = _in_scope(task_context or copy_context(), self._scope(own, options))
        return Caller.dispatcher(
            self, own, turn_attachments, options, provider, callbacks, on_broken_stream, in_scope
        )

    def _scope(self, context: ToolContext, options: Mapping[str, Any]) -> CallScope:
        """What agents that are delegated to share with these calls."""
        scope = scope_of(context, self.agent_id)
        max_concurrency = options.get("max_concurrency")
        if max_concurrency is not None:
            scope = scope._replace(max_concurrency=max_concurrency)
        deadline_seconds = options.get("deadline_seconds")
        if isinstance(deadline_seconds, int | float):
            end = monotonic() + deadline_seconds
            if scope.deadline is not None:
                end = min(end, scope.deadline)
            scope = scope._replace(deadline=end)
        return scope

    def _own(self, context: object) -> ToolContext:
        """The context under the name of this agent, whatever agent it names."""
        checked = checked_tool_context(context)
        if checked.agent_id == self.agent_id:
            return checked
        return checked.replace(agent_id=self.agent_id)


@contextmanager
def _entered(scope: CallScope) -> Iterator[None]:
    """Run the block's calls in a scope."""
    token = current_scope.set(scope)
    try:
        yield
    finally:
        current_scope.reset(token)


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
