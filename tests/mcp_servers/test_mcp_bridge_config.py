"""Configuration of MCP servers, and secrets that are never shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ethos_registry import ConfigError
from ethos_registry.capabilities import EnvironmentSecrets
from ethos_registry.mcp import McpBridge, McpServer
from mcp_bridge_tools import RAW, call, raw, text_of, view


def servers(document: object, folder: Path) -> McpBridge:
    path = folder / "mcp.json"
    path.write_text(json.dumps(document))
    return McpBridge.from_config(path)


def test_the_common_format_is_read(tmp_path: Path) -> None:
    bridge = servers(
        {
            "mcpServers": {
                "git": {"command": "mcp-server-git", "args": ["-v"], "env": {"A": "b"}, "cwd": "/"},
                "typed": {"type": "stdio", "command": "x"},
                "http": {"url": "https://example.com/mcp", "headers": {"X-Key": "v"}},
                "stream": {"type": "streamable-http", "url": "https://example.com/mcp"},
                "old": {"type": "sse", "url": "https://example.com/sse"},
                "off": {"command": "x", "disabled": True},
                "unused": {"command": "x", "enabled": False},
                "used": {"command": "x", "enabled": True, "disabled": False},
            }
        },
        tmp_path,
    )
    found = bridge._servers
    assert {name: server.transport for name, server in found.items()} == {
        "git": "stdio",
        "typed": "stdio",
        "http": "http",
        "stream": "http",
        "old": "sse",
        "used": "stdio",
    }
    assert found["used"].unknown_fields == ()
    assert (found["git"].args, found["git"].cwd) == (("-v",), "/")


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ({"command": "x", "type": "websocket"}, "unknown type 'websocket'; known are stdio, http"),
        ({}, "needs one of `command`, `url` and `server`"),
        ({"command": "x", "url": "https://a"}, "got command and url"),
        ({"url": "ftp://a"}, "must begin with http"),
        ({"url": "https://a", "type": "stdio"}, "cannot be reached by 'stdio'"),
        ({"command": "x", "env": {"A": 1}}, "`env.A` must be a string, got int"),
        ({"command": "x", "args": "one"}, "must be a list of strings"),
        ({"command": ""}, "`command` must not be empty"),
        ("text", "must be an object, got str"),
    ],
)
def test_a_wrong_server_is_named_with_its_problem(
    tmp_path: Path, entry: object, problem: str
) -> None:
    with pytest.raises(ConfigError) as raised:
        servers({"mcpServers": {"bad-one": entry}}, tmp_path)
    assert "'bad-one'" in str(raised.value)
    assert problem in str(raised.value)


@pytest.mark.parametrize("name", ["a__b", "_a", "a_", ""])
def test_a_name_that_would_split_in_two_ways_is_refused(name: str) -> None:
    with pytest.raises(ConfigError):
        McpServer(name=name, command="x")


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"absent\.json: cannot be read"):
        McpBridge.from_config(tmp_path / "absent.json")
    broken = tmp_path / "broken.json"
    broken.write_text("{")
    with pytest.raises(ConfigError, match="is not valid JSON"):
        McpBridge.from_config(broken)
    with pytest.raises(ConfigError, match="there is no object `mcpServers`"):
        servers({"server": {}}, tmp_path)


def test_two_servers_of_one_name_are_refused() -> None:
    with pytest.raises(ConfigError, match="two MCP servers have the name 'raw'"):
        McpBridge([raw(), raw()])


def test_values_of_the_environment_and_headers_are_not_shown() -> None:
    server = McpServer(
        name="a",
        url="https://user:hunter22@a.example/mcp?key=hunter22",
        headers={"Authorization": "Bearer hunter22"},
    )
    shown = f"{server!r} {server} {McpBridge([server])!r} {server.place}"
    assert "hunter22" not in shown
    assert "Authorization" in shown
    assert "https://a.example/mcp" in shown


async def test_a_secret_reaches_the_server_and_no_report(tmp_path: Path) -> None:
    value = "s3cret-value-42"
    source = EnvironmentSecrets(environ={"GITHUB_TOKEN": value})
    server = raw(env={"TOKEN": "secret:github/token", "PLAIN": "plain"})
    async with McpBridge([server], secrets=source) as bridge:
        variables = json.loads(await text_of(view(bridge), "raw__environment"))
        assert (variables["TOKEN"], variables["PLAIN"]) == (value, "plain")
        assert variables.keys() <= {
            *("TOKEN", "PLAIN", "HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"),
            *("ETHOS_REGISTRY_PROCESS", "LC_CTYPE", "PWD", "SHLVL", "_"),
        }
        assert value not in repr(bridge) + repr(bridge.servers) + repr(bridge._servers)
    leaks = raw(
        args=["-c", "import os, sys; sys.exit(os.environ['TOKEN'])"],
        env={"TOKEN": "secret:github/token"},
    )
    async with McpBridge([leaks], secrets=source) as bridge:
        problems = " ".join(map(str, bridge.problems))
        assert "[secret]" in problems
        assert value not in problems + repr(bridge.servers)


async def test_unknown_fields_are_a_problem(tmp_path: Path) -> None:
    import sys

    entry = {"command": sys.executable, "args": [RAW], "alwaysAllow": []}
    async with servers({"mcpServers": {"raw": entry}}, tmp_path) as bridge:
        assert [str(problem) for problem in bridge.problems] == [
            "raw: fields that are not read: `alwaysAllow`"
        ]
        [result] = await call(view(bridge), ("raw__echo", {"text": "a"}))
        assert result.ok


def test_an_unknown_option_is_refused() -> None:
    with pytest.raises(TypeError, match="unknown option 'pinned'"):
        McpBridge([], pinned=True)  # type: ignore[call-arg]


async def test_variables_that_other_hosts_replace_are_a_problem() -> None:
    server = raw(env={"TOKEN": "${TOKEN}", "PLAIN": "$5"}, cwd=None)
    async with McpBridge([server]) as bridge:
        [problem] = bridge.problems
        assert "`${...}` is not replaced, in `env.TOKEN`;" in str(problem)
        assert "`secret:NAME`" in str(problem)


@pytest.mark.parametrize("field", ["disabled", "enabled"])
def test_a_server_is_switched_off_by_a_boolean_only(tmp_path: Path, field: str) -> None:
    entry = {"command": "x", field: "true"}
    with pytest.raises(ConfigError, match=f"`{field}` must be true or false"):
        servers({"mcpServers": {"a": entry}}, tmp_path)


def test_a_configuration_in_another_encoding_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    path.write_bytes('{"mcpServers": {"café": {"command": "x"}}}'.encode("latin-1"))
    with pytest.raises(ConfigError, match=r"mcp\.json: is not text in UTF-8; save it as UTF-8$"):
        McpBridge.from_config(path)
