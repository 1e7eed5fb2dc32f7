from __future__ import annotations

from ethos_registry.registry.tool_registry import ToolRegistry
from ethos_registry.toolkit import ready_tools

NAMES = [
    "list_files",
    "patch_file",
    "read_file",
    "run_tests",
    "search_files",
    "terminal",
    "write_file",
]
"""In the order of their names."""


def test_ready_tools_are_a_fresh_list_in_the_order_of_names() -> None:
    assert [tool.name for tool in ready_tools()] == NAMES == sorted(NAMES)
    assert ready_tools() is not ready_tools()


def test_output_that_others_write_is_untrusted() -> None:
    assert [tool.name for tool in ready_tools() if not tool.output_is_untrusted] == ["write_file"]


def test_all_can_be_registered_together() -> None:
    registry = ToolRegistry(ready_tools())
    assert [definition["name"] for definition in registry.to_definitions()] == NAMES
