"""Requests of a server that the client answers as tasks, in revision 2025-11-25.

Imports the package `mcp`. The SDK's client has no tasks.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, INVALID_REQUEST, ClientCapabilities, ClientTasksCapability

from ethos_registry.mcp._sdk_private import private_attribute

if TYPE_CHECKING:
    from mcp.client.client import Client
    from mcp.client.session import ClientSession

MAX_TASKS = 32
"""Of one server at a time; what has ended makes room, the oldest first."""
_POLL_MILLISECONDS = 500
_FEATURE = "answering requests of MCP servers as tasks"
_RELATED = "io.modelcontextprotocol/related-task"
_REQUESTS = {"sampling/createMessage": "sampling", "elicitation/create": "elicitation"}


def answer_as_tasks(client: Client) -> None:
    """Let the servers of a client that is not entered yet ask by tasks what they may ask."""
    build = private_attribute(client, "_build_session", _FEATURE)
    if build is None:
        return

    async def build_session(exit_stack: AsyncExitStack) -> ClientSession:
        session: ClientSession = await build(exit_stack)
        answer = private_attribute(session, "_on_request", _FEATURE)
        capabilities_of = private_attribute(session, "_build_capabilities", _FEATURE)
        if answer is not None and capabilities_of is not None:
            exit_stack.callback(_RequestTasks(session, answer, capabilities_of).cancel)
        return session

    client._build_session = build_session  # type: ignore[method-assign]


class _RequestTasks:
    """The tasks of one connection; they end with it."""

    def __init__(
        self,
        session: ClientSession,
        answer: Callable[..., Coroutine[Any, Any, dict[str, Any]]],
        capabilities_of: Callable[[str], ClientCapabilities],
    ) -> None:
        self._tasks: dict[str, tuple[asyncio.Task[dict[str, Any]], str]] = {}
        self._answer = answer
        self._capabilities_of = capabilities_of
        session._on_request = self._on_request  # type: ignore[method-assign, assignment]
        session._build_capabilities = self._capabilities  # type: ignore[method-assign]

    def cancel(self) -> None:
        for task, _ in self._tasks.values():
            task.cancel()

    def _capabilities(self, version: str) -> ClientCapabilities:
        found = self._capabilities_of(version)
        requests: dict[str, Any] = {}
        if found.sampling is not None:
            requests["sampling"] = {"createMessage": {}}
        if found.elicitation is not None:
            requests["elicitation"] = {"create": {}}
        if not requests or version >= "2026":
            return found
        fields = {"cancel": {}, "requests": requests}
        tasks = ClientTasksCapability.model_validate(fields, by_name=False)
        return found.model_copy(update={"tasks": tasks})

    async def _on_request(
        self, context: Any, method: str, params: Mapping[str, Any] | None
    ) -> dict[str, Any]:
        given = params or {}
        if method in _REQUESTS and isinstance(given.get("task"), Mapping):
            return self._start(context, method, given)
        if method not in ("tasks/get", "tasks/result", "tasks/cancel"):
            return await self._answer(context, method, params)
        identifier = given.get("taskId")
        if not isinstance(identifier, str) or identifier not in self._tasks:
            raise MCPError(INVALID_PARAMS, "unknown task")
        task, _ = self._tasks[identifier]
        if method == "tasks/result":
            await asyncio.wait([task])
            if task.cancelled():
                raise MCPError(INVALID_REQUEST, "the task was cancelled")
            result = task.result()
            meta = dict(result.get("_meta") or {}) | {_RELATED: {"taskId": identifier}}
            return result | {"_meta": meta}
        if method == "tasks/cancel":
            if task.done():
                raise MCPError(INVALID_PARAMS, "the task has ended")
            task.cancel()
            await asyncio.wait([task])
        return self._state(identifier)

    def _start(self, context: Any, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        if len(self._tasks) >= MAX_TASKS:
            ended = [name for name, (task, _) in self._tasks.items() if task.done()]
            if not ended:
                raise MCPError(INVALID_REQUEST, f"more than {MAX_TASKS} tasks")
            del self._tasks[ended[0]]
        plain = {key: each for key, each in params.items() if key != "task"}
        task = asyncio.ensure_future(self._answer(context, method, plain))
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        identifier = uuid4().hex
        self._tasks[identifier] = task, _now()
        return {"task": self._state(identifier)}

    def _state(self, identifier: str) -> dict[str, Any]:
        task, created = self._tasks[identifier]
        status = "working"
        if task.cancelled():
            status = "cancelled"
        elif task.done():
            status = "completed" if task.exception() is None else "failed"
        return {
            "taskId": identifier,
            "status": status,
            "createdAt": created,
            "lastUpdatedAt": _now() if task.done() else created,
            "ttl": None,
            "pollInterval": _POLL_MILLISECONDS,
        }


def _now() -> str:
    return datetime.now(UTC).isoformat()
