"""What a bridge reports: problems, states of servers, and changes of tools."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

__all__ = [
    "McpAnnotations",
    "McpProblem",
    "McpServerStatus",
    "ProblemKind",
    "ServerState",
    "ToolsChanged",
]

ServerState: TypeAlias = Literal["connecting", "ready", "failed", "closed"]
"""`failed` lasts until the next attempt to connect, which is `connecting` again."""

ProblemKind: TypeAlias = Literal[
    "server", "refresh", "output", "tool", "schema", "collision", "pin", "count", "config"
]
"""What is affected: the connection, a later listing, standard output, a tool that was skipped, a
schema that some providers refuse, a name, a pinned definition, the number of tools, the file."""


@dataclass(frozen=True, slots=True)
class McpProblem:
    """One thing that is wrong with a server or one of its tools."""

    server: str
    kind: ProblemKind
    message: str
    tool: str | None = None
    """The name of the tool on its server; `None` if the problem is not about one tool."""

    def __str__(self) -> str:
        place = self.server if self.tool is None else f"{self.server}/{self.tool}"
        return f"{place}: {self.message}"


@dataclass(frozen=True, slots=True)
class McpServerStatus:
    """One server as it is now."""

    name: str
    state: ServerState
    reason: str = ""
    """Why it failed; empty otherwise."""
    stderr_tail: str = ""
    """The last 4 KB of its standard error, if it is a command."""
    protocol: str = ""
    """The revision of the protocol that was agreed on."""
    tools: int = 0
    process_id: int | None = None
    """The process of a command that is running."""
    connections: int = 0
    """How often a connection was established."""


@dataclass(frozen=True, slots=True)
class ToolsChanged:
    """How the tools of a server differ from the listing before, by their names in the registry."""

    server: str
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Whether anything differs."""
        return bool(self.added or self.removed or self.changed)


@dataclass(frozen=True, slots=True)
class McpAnnotations:
    """The hints of a server about a tool: claims of the server, for approval filters.

    The defaults are those of the protocol: a tool without hints may be destructive.
    """

    read_only: bool = False
    destructive: bool = True
    idempotent: bool = False
    open_world: bool = True
