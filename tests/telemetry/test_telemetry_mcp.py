"""OpenTelemetry: spans of calls to MCP servers say how the server was reached."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from ethos_registry import Tool, ToolRegistry, ok
from ethos_registry.mcp import McpBridge, McpServer
from ethos_registry.telemetry import OpenTelemetry
from mcp_bridge_tools import SDK, call, raw, view
from usage_tools import missing

try:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
    from opentelemetry.semconv._incubating.attributes import mcp_attributes, network_attributes
except ImportError:
    missing("otel", "opentelemetry-sdk is not installed")

FACTS = ("ethos.mcp.server", "mcp.method.name", "mcp.protocol.version", "network.transport")


def observed() -> tuple[ToolRegistry, InMemorySpanExporter]:
    """A registry, and the spans of its calls."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return ToolRegistry(observers=[OpenTelemetry(tracer_provider=provider)]), exporter


def facts_of(exporter: InMemorySpanExporter) -> list[tuple[Any, ...]]:
    """What the spans say of servers; each is read once."""
    spans = exporter.get_finished_spans()
    exporter.clear()
    return [tuple((span.attributes or {}).get(name) for name in FACTS) for span in spans]


@pytest.mark.parametrize("protocol", ["auto", "legacy"])
async def test_a_call_over_a_pipe_names_the_revision_that_was_agreed_on(protocol: str) -> None:
    registry, exporter = observed()
    async with McpBridge([raw(protocol=protocol)]) as bridge:
        bridge.attach(registry)
        [result] = await call(view(bridge, registry), ("raw__echo", {"text": "a"}))
        agreed = bridge.servers["raw"].protocol
    assert result.ok
    assert agreed
    assert facts_of(exporter) == [("raw", "tools/call", agreed, "pipe")]


@pytest.fixture
def url() -> Iterator[str]:
    """A server over HTTP."""
    command = [sys.executable, SDK, "--http", "--port", "0"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.kill()


async def test_a_call_over_http_names_tcp(url: str) -> None:
    registry, exporter = observed()
    async with McpBridge([McpServer(name="sdk", url=url)]) as bridge:
        bridge.attach(registry)
        [result] = await call(view(bridge, registry), ("sdk__echo", {"text": "a"}))
        agreed = bridge.servers["sdk"].protocol
    assert result.ok
    assert facts_of(exporter) == [("sdk", "tools/call", agreed, "tcp")]


async def test_a_server_of_this_process_has_a_revision_and_no_transport() -> None:
    from mcp.server.mcpserver import MCPServer

    server = MCPServer("own")

    @server.tool()
    def double(number: int) -> int:
        """Twice."""
        return 2 * number

    registry, exporter = observed()
    async with McpBridge([McpServer(name="own", server=server, protocol="legacy")]) as bridge:
        bridge.attach(registry)
        shown = view(bridge, registry)
        results = await call(shown, ("own__double", {"number": 4}), ("own__double", {}))
        agreed = bridge.servers["own"].protocol
    assert [result.ok for result in results] == [True, False]
    assert facts_of(exporter) == [("own", "tools/call", agreed, None)] * 2


async def test_a_tool_without_a_server_has_none_of_them() -> None:
    registry, exporter = observed()

    @registry.tool
    async def plain() -> str:
        """Return."""
        return "plain"

    await registry.execute_parallel([{"id": "1", "name": "plain", "args": {}}])
    assert facts_of(exporter) == [(None,) * 4]


async def test_a_tool_of_another_client_has_the_tags_of_its_registration_alone() -> None:
    registry, exporter = observed()

    async def read(args: Any, context: Any) -> Any:
        return ok("read")

    tool = Tool("mcp__files__read", "Read.", {"type": "object"}, read)
    registry.register(tool, mcp_server="files")
    await registry.execute_parallel([{"id": "1", "name": "mcp__files__read", "args": {}}])
    assert facts_of(exporter) == [("files", "tools/call", None, None)]


def test_the_names_are_those_of_the_semantic_conventions() -> None:
    assert FACTS[1:] == (
        mcp_attributes.MCP_METHOD_NAME,
        mcp_attributes.MCP_PROTOCOL_VERSION,
        network_attributes.NETWORK_TRANSPORT,
    )
    from ethos_registry.mcp._tools import NETWORK_TRANSPORTS

    theirs = {each.value for each in network_attributes.NetworkTransportValues}
    assert set(NETWORK_TRANSPORTS.values()) <= theirs
