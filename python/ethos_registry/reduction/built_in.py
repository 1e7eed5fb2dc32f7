"""The reducers of the package, implemented in the native core."""

from __future__ import annotations

from typing import Final

from ethos_registry import _core
from ethos_registry.contract.reducer import ToolReducerContext
from ethos_registry.contract.result import ToolResult
from ethos_registry.reduction.parts import exit_code_of, length_of, with_text
from ethos_registry.reduction.project_command import PROJECT_COMMAND_TOOLS, ProjectCommandReducer
from ethos_registry.reduction.registry import DefaultToolResultReducerRegistry

__all__ = [
    "BUILT_IN_REDUCER_NAMES",
    "KINDS",
    "BuiltInReducer",
    "built_in_reducers",
    "default_reducers",
]

_TOOLS = ("terminal", "read_file", "kanban_list")
KINDS = (*_TOOLS, "head_tail", "generic")
"""The kinds of native reducers: one for each of these tools, and two for any output."""


class BuiltInReducer:
    """A native reducer under the name of its tool.

    The registry runs `native` in one crossing with the trim; `reduce` is for direct use.
    """

    __slots__ = ("__weakref__", "kind", "native", "tool_name")

    def __init__(self, tool_name: str, kind: str) -> None:
        self.tool_name = tool_name
        """The exact name of the tool."""
        self.kind = kind
        """The native core's name of the strategy."""
        self.native = _core.NativeReducer(kind)

    def reduce(self, result: ToolResult, context: ToolReducerContext, /) -> ToolResult:
        """The result with a shorter text; the same object if there is nothing to do.

        Never raises. `structured`, `cost_usd` and extra fields are unchanged.
        """
        target_chars, level = length_of(context.policy)
        text = self.native.reduce(
            result.text,
            context.args,
            result.ok,
            exit_code=exit_code_of(result),
            target_chars=target_chars,
            level=level,
        )
        return result if text is result.text else with_text(result, text)

    def __repr__(self) -> str:
        return f"BuiltInReducer({self.tool_name!r})"


BUILT_IN_REDUCER_NAMES: Final = frozenset((*_TOOLS, *PROJECT_COMMAND_TOOLS))
"""The tools that `default_reducers()` has reducers for, whether they are registered or not."""


def built_in_reducers() -> list[BuiltInReducer]:
    """New reducers for `terminal`, `read_file` and `kanban_list`."""
    return [BuiltInReducer(tool_name, tool_name) for tool_name in _TOOLS]


def default_reducers() -> DefaultToolResultReducerRegistry:
    """A new registry of the built-in reducers.

    Those of `built_in_reducers()`, and for `lint`, `run_tests` and `typecheck` one that reduces the
    output of the command that ran.

    >>> default_reducers().get("terminal")
    BuiltInReducer('terminal')
    """
    commands = [ProjectCommandReducer(tool_name) for tool_name in PROJECT_COMMAND_TOOLS]
    return DefaultToolResultReducerRegistry([*built_in_reducers(), *commands])
