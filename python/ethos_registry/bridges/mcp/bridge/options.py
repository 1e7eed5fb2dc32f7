"""The keywords of a bridge."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TypedDict

from ethos_registry.bridges.mcp.bridge.pins import McpPins
from ethos_registry.bridges.mcp.bridge.reports import ToolsChanged
from ethos_registry.bridges.mcp.bridge.secrets import SecretSource
from ethos_registry.bridges.mcp.bridge.tool_set import ChangePolicy

__all__ = ["McpBridgeOptions"]


class McpBridgeOptions(TypedDict, total=False):
    """The keywords of `McpBridge`."""

    pins: McpPins | str | os.PathLike[str] | None
    on_change: ChangePolicy
    secrets: SecretSource | None
    stderr_folder: str | os.PathLike[str] | None
    on_tools_changed: Callable[[ToolsChanged], object] | None
