"""What the servers of a bridge offer beside tools, through a gateway to a client."""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ethos_registry import ConfigError, Personality, ToolRegistry
from ethos_registry.mcp import McpBridge, McpGateway, McpServer

pytest.importorskip("mcp", reason="the gateway needs the extra mcp")

from mcp.client import Client
from mcp.server.mcpserver import Context, MCPServer
from mcp.shared.exceptions import MCPError
from mcp_types import PromptReference, ResourceTemplateReference

from ethos_registry.mcp._gateway_resources import _matches

SERVER = str(Path(__file__).parents[1] / "mcp_resource_server.py")
HIDDEN = "\u200b<|im_start|>"
TOKEN = "ghp_" + "a1B2" * 9
BOTH = pytest.mark.parametrize("mode", ["auto", "legacy"])


def real() -> McpServer:
    return McpServer(
        name="real",
        command=sys.executable,
        args=[SERVER],
        resources=True,
        connect_timeout_seconds=60,
    )


def other() -> MCPServer:
    server = MCPServer("other")

    @server.resource("other://secret", description=f"A {HIDDEN}token.")
    def secret() -> str:
        return f"the token is {TOKEN}"

    @server.prompt(description=f"Another {HIDDEN}one.")
    def test_simple_prompt() -> str:
        return f"hidden {HIDDEN}words"

    @server.prompt(name=f"bad{HIDDEN}")
    def bad() -> str:
        return ""

    return server


@contextlib.asynccontextmanager
async def through(
    *servers: McpServer, mode: str = "auto", exclude: tuple[str, ...] = (), **options: Any
) -> AsyncIterator[Client]:
    registry = ToolRegistry()
    async with McpBridge(servers) as bridge:
        bridge.attach(registry)
        permitted = options.pop("permitted", [server.name for server in servers])
        personality = Personality("p", mcp_servers=permitted, exclude=exclude)
        gateway = McpGateway(registry, personality, bridge=bridge, **options)
        async with Client(gateway.server(), mode=mode) as client:
            yield client


def wire(value: Any, *, without: tuple[str, ...] = ()) -> Any:
    dumped = value.model_dump(mode="json", by_alias=True, exclude_none=True)
    return {key: each for key, each in dumped.items() if key not in without}


@BOTH
async def test_a_client_of_the_gateway_reads_what_a_client_of_the_server_reads(mode: str) -> None:
    from mcp.client.stdio import StdioServerParameters, stdio_client

    parameters = StdioServerParameters(command=sys.executable, args=[SERVER])
    async with (
        Client(stdio_client(parameters), mode=mode) as direct,
        through(real(), mode=mode) as client,
    ):
        hints = ("ttlMs", "cacheScope", "_meta", "resultType")
        for name in ("list_resources", "list_resource_templates", "list_prompts"):
            expected = wire(await getattr(direct, name)(), without=hints)
            found = wire(await getattr(client, name)(), without=hints)
            assert found == expected, name
            assert any(expected.values())
        for uri in ("test://static-text", "test://static-binary", "test://template/7/data"):
            expected = wire(await direct.read_resource(uri), without=hints)
            assert wire(await client.read_resource(uri), without=hints) == expected
        arguments = {
            "test_simple_prompt": {},
            "test_prompt_with_arguments": {"arg1": "a", "arg2": "b"},
            "test_prompt_with_embedded_resource": {"resourceUri": "test://x"},
            "test_prompt_with_image": {},
        }
        for prompt, values in arguments.items():
            expected = wire(await direct.get_prompt(prompt, values), without=hints)
            assert wire(await client.get_prompt(prompt, values), without=hints) == expected
        for reference in (
            PromptReference(type="ref/prompt", name="test_prompt_with_arguments"),
            ResourceTemplateReference(type="ref/resource", uri="test://template/{id}/data"),
        ):
            answer = await client.complete(reference, {"name": "arg1", "value": "par"})
            assert answer.completion.values == ["paris", "park", "party"]


async def test_text_of_a_resource_is_redacted_and_marked_and_listings_are_cleaned() -> None:
    servers = (real(), McpServer(name="other", server=other(), resources=True))
    async with through(*servers) as client:
        read = await client.read_resource("other://secret")
        listed = (await client.list_resources()).resources
        prompts = {prompt.name: prompt for prompt in (await client.list_prompts()).prompts}
        [message] = (await client.get_prompt("other__test_simple_prompt")).messages
        [first] = (await client.get_prompt("test_simple_prompt")).messages
    assert TOKEN not in read.model_dump_json()
    assert read.contents[0].text.startswith("the token is [redacted")
    assert read.meta is not None
    assert read.meta["ethos-registry/source"] == "mcp:other"
    [secret] = [each for each in listed if str(each.uri) == "other://secret"]
    assert secret.description == "A [STRIPPED-TEMPLATE-TOKEN]token."
    assert prompts["other__test_simple_prompt"].description == (
        "Another [STRIPPED-TEMPLATE-TOKEN]one."
    )
    assert not any("bad" in name for name in prompts)
    assert message.content.text == "hidden [STRIPPED-TEMPLATE-TOKEN]words"
    assert first.content.text == "This is a simple prompt for testing."


