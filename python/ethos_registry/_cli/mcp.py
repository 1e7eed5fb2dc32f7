"""The commands `mcp list`, `call`, `doctor`, `pin`, `diff` and `accept`."""

from __future__ import annotations

import asyncio
import contextlib
import json as json_module
import os
import sys
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, TypedDict, TypeVar

import typer
from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from ethos_registry import CallResult, Personality, ToolContext, ToolRegistry, View
from ethos_registry._cli.console import (
    CommandError,
    fail_if,
    make_group,
    print_line,
    visible,
    write_json,
    write_json_or_lines,
    write_lines,
    write_report,
    write_stdout,
)
from ethos_registry._cli.cost import PromptCost, drawn_cost, prompt_cost
from ethos_registry._cli.options import AsJson, positive_number
from ethos_registry._cli.prefix import note_lines
from ethos_registry.capabilities import containment
from ethos_registry.mcp import McpBridge, McpPins, McpProblem, PinDifference
from ethos_registry.providers import SchemaNote

# What `mcp doctor` and `mcp diff` show.

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
    schemas: list[SchemaNote]
    """What providers are sent of the tools in other words, or not at all."""
    containment: str


def servers_report(bridge: McpBridge, notes: Iterable[SchemaNote] = ()) -> ServersReport:
    """The report about a bridge that is connected."""
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
            for status in bridge.servers.values()
        ],
        "problems": [
            asdict(problem) | {"way_out": _way_out(problem)} for problem in bridge.problems
        ],
        "schemas": list(notes),
        "containment": containment(),
    }


def _way_out(problem: McpProblem) -> str:
    message = problem.message
    if problem.kind == "server":
        if "cannot be started" in message:
            return "install the command, or give its full path: PATH is that of this shell"
        if "secret" in message and "not defined" in message:
            return "set the variable, or pass another source of secrets"
        if "no answer" in message:
            return "run the command by hand: it must read and write JSON lines; or raise --timeout"
        if "refused" in message or "Connect" in message:
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


