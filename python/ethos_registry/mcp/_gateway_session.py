"""One personality as a server: what it lists and how it runs calls."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeAlias
from uuid import uuid4

import anyio
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    NotificationParams,
    PaginatedRequestParams,
)

from ethos_registry._core import __version__
from ethos_registry._table.admission import without
from ethos_registry._table.entry import Entry
from ethos_registry._table.snapshot import Snapshot
from ethos_registry.execution._options import UntrustedPolicy
from ethos_registry.execution._remote_batch import tool_digest
from ethos_registry.mcp._bridge import McpBridge
from ethos_registry.mcp._gateway_resources import LISTED, PassedOn
from ethos_registry.mcp._results import META_PREFIX, to_mcp_result
from ethos_registry.mcp._sdk_private import private_attribute
from ethos_registry.mcp._tools import BridgedTool
from ethos_registry.registry._definitions import in_order
from ethos_registry.registry._frozen import FrozenToolRegistry
from ethos_registry.registry._reader import RegistryReader
from ethos_registry.registry._view import View
from ethos_registry.types._call import CallResult, ToolCall
from ethos_registry.types._context import ToolContext, ToolProgressEvent
from ethos_registry.types._policy import Personality, ToolCapabilities
from ethos_registry.types._ports import ArtifactStore
from ethos_registry.types._transport import not_started

# Progress events of a tool, as notifications whose value only grows.

_logger = logging.getLogger("ethos_registry")

ReportProgress: TypeAlias = Callable[[float, float | None, str | None], Awaitable[None]]
_WHOLE = 100.0
_MAX_WAITING = 1_000
"""Events that may wait for a client that reads slowly; more are dropped."""


class Growing:
    """Turns the percentages of events into values that grow strictly, as the protocol demands.

    Until an event has a percentage the events are counted, without a total. Later events that do
    not go beyond the last value close a thousandth of the gap to 100.

    >>> growing = Growing()
    >>> [growing.next(percent) for percent in (0.0, 50.0, None, 100.0, 100.0)]
    [(0.0, 100.0), (50.0, 100.0), (50.05, 100.0), (100.0, 100.0), None]
    """

    def __init__(self) -> None:
        self._last: float | None = None
        self._has_percent = False

    def next(self, percent: float | None) -> tuple[float, float | None] | None:
        """The value and the total to report; `None` if nothing larger is left to report."""
        last = self._last
        if percent is None and not self._has_percent:
            self._last = 1.0 if last is None else last + 1
            return self._last, None
        self._has_percent = True
        value = percent or 0.0
        if last is not None and value <= last:
            value = last + (_WHOLE - last) / 1000
            if value <= last:
                return None
        self._last = value
        return value, _WHOLE


class ProgressSender:
    """Sends the events of one call in order; `emit` is safe from any thread.

    Events for the user of this process only are not sent, unless the tool `is_remote`: an MCP
    server meant them for its caller.
    """

    __slots__ = ("_is_remote", "_loop", "_queue", "_report", "_task")

    def __init__(self, report: ReportProgress, *, is_remote: bool = False) -> None:
        self._report = report
        self._is_remote = is_remote
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[ToolProgressEvent | None] | None = None
        self._task: asyncio.Task[None] | None = None

    def emit(self, event: ToolProgressEvent) -> None:
        """Take an event of the running tool."""
        if self._is_remote or event.audience != "user":
            with contextlib.suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(self._put, event)

    def _put(self, event: ToolProgressEvent) -> None:
        queue = self._queue
        if queue is None:
            queue = self._queue = asyncio.Queue()
            self._task = self._loop.create_task(self._send(queue))
        if queue.qsize() < _MAX_WAITING:
            queue.put_nowait(event)

    async def _send(self, queue: asyncio.Queue[ToolProgressEvent | None]) -> None:
        growing = Growing()
        while (event := await queue.get()) is not None:
            step = growing.next(event.percent)
            if step is None:
                continue
            try:
                await self._report(*step, event.message)
            except Exception:
                _logger.debug("a progress notification could not be sent", exc_info=True)
                return

    async def finish(self) -> None:
        """Send what was emitted so far; nothing is sent after the call's result."""
        if self._queue is not None and self._task is not None:
            self._queue.put_nowait(None)
            await self._task

    def cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()


