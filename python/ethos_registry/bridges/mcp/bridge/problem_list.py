"""What is wrong with one server now, in the order in which it should be fixed."""

from __future__ import annotations

from collections.abc import Iterable

from ethos_registry.bridges.mcp.bridge.attached import AttachedRegistry
from ethos_registry.bridges.mcp.bridge.connection import Connection
from ethos_registry.bridges.mcp.bridge.plain_text import one_line
from ethos_registry.bridges.mcp.bridge.reports import McpProblem, ProblemKind
from ethos_registry.bridges.mcp.bridge.tool_set import ToolSet

__all__ = ["MANY_TOOLS", "server_problems"]

MANY_TOOLS = 128
"""More tools than that make models choose worse, and some providers refuse them."""


def server_problems(
    connection: Connection, tools: ToolSet, registries: Iterable[AttachedRegistry]
) -> list[McpProblem]:
    """The problems of a server: its configuration, its connection, its tools, their names."""
    name = connection.server.name
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
            f"`${{...}}` is not replaced, in {one_line(fields)}; in `env` and `headers` write "
            "`secret:NAME` for the environment variable NAME",
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
