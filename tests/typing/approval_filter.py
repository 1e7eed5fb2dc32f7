"""A filter asks a person before some tools run, and another one changes results."""

import asyncio

from ethos_registry import Invocation, InvocationFilter, ToolOk, ToolRegistry, ToolResult, err, ok

registry = ToolRegistry()


@registry.tool(toolset="money")
async def pay(amount: int) -> str:
    """Pay an amount."""
    return f"paid {amount}"


async def ask(invocation: Invocation) -> ToolResult | None:
    """Permit small amounts."""
    with invocation.clock_paused():
        await asyncio.sleep(0)
    if invocation.args["amount"] > 100:
        return err("the user declined", "not_available")
    return None


def shout(invocation: Invocation, result: ToolResult) -> ToolResult | None:
    """Change successes."""
    return ok(result.value.upper()) if isinstance(result, ToolOk) else None


async def main() -> None:
    """Two payments, one declined."""
    filters = [
        InvocationFilter(before=ask, toolset="money"),
        InvocationFilter(after=shout, tool_names=["pay"]),
    ]
    calls = [
        {"id": "1", "name": "pay", "args": {"amount": 10}},
        {"id": "2", "name": "pay", "args": {"amount": 1000}},
    ]
    for result in await registry.execute_parallel(calls, filters=filters):
        print(result.ok, result.text)


if __name__ == "__main__":
    asyncio.run(main())
