"""Tools of MCP servers in a registry: listing, calls, contents, changes."""

from __future__ import annotations

import asyncio
import json
import threading
from pathlib import Path

import pytest

from ethos_registry import ConfigError, Personality, Tool, ToolContext, ToolRegistry
from ethos_registry.mcp import McpBridge, McpServer, ToolsChanged
from ethos_registry.types import Audio, Document, Image, Link, ToolProgressEvent
from mcp_bridge_tools import call, raw, text_of, until, view


def definition(name: str, description: str = "A tool.", **more: object) -> dict[str, object]:
    return {"name": name, "description": description, "inputSchema": {"type": "object"}} | more


def listing(folder: Path, *tools: dict[str, object]) -> str:
    path = folder / "listing.json"
    path.write_text(json.dumps(tools))
    return str(path)


async def test_tools_are_listed_gated_by_server_and_called() -> None:
    registry = ToolRegistry()
    async with McpBridge([raw()]) as bridge:
        bridge.attach(registry)
        assert bridge.problems == []
        assert bridge.servers["raw"].state == "ready"
        shown = view(bridge, registry)
        assert await text_of(shown, "raw__echo", text="hello") == "hello"
        registration = registry.registration("mcp__raw__echo")
        assert registration is not None
        assert (registration.mcp_server, registration.mcp_tool) == ("raw", "echo")
        other = Personality("other", mcp_servers=["another"])
        none = registry.view(other, allow_unmatched=True)
        [refused] = await call(none, ("raw__echo", {"text": "hello"}))
        assert "not permitted" in refused.text
        assert bridge.tool_names["mcp__raw__echo"] == ("raw", "echo")
    assert registry.list() == []


async def test_results_are_untrusted_and_name_the_server() -> None:
    async with McpBridge([raw()]) as bridge:
        results = await call(view(bridge), ("raw__echo", {"text": "x"}), ("raw__fail", {}))
        assert [(result.untrusted, result.source) for result in results] == [(True, "mcp:raw")] * 2


async def test_every_kind_of_content_arrives() -> None:
    async with McpBridge([raw()]) as bridge:
        [result] = await call(view(bridge), ("raw__kinds", {}))
    assert result.text.split("\n\n") == [
        "first",
        "[image image/png, 8 bytes]",
        "[audio audio/wav, 12 bytes]",
        "[image image/png: the data is invalid]",
        "[resource the page <https://example.com/a>]",
        "[resource <memory://notes.txt>]\nthe notes",
        "[document application/pdf, 8 bytes] <memory://a.pdf>",
    ]
    image, audio, link, document = result.result.content
    assert isinstance(image, Image)
    assert isinstance(audio, Audio)
    assert link == Link("https://example.com/a", "the page")
    assert isinstance(document, Document)
    assert document.data_bytes == b"%PDF-1.7"


async def test_structured_content_without_text_is_shown_as_json(tmp_path: Path) -> None:
    server = raw("--listing", listing(tmp_path, definition("structured")))
    async with McpBridge([server]) as bridge:
        [result] = await call(view(bridge), ("raw__structured", {}))
    assert (result.text, result.result.structured) == ('{"answer":42}', {"answer": 42})


async def test_an_error_of_the_tool_is_an_error_with_its_text() -> None:
    async with McpBridge([raw()]) as bridge:
        [result] = await call(view(bridge), ("raw__fail", {}))
    assert (result.ok, result.text) == (False, "no such file")


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        ({}, "text: is required, but missing"),
        ({"text": 5}, "text: should be a string, got 5"),
        ({"text": "a", "txet": "b"}, "txet: unknown argument; the arguments are text"),
    ],
)
async def test_wrong_arguments_are_refused_before_anything_is_sent(
    tmp_path: Path, args: dict[str, object], problem: str
) -> None:
    runs = tmp_path / "runs"
    async with McpBridge([raw("--runs", str(runs))]) as bridge:
        [result] = await call(view(bridge), ("raw__echo", args))
    assert (result.ok, result.result.code) == (False, "input_invalid")  # type: ignore[union-attr]
    assert problem in result.text
    assert not runs.exists()


async def test_progress_reaches_the_context() -> None:
    events: list[ToolProgressEvent] = []
    async with McpBridge([raw()]) as bridge:
        context = ToolContext(emit=events.append)
        await call(view(bridge), ("raw__progress", {"steps": 4}), context=context)
    assert [(event.message, event.percent) for event in events] == [
        ("1 of 4", 25.0),
        ("2 of 4", 50.0),
        ("3 of 4", 75.0),
        ("4 of 4", 100.0),
    ]
    assert {event.tool_name for event in events} == {"mcp__raw__progress"}


