"""One call of a remote tool: sent once, answered always.

Imports the package `mcp`: the connection imports this module when it connects.
"""

from __future__ import annotations

from secrets import token_hex
from typing import Any

import anyio
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError
from mcp_types import CONNECTION_CLOSED, INVALID_PARAMS, INVALID_REQUEST, REQUEST_TIMEOUT
from pydantic import ValidationError

from ethos_registry.mcp._results import (
    REFUSED,
    SESSION_ENDED,
    ConnectionLostError,
    NotSentError,
    from_mcp_result,
)
from ethos_registry.mcp._server_text import cleaned, one_line
from ethos_registry.types._context import ToolContext
from ethos_registry.types._result import ToolError, ToolResult

__all__ = [
    "REFUSED_MESSAGE",
    "invalid_result",
    "is_answer",
    "is_timeout",
    "raise_if_lost",
    "send_call",
]


# What an error of the SDK's client means: it uses few codes, which servers use too.

_CLOSED = ("Connection closed", "SSE stream ")
_SESSION_ENDED = (INVALID_REQUEST, "Session terminated")
REFUSED_MESSAGE = f"the connection was refused ({token_hex(8)})"
"""The message of an error that our own HTTP client reports; no server can know it."""


def raise_if_lost(error: BaseException) -> None:
    """Raise what a lost connection means for the call; return if the error is another one.

    Raises:
        ConnectionLostError: The connection ended before the answer came.
        NotSentError: The server was not reached, or does not know the session any more.

    """
    if isinstance(error, anyio.BrokenResourceError | anyio.ClosedResourceError):
        raise ConnectionLostError from None
    if isinstance(error, MCPError):
        if error.code == CONNECTION_CLOSED and error.message.startswith(_CLOSED):
            raise ConnectionLostError from None
        if (error.code, error.message) == _SESSION_ENDED:
            raise NotSentError(SESSION_ENDED) from None
        if error.message == REFUSED_MESSAGE:
            raise NotSentError(REFUSED) from None


def is_timeout(error: MCPError) -> bool:
    """Whether the client gave up; servers use the code for errors of their own."""
    return error.code == REQUEST_TIMEOUT and error.message.endswith("timed out")


def is_answer(error: BaseException) -> bool:
    """Whether it is an error that the server answered with."""
    if not isinstance(error, MCPError) or is_timeout(error):
        return False
    try:
        raise_if_lost(error)
    except (ConnectionLostError, NotSentError):
        return False
    return True


_MAX_ERROR_CHARS = 4000
_EXTRA_SECONDS = 1.0
"""Our own clock ends a call first, so that the answer names its limit."""


async def send_call(
    client: Client,
    name: str,
    args: dict[str, Any],
    context: ToolContext,
    timeout_seconds: float | None,
) -> ToolResult:
    """Send one call and translate its answer.

    Raises:
        ConnectionLostError: The connection ended before the answer came.
        NotSentError: The server did not start the call.

    """

    async def report(progress: float, total: float | None, message: str | None) -> None:
        percent = 100 * progress / total if total else None
        text = one_line(message) if message else ""
        shown = f"{progress:g}" if total is None else f"{progress:g} of {total:g}"
        context.report(text or shown, percent=percent, audience="user")

    try:
        answer = await client.call_tool(
            name,
            args,
            None if timeout_seconds is None else timeout_seconds + _EXTRA_SECONDS,
            report,
        )
    except MCPError as error:
        raise_if_lost(error)
        if is_timeout(error):
            return ToolError(
                f"the MCP server did not answer within {timeout_seconds:g} s; it may have run",
                "execution_failed",
                "timeout",
            )
        code = "input_invalid" if error.code == INVALID_PARAMS else "execution_failed"
        text = cleaned(error.message, _MAX_ERROR_CHARS) or f"error {error.code}"
        return ToolError(text, code)  # type: ignore[arg-type]
    except (anyio.BrokenResourceError, anyio.ClosedResourceError):
        raise ConnectionLostError from None
    except (RuntimeError, ValidationError) as error:
        return ToolError(invalid_result(error))
    return from_mcp_result(answer)


def invalid_result(error: RuntimeError | ValidationError) -> str:
    """Why the result of a call that has run cannot be read, in one line."""
    problem = str(error)
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        problem = f"at `{place}`: {first['msg']}"
    return (
        f"it has run, but the MCP server answered with an invalid result: {one_line(problem, 500)}"
    )
