"""What `mcp doctor` and `mcp diff` show."""

from __future__ import annotations

import json
from typing import Any, TypedDict

from rich import box
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from ethos_registry import McpBridge, McpProblem, McpServerStatus, PinDifference, containment
from ethos_registry.cli.visible import visible

__all__ = ["RenderedServers", "ServersReport", "difference_lines", "servers_report"]

_CONTAINMENT = {
    "tree": "everything that a server started ends with the bridge, and with this process",
    "group": "the process group of a server ends with the bridge; what left the group, and all of "
    "it if this process is killed, may go on",
    "process": "only the server itself ends with the bridge; what it started may go on",
}
_MAX_VALUE_CHARS = 400


class ServersReport(TypedDict):
    """The servers, what is wrong with each, and what can be done."""

    servers: list[dict[str, Any]]
    problems: list[dict[str, Any]]
    containment: str


def servers_report(bridge: McpBridge) -> ServersReport:
    """The report about a bridge that is connected."""
    statuses = bridge.servers
    problems = bridge.problems
    return {
        "servers": [
            {
                "name": status.name,
                "state": status.state,
                "protocol": status.protocol,
                "tools": status.tools,
                "reason": status.reason,
                "stderr_tail": status.stderr_tail if status.state != "ready" else "",
            }
            for status in statuses.values()
        ],
        "problems": [
            {
                "server": problem.server,
                "kind": problem.kind,
                "tool": problem.tool,
                "message": problem.message,
                "way_out": _way_out(problem, statuses[problem.server]),
            }
            for problem in problems
        ],
        "containment": containment(),
    }


def _way_out(problem: McpProblem, status: McpServerStatus) -> str:
    message = problem.message
    if problem.kind == "server":
        if "cannot be started" in message:
            return "install the command, or give its full path: PATH is that of this shell"
        if "secret" in message and "not defined" in message:
            return "set the variable, or pass another source of secrets"
        if "no answer" in message:
            return "run the command by hand: it must read and write JSON lines; or raise --timeout"
        if "ConnectError" in message or "Connect" in message:
            return "start the server, or correct its URL"
        if "401" in message or "403" in message:
            return "check the Authorization header"
        return "run the command by hand with its arguments and environment"
    ways = {
        "pin": "`ethos-registry mcp diff` shows what differs",
        "collision": "rename one of the two",
        "count": "leave some out with the personality's `exclude`",
        "output": "the server must print to standard error",
        "config": "remove the fields, or ignore this",
        "schema": "rename or exclude the tool for the providers that refuse it",
    }
    return ways.get(problem.kind, "report it to the server's author")


class RenderedServers:
    """Draws the report: a row a server, then the problems."""

    def __init__(self, report: ServersReport) -> None:
        self.report = report

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The table, the problems with their ways out, and how processes are ended."""
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
        for column in ("Server", "State", "Protocol", "Tools"):
            table.add_column(column, overflow="fold")
        for server in self.report["servers"]:
            table.add_row(
                Text(visible(server["name"])),
                server["state"],
                server["protocol"] or "-",
                str(server["tools"]),
            )
        yield table
        for problem in self.report["problems"]:
            place = (
                problem["server"]
                if problem["tool"] is None
                else f"{problem['server']}/{problem['tool']}"
            )
            yield Text(visible(f"{place}: {problem['message']}"))
            yield Text(f"  {problem['way_out']}")
        for server in self.report["servers"]:
            if server["stderr_tail"]:
                yield Text(f"standard error of {visible(server['name'])}:")
                for line in server["stderr_tail"].splitlines()[-10:]:
                    yield Text(f"  {visible(line, 200)}")
        yield Text(f"processes: {_CONTAINMENT[self.report['containment']]}")
        if not self.report["problems"]:
            yield Text("no problems")


def difference_lines(found: PinDifference) -> list[str]:
    """A difference in lines: what it is about, then each field before and after."""
    lines = [f"{found.server}/{found.tool}: {found.change}"]
    if found.change == "removed":
        return lines
    before, after = found.pinned or {}, found.listed or {}
    for name in found.fields:
        if name in before:
            lines.append(f"  - {name}: {_shown(before[name])}")
        if name in after:
            lines.append(f"  + {name}: {_shown(after[name])}")
    return lines


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _MAX_VALUE_CHARS else f"{text[:_MAX_VALUE_CHARS]}..."
