"""Which memory a turn has."""

from __future__ import annotations

from ethos_registry.contract.context import ToolContext
from ethos_registry.toolkit.arguments import RefusalError

__all__ = ["memory_scope"]


def memory_scope(context: ToolContext) -> str:
    """The context's `memory_scope_id`, else its `memory_scope`, else its team.

    Raises:
        RefusalError: The context has none of them.

    """
    if context.memory_scope_id is not None:
        return f"id:{context.memory_scope_id}"
    if context.memory_scope == "global":
        return "global"
    if context.memory_scope == "per-personality":
        if context.personality_id is None:
            raise RefusalError(
                "memory is kept per personality, and this turn has none; tell the user",
                "not_available",
            )
        return f"personality:{context.personality_id}"
    if context.team_id is not None:
        return f"team:{context.team_id}"
    raise RefusalError(
        "this turn has no memory; tell the user that its host sets memory_scope_id, memory_scope "
        "or team_id for that",
        "not_available",
    )
