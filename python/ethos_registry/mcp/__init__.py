"""MCP both ways: tools of MCP servers in a registry, and a view served over MCP."""

from typing import TYPE_CHECKING

from ethos_registry._lazy import lazy

if TYPE_CHECKING:
    from ethos_registry.mcp._bridge import McpBridge
    from ethos_registry.mcp._callbacks import McpElicitation, McpSampling
    from ethos_registry.mcp._definitions import (
        McpAnnotations,
        McpPins,
        McpProblem,
        McpServerStatus,
        PinDifference,
        ToolsChanged,
    )
    from ethos_registry.mcp._gateway import McpGateway
    from ethos_registry.mcp._resources import McpPrompt, McpRequestError, McpResource
    from ethos_registry.mcp._server import McpServer
    from ethos_registry.mcp._users import McpUsers

__all__ = [
    "McpAnnotations",
    "McpBridge",
    "McpElicitation",
    "McpGateway",
    "McpPins",
    "McpProblem",
    "McpPrompt",
    "McpRequestError",
    "McpResource",
    "McpSampling",
    "McpServer",
    "McpServerStatus",
    "McpUsers",
    "PinDifference",
    "ToolsChanged",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "mcp._bridge": "McpBridge",
            "mcp._callbacks": "McpElicitation McpSampling",
            "mcp._definitions": (
                "McpAnnotations McpPins McpProblem McpServerStatus PinDifference ToolsChanged"
            ),
            "mcp._gateway": "McpGateway",
            "mcp._resources": "McpPrompt McpRequestError McpResource",
            "mcp._server": "McpServer",
            "mcp._users": "McpUsers",
        },
    )
