"""The tools of one server: a listing, held against what was there and against the pins."""

from __future__ import annotations

from typing import Literal, TypeAlias

from ethos_registry.bridges.mcp.bridge.bridged_tool import BridgedTool
from ethos_registry.bridges.mcp.bridge.connection import Connection
from ethos_registry.bridges.mcp.bridge.definition import RemoteDefinition
from ethos_registry.bridges.mcp.bridge.listing import Listing
from ethos_registry.bridges.mcp.bridge.pins import McpPins, PinDifference, pin_differences
from ethos_registry.bridges.mcp.bridge.plain_text import one_line
from ethos_registry.bridges.mcp.bridge.reports import McpProblem, ProblemKind
from ethos_registry.contract.errors import ConfigError

__all__ = ["ChangePolicy", "ToolSet"]

ChangePolicy: TypeAlias = Literal["quarantine", "accept", "drop"]
"""What happens to a tool of a pinned server whose definition is not the approved one: its calls are
refused, it is taken over, or it is removed."""

_CHANGED = (
    "its definition has changed since it was approved; `ethos-registry mcp accept` approves it"
)
_NEW = "it was not there when its server was approved; `ethos-registry mcp accept` approves it"


class ToolSet:
    """The tools of one server by their names on it."""

    __slots__ = ("_connection", "_on_change", "_pins", "_problems", "listed", "tools")

    def __init__(self, connection: Connection, pins: McpPins, on_change: ChangePolicy) -> None:
        self._connection = connection
        self._pins = pins
        self._on_change = on_change
        self._problems: list[McpProblem] = []
        self.listed: dict[str, RemoteDefinition] | None = None
        """What the server listed last; `None` before the first listing."""
        self.tools: dict[str, BridgedTool] = {}

    @property
    def problems(self) -> list[McpProblem]:
        """What is wrong with the tools, as of the last listing."""
        return list(self._problems)

    @property
    def differences(self) -> list[PinDifference]:
        """What differs from the approved definitions; nothing for a server that is not pinned."""
        server = self._connection.server.name
        if self.listed is None or not self._pins.is_pinned(server):
            return []
        return pin_differences(server, self._pins.definitions(server), self.listed)

    def take(self, listing: Listing) -> None:
        """Take over a listing; tools that did not change stay the same objects."""
        self.listed = listing.definitions
        self._problems = []
        for name, message in listing.problems:
            self._note("tool", message, name)
        self.apply()

    def apply(self) -> None:
        """Make the tools of the last listing, by the pins as they are now."""
        self._problems = [problem for problem in self._problems if problem.kind == "tool"]
        before, self.tools = self.tools, {}
        names: dict[str, str] = {}
        for raw, definition in (self.listed or {}).items():
            made = self._made(raw, definition, before.get(raw))
            if made is None:
                continue
            if (twin := names.get(made.name)) is not None:
                self._note("collision", f"has the name {made.name} of the tool {twin!r} too", raw)
                continue
            names[made.name] = raw
            self.tools[raw] = made

    def _made(
        self, raw: str, definition: RemoteDefinition, before: BridgedTool | None
    ) -> BridgedTool | None:
        server = self._connection.server.name
        refusal: str | None = None
        is_hidden = False
        if self._pins.is_pinned(server) and self._on_change != "accept":
            pin = self._pins.definitions(server).get(raw)
            if pin is None or pin.digest != definition.digest:
                refusal = _NEW if pin is None else _CHANGED
                self._note("pin", refusal, raw)
                if self._on_change == "drop":
                    return None
                is_hidden = pin is None
                definition = definition if pin is None else pin
        if before is not None and before.is_same(definition, refusal):
            made = before
        else:
            try:
                made = BridgedTool(self._connection, definition, refusal, is_hidden=is_hidden)
            except ConfigError as error:
                self._note("tool", f"was skipped: {error}", raw)
                return None
        if (keywords := made.root_compositions) and not is_hidden:
            shown = " and ".join(f"`{keyword}`" for keyword in keywords)
            self._note(
                "schema", f"{shown} at the root of its schema, which some providers refuse", raw
            )
        return made

    def _note(self, kind: ProblemKind, message: str, tool: str | None) -> None:
        shown = None if tool is None else one_line(tool, 100)
        message = one_line(message, 500)
        self._problems.append(McpProblem(self._connection.server.name, kind, message, shown))
