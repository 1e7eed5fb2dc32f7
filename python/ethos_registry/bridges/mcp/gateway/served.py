"""One personality as a server: what it lists and how it runs calls."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any
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

from ethos_registry.bridges.mcp.gateway.definitions import TOOL_DIGEST, listed_tools
from ethos_registry.bridges.mcp.gateway.progress import ProgressSender
from ethos_registry.bridges.mcp.gateway.results import META_PREFIX, error_result, tool_result
from ethos_registry.contract.call import CallResult, ToolCall
from ethos_registry.contract.context import ToolContext
from ethos_registry.contract.policy import Personality
from ethos_registry.contract.ports import ArtifactStore
from ethos_registry.contract.transport import not_started
from ethos_registry.execution.options import UntrustedPolicy
from ethos_registry.execution.tool_digest import tool_digest
from ethos_registry.registry.frozen import FrozenToolRegistry
from ethos_registry.registry.reader import RegistryReader
from ethos_registry.registry.shown import in_order
from ethos_registry.registry.view import View
from ethos_registry.table.admission import without
from ethos_registry.table.entry import Entry
from ethos_registry.table.snapshot import Snapshot

__all__ = ["CallSettings", "ServedPersonality"]

PAGE_TOOLS = 1_000
MAX_CALL_ID_CHARS = 200
CANCEL_WAIT_SECONDS = 1.0
"""How long a call that was cancelled may take to end: clients kill a server after 2 s."""


@dataclass(frozen=True, slots=True)
class CallSettings:
    """What every call of a gateway has in common."""

    result_budget_chars: float
    untrusted: UntrustedPolicy
    working_dir: str
    artifact_store: ArtifactStore | None
    dry_run: bool


class ServedPersonality:
    """The tools of one personality behind one protocol server."""

    def __init__(
        self,
        registry: RegistryReader,
        personality: Personality,
        settings: CallSettings,
        *,
        name: str,
        version: str,
        instructions: str | None,
    ) -> None:
        self.personality = personality
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
            name,
            version=version,
            instructions=instructions,
            on_subscriptions_listen=self._listening,
            get_tool_input_schema=self._input_schema,
        )
        self.server.add_request_handler("tools/list", PaginatedRequestParams, self._list_tools)
        self.server.add_request_handler("tools/call", CallToolRequestParams, self._call_tool)
        self.server.add_notification_handler(
            "notifications/initialized", NotificationParams, self._session_started
        )

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
        if self._current_view()._missing() != self._missing:
            self._make_list()
        return self._tools

    def _make_list(self) -> None:
        self._missing = self._view._missing()
        visible = self._view._admission.visible()
        entries = in_order(without(visible, self._missing), "segments")
        self._entries = {entry.name: entry for entry in entries}
        self._tools = listed_tools(entries)

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
        listed: dict[str, Any] = {
            "resultType": "complete",
            "tools": tools[start : start + PAGE_TOOLS],
            "ttlMs": 0,
            "cacheScope": "private",
        }
        if start + PAGE_TOOLS < len(tools):
            listed["nextCursor"] = str(start + PAGE_TOOLS)
        return listed

    # Changes

    async def _session_started(
        self, context: ServerRequestContext[Any], params: NotificationParams
    ) -> None:
        """Remember a client of the older revisions until its connection is closed."""
        session = context.session
        connection = session._connection
        key = id(connection)
        self._sessions[key] = session
        connection.exit_stack.callback(self._sessions.pop, key, None)

    async def announce_changes(self) -> bool:
        """Notify every client if the list has changed since it was announced or listed first."""
        tools = self.tools()
        if self._announced is None:
            self._announced = tools
        if tools is self._announced or tools == self._announced:
            self._announced = tools
            return False
        self._announced = tools
        for session in list(self._sessions.values()):
            await session.send_tool_list_changed()
        await self._bus.publish(ToolsListChanged())
        return True

    # Calls

    async def _call_tool(
        self, context: ServerRequestContext[Any], params: CallToolRequestParams
    ) -> dict[str, Any]:
        """Run one call; whatever refuses it is an answer that the model can read."""
        settings = self._settings
        if self._is_other_version(params):
            return tool_result(_other_version(params.name))
        sender = ProgressSender(context.session.report_progress)
        request_id = _sent_call_id(params) or str(context.request_id)
        tool_context = ToolContext(
            session_id=self._session_of(context),
            platform="mcp",
            working_dir=settings.working_dir,
            personality_id=self.personality.id,
            network_policy=self.personality.network,
            emit=sender.emit,
            result_budget_chars=settings.result_budget_chars,
            artifact_store=settings.artifact_store,
            dry_run=settings.dry_run,
        )
        call = ToolCall(request_id, params.name, params.arguments or {})
        task = asyncio.ensure_future(
            self._current_view().execute([call], tool_context, untrusted=settings.untrusted)
        )
        self._running.add(task)
        try:
            results = await asyncio.shield(task)
            await sender.finish()
        except asyncio.CancelledError:
            sender.cancel()
            if task.cancelled():  # by `stop`, not by the client
                return error_result(
                    f"Tool {params.name} was stopped with the server; it may have run"
                )
            # The scope of the request cancels again and again; the tool is cancelled once.
            with anyio.move_on_after(CANCEL_WAIT_SECONDS, shield=True):
                task.cancel()
                await asyncio.wait([task])
            raise
        finally:
            self._running.discard(task)
        return tool_result(results[0])

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
        session_id = context.session._connection.session_id
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


def _other_version(name: str) -> CallResult:
    return CallResult("", name, not_started(name, f"the gateway has another version of `{name}`"))


def _page_start(cursor: str | None) -> int:
    if cursor is None:
        return 0
    if not (cursor.isascii() and cursor.isdecimal() and len(cursor) < 10):
        raise MCPError(code=INVALID_PARAMS, message=f"unknown cursor {cursor[:40]!r}")
    return int(cursor)
