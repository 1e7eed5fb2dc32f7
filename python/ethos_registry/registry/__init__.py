"""The objects that hold tools and show them: registries, views, turns, streams, search."""

from typing import TYPE_CHECKING

from ethos_registry._lazy import lazy

if TYPE_CHECKING:
    from ethos_registry.registry._explain import CapabilityFinding, Explanation
    from ethos_registry.registry._prefix_session import PrefixSession
    from ethos_registry.registry._search import FoundTools, ToolSearch
    from ethos_registry.registry._stream import (
        BrokenStreamPolicy,
        DispatchedStream,
        StreamDispatcher,
        SyncStreamDispatcher,
    )
    from ethos_registry.registry._tool_registry import Turn, is_tool_registry
    from ethos_registry.types._errors import TurnAlreadySignalledError
    from ethos_registry.types._ports import ToolView, TurnScope
    from ethos_registry.types._tool import Registration
    from ethos_registry.types._turn import DispatchContext, ToolExecution, ToolForge, ToolResolver

__all__ = [
    "BrokenStreamPolicy",
    "CapabilityFinding",
    "DispatchContext",
    "DispatchedStream",
    "Explanation",
    "FoundTools",
    "PrefixSession",
    "Registration",
    "StreamDispatcher",
    "SyncStreamDispatcher",
    "ToolExecution",
    "ToolForge",
    "ToolResolver",
    "ToolSearch",
    "ToolView",
    "Turn",
    "TurnAlreadySignalledError",
    "TurnScope",
    "is_tool_registry",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "registry._explain": "CapabilityFinding Explanation",
            "registry._prefix_session": "PrefixSession",
            "registry._search": "FoundTools ToolSearch",
            "registry._stream": (
                "BrokenStreamPolicy DispatchedStream StreamDispatcher SyncStreamDispatcher"
            ),
            "registry._tool_registry": "Turn is_tool_registry",
            "types._errors": "TurnAlreadySignalledError",
            "types._ports": "ToolView TurnScope",
            "types._tool": "Registration",
            "types._turn": "DispatchContext ToolExecution ToolForge ToolResolver",
        },
    )
