"""The reach of the personality that runs a ready tool."""

from __future__ import annotations

import os
from typing import Literal

from ethos_registry.capabilities.reach import FROM_PERSONALITY, narrowed_reach
from ethos_registry.contract.context import ToolContext
from ethos_registry.contract.policy import Personality
from ethos_registry.toolkit.arguments import RefusalError, shown

__all__ = ["check_reach"]

_NAMED_ROOTS = 4


def check_reach(
    context: ToolContext, path: str, resolved: str, access: Literal["read", "write"]
) -> None:
    """Refuse a path that the call's personality may not read or write.

    `resolved` is the path without links. A personality that states no `fs_reach` restricts nothing.
    """
    personality: Personality | None = getattr(context, "personality", None)
    if personality is None or personality.fs_reach is None:
        return
    declared: dict[str, str] = {access: FROM_PERSONALITY}
    reach = narrowed_reach(declared, personality.fs_reach, context.working_dir)
    roots = (*reach.read, *reach.write)
    if access == "read":  # what may be written may be read
        roots += narrowed_reach(
            {"write": FROM_PERSONALITY}, personality.fs_reach, context.working_dir
        ).write
    if any(resolved == root or resolved.startswith(root.rstrip(os.sep) + os.sep) for root in roots):
        return
    named = ", ".join(shown(root) for root in roots[:_NAMED_ROOTS])
    way_out = f"permitted: {named}" if roots else "this personality may not touch files"
    raise RefusalError(
        f"PATH_NOT_REACHABLE: {access} not permitted for {shown(path)}; {way_out}", "not_available"
    )