async def test_a_cancelled_call_is_cancelled_on_the_server(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    async with McpBridge([raw("--runs", str(runs))]) as bridge:
        shown = view(bridge)
        running = asyncio.create_task(call(shown, ("raw__wait", {"seconds": 60})))
        await until(lambda: runs.exists() and runs.read_text())
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        async with asyncio.timeout(60):
            while await text_of(shown, "raw__cancelled") != "1":  # noqa: ASYNC110
                await asyncio.sleep(0.05)


async def test_a_call_that_takes_too_long_is_answered_and_cancelled() -> None:
    async with McpBridge([raw(timeout_seconds=2)]) as bridge:
        shown = view(bridge)
        [result] = await call(shown, ("raw__wait", {"seconds": 300}))
        assert "timed out after 2 s; it may have run" in result.text
        assert await text_of(shown, "raw__cancelled") == "1"


async def test_a_listing_of_many_pages_is_complete_and_sorted() -> None:
    registry = ToolRegistry()
    async with McpBridge([raw("--tools", "200", "--pages", "7")]) as bridge:
        bridge.attach(registry)
        names = [tool.name for tool in registry.all()]
        assert len(names) == 211
        assert names == sorted(names)
        assert [problem.kind for problem in bridge.problems] == ["count"]
        assert await text_of(view(bridge, registry), "raw__tool_0199", text="last") == "last"


@pytest.mark.parametrize("size", [3_000_000, 10_000_000])
async def test_a_large_result_arrives(size: int) -> None:
    async with McpBridge([raw()]) as bridge:
        assert len(await text_of(view(bridge), "raw__big", size=size)) == size


async def test_lines_that_are_not_messages_are_a_problem_and_change_nothing() -> None:
    async with McpBridge([raw("--noise")]) as bridge:
        assert await text_of(view(bridge), "raw__echo", text="a") == "a"
        [problem] = bridge.problems
        assert (problem.kind, problem.message[-1]) == ("output", "2")


async def test_standard_error_is_in_a_file_of_bounded_size(tmp_path: Path) -> None:
    async with McpBridge([raw()], stderr_folder=tmp_path / "logs") as bridge:
        await text_of(view(bridge), "raw__noise", size=3_000_000)
        await until(lambda: "last words" in bridge.servers["raw"].stderr_tail)
        assert len(bridge.servers["raw"].stderr_tail) <= 4096
    log = tmp_path / "logs" / "raw.log"
    assert log.stat().st_size <= 1024 * 1024
    assert log.stat().st_mode & 0o777 == 0o600
    assert log.read_text().endswith("last words\n")


async def test_unusable_tools_are_skipped_and_reported(tmp_path: Path) -> None:
    path = listing(
        tmp_path,
        definition("good"),
        definition("good"),
        definition("no_object", inputSchema={"type": "string"}),
        definition(
            "invalid", inputSchema={"type": "object", "properties": {"a": {"pattern": "("}}}
        ),
        definition(
            "remote",
            inputSchema={
                "type": "object",
                "properties": {"a": {"$ref": "https://example.com/schema.json"}},
            },
        ),
        definition("one_of", inputSchema={"type": "object", "anyOf": [{"required": ["a"]}]}),
        definition(
            "look_ahead",
            inputSchema={
                "type": "object",
                "properties": {"a": {"pattern": "^(?!x)", "type": "string"}},
            },
        ),
    )
    registry = ToolRegistry()
    async with McpBridge([raw("--listing", path)]) as bridge:
        bridge.attach(registry)
        assert registry.list() == ["mcp__raw__good", "mcp__raw__look_ahead", "mcp__raw__one_of"]
        assert sorted((problem.kind, problem.tool) for problem in bridge.problems) == [
            ("schema", "one_of"),
            ("tool", "good"),
            ("tool", "invalid"),
            ("tool", "no_object"),
            ("tool", "remote"),
        ]
        shown = view(bridge, registry)
        [wrong] = await call(shown, ("raw__look_ahead", {"a": 5}))
        assert "a: should be a string" in wrong.text


async def test_descriptions_lose_what_hides_text_and_are_bounded(tmp_path: Path) -> None:
    hidden = "Read\u200b a \u202efile.\x1b[31m" + "\U000e0041" + "x" * 5000
    schema = {"type": "object", "properties": {"a": {"type": "string", "description": hidden}}}
    path = listing(tmp_path, definition("read", hidden, inputSchema=schema))
    registry = ToolRegistry()
    async with McpBridge([raw("--listing", path)]) as bridge:
        bridge.attach(registry)
        tool = registry.get("mcp__raw__read")
        assert tool is not None
        for text in (tool.description, tool.schema["properties"]["a"]["description"]):
            assert text.startswith("Read a file.xxx")
            assert len(text) == 2048


async def test_names_are_portable_and_lead_back(tmp_path: Path) -> None:
    path = listing(tmp_path, definition("issues.list"), definition("issues_list"))
    async with McpBridge([raw("--listing", path)]) as bridge:
        shown = view(bridge)
        assert bridge.tool_names["mcp__raw__issues_list"] == ("raw", "issues_list")
        [other] = [name for name in bridge.tool_names if name != "mcp__raw__issues_list"]
        assert bridge.tool_names[other] == ("raw", "issues.list")
        [result] = await shown.execute([{"id": "1", "name": other, "args": {}}])
        assert result.ok


async def test_a_name_that_is_taken_is_a_problem_and_the_other_tool_stays() -> None:
    own = Tool("mcp__raw__echo", "Mine.", {"type": "object"}, lambda args, context: {"ok": True})
    registry = ToolRegistry()
    registry.register(own, mcp_server="raw")
    async with McpBridge([raw()]) as bridge:
        bridge.attach(registry)
        assert registry.get("mcp__raw__echo") is own
        assert [(problem.kind, problem.tool) for problem in bridge.problems] == [
            ("collision", "echo")
        ]
    assert registry.list() == ["mcp__raw__echo"]


async def test_a_change_reaches_the_next_view_and_no_running_one(tmp_path: Path) -> None:
    path = listing(tmp_path, definition("changed"), definition("same"), definition("goes"))
    changes: list[ToolsChanged] = []
    registry = ToolRegistry()
    async with McpBridge([raw("--listing", path)], on_tools_changed=changes.append) as bridge:
        bridge.attach(registry)
        before = view(bridge, registry)
        fingerprint, data = before.fingerprint, before.definitions_bytes("anthropic")
        same = registry.get("mcp__raw__same")
        listing(tmp_path, definition("changed", "Other."), definition("same"), definition("comes"))
        await text_of(before, "raw__changed")  # the server announces it
        await until(lambda: len(changes) > 1)
        assert changes[1] == ToolsChanged(
            "raw", ("mcp__raw__comes",), ("mcp__raw__goes",), ("mcp__raw__changed",)
        )
        assert registry.get("mcp__raw__same") is same
        assert (before.fingerprint, before.definitions_bytes("anthropic")) == (fingerprint, data)
        assert [shown["name"] for shown in view(bridge, registry).definitions("anthropic")] == [
            "mcp__raw__changed",
            "mcp__raw__comes",
            "mcp__raw__same",
        ]


async def test_a_refresh_without_a_change_changes_nothing(tmp_path: Path) -> None:
    path = listing(tmp_path, definition("b"), definition("a"))
    changes: list[ToolsChanged] = []
    async with McpBridge([raw("--listing", path)], on_tools_changed=changes.append) as bridge:
        shown = view(bridge)
        listing(tmp_path, definition("a"), definition("b"))
        await bridge.refresh()
        assert len(changes) == 1
        assert shown.definitions()


async def test_calls_from_other_loops_and_threads_are_answered() -> None:
    async with McpBridge([raw()]) as bridge:
        shown = view(bridge)
        answers: list[str] = []

        def run() -> None:
            answers.append(asyncio.run(text_of(shown, "raw__echo", text="from a thread")))

        thread = threading.Thread(target=run)
        thread.start()
        await until(lambda: not thread.is_alive())
        thread.join()
    assert answers == ["from a thread"]


async def test_hints_are_metadata_and_believed_only_when_trusted(tmp_path: Path) -> None:
    hints = {"annotations": {"readOnlyHint": True, "destructiveHint": False}}
    path = listing(tmp_path, definition("read", **hints), definition("write"))
    for is_trusted in (False, True):
        registry = ToolRegistry()
        async with McpBridge([raw("--listing", path, trust_annotations=is_trusted)]) as bridge:
            bridge.attach(registry)
            read, write = map(registry.get, ("mcp__raw__read", "mcp__raw__write"))
            assert read is not None
            assert write is not None
            assert (read.idempotent, write.idempotent) == (is_trusted, False)
            annotations = bridge.annotations("mcp__raw__read")
            assert annotations is not None
            assert (annotations.read_only, annotations.destructive) == (True, False)
            unknown = bridge.annotations("mcp__raw__write")
            assert unknown is not None
            assert (unknown.read_only, unknown.destructive) == (False, True)


async def test_one_registry_is_attached_once_and_can_be_detached() -> None:
    registry = ToolRegistry()
    async with McpBridge([raw()]) as bridge:
        bridge.attach(registry)
        with pytest.raises(ConfigError, match="attached to the bridge already"):
            bridge.attach(registry)
        bridge.detach(registry)
        assert registry.list() == []
        with pytest.raises(ConfigError, match="must be a ToolRegistry"):
            bridge.attach(registry.freeze())  # type: ignore[arg-type]


async def test_a_server_object_of_this_process_is_bridged() -> None:
    from mcp.server.mcpserver import MCPServer

    server = MCPServer("own")

    @server.tool()
    def double(number: int) -> int:
        """Twice."""
        return 2 * number

    for protocol in ("auto", "legacy"):
        async with McpBridge([McpServer(name="own", server=server, protocol=protocol)]) as bridge:
            [result] = await call(view(bridge), ("own__double", {"number": 4}))
            assert (result.text, result.result.structured) == ("8", {"result": 8})


async def test_the_bridge_of_a_single_server_needs_no_configuration() -> None:
    server = raw()
    assert server.command is not None
    async with McpBridge.from_command("one", server.command, *server.args) as bridge:
        assert await text_of(view(bridge), "one__echo", text="a") == "a"


async def test_after_the_end_calls_are_refused_and_were_not_started() -> None:
    async with McpBridge([raw()]) as bridge:
        shown = view(bridge)
    [result] = await call(shown, ("raw__echo", {"text": "a"}))
    assert result.result.code == "not_available"  # type: ignore[union-attr]
    assert "was not started: MCP server raw is closed" in result.text
