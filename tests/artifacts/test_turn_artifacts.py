"""A turn and its artifacts together: from the cut to the acknowledgement (seed 003)."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from artifact_tools import LINE
from ethos_registry import CallResult, Personality, ToolContext, ToolRegistry, ok
from ethos_registry.artifacts import MemoryArtifactStore, SpooledArtifactStore
from ethos_registry.registry import DispatchContext, Turn, TurnAlreadySignalledError
from ethos_registry.tools import ArtifactReaders
from registry_tools import made, names
from session_tools import calls_of, code, reason, tool

pytestmark = pytest.mark.usefixtures("ids_in_order")

LINES = "".join(f"line {number}\n" for number in range(5_000))
BUDGET_CHARS = 300
FRAME_CHARS = 400
TEXT_READERS = [
    "artifact_head",
    "artifact_tail",
    "artifact_grep",
    "artifact_cat",
    "artifact_line_count",
    "artifact_byte_length",
    "artifact_estimate_tokens",
]
JSON_READERS = ["artifact_json_keys", "artifact_json_get", "artifact_json_slice"]
POLICIES = pytest.mark.parametrize("budget_policy", ["even", "fill"])


async def cut(args: Any, context: Any) -> Any:
    return ok(LINES)


async def fetch(args: Any, context: Any) -> Any:
    return ok(LINES)


async def listing(args: Any, context: Any) -> Any:
    return ok(json.dumps({"items": [{"name": f"item {number}"} for number in range(100)]}))


def base() -> ToolRegistry:
    return ToolRegistry([tool(cut), tool(fetch, output_is_untrusted=True), tool(listing)])


class Running:
    """A turn over three tools, with a store whose large texts are files."""

    def __init__(self, store: MemoryArtifactStore, registry: ToolRegistry | None = None) -> None:
        self.store = store
        self.context = DispatchContext()
        self.readers = ArtifactReaders(store)
        self.base = base() if registry is None else registry
        self.turn: Turn = self.base.turn(self.context, self.readers)
        self.registry = self.turn.registry

    async def call(self, name: str, /, *, budget_policy: Any = "even", **args: Any) -> CallResult:
        context = ToolContext(result_budget_chars=BUDGET_CHARS, artifact_store=self.store)
        [result] = await self.registry.execute_parallel(
            [{"id": "1", "name": name, "args": args}], context, budget_policy=budget_policy
        )
        return result

    def read_names(self) -> list[str]:
        return [name for name in names(self.registry.to_definitions()) if "artifact" in name]


def reported(result: CallResult) -> dict[str, str | None]:
    match = LINE.search(result.text)
    return {} if match is None else match.groupdict()


@pytest.fixture
def running(tmp_path: Path) -> Running:
    return Running(SpooledArtifactStore(tmp_path / "spool", memory_bytes=1_000))


def files(tmp_path: Path) -> list[str]:
    spool = tmp_path / "spool"
    return os.listdir(spool) if spool.exists() else []


class TestOneTurn:
    @POLICIES
    async def test_what_is_cut_is_read_in_the_next_iteration_and_gone_after_the_ack(
        self, running: Running, tmp_path: Path, budget_policy: str
    ) -> None:
        assert (running.read_names(), files(tmp_path)) == ([], [])
        result = await running.call("cut", budget_policy=budget_policy)
        line = reported(result)
        assert (line["id"], line["lines"]) == ("a1", "5,000")
        assert result.truncated_from == len(LINES)
        assert running.read_names() == []

        assert running.turn.begin_iteration() == 1
        assert running.read_names() == TEXT_READERS
        assert str(line["readers"]).split(", ") == TEXT_READERS[:4]
        assert len(files(tmp_path)) == 1
        head = await running.call("artifact_head", artifact_id="a1", n=2)
        tail = await running.call("artifact_tail", artifact_id="a1", n=2)
        found = await running.call("artifact_grep", artifact_id="a1", pattern="line 4[0-9]{2}7$")
        middle = await running.call("artifact_cat", artifact_id="a1", start=7, end=9)
        assert head.text == "line 0\nline 1"
        assert tail.text == "line 4998\nline 4999"
        assert found.text.startswith("4007:line 4007\n4017:line 4017\n")
        assert middle.text == "line 7\nline 8"
        for name in ("artifact_head", "artifact_tail", "artifact_cat"):
            whole = await running.call(
                name, artifact_id="a1", **({} if name == "artifact_cat" else {"n": 5_000})
            )
            assert 0 < len(whole.text) <= BUDGET_CHARS + FRAME_CHARS
        assert len(found.text) <= BUDGET_CHARS + FRAME_CHARS

        running.context.ack()
        assert (running.read_names(), files(tmp_path)) == ([], [])
        assert running.registry.list() == running.base.list() == ["cut", "fetch", "listing"]
        refused = await running.call("artifact_head", artifact_id="a1")
        assert (reason(refused), refused.text) == ("unknown", "Unknown tool: artifact_head")

    async def test_a_readers_result_is_never_an_artifact(
        self, running: Running, tmp_path: Path
    ) -> None:
        await running.call("cut")
        running.turn.begin_iteration()
        for policy in ("even", "fill"):
            result = await running.call(
                "artifact_cat", artifact_id="a1", start=0, budget_policy=policy
            )
            assert reported(result) == {}
        assert [artifact.id for artifact in running.store.artifacts()] == ["a1"]
        assert len(files(tmp_path)) == 1
        running.turn.begin_iteration()
        [head] = [one for one in running.registry.all() if one.name == "artifact_head"]
        assert head.schema["properties"]["artifact_id"]["enum"] == ["a1"]

    async def test_the_tools_of_each_iteration_know_the_artifacts_of_then(
        self, running: Running
    ) -> None:
        ids = []
        for called in ("cut", "listing", "fetch"):
            await running.call(called)
            running.turn.begin_iteration()
            tools = {one.name: one for one in running.registry.all()}
            ids.append(tools["artifact_head"].schema["properties"]["artifact_id"]["enum"])
        assert ids == [["a1"], ["a1", "a2"], ["a1", "a2", "a3"]]
        assert running.read_names() == TEXT_READERS + JSON_READERS
        got = await running.call("artifact_json_get", artifact_id="a2", path="/items/7/name")
        assert got.text == "item 7"
        unknown = await running.call("artifact_head", artifact_id="a9")
        assert (code(unknown), reason(unknown)) == ("input_invalid", "invalid_args")

    async def test_the_untrusted_mark_and_its_source_are_inherited(self, running: Running) -> None:
        trusted, untrusted = await running.call("cut"), await running.call("fetch")
        running.turn.begin_iteration()
        assert (trusted.untrusted, untrusted.untrusted) == (False, True)
        for result, artifact_id in ((trusted, "a1"), (untrusted, "a2")):
            for name, args in (
                ("artifact_head", {}),
                ("artifact_grep", {"pattern": "9"}),
                ("artifact_line_count", {}),
            ):
                read = await running.call(name, artifact_id=artifact_id, **args)
                assert (read.untrusted, read.source) == (result.untrusted, result.source)

    async def test_hooks_and_counts_of_the_turn_see_the_readers(self, running: Running) -> None:
        ended: list[tuple[str, bool | None]] = []
        running.context.on_tool_end(lambda call: ended.append((call.tool_name, call.is_error)))
        await running.call("cut")
        running.turn.begin_iteration()
        await running.call("artifact_head", artifact_id="a1")
        await running.call("artifact_grep", artifact_id="a1", pattern="(")
        assert ended == [("cut", False), ("artifact_head", False), ("artifact_grep", True)]


class TestTheLine:
    async def test_does_not_name_a_users_own_tool_of_a_readers_name(self, tmp_path: Path) -> None:
        own = made("artifact_head")
        running = Running(MemoryArtifactStore(), ToolRegistry([tool(cut), own]))
        for _ in range(2):
            line = reported(await running.call("cut"))
            assert str(line["readers"]).split(", ") == TEXT_READERS[1:5]
            running.turn.begin_iteration()
        assert running.registry.get("artifact_head") is own
        running.context.ack()
        assert running.registry.list() == ["artifact_head", "cut"]

    async def test_does_not_name_the_readers_of_another_store(self) -> None:
        running = Running(MemoryArtifactStore())
        await running.call("cut")
        running.turn.begin_iteration()
        other = MemoryArtifactStore()
        ArtifactReaders(other).forge_tools(running.context)
        context = ToolContext(result_budget_chars=BUDGET_CHARS, artifact_store=other)
        [result] = await running.registry.execute_parallel(calls_of("cut"), context)
        assert (reported(result), len(other.artifacts())) == ({}, 1)

    @pytest.mark.parametrize("end", ["ack", "nack"])
    async def test_promises_no_tool_of_an_iteration_that_cannot_come(self, end: str) -> None:
        running = Running(MemoryArtifactStore())

        async def ends_the_turn(args: Any, context: Any) -> Any:
            getattr(running.context, end)()
            return ok(LINES)

        running.registry.register(tool(ends_the_turn))
        result = await running.call("ends_the_turn")
        assert (reported(result), result.truncated_from) == ({}, len(LINES))


class TestTheEnd:
    async def test_after_a_nack_what_is_shown_still_works(
        self, running: Running, tmp_path: Path
    ) -> None:
        await running.call("cut")
        running.turn.begin_iteration()
        running.context.nack()
        with pytest.raises(TurnAlreadySignalledError):
            running.turn.begin_iteration()
        assert running.read_names() == TEXT_READERS
        read = await running.call("artifact_tail", artifact_id="a1", n=1)
        assert read.text == "line 4999"
        line = reported(await running.call("cut"))
        assert (line["id"], str(line["readers"]).split(", ")) == ("a2", TEXT_READERS[:4])
        assert len(files(tmp_path)) == 2
        assert (await running.call("artifact_tail", artifact_id="a2", n=1)).text == "line 4999"
        running.store.close()
        assert files(tmp_path) == []
        gone = await running.call("artifact_tail", artifact_id="a1")
        assert gone.text == "Tool artifact_tail is not currently available"
        assert code(gone) == "not_available"

    async def test_no_copy_of_the_turns_registry_shows_or_runs_a_reader_after_the_ack(
        self, running: Running
    ) -> None:
        await running.call("cut")
        running.turn.begin_iteration()
        copies: list[Any] = [
            ToolRegistry.merge([running.base, ToolRegistry([made("other")])]),
            ToolRegistry.merge([running.registry, ToolRegistry([made("other")])]),
            running.registry.for_turn(),
            running.registry.freeze(),
        ]
        views = [running.registry.view(Personality("all"), freeze_availability=False)]
        assert [len(names(copy.to_definitions())) for copy in copies] == [4, 11, 10, 10]
        running.context.ack()
        for copy in copies:
            assert not [name for name in names(copy.to_definitions()) if "artifact" in name]
            call = {"id": "1", "name": "artifact_head", "args": {"artifact_id": "a1"}}
            [result] = await copy.execute_parallel([call])
            assert reason(result) in {"unknown", "unavailable"}
        assert not [name for name in names(views[0].definitions()) if "artifact" in name]

    async def test_an_ack_while_a_tool_runs_loses_no_result_and_leaves_no_file(
        self, running: Running, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        started, go_on = asyncio.Event(), asyncio.Event()

        async def slow(args: Any, context: Any) -> Any:
            started.set()
            await go_on.wait()
            return ok(LINES)

        running.registry.register(tool(slow))
        task = asyncio.create_task(running.call("slow"))
        await started.wait()
        running.context.ack()
        go_on.set()
        result = await task
        assert (result.truncated_from, reported(result), files(tmp_path)) == (len(LINES), {}, [])
        assert result.text.startswith("line 0\nline 1\n")
        assert "the artifact store is closed: its turn is over" in caplog.text

    async def test_turns_side_by_side_read_only_their_own(self, tmp_path: Path) -> None:
        shared = base()
        turns = [
            Running(SpooledArtifactStore(tmp_path / "spool", memory_bytes=0), shared)
            for _ in range(20)
        ]
        for number, running in enumerate(turns):

            async def own(args: Any, context: Any, number: int = number) -> Any:
                return ok(f"turn {number}\n" * 1_000)

            running.registry.register(tool(own))
        await asyncio.gather(*(running.call("own") for running in turns))
        assert len(files(tmp_path)) == len(turns)
        for running in turns:
            running.turn.begin_iteration()
        heads = await asyncio.gather(
            *(
                running.call("artifact_head", artifact_id=running.store.artifacts()[0].id, n=1)
                for running in turns
            )
        )
        assert [head.text for head in heads] == [f"turn {n}" for n in range(len(turns))]
        assert shared.list() == ["cut", "fetch", "listing"]
        for left, running in enumerate(reversed(turns)):
            running.context.ack()
            assert len(files(tmp_path)) == len(turns) - left - 1
