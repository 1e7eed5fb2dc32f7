"""What one agent sees and may call."""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic
from typing import TYPE_CHECKING, Any

from ethos_registry.agents.scope import current_scope, scope_of
from ethos_registry.contract.context import ToolContext
from ethos_registry.contract.policy import Personality
from ethos_registry.execution.results import CallResults
from ethos_registry.execution.runtime import Runtime
from ethos_registry.registry.view import View, checked_batch
from ethos_registry.table.admission import Admission

if TYPE_CHECKING:
    from ethos_registry.agents.catalog import AgentCatalog

__all__ = ["CatalogView"]


class CatalogView(View):
    """An agent's tools: its own and those it was granted, in stable order.

    `definitions` shows them, by default in the order built-in, plugin, MCP, each by name. `execute`
    runs what is shown, and where the catalogue was made with `open_calls` every tool that is not
    excluded. Calls are counted under the agent, whatever agent the given context names.
    """

    __slots__ = ("_called", "_catalog", "agent_id")

    def __init__(
        self,
        catalog: AgentCatalog,
        agent_id: str,
        visible: Admission,
        callable_: Admission,
        runtime: Runtime,
        *,
        personality: Personality | None = None,
        freeze_availability: bool = False,
    ) -> None:
        personality_id = None if personality is None else personality.id
        super().__init__(
            visible,
            runtime,
            personality_id=personality_id,
            freeze_availability=freeze_availability,
        )
        self._called = View(callable_, runtime, personality_id=personality_id)
        self._catalog = catalog
        self.agent_id = agent_id

    def __repr__(self) -> str:
        return f"<CatalogView of {self.agent_id!r}, {len(self._admission.visible())} tools>"

    async def execute(
        self,
        calls: Sequence[Any],
        context: ToolContext | None = None,
        turn_attachments: Sequence[Any] | None = None,
        *,
        deadline_seconds: float | None = None,
        max_concurrency: int | None = None,
        **options: Any,
    ) -> CallResults:
        """Run the calls of the agent; one result a call, in order.

        The parameters are those of `ToolRegistry.execute_parallel`. Agents that these calls
        delegate to share `max_concurrency` and the deadline.
        """
        calls, context = checked_batch(calls, context)
        scope = scope_of(context, self.agent_id)
        if max_concurrency is not None:
            scope = scope._replace(max_concurrency=max_concurrency)
        if isinstance(deadline_seconds, int | float):
            end = monotonic() + deadline_seconds
            if scope.deadline is not None:
                end = min(end, scope.deadline)
            scope = scope._replace(deadline=end)
        if context.agent_id != self.agent_id:
            context = context.replace(agent_id=self.agent_id)
        token = current_scope.set(scope)
        try:
            return await self._called.execute(
                calls,
                context,
                turn_attachments,
                deadline_seconds=deadline_seconds,
                max_concurrency=max_concurrency,
                **options,
            )
        finally:
            current_scope.reset(token)
