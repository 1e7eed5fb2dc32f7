"""`ethos-registry mcp`: what a person sees of MCP servers."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from cli_program import assert_one_error_line, run, run_json
from mcp_bridge_tools import RAW


def definition(name: str, description: str = "A tool.") -> dict[str, object]:
    return {"name": name, "description": description, "inputSchema": {"type": "object"}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    listing(tmp_path, definition("echo"), definition("fail"))
    entry = {"command": sys.executable, "args": [RAW, "--listing", str(tmp_path / "listing.json")]}
    configure(tmp_path, raw=entry)
    return tmp_path


def configure(folder: Path, **servers: object) -> None:
    (folder / "mcp.json").write_text(json.dumps({"mcpServers": servers}))


def listing(folder: Path, *tools: dict[str, object]) -> None:
    (folder / "listing.json").write_text(json.dumps(tools))


def test_the_tools_are_listed_with_their_cost(folder: Path) -> None:
    done = run("mcp", "list", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert "mcp__raw__echo" in done.stdout
    assert "Tokens (estimate)" in done.stdout
    cost = run_json("mcp", "list", "mcp.json", "--json", cwd=folder)
    assert [tool["name"] for tool in cost["tools"]] == ["mcp__raw__echo", "mcp__raw__fail"]
    assert cost["tokens"] > 0


def test_one_tool_is_called(folder: Path) -> None:
    listing(folder, definition("echo"))
    done = run("mcp", "call", "mcp.json", "mcp__raw__echo", '{"text": "hello"}', cwd=folder)
    assert (done.returncode, done.stdout) == (0, "hello\n")
    failed = run("mcp", "call", "mcp.json", "mcp__raw__fail", cwd=folder)
    assert failed.returncode == 1
    assert_one_error_line(
        run("mcp", "call", "mcp.json", "mcp__raw__echo", "{text}", cwd=folder),
        "ARGUMENTS are not valid JSON",
    )


def test_doctor_explains_what_is_wrong(folder: Path) -> None:
    healthy = run("mcp", "doctor", cwd=folder)
    assert healthy.returncode == 0
    assert "no problems" in healthy.stdout
    exits = {"command": sys.executable, "args": ["-c", "import sys; sys.exit('no licence')"]}
    secret = {"command": "x", "env": {"TOKEN": "secret:absent/secret"}}
    configure(folder, missing={"command": "no-such-command"}, exits=exits, secret=secret)
    done = run("mcp", "doctor", cwd=folder)
    assert done.returncode == 1
    shown = " ".join(done.stdout.split())
    assert "cannot be started" in shown
    assert "install the command, or give its full path" in shown
    assert "no licence" in shown
    assert "ABSENT_SECRET" in shown
    report = run_json("mcp", "doctor", "--json", cwd=folder, exit_code=1)
    assert {server["state"] for server in report["servers"]} == {"failed"}
    assert all(problem["way_out"] for problem in report["problems"])


@pytest.mark.slow
def test_definitions_are_pinned_compared_and_accepted(folder: Path) -> None:
    assert run("mcp", "pin", cwd=folder).stdout == "2 definitions are pinned in mcp.pins.json\n"
    assert run("mcp", "diff", cwd=folder).stdout == "nothing differs from the pins\n"
    listing(folder, definition("echo", "Now \x1b[31mevil."), definition("new"), definition("fail"))
    differs = run("mcp", "diff", cwd=folder)
    assert differs.returncode == 1
    assert "raw/echo: changed" in differs.stdout
    assert "raw/new: new" in differs.stdout
    assert "\x1b" not in differs.stdout
    refused = run("mcp", "call", "mcp.json", "mcp__raw__echo", cwd=folder)
    assert refused.returncode == 1
    assert "was not started: its definition has changed" in refused.stdout
    assert run("mcp", "accept", "mcp.json", "raw", "echo", cwd=folder).stdout == "accepted: echo\n"
    assert [
        found["tool"] for found in run_json("mcp", "diff", "--json", cwd=folder, exit_code=1)
    ] == ["new"]
    assert run("mcp", "accept", "mcp.json", "raw", cwd=folder).stdout == "accepted: new\n"
    assert run("mcp", "diff", cwd=folder).returncode == 0


@pytest.mark.slow
def test_wrong_usage_is_one_line(folder: Path) -> None:
    assert_one_error_line(run("mcp", "list", "absent.json", cwd=folder), "cannot be read")
    assert_one_error_line(
        run("mcp", "list", "--server", "other", cwd=folder), "unknown MCP server", "raw"
    )
    assert_one_error_line(run("mcp", "diff", cwd=folder), "mcp pin")
    (folder / "mcp.json").unlink()
    assert_one_error_line(run("mcp", "list", cwd=folder), "there is no mcp.json")
