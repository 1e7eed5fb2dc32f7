"""Who is acting for whom: the chain of agents through which a call came."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any, NamedTuple

from ethos_registry.contract.context import CONTEXT_FIELDS, ToolContext

__all__ = ["CallScope", "DelegatedContext", "current_scope", "scope_of"]


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