# What a client is listed: the frozen definitions, and hints that follow from declarations.

TOOL_DIGEST = f"{META_PREFIX}toolDigest"
"""The key in the `_meta` of a listed tool and of a call: the version of the tool."""


def _listed(entry: Entry) -> dict[str, Any]:
    """A tool of a `tools/list` result, made of the text that was taken at registration."""
    definition = entry.definition.fresh()
    listed = {
        "name": entry.name,
        "description": definition["description"],
        "inputSchema": definition["parameters"],
        "annotations": tool_hints(entry.capabilities, idempotent=entry.tool.idempotent),
        "_meta": {TOOL_DIGEST: tool_digest(entry)},
    }
    bridged = _bridged(entry)
    if bridged is not None and not bridged.is_hidden:
        meta = listed["_meta"]
        listed |= bridged.listed_fields
        listed["_meta"] = listed.get("_meta", {}) | meta
    return listed


def _bridged(entry: Entry | None) -> BridgedTool | None:
    """The tool of another MCP server behind an entry, whose fields are passed on."""
    execute = None if entry is None else entry.tool.execute
    return execute if isinstance(execute, BridgedTool) else None


def tool_hints(capabilities: ToolCapabilities, *, idempotent: bool) -> dict[str, bool]:
    """The hints of a tool; one that declares no capability is assumed to be able to do anything.

    >>> hints = tool_hints(ToolCapabilities(fs_reach={"read": ["/data"]}), idempotent=True)
    >>> hints["readOnlyHint"], hints["openWorldHint"]
    (True, False)
    """
    declares = bool(capabilities.declared)
    reaches_out = capabilities.network is not None or capabilities.process is not None
    may_write = (
        not declares
        or reaches_out
        or capabilities.storage is not None
        or bool((capabilities.fs_reach or {}).get("write"))
    )
    return {
        "readOnlyHint": idempotent and not may_write,
        "destructiveHint": may_write,
        "idempotentHint": idempotent,
        "openWorldHint": reaches_out or not declares,
    }


PAGE_TOOLS = 1_000
MAX_CALL_ID_CHARS = 200
ANNOUNCE_SECONDS = 1.0
CANCEL_WAIT_SECONDS = 1.0
"""How long a call that was cancelled may take to end: clients kill a server after 2 s."""


@dataclass(frozen=True, slots=True)
class GatewaySettings:
    """What the servers of a gateway, and all calls of them, have in common."""

    name: str
    instructions: str | None
    result_budget_chars: float
    untrusted: UntrustedPolicy
    working_dir: str
    artifact_store: ArtifactStore | None
    dry_run: bool
    bridge: McpBridge | None