def drawn_servers(report: ServersReport, width: int) -> Iterator[RenderableType]:
    """The servers, the problems with their ways out, and how processes are ended."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for column in ("Server", "State", "Protocol", "Tools"):
        table.add_column(column, overflow="fold")
    for server in report["servers"]:
        table.add_row(
            Text(visible(server["name"])),
            server["state"],
            server["protocol"] or "-",
            str(server["tools"]),
        )
    yield table
    for problem in report["problems"]:
        tool = "" if problem["tool"] is None else f"/{problem['tool']}"
        yield Text(visible(f"{problem['server']}{tool}: {problem['message']}"))
        yield Text(f"  {problem['way_out']}")
    for line in note_lines(report["schemas"]):
        yield Text(line)
    for server in report["servers"]:
        if server["stderr_tail"]:
            yield Text(f"standard error of {visible(server['name'])}:")
            for line in server["stderr_tail"].splitlines()[-10:]:
                yield Text(f"  {visible(line, 200)}")
    yield Text(f"processes: {_CONTAINMENT[report['containment']]}")
    if not report["problems"]:
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
    text = value if isinstance(value, str) else json_module.dumps(value, ensure_ascii=False)
    return text if len(text) <= _MAX_VALUE_CHARS else f"{text[:_MAX_VALUE_CHARS]}..."


_CONFIGS = ("mcp.json", ".mcp.json")

T = TypeVar("T")

app = make_group(
    "Connect MCP servers: list and call their tools, approve their definitions.",
    "List, call, check and pin the tools of MCP servers.",
)

Config = Annotated[
    str | None,
    typer.Argument(
        metavar="[CONFIG]", help="JSON with mcpServers. Default: mcp.json, else .mcp.json."
    ),
]
RequiredConfig = Annotated[str, typer.Argument(metavar="CONFIG", help="JSON with mcpServers.")]
ServerName = Annotated[
    str | None, typer.Option("--server", metavar="NAME", help="Only this server.")
]
PinsFile = Annotated[
    str | None,
    typer.Option(
        "--pins", metavar="FILE", help="The file of pins. Default: mcp.pins.json for mcp.json."
    ),
]
Seconds = Annotated[
    int,
    typer.Option(
        "--timeout", parser=positive_number, metavar="N", help="Seconds to connect, and for a call."
    ),
]


def _found(config: str | None) -> str:
    if config is not None:
        return config
    for name in _CONFIGS:
        if os.path.exists(name):
            return name
    raise CommandError(f"there is no {' and no '.join(_CONFIGS)} here; name the configuration")


def _bridge(
    config: str | None,
    pins: str | None,
    seconds: int,
    server: str | None = None,
    *,
    must_exist: bool = False,
) -> tuple[McpBridge, McpPins]:
    """A bridge to all servers or to one, and the approved definitions, which may have to exist."""
    path = Path(_found(config))
    default = path.with_name(f"{path.stem or path.name}.pins.json")
    approved = McpPins.load(default if pins is None else Path(pins), must_exist=must_exist)
    options: dict[str, Any] = {"connect_timeout_seconds": seconds, "timeout_seconds": seconds}
    only = None if server is None else [server]
    bridge = McpBridge.from_config(path, server_options=options, pins=approved, only=only)
    return bridge, approved


def _view(bridge: McpBridge) -> View:
    """All tools of a bridge that is connected."""
    registry = ToolRegistry()
    bridge.attach(registry)
    return registry.view(Personality("mcp", mcp_servers=list(bridge.servers)))


def _not_ready(bridge: McpBridge) -> list[str]:
    return [name for name, status in bridge.servers.items() if status.state != "ready"]


def _with_bridge(bridge: McpBridge, use: Callable[[McpBridge], Awaitable[T]]) -> T:
    """Run something with the bridge connected; nothing else may write to standard output."""

    async def run() -> T:
        async with bridge:
            return await use(bridge)

    with contextlib.redirect_stdout(sys.stderr):
        return asyncio.run(run())


def _print_problems(problems: list[McpProblem]) -> None:
    for problem in problems:
        print_line(f"warning: {problem}")


@app.command("list", short_help="Show the tools with their cost in tokens.")
def list_(
    config: Config = None,
    server: ServerName = None,
    provider: Annotated[
        str,
        typer.Option("--provider", metavar="NAME", help="Provider whose definitions are counted."),
    ] = "anthropic",
    pins: PinsFile = None,
    timeout: Seconds = 15,
    json: AsJson = False,
) -> None:
    """Connect the servers and show their tools, with bytes and estimated tokens of each.

    Exit code 1 if a server could not be connected.
    """
    bridge, _ = _bridge(config, pins, timeout, server)

    async def use(bridge: McpBridge) -> tuple[PromptCost, list[McpProblem], list[str]]:
        return prompt_cost(_view(bridge).prefix(provider)), bridge.problems, _not_ready(bridge)

    cost, problems, failed = _with_bridge(bridge, use)
    write_report(cost, drawn_cost, as_json=json)
    _print_problems(problems)
    fail_if(failed)


@app.command(short_help="Call one tool.")
def call(
    config: RequiredConfig,
    tool: Annotated[
        str, typer.Argument(metavar="TOOL", help="mcp__SERVER__TOOL, as `mcp list` shows it.")
    ],
    arguments: Annotated[
        str, typer.Argument(metavar="[ARGUMENTS]", help="A JSON object. Default: {}.")
    ] = "{}",
    pins: PinsFile = None,
    timeout: Seconds = 60,
    json: AsJson = False,
) -> None:
    """Call one tool and print its result; exit code 1 if the call failed.

    Only the server of the tool is connected.
    """
    parts = tool.split("__", 2)
    if len(parts) < 3 or parts[0] != "mcp":
        raise CommandError(f"TOOL must be mcp__SERVER__TOOL, as `mcp list` shows it: {tool!r}")
    bridge, _ = _bridge(config, pins, timeout, parts[1])
    try:
        values = json_module.loads(arguments)
    except ValueError as error:
        raise CommandError(f"ARGUMENTS are not valid JSON: {error}") from None

    async def use(bridge: McpBridge) -> tuple[CallResult, list[McpProblem]]:
        calls = [{"id": "call", "name": tool, "args": values}]
        results = await _view(bridge).execute(calls, ToolContext(platform="cli"))
        return results[0], bridge.problems

    result, problems = _with_bridge(bridge, use)
    if json:
        write_json(result.to_wire())
    else:
        write_lines(result.text.split("\n"))
        for block in result.result.content:
            print_line(f"content: {block!r}")
    if not result.ok:
        _print_problems([problem for problem in problems if problem.kind == "server"])
    fail_if(not result.ok)


@app.command(short_help="Explain what is wrong with the servers.")
def doctor(
    config: Config = None,
    pins: PinsFile = None,
    timeout: Seconds = 15,
    provider: Annotated[
        str | None,
        typer.Option(
            "--provider",
            metavar="NAME",
            help="Show what this provider is sent of each schema. Default: the tools that a "
            "provider is not sent.",
        ),
    ] = None,
    json: AsJson = False,
) -> None:
    """Connect each server and explain what is wrong; exit code 1 if something is."""
    bridge, _ = _bridge(config, pins, timeout)

    async def use(bridge: McpBridge) -> ServersReport:
        notes = _view(bridge).check_schemas(provider)
        if provider is None:
            notes = [note for note in notes if note.kind == "left_out"]
        return servers_report(bridge, notes)

    report = _with_bridge(bridge, use)
    write_report(report, drawn_servers, as_json=json)
    fail_if(report["problems"] or any(note.kind == "left_out" for note in report["schemas"]))


@app.command(short_help="Approve all current definitions.")
def pin(
    config: Config = None, server: ServerName = None, pins: PinsFile = None, timeout: Seconds = 15
) -> None:
    """Save the definitions of all tools as approved; exit code 1 if a server is not connected."""
    bridge, approved = _bridge(config, pins, timeout, server)

    async def use(bridge: McpBridge) -> tuple[int, list[str]]:
        failed = _not_ready(bridge)
        return bridge.pin(), failed

    count, failed = _with_bridge(bridge, use)
    write_stdout(f"{count} definitions are pinned in {approved.path}\n")
    for name in failed:
        print_line(f"warning: {name}: not connected, so its pins are as before")
    fail_if(failed)


@app.command(short_help="Show what differs from the approved definitions.")
def diff(
    config: Config = None,
    server: ServerName = None,
    pins: PinsFile = None,
    timeout: Seconds = 15,
    json: AsJson = False,
) -> None:
    """Show how the tools of pinned servers differ from what was approved; exit code 1 if they do.

    Also 1 if a pinned server is not connected, since it is not known then.
    """
    bridge, approved = _bridge(config, pins, timeout, server, must_exist=True)

    async def use(bridge: McpBridge) -> tuple[list[PinDifference], list[str]]:
        return bridge.diff(), [name for name in _not_ready(bridge) if approved.is_pinned(name)]

    differences, failed = _with_bridge(bridge, use)
    document = [asdict(found) | {"fields": found.fields} for found in differences]
    lines = [line for found in differences for line in difference_lines(found)]
    write_json_or_lines(document, lines or ["nothing differs from the pins"], as_json=json)
    for name in failed:
        print_line(f"warning: {name}: not connected, so it was not compared")
    fail_if(differences or failed)


@app.command(short_help="Approve changed and new tools of a server.")
def accept(
    config: RequiredConfig,
    server: Annotated[str, typer.Argument(metavar="SERVER", help="A pinned server.")],
    tools: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TOOL]...", help="Tool names on the server. Default: all that differ."
        ),
    ] = None,
    pins: PinsFile = None,
    timeout: Seconds = 15,
) -> None:
    """Approve definitions that differ from their pins, and forget tools that are gone."""
    bridge, approved = _bridge(config, pins, timeout, server, must_exist=True)

    async def use(bridge: McpBridge) -> list[str]:
        [(server, status)] = bridge.servers.items()
        if status.state != "ready":
            raise CommandError(f"{server}: not connected: {status.reason}")
        if not approved.is_pinned(server):
            raise CommandError(f"{server}: is not pinned; `ethos-registry mcp pin` pins it")
        return bridge.accept(server, tools or None)

    accepted = _with_bridge(bridge, use)
    write_stdout(
        "".join(f"accepted: {visible(name)}\n" for name in accepted) or "nothing differs\n"
    )
