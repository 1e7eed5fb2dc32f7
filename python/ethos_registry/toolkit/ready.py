"""All ready tools at once."""

from __future__ import annotations

from ethos_registry.contract.tool import Tool
from ethos_registry.toolkit.patch_file import patch_file_tool
from ethos_registry.toolkit.read_file import read_file_tool
from ethos_registry.toolkit.terminal import terminal_tool
from ethos_registry.toolkit.write_file import write_file_tool

__all__ = ["ready_tools"]


def ready_tools() -> list[Tool]:
    """A fresh list of every ready tool with its defaults, in the order of their names."""
    return [patch_file_tool(), read_file_tool(), terminal_tool(), write_file_tool()]
