"""The reducer of tools that run a program of the project: tests, linters, type checkers."""

from __future__ import annotations

from ethos_registry import _core
from ethos_registry.contract.reducer import ToolReducerContext
from ethos_registry.contract.result import ToolResult
from ethos_registry.reduction.parts import exit_code_of, length_of, with_text

__all__ = ["PROJECT_COMMAND_TOOLS", "ProjectCommandReducer"]

PROJECT_COMMAND_TOOLS = ("lint", "run_tests", "typecheck")


class ProjectCommandReducer:
    """Reduces the output as that of the command that ran, and leaves the first line.

    The model did not choose the command: `structured["command"]` has it.
    """

    __slots__ = ("__weakref__", "_native", "tool_name")

    def __init__(self, tool_name: str) -> None:
        self.tool_name = tool_name
        """The exact name of the tool."""
        self._native = _core.NativeReducer("terminal")

    def reduce(self, result: ToolResult, context: ToolReducerContext, /) -> ToolResult:
        """The result with a shorter text; the same object if there is nothing to do."""
        command = result.structured.get("command") if result.structured else None
        if not isinstance(command, str):
            return result
        first_line, line_end, output = result.text.partition("\n")
        target_chars, level = length_of(context.policy, len(first_line) + len(line_end))
        reduced = self._native.reduce(
            output,
            {"command": command},
            result.ok,
            exit_code=exit_code_of(result),
            target_chars=target_chars,
            level=level,
        )
        if reduced is output:
            return result
        return with_text(result, f"{first_line}{line_end}{reduced}")

    def __repr__(self) -> str:
        return f"ProjectCommandReducer({self.tool_name!r})"
