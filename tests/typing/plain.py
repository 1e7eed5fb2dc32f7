"""A first program: two tools, one denied, three calls."""

from ethos_registry import CallResult, Personality, ToolError, ToolRegistry

registry = ToolRegistry()


@registry.tool(toolset="numbers")
def add(first: int, second: int) -> int:
    """Add two numbers."""
    return first + second


@registry.tool(toolset="danger")
def reboot() -> str:
    """Restart the machine."""
    return "restarting"


def describe(result: CallResult) -> str:
    """One line for a log."""
    if isinstance(result.result, ToolError):
        return f"{result.name} failed: {result.result.code} ({result.result.reason})"
    return f"{result.name}: {result.text}"


def main() -> None:
    """Run the calls of one reply."""
    registry.check(Personality("clerk", toolset=["toolset:numbers"]))
    calls = [
        {"id": "1", "name": "add", "args": {"first": 1, "second": 2}},
        {"id": "2", "name": "reboot", "args": {}},
        {"id": "3", "name": "add", "args": '{"first": 1}'},
    ]
    for result in registry.execute_parallel_sync(calls, allowed_tools=["add"]):
        print(describe(result))
    total: int = add(1, 2)
    print(total)


if __name__ == "__main__":
    main()
