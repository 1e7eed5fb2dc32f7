"""The tools of one server: a listing, held against what was there and against the pins."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from ethos_registry.mcp._connection import Connection
from ethos_registry.mcp._definitions import (
    McpPins,
    McpProblem,
    PinDifference,
    ProblemKind,
    RemoteDefinition,
    ServerTools,
    argument_validator,
    compositions_at_root,
    pin_differences,
)
from ethos_registry.mcp._server_text import one_line
from ethos_registry.providers._portable_name import portable_name
from ethos_registry.registry._tool_registry import ToolRegistry
from ethos_registry.types._context import ToolContext
from ethos_registry.types._errors import ConfigError, ToolAlreadyRegisteredError
from ethos_registry.types._result import ToolResult
from ethos_registry.types._tool import Tool
from ethos_registry.types._transport import not_started

# One tool of a server in the registry.

NETWORK_TRANSPORTS = {"stdio": "pipe", "http": "tcp", "sse": "tcp"}
"""A server in this process has none."""


class BridgedTool:
    """A definition, frozen when it was listed, and the calls of it.

    With a `refusal` its calls are answered `not_available`; a tool that was not approved is not
    shown either, and its description is not that of the server.

    Raises `ConfigError` if no registry could take the definition.
    """

    def __init__(
        self,
        connection: Connection,
        definition: RemoteDefinition,
        refusal: str | None = None,
        *,
        is_hidden: bool = False,
    ) -> None:
        server = connection.server
        self._connection = connection
        self.definition = definition
        self.refusal = refusal
        self.is_hidden = is_hidden
        self.annotations = definition.annotations
        self.name = portable_name(server.name, definition.name)
        is_trusted = server.trust_annotations and (
            self.annotations.read_only or self.annotations.idempotent
        )
        description, schema, listed = "Not approved.", {"type": "object"}, {}
        if not is_hidden:
            description, schema = definition.description, definition.schema
            listed = definition.listed_fields(trust_annotations=server.trust_annotations)
        self.listed_fields: Mapping[str, Any] = listed
        """What a gateway lists beside name, description and input schema."""
        shown = {"name": self.name, "description": description, "inputSchema": schema} | listed
        self.size_bytes = len(json.dumps(shown, ensure_ascii=False).encode("utf-8", "replace"))
        if self.size_bytes > server.max_definition_bytes:
            raise ConfigError(
                f"its definition has {self.size_bytes:,} bytes, more than "
                f"{server.max_definition_bytes:,} (`max_definition_bytes` of the server)"
            )
        self.tool = Tool(
            self.name,
            description,
            schema,
            self,
            output_is_untrusted=True,
            timeout_seconds=server.timeout_seconds,
            idempotent=is_trusted,
            is_available=(lambda: False) if is_hidden else None,
        )
        validator = argument_validator(self.name, self.tool.schema)
        self.argument_check = None if refusal is not None else validator
        """Validates the arguments of a call before it is sent; read at registration."""

    @property
    def protocol_version(self) -> str | None:
        """The revision of MCP that the connection speaks; read by telemetry."""
        return self._connection.protocol or None

    @property
    def network_transport(self) -> str | None:
        """How the server is reached, as OpenTelemetry names it; read by telemetry."""
        return NETWORK_TRANSPORTS.get(self._connection.server.transport or "")

    async def __call__(self, args: Any, context: ToolContext) -> ToolResult:
        if self.refusal is not None:
            return not_started(self.name, self.refusal)
        return await self._connection.call(
            self.name, self.definition, args, context, may_resend=self.tool.idempotent
        )


# A registry that holds the tools of a bridge.


@dataclass(eq=False)
class AttachedRegistry:
    """Keeps the tools of each server in a registry as they are listed.

    A view works on the entries of the moment it was made, so none of this changes a running one.
    """

    registry: ToolRegistry
    tools: dict[str, dict[str, Tool]] = field(default_factory=dict)
    problems: dict[str, list[McpProblem]] = field(default_factory=dict)

    def update(self, server: str, tools: Mapping[str, BridgedTool]) -> None:
        """Register what is new or changed, and remove what is gone."""
        before = self.tools.get(server, {})
        problems: list[McpProblem] = []
        now: dict[str, Tool] = {}
        for raw, bridged in sorted(tools.items(), key=lambda item: item[1].name):
            name, tool = bridged.name, bridged.tool
            present = self.registry.get(name)
            is_ours = present is not None and present is before.get(name)
            try:
                if present is not tool or not is_ours:
                    self.registry.register(tool, is_ours, mcp_server=server)
                now[name] = tool
            except ToolAlreadyRegisteredError as error:
                problems.append(McpProblem(server, "collision", str(error), raw))
        for name, tool in before.items():
            if name not in now and self.registry.get(name) is tool:
                self.registry.unregister(name)
        self.tools[server] = now
        self.problems[server] = problems

    def remove(self, servers: Iterable[str]) -> None:
        """Take the tools of these servers out of the registry."""
        for server in servers:
            self.update(server, {})


ChangePolicy: TypeAlias = Literal["quarantine", "accept", "drop"]
"""What happens to a tool of a pinned server whose definition is not the approved one: its calls are
refused, it is taken over, or it is removed."""

_CHANGED = "its definition has changed since it was approved"
_NEW = "it was not there when its server was approved"
_HOW_TO_APPROVE = "`ethos-registry mcp accept` approves it"
"""For the operator: a model that reads it may try to run it."""


@dataclass(eq=False)
class ToolSet:
    """The tools of one server by their names on it."""

    connection: Connection
    pins: McpPins
    on_change: ChangePolicy
    tools: dict[str, BridgedTool] = field(default_factory=dict)
    listed: dict[str, RemoteDefinition] | None = None
    """What the server listed last; `None` before the first listing."""
    problems: list[McpProblem] = field(default_factory=list)
    """What is wrong with the tools, as of the last listing."""

    @property
    def differences(self) -> list[PinDifference]:
        """What differs from the approved definitions; nothing for a server that is not pinned."""
        server = self.connection.server.name
        if self.listed is None or not self.pins.is_pinned(server):
            return []
        return pin_differences(server, self.pins.definitions(server), self.listed)

    def update(self, listing: ServerTools | None = None) -> None:
        """Make the tools of a listing, by default of the last one, by the pins as they are now.

        Tools that did not change stay the same objects.
        """
        self.problems = [problem for problem in self.problems if problem.kind == "tool"]
        if listing is not None:
            self.listed = listing.definitions
            self.problems = []
            for name, message in listing.problems:
                self._note("tool", message, name)
        before, self.tools = self.tools, {}
        names: dict[str, str] = {}
        size = left_out = 0
        limit = self.connection.server.max_total_definition_bytes
        for raw, definition in (self.listed or {}).items():
            made = self._made(raw, definition, before.get(raw))
            if made is None:
                continue
            if (twin := names.get(made.name)) is not None:
                self._note("collision", f"has the name {made.name} of the tool {twin!r} too", raw)
                continue
            if size + made.size_bytes > limit:
                left_out += 1
                continue
            size += made.size_bytes
            names[made.name] = raw
            self.tools[raw] = made
        if left_out:
            self._note(
                "count",
                f"{left_out:,} tools were skipped: with them the definitions of the server have "
                f"more than {limit:,} bytes (`max_total_definition_bytes`)",
                None,
            )

    def _made(
        self, raw: str, definition: RemoteDefinition, before: BridgedTool | None
    ) -> BridgedTool | None:
        server = self.connection.server.name
        refusal: str | None = None
        is_hidden = False
        if self.pins.is_pinned(server) and self.on_change != "accept":
            pin = self.pins.definitions(server).get(raw)
            if pin is None or pin.digest != definition.digest:
                refusal = _NEW if pin is None else _CHANGED
                self._note("pin", f"{refusal}; {_HOW_TO_APPROVE}", raw)
                if self.on_change == "drop":
                    return None
                is_hidden = pin is None
                definition = definition if pin is None else pin
        is_same = before is not None and before.definition.digest == definition.digest
        if before is not None and is_same and before.refusal == refusal:
            made = before
        else:
            try:
                made = BridgedTool(self.connection, definition, refusal, is_hidden=is_hidden)
            except ConfigError as error:
                self._note("tool", f"was skipped: {error}", raw)
                return None
        keywords = compositions_at_root(made.definition.fields.get("inputSchema"))
        if keywords and not is_hidden:
            shown = " and ".join(f"`{keyword}`" for keyword in keywords)
            self._note(
                "schema", f"{shown} at the root of its schema, which some providers refuse", raw
            )
        return made

    def _note(self, kind: ProblemKind, message: str, tool: str | None) -> None:
        shown = None if tool is None else one_line(tool, 100)
        message = one_line(message, 500)
        self.problems.append(McpProblem(self.connection.server.name, kind, message, shown))


# What is wrong with one server now, in the order in which it should be fixed.

MANY_TOOLS = 128
"""More tools than that make models choose worse, and some providers refuse them."""


def server_problems(tools: ToolSet, registries: Iterable[AttachedRegistry]) -> list[McpProblem]:
    """The problems of a server: its configuration, its connection, its tools, their names."""
    connection, name = tools.connection, tools.connection.server.name
    found: list[McpProblem] = []

    def note(kind: ProblemKind, message: str) -> None:
        found.append(McpProblem(name, kind, message))

    if connection.server.unknown_fields:
        fields = ", ".join(f"`{field}`" for field in connection.server.unknown_fields)
        note("config", f"fields that are not read: {one_line(fields)}")
    if connection.server.unexpanded_fields:
        fields = ", ".join(f"`{field}`" for field in connection.server.unexpanded_fields)
        note(
            "config",
            f"`${{...}}` is not replaced, in {one_line(fields)}; in a configuration "
            "write `${NAME}` or `${NAME:-default}` for an environment variable, elsewhere "
            "`secret:NAME`",
        )
    if connection.state in ("failed", "connecting") and connection.reason:
        lines = connection.scrub(connection.log.tail).strip().splitlines()
        last = f"; last line of its standard error: {one_line(lines[-1])}" if lines else ""
        note("server", f"{connection.reason}{last}")
    if connection.refresh_problem:
        note("refresh", connection.refresh_problem)
    if dropped := connection.log.lines_dropped:
        note("output", f"lines on standard output that are not messages: {dropped}")
    found += tools.problems
    for attached in registries:
        found += attached.problems.get(name, [])
    if (count := len(tools.tools)) > MANY_TOOLS:
        note(
            "count",
            f"{count} tools are more than {MANY_TOOLS}: models choose worse among that many; "
            "allow fewer in the personality",
        )
    return found
