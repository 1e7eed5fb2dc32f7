"""One call of a remote tool: sent once, answered always.

Imports the package `mcp`: the connection imports this module when it connects.
"""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable
from functools import partial
from secrets import token_hex
from typing import Any

import anyio
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CONNECTION_CLOSED,
    INVALID_PARAMS,
    INVALID_REQUEST,
    REQUEST_TIMEOUT,
    CallToolResult,
    ContentBlock,
    CreateTaskResult,
    GetTaskResult,
)
from pydantic import TypeAdapter, ValidationError

from ethos_registry.mcp._definitions import RemoteDefinition
from ethos_registry.mcp._results import (
    REFUSED,
    SESSION_ENDED,
    ConnectionLostError,
    NotSentError,
    from_mcp_result,
    readable_blocks,
)
from ethos_registry.mcp._sdk_private import private_attribute, raw_requests
from ethos_registry.mcp._server_text import cleaned, one_line
from ethos_registry.types._context import ToolContext
from ethos_registry.types._result import ToolError, ToolResult

# What an error of the SDK's client means: it uses few codes, which servers use too.

_CLOSED = ("Connection closed", "SSE stream ")
_SESSION_ENDED = (INVALID_REQUEST, "Session terminated")
REFUSED_MESSAGE = f"the connection was refused ({token_hex(8)})"
"""The message of an error that our own HTTP client reports; no server can know it."""


BROKEN = (anyio.BrokenResourceError, anyio.ClosedResourceError)
"""What the client raises where its transport has ended."""


def lost_connection(error: BaseException) -> ConnectionLostError | NotSentError | None:
    """What an error means for a call, if it is that of a lost connection.

    The connection ended before the answer came; or the server was not reached, or does not know the
    session any more.
    """
    if isinstance(error, BROKEN):
        return ConnectionLostError()
    if isinstance(error, MCPError):
        if error.code == CONNECTION_CLOSED and error.message.startswith(_CLOSED):
            return ConnectionLostError()
        if (error.code, error.message) == _SESSION_ENDED:
            return NotSentError(SESSION_ENDED)
        if error.message == REFUSED_MESSAGE:
            return NotSentError(REFUSED)
    return None


def raise_if_lost(error: BaseException) -> None:
    """Raise what a lost connection means for the call; return if the error is another one."""
    if (lost := lost_connection(error)) is not None:
        raise lost from None


def is_timeout(error: MCPError) -> bool:
    """Whether the client gave up; servers use the code for errors of their own."""
    return error.code == REQUEST_TIMEOUT and error.message.endswith("timed out")


def is_answer(error: BaseException) -> bool:
    """Whether it is an error that the server answered with."""
    return isinstance(error, MCPError) and not is_timeout(error) and lost_connection(error) is None


_MAX_ERROR_CHARS = 4000
_EXTRA_SECONDS = 1.0
"""Our own clock ends a call first, so that the answer names its limit."""


async def send_call(
    client: Client,
    tool: RemoteDefinition,
    args: dict[str, Any],
    context: ToolContext,
    timeout_seconds: float | None,
) -> ToolResult:
    """Send one call and translate its answer; a task is polled until it has ended.

    Raises:
        ConnectionLostError: The connection ended before the answer came.
        NotSentError: The server did not start the call.

    """

    async def report(progress: float, total: float | None, message: str | None) -> None:
        percent = 100 * progress / total if total else None
        text = one_line(message) if message else ""
        shown = f"{progress:g}" if total is None else f"{progress:g} of {total:g}"
        context.report(text or shown, percent=percent, audience="user")

    seconds = None if timeout_seconds is None else timeout_seconds + _EXTRA_SECONDS
    try:
        may_be_task = (
            tool.task_support in ("optional", "required")
            and client.protocol_version < "2026"  # which has them in its core
            and client.server_capabilities.tasks is not None
        )
        if may_be_task and (send := raw_requests(client.session, "calls of MCP tools as tasks")):
            asks = tool.task_support == "required"
            answer = await _result_of_task(send, tool.name, args, seconds, report, asks=asks)
        else:
            answer = await client.call_tool(tool.name, args, seconds, report)
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
    except BROKEN:
        raise ConnectionLostError from None
    except (RuntimeError, ValidationError) as error:
        return ToolError(invalid_result(error))
    return from_mcp_result(answer, lambda text: context.report(text, audience="user"))


def read_unknown_blocks(client: Client) -> None:
    """Let the client take results that hold blocks which its SDK does not know."""
    feature = "reading results of MCP servers with blocks of unknown types"
    dispatcher = private_attribute(client.session, "_dispatcher", feature)
    if dispatcher is None:
        return
    send = dispatcher.send_raw_request

    async def send_raw_request(method: str, *args: Any, **options: Any) -> Any:
        answer = await send(method, *args, **options)
        return readable_blocks(answer, _is_readable) if method == "tools/call" else answer

    dispatcher.send_raw_request = send_raw_request


_BLOCK: TypeAdapter[Any] = TypeAdapter(ContentBlock)


def _is_readable(block: Any) -> bool:
    try:
        _BLOCK.validate_python(block, by_name=False)
    except ValidationError:
        return False
    return True


_POLL_SECONDS = (0.05, 5.0)
"""Servers propose an interval; one outside these bounds is not followed."""


async def _result_of_task(
    send_raw: Callable[..., Awaitable[dict[str, Any]]],
    name: str,
    args: dict[str, Any],
    seconds: float | None,
    report: Any,
    *,
    asks: bool,
) -> CallToolResult:
    """The result of a call that the server may answer with a task; `asks` for one.

    The SDK's client has no call for it. A caller that is cancelled cancels the task.
    """
    limits = {} if seconds is None else {"timeout": seconds}
    send = partial(send_raw, **limits)
    params: dict[str, Any] = {"name": name, "arguments": args}
    if asks:
        params["task"] = {} if seconds is None else {"ttl": int(seconds * 1000)}
    answer = await send("tools/call", params, on_progress=report)
    if "task" not in answer:
        return CallToolResult.model_validate(answer, by_name=False)
    task = CreateTaskResult.model_validate(answer, by_name=False).task
    wanted = {"taskId": task.task_id}
    try:
        while task.status == "working":
            shortest, longest = _POLL_SECONDS
            milliseconds = task.poll_interval or 1000
            await anyio.sleep(min(max(milliseconds / 1000, shortest), longest))
            state = await send("tasks/get", wanted)
            task = GetTaskResult.model_validate(state, by_name=False)
        # A task that waits for input is sent its questions while this request waits.
        return CallToolResult.model_validate(await send("tasks/result", wanted), by_name=False)
    except anyio.get_cancelled_exc_class():
        with anyio.move_on_after(1, shield=True), contextlib.suppress(MCPError):
            await send("tasks/cancel", wanted)
        raise


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
