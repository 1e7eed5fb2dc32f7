"""A plugin that replaces a built-in reducer by its own, and gives it back."""

from ethos_registry import (
    ToolReducerContext,
    ToolResult,
    built_in_reducers,
    default_reducers,
    ok,
    tool,
)
from ethos_registry.testing import run_tool


class FirstLine:
    """Keeps the first line of terminal output."""

    tool_name = "terminal"

    def reduce(self, result: ToolResult, context: ToolReducerContext) -> ToolResult:
        """The same result with one line; errors stay as they are."""
        return ok(result.value.split("\n", 1)[0]) if result.ok else result


@tool
def terminal(command: str) -> str:
    """Pretend to run a command."""
    return f"{command}: done\nand much more that nobody needs"


if __name__ == "__main__":
    reducers = default_reducers()
    reducers.unregister("terminal")
    give_back = reducers.register(FirstLine())
    print(run_tool(terminal, {"command": "make"}, reducers=reducers).text)
    give_back()
    for reducer in built_in_reducers():
        if reducer.tool_name == "terminal":
            reducers.register(reducer)
    print(run_tool(terminal, {"command": "make"}, reducers=reducers).text)
