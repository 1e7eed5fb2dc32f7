"""Which view a search makes, and the warning for views that should search."""

from __future__ import annotations

import logging

from ethos_registry.contract.dispatch import DispatchContext
from ethos_registry.contract.errors import ConfigError
from ethos_registry.contract.policy import Personality
from ethos_registry.execution.runtime import Runtime
from ethos_registry.registry.deferred_view import DeferredView
from ethos_registry.registry.search_tools import CALL_FOUND_TOOL, SEARCH_TOOLS
from ethos_registry.registry.search_view import SearchView
from ethos_registry.registry.tool_search import ToolSearch
from ethos_registry.registry.view import View
from ethos_registry.table.admission import Admission

__all__ = ["MANY_TOOLS", "searching_view", "warn_of_many"]

MANY_TOOLS = 128
"""Providers refuse longer lists, and models choose badly from them."""
_MAX_WARNED = 1_000

_logger = logging.getLogger("ethos_registry")
_warned: set[str] = set()


def searching_view(
    admission: Admission,
    runtime: Runtime,
    search: ToolSearch,
    personality: Personality,
    turn: DispatchContext | None,
) -> View:
    """A view that searches; `ConfigError` if a tool has the name of one of its own."""
    if search.by == "provider":
        return DeferredView(admission, runtime, personality=personality, turn=turn)
    for name in (SEARCH_TOOLS, CALL_FOUND_TOOL):
        if admission.snapshot.get(name) is not None:
            raise ConfigError(
                f"a tool is named `{name}`, as a tool of the search; rename it, or use "
                'ToolSearch(by="provider")'
            )
    return SearchView(admission, runtime, search, personality=personality, turn=turn)


def warn_of_many(personality: Personality, count: int) -> None:
    """Log once for each personality that its list is long."""
    if personality.id in _warned or len(_warned) >= _MAX_WARNED:
        return
    _warned.add(personality.id)
    _logger.warning(
        "personality `%s` is shown %d tools; from %d on providers may refuse the list and models "
        "choose badly: use `view(personality, search=True)` or a smaller toolset",
        personality.id,
        count,
        MANY_TOOLS + 1,
    )
