"""Retries, telemetry and approval later."""

import asyncio
import secrets

from ethos_registry import (
    CallResult,
    Invocation,
    InvocationFilter,
    Pending,
    Personality,
    ToolError,
    ToolRegistry,
    tool,
)
from ethos_registry.execution import ApprovalError, Approvals, FileApprovalStore
from ethos_registry.telemetry import Langfuse, OpenInference, OpenTelemetry, TracedCall
from ethos_registry.types import Retry


def is_busy(failure: Exception | ToolError) -> bool:
    return isinstance(failure, ToolError) and failure.code == "not_available"


@tool(idempotent=True, retry=Retry(3, 0.5, on=(TimeoutError, ConnectionError)))
async def look_up(name: str) -> str:
    """Look up a name."""
    return name.upper()


@tool(idempotent=True, retry=Retry(attempts=2, backoff=[0.1, 1.0], on=is_busy))
def count(name: str) -> int:
    """Count the letters."""
    return len(name)


def ask(invocation: Invocation) -> Pending | None:
    return None if invocation.is_approved else Pending("needs a person")


async def ask_later(invocation: Invocation) -> Pending:
    return Pending("needs a person")


def route(traced: TracedCall) -> dict[str, str]:
    return {"app.tool": traced.tool_name}


registry = ToolRegistry(
    [look_up, count],
    observers=[OpenTelemetry(extra_attributes=[OpenInference(), Langfuse(), route])],
    approvals=Approvals(secrets.token_bytes(32), store=FileApprovalStore("used")),
    filters=[
        InvocationFilter(before=ask),
        InvocationFilter(before=ask_later, tool_names="look_up"),
    ],
    max_concurrency=8,
)


@registry.tool(idempotent=True, retry=Retry())
def twice(number: int) -> int:
    """Twice a number."""
    return 2 * number


async def main() -> None:
    view = registry.view(Personality("clerk", toolset=None))
    [result] = await view.execute([{"id": "1", "name": "count", "args": {"name": "a"}}])
    if result.pending is None:
        return
    try:
        done: CallResult = await view.resume(
            result.pending.token, approved=True, edited_args={"name": "b"}
        )
    except ApprovalError as error:
        print(error.reason)
    else:
        print(done.text, result.pending.reason, result.pending.arguments)


asyncio.run(main())
