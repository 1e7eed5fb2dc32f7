"""The official conformance suite and inspector of MCP against the gateway."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mcp_gateway_tools import TESTS, http_process, policy, serve_command
from usage_tools import missing

pytest.importorskip("mcp", reason="the gateway needs the extra mcp")

TOOLS = "mcp_conformance_tools:registry"
EXPECTED_FAILURES = TESTS / "mcp_expected_failures.yml"


def node_command(*path):
    """Node and a program of the packages that `.ci/run` installs."""
    folder = os.environ.get("ETHOS_REGISTRY_MCP_TOOLS")
    if folder is None:
        missing("mcp-suite", "ETHOS_REGISTRY_MCP_TOOLS names no folder of MCP packages")
    program = Path(folder, "node_modules", "@modelcontextprotocol", *path)
    node = Path(folder, "node")
    if not node.exists() or not program.exists():
        missing("mcp-suite", f"{program} or {node} does not exist")
    return [str(node), str(program)]


def run(command, **options):
    return subprocess.run(
        command, capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL, **options
    )


@pytest.mark.parametrize("revision", ["2025-06-18", "2025-11-25", "2026-07-28"])
def test_every_scenario_for_servers_ends_as_expected(revision, tmp_path):
    suite = node_command("conformance", "dist", "index.js")
    options = ["--suite", "all", "--spec-version", revision]
    command = [sys.executable, str(TESTS / "mcp_conformance_server.py")]
    with http_process(tmp_path, command=command) as ([url], _):
        done = run(
            [*suite, "server", "--url", url, *options, "--expected-failures", EXPECTED_FAILURES],
            cwd=tmp_path,
        )
    assert done.returncode == 0, done.stdout[-4_000:] + done.stderr
    assert "all failures are expected" in done.stdout


def test_every_expected_failure_has_a_reason():
    lines = EXPECTED_FAILURES.read_text().splitlines()
    entries = [line for line in lines if line.startswith("  - ")]
    assert len(entries) > 10
    assert all(line.partition("#")[2].strip() for line in entries)


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_the_inspector_lists_and_calls(transport, tmp_path):
    inspector = node_command("inspector", "clients", "launcher", "build", "index.js")
    path = policy(tmp_path)
    with http_process(path, tools=TOOLS) as ([url], _):
        command, *arguments = serve_command(path, tools=TOOLS)
        server = {"type": "streamable-http", "url": url}
        if transport == "stdio":
            server = {"type": "stdio", "command": command, "args": arguments, "cwd": str(TESTS)}
        config = tmp_path / "mcp.json"
        config.write_text(json.dumps({"mcpServers": {"ours": server}}))
        base = [*inspector, "--cli", "--config", str(config), "--server", "ours"]
        environment = os.environ | {"HOME": str(tmp_path)}
        listed = run([*base, "--method", "tools/list"], cwd=tmp_path, env=environment)
        assert listed.returncode == 0, listed.stdout + listed.stderr
        names = [each["name"] for each in json.loads(listed.stdout)["tools"]]
        assert "test_simple_text" in names
        call = ["--method", "tools/call", "--tool-name", "test_simple_text"]
        called = run([*base, *call], cwd=tmp_path, env=environment)
        assert called.returncode == 0, called.stdout + called.stderr
        [content] = json.loads(called.stdout)["content"]
        assert content["text"] == "This is a simple text response for testing."
