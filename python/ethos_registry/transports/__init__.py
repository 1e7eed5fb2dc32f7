"""Where a tool runs if not here: worker processes, an MCP server, Ray."""

from typing import TYPE_CHECKING

from ethos_registry._lazy import lazy

if TYPE_CHECKING:
    from ethos_registry.registry._local_transport import LocalTransport
    from ethos_registry.transports._limits import WorkerLimits
    from ethos_registry.transports._mcp_transport import McpTransport
    from ethos_registry.transports._process_transport import ProcessTransport
    from ethos_registry.types._remote_finish import FinishFacts, FinishOrder, SharedFolder
    from ethos_registry.types._transport import (
        LiveContext,
        ToolExecuteRequest,
        ToolTransport,
        TransportHeld,
        TransportItem,
        TransportProgress,
        TransportReply,
        TransportStarted,
        TransportTraits,
    )

__all__ = [
    "FinishFacts",
    "FinishOrder",
    "LiveContext",
    "LocalTransport",
    "McpTransport",
    "ProcessTransport",
    "SharedFolder",
    "ToolExecuteRequest",
    "ToolTransport",
    "TransportHeld",
    "TransportItem",
    "TransportProgress",
    "TransportReply",
    "TransportStarted",
    "TransportTraits",
    "WorkerLimits",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "registry._local_transport": "LocalTransport",
            "transports._limits": "WorkerLimits",
            "transports._mcp_transport": "McpTransport",
            "transports._process_transport": "ProcessTransport",
            "types._remote_finish": "FinishFacts FinishOrder SharedFolder",
            "types._transport": (
                "LiveContext ToolExecuteRequest ToolTransport TransportHeld TransportItem "
                "TransportProgress TransportReply TransportStarted TransportTraits"
            ),
        },
    )
