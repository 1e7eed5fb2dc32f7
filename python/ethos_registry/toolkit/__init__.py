"""Ready tools: files and a terminal, confined to the context's working directory."""

from __future__ import annotations

from ethos_registry.toolkit.read_file import read_file_tool
from ethos_registry.toolkit.ready import ready_tools
from ethos_registry.toolkit.terminal import terminal_tool

__all__ = ["read_file_tool", "ready_tools", "terminal_tool"]
