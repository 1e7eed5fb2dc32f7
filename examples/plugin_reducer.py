"""A plugin replaces a built-in reducer, then restores it.

pip install .
python examples/plugin_reducer.py
"""

from ethos_registry import ToolOk, ToolResult, default_reducers, ok, tool
from ethos_registry.reduction import ToolReducerContext, built_in_reducers
from ethos_registry.testing import run_tool


class FirstLine:
    """Keep the first line of terminal output."""

    tool_name = "terminal"

    def reduce(self, result: ToolResult, context: ToolReducerContext) -> ToolResult:
        """Keep the first line of a success; leave errors unchanged."""
        if not isinstance(result, ToolOk):
            return result
        return ok(result.value.split("\n", 1)[0])


@tool
def terminal(command: str) -> str:
    """Pretend to run a command."""
    return f"{command}: done\nfollowed by a long log"


if __name__ == "__main__":
    reducers = default_reducers()
    reducers.unregister("terminal")
    restore = reducers.register(FirstLine())
    print(run_tool(terminal, {"command": "make"}, reducers=reducers).text)
    restore()
    for reducer in built_in_reducers():
        if reducer.tool_name == "terminal":
            reducers.register(reducer)
    print(run_tool(terminal, {"command": "make"}, reducers=reducers).text)