class ServedPersonality:
    """The tools of one personality behind one protocol server."""

    def __init__(
        self,
        registry: RegistryReader,
        settings: GatewaySettings,
        personality: Personality,
        context_fields: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        self.personality = personality
        self._context_fields = dict(context_fields)
        self._registry = registry
        self._is_frozen = isinstance(registry, FrozenToolRegistry)
        self._settings = settings
        self._session_id = f"mcp-{uuid4().hex}"
        self._snapshot: Snapshot | None = None
        self._view: View = registry.view(personality)
        self._missing: tuple[int, ...] = ()
        self._tools: list[dict[str, Any]] = []
        self._entries: dict[str, Entry] = {}
        self._announced: list[dict[str, Any]] | None = None
        self._running: set[asyncio.Task[Any]] = set()
        self._sessions: dict[int, Any] = {}
        self._bus = InMemorySubscriptionBus()
        self._listening = ListenHandler(self._bus)
        self.server: Server[Any] = _ToolServer(
            settings.name,
            version=__version__,
            instructions=settings.instructions,
            on_subscriptions_listen=self._listening,
            get_tool_input_schema=self._input_schema,
        )
        self.server.add_request_handler("tools/list", PaginatedRequestParams, self._list_tools)
        self.server.add_request_handler("tools/call", CallToolRequestParams, self._call_tool)
        self.server.add_notification_handler(
            "notifications/initialized", NotificationParams, self._session_started
        )
        if settings.bridge is not None:
            passed_on = PassedOn(settings.bridge, personality, self._call_tool, self._is_listed)
            passed_on.add_to(self.server)

    # The list

    def _current_view(self) -> View:
        """The view of the registry's current entries."""
        if self._snapshot is None or self.has_new_entries():
            self._snapshot = self._registry._snapshot()
            # The entries were checked at the start; a server may have left since.
            self._view = self._registry.view(self.personality, allow_unmatched=True)
            self._make_list()
        return self._view

    def has_new_entries(self) -> bool:
        """Whether the registry has changed since the list was made."""
        return not self._is_frozen and self._registry._snapshot() is not self._snapshot

    def tools(self) -> list[dict[str, Any]]:
        """The tools that are permitted and available now, in the order of a provider's list."""
        if self._current_view()._definitions.missing() != self._missing:
            self._make_list()
        return self._tools

    def _make_list(self) -> None:
        self._missing = self._view._definitions.missing()
        visible = self._view._definitions.admission.visible()
        entries = in_order(without(visible, self._missing), "segments")
        self._entries = {entry.name: entry for entry in entries}
        self._tools = list(map(_listed, entries))

    def _is_listed(self, name: str) -> bool:
        self.tools()
        return name in self._entries

    def _input_schema(self, name: str) -> dict[str, Any] | None:
        self.tools()
        entry = self._entries.get(name)
        if entry is None:
            return None
        schema: dict[str, Any] = entry.definition.fresh()["parameters"]
        return schema

    async def _list_tools(
        self, context: ServerRequestContext[Any], params: PaginatedRequestParams
    ) -> dict[str, Any]:
        tools = self.tools()
        if self._announced is None:
            self._announced = tools
        start = _page_start(params.cursor)
        listed = LISTED | {"tools": tools[start : start + PAGE_TOOLS]}
        if start + PAGE_TOOLS < len(tools):
            listed["nextCursor"] = str(start + PAGE_TOOLS)
        return listed

    # Changes

    async def _session_started(
        self, context: ServerRequestContext[Any], params: NotificationParams
    ) -> None:
        """Remember a client of the older revisions until its connection is closed."""
        session = context.session
        feature = "notifying clients of older revisions of MCP of changes"
        connection = private_attribute(session, "_connection", feature)
        if connection is None:
            return
        key = id(connection)
        self._sessions[key] = session
        connection.exit_stack.callback(self._sessions.pop, key, None)

    async def announce_changes(self) -> None:
        """Notify every client if the list has changed since it was announced or listed first."""
        before, self._announced = self._announced, self.tools()
        if before is None or before == self._announced:
            return
        sent = [self._send_change(session) for session in self._sessions.values()]
        await asyncio.gather(*sent, self._bus.publish(ToolsListChanged()), return_exceptions=True)

    async def _send_change(self, session: Any) -> None:
        """A client that does not read holds up no other one."""
        with anyio.move_on_after(ANNOUNCE_SECONDS):
            await session.send_tool_list_changed()

    # Calls

    async def _call_tool(
        self, context: ServerRequestContext[Any], params: CallToolRequestParams
    ) -> dict[str, Any]:
        """Run one call; whatever refuses it is an answer that the model can read."""
        settings = self._settings
        if self._is_other_version(params):
            problem = f"the gateway has another version of `{params.name}`"
            refused = not_started(params.name, problem)
            return to_mcp_result(CallResult("", params.name, refused))
        view = self._current_view()
        is_remote = self._is_remote(view, params.name)
        sender = ProgressSender(context.session.report_progress, is_remote=is_remote)
        request_id = _sent_call_id(params) or str(context.request_id)
        fields: dict[str, Any] = {
            "working_dir": settings.working_dir,
            "artifact_store": settings.artifact_store,
            "result_budget_chars": settings.result_budget_chars,
            "dry_run": settings.dry_run,
            **self._context_fields,
            "session_id": self._session_of(context),
            "platform": "mcp",
            "personality_id": self.personality.id,
            "network_policy": self.personality.network,
            "emit": sender.emit,
        }
        tool_context = ToolContext(**fields)
        call = ToolCall(request_id, params.name, params.arguments or {})
        task = asyncio.ensure_future(
            view.execute([call], tool_context, untrusted=settings.untrusted)
        )
        self._running.add(task)
        try:
            results = await asyncio.shield(task)
            await sender.finish()
        except asyncio.CancelledError:
            sender.cancel()
            if task.cancelled():  # by `stop`, not by the client
                text = f"Tool {params.name} was stopped with the server; it may have run"
                content = [{"type": "text", "text": text}]
                return {"resultType": "complete", "content": content, "isError": True}
            # The scope of the request cancels again and again; the tool is cancelled once.
            with anyio.move_on_after(CANCEL_WAIT_SECONDS, shield=True):
                task.cancel()
                await asyncio.wait([task])
            raise
        finally:
            self._running.discard(task)
        bridged = _bridged(self._entries.get(params.name))
        return to_mcp_result(
            results[0],
            wraps_untrusted=settings.untrusted == "wrap",
            has_output_schema=bridged is not None and "outputSchema" in bridged.listed_fields,
            max_structured_chars=settings.result_budget_chars,
        )

    def _is_remote(self, view: View, name: str) -> bool:
        entry = self._entries.get(name)
        if entry is None or _bridged(entry) is not None:
            return entry is not None
        transports = view._caller.runtime.transports
        transport = None if transports is None else transports.of(entry)
        return transport is not None and transport.traits.name == "mcp"

    def _is_other_version(self, params: CallToolRequestParams) -> bool:
        """Whether the client's registry has another version of the tool."""
        sent = (params.meta or {}).get(TOOL_DIGEST)
        if not isinstance(sent, str):
            return False
        self._current_view()
        entry = self._entries.get(params.name)
        return entry is not None and tool_digest(entry) != sent

    def _session_of(self, context: ServerRequestContext[Any]) -> str:
        """Names what a client's calls share; a request without a session shares nothing."""
        if context.request is None:
            return self._session_id
        connection = private_attribute(context.session, "_connection", "sharing within a session")
        session_id = getattr(connection, "session_id", None)
        return f"mcp-{session_id or uuid4().hex}"

    async def stop(self) -> None:
        """End all calls and subscriptions; those that do not end in time are left alone."""
        self._listening.close()
        running = set(self._running)
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running, timeout=CANCEL_WAIT_SECONDS)


class _ToolServer(Server[Any]):
    """Announces changes of its list in every revision."""

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        options = notification_options or NotificationOptions(tools_changed=True)
        return super().create_initialization_options(options, experimental_capabilities, extensions)


def _sent_call_id(params: CallToolRequestParams) -> str | None:
    """The id that the client's registry has for the call."""
    sent = (params.meta or {}).get(f"{META_PREFIX}toolCallId")
    return sent if isinstance(sent, str) and 0 < len(sent) <= MAX_CALL_ID_CHARS else None


def _page_start(cursor: str | None) -> int:
    if cursor is None:
        return 0
    if not (cursor.isascii() and cursor.isdecimal() and len(cursor) < 10):
        raise MCPError(code=INVALID_PARAMS, message=f"unknown cursor {cursor[:40]!r}")
    return int(cursor)