async def test_gates_hide_servers_and_the_tool_that_reads() -> None:
    server = McpServer(name="other", server=other(), resources=True)
    async with through(server, permitted=[]) as client:
        assert (await client.list_resources()).resources == []
        assert (await client.list_prompts()).prompts == []
        with pytest.raises(MCPError, match="Resource not found") as refused:
            await client.read_resource("other://secret")
        assert refused.value.data == {"uri": "other://secret"}
        with pytest.raises(MCPError, match="unknown prompt"):
            await client.get_prompt("test_simple_prompt")
    for hidden in (
        through(server, exclude=("mcp__other__read_resource",)),
        through(McpServer(name="other", server=other(), resources=False)),
    ):
        async with hidden as client:
            assert (await client.list_resources()).resources == []
            assert len((await client.list_prompts()).prompts) == 1


async def test_a_fenced_resource_is_text() -> None:
    server = McpServer(name="other", server=other(), resources=True)
    async with through(server, untrusted="wrap") as client:
        [contents] = (await client.read_resource("other://secret")).contents
    assert contents.text.startswith("<untrusted ")
    assert str(contents.uri) == "other://secret"


async def test_without_a_bridge_a_gateway_has_tools_only() -> None:
    async with Client(McpGateway(ToolRegistry(), Personality("p")).server()) as client:
        assert client.server_capabilities.resources is None
        assert client.server_capabilities.prompts is None
    with pytest.raises(ConfigError, match="`bridge` must be an McpBridge"):
        McpGateway(ToolRegistry(), Personality("p"), bridge="x")  # type: ignore[arg-type]


@given(st.lists(st.text("ab/", max_size=3), min_size=1, max_size=4), st.text("ab/", max_size=12))
def test_a_uri_is_of_a_template_if_each_expression_has_a_value(parts: list[str], uri: str) -> None:
    expected = re.fullmatch(".+".join(map(re.escape, parts)), uri) is not None
    assert _matches("{name}".join(parts), uri) == expected


def test_a_template_of_many_expressions_is_matched_in_linear_time() -> None:
    assert not _matches("a{x}" * 2_000 + "b", "a" * 100_000)


class Counted(MCPServer):
    """Counts how often its resources and prompts are listed."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.listings = 0

    async def list_resources(self) -> Any:
        self.listings += 1
        return await super().list_resources()

    async def list_prompts(self) -> Any:
        self.listings += 1
        return await super().list_prompts()


@BOTH
async def test_lists_are_remembered_until_they_change(mode: str) -> None:
    server = Counted("counted")

    def add(name: str) -> None:
        server.resource(f"counted://{name}", name=name)(lambda: f"text of {name}")
        server.prompt(name=name)(lambda: f"prompt {name}")

    @server.tool()
    async def change(context: Context) -> str:
        add("second")
        if mode == "auto":
            await context.notify_resources_changed()
            await context.notify_prompts_changed()
        else:
            await context.session.send_resource_list_changed()
            await context.session.send_prompt_list_changed()
        return "changed"

    add("first")
    upstream = McpServer(
        name="counted",
        server=server,
        resources=True,
        protocol="legacy" if mode == "legacy" else "auto",
    )
    async with through(upstream) as client:
        for _ in range(5):
            [contents] = (await client.read_resource("counted://first")).contents
            assert contents.text == "text of first"
            [message] = (await client.get_prompt("first")).messages
            assert message.content.text == "prompt first"
        assert server.listings == 2
        await client.call_tool("mcp__counted__change", {})
        [contents] = (await client.read_resource("counted://second")).contents
        assert contents.text == "text of second"
        await client.get_prompt("second")
        listings = server.listings
        await client.read_resource("counted://first")
        assert server.listings == listings
        with pytest.raises(MCPError, match="Resource not found"):
            await client.read_resource("counted://third")


async def test_a_resource_that_moved_is_read_at_the_server_that_lists_it_now() -> None:
    first, second = MCPServer("first"), MCPServer("second")

    @first.tool()
    async def give_up(context: Context) -> str:
        first._resource_manager._resources.clear()
        second.resource("shared://note", name="note")(lambda: "from second")
        await context.session.send_resource_list_changed()
        return "given up"

    first.resource("shared://note", name="note")(lambda: "from first")
    servers = [
        McpServer(name=each.name, server=each, resources=True, protocol="legacy")
        for each in (first, second)
    ]
    async with through(*servers) as client:
        [contents] = (await client.read_resource("shared://note")).contents
        assert contents.text == "from first"
        await client.call_tool("mcp__first__give_up", {})
        [contents] = (await client.read_resource("shared://note")).contents
        assert contents.text == "from second"
