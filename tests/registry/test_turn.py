"""`registry.turn`: the six upstream faults of a turn, and calls that are told of (ADK-69 to 71)."""

from __future__ import annotations

import asyncio
import gc
import threading
import weakref
from typing import Any

import pytest

from ethos_registry import (
    ConfigError,
    Personality,
    Tool,
    ToolAlreadyRegisteredError,
    ToolContext,
    ToolRegistry,
    err,
    ok,
    tool,
)
from ethos_registry.registry import DispatchContext, ToolExecution, TurnAlreadySignalledError
from ethos_registry.types import AbortController, call_checksum
from registry_tools import made, names, outcomes

pytestmark = pytest.mark.every_python

EVERYBODY = Personality("everybody")


class Artifacts:
    """A forge like that of an artifact store: one tool for each text that was cut so far."""

    def __init__(self, *remaining: str) -> None:
        self.remaining = list(remaining)

    def forge_tools(self, context: DispatchContext) -> list[Tool]:
        return [made(f"read_{name}", on_collision="replace") for name in self.remaining]


# The faults of the public implementation


def test_upstream_fault_2_forged_tools_end_in_every_registry_that_holds_them() -> None:
    main, context = ToolRegistry([made("a")]), DispatchContext()
    turn = main.turn(context, Artifacts("x"))
    copies = [
        ToolRegistry.merge([turn.registry]),
        turn.registry.for_turn(),
        turn.registry.freeze(),
        ToolRegistry.merge([main, ToolRegistry.forged([made("read_x")], context)]),
    ]
    view = turn.registry.view(EVERYBODY)
    for registry in copies:
        assert names(registry.to_definitions()) == ["a", "read_x"]
        assert outcomes(registry, ["read_x"]) == {"read_x": None}
    context.ack()
    assert turn.registry.list() == ["a"]
    assert names(view.definitions()) == ["a"]
    for registry in copies:
        assert names(registry.to_definitions()) == ["a"]
        assert outcomes(registry, ["a", "read_x"]) == {"a": None, "read_x": "unavailable"}


def test_upstream_fault_3_artifacts_that_come_late_are_bound_too() -> None:
    artifacts, context = Artifacts(), DispatchContext()
    turn = ToolRegistry([made("a")]).turn(context, artifacts)
    assert turn.registry.list() == ["a"]
    artifacts.remaining.append("x")
    assert turn.begin_iteration() == 1
    assert turn.registry.list() == ["a", "read_x"]
    context.ack()
    assert turn.registry.list() == ["a"]


def test_upstream_fault_4_a_forged_tool_never_replaces_a_users_own() -> None:
    own = made("read_x")
    turn = ToolRegistry([own]).turn(DispatchContext(), Artifacts("x", "y"))
    assert turn.registry.get("read_x") is own
    mine = made("read_y")
    turn.registry.register(mine, overwrite=True)
    turn.begin_iteration()
    assert turn.registry.get("read_y") is mine


def test_upstream_fault_5_a_users_ephemeral_tool_lives_until_the_ack() -> None:
    context = DispatchContext()
    base = ToolRegistry([made("of_base", ephemeral=True)])
    turn = base.turn(context, Artifacts("x"))
    turn.registry.register(made("of_user", ephemeral=True))
    for _ in range(3):
        turn.begin_iteration()
        assert turn.registry.list() == ["of_base", "of_user", "read_x"]
    context.ack()
    assert turn.registry.list() == []
    assert base.list() == ["of_base"]


def test_upstream_fault_6_hidden_tools_are_hidden_in_the_turn() -> None:
    base = ToolRegistry([made("a"), made("b")])
    base.hide("a")
    turn = base.turn(DispatchContext(), Artifacts("x"))
    turn.registry.hide("read_x")
    turn.begin_iteration()
    assert names(turn.registry.hidden()) == ["a", "read_x"]
    turn.registry.unhide("a")
    assert names(base.hidden()) == ["a"]


# Forging


def test_forged_tools_keep_their_place_and_go_when_they_are_not_forged_again() -> None:
    artifacts = Artifacts("x", "y")
    turn = ToolRegistry([made("a")]).turn(DispatchContext(), artifacts)
    turn.registry.register(made("b"))
    first = turn.registry.get("read_y")
    artifacts.remaining = ["y", "z"]
    turn.begin_iteration()
    assert names(turn.registry.all()) == ["a", "read_y", "b", "read_z"]
    assert turn.registry.get("read_y") is not first


def test_a_forge_is_a_function_an_object_or_several_and_gives_tools_or_a_registry() -> None:
    hidden = ToolRegistry([made("of_registry")])
    hidden.hide("of_registry")
    forges = [lambda context: [made("of_function")], Artifacts("x"), lambda context: hidden]
    forges.append(lambda context: ToolRegistry([made("frozen")]).freeze())
    turn = ToolRegistry().turn(DispatchContext(), forges)
    assert turn.registry.list() == ["frozen", "of_function", "of_registry", "read_x"]
    assert names(turn.registry.hidden()) == ["of_registry"]
    assert hidden.list() == ["of_registry"]


def test_a_forge_that_fails_changes_nothing() -> None:
    artifacts, failing = Artifacts("x"), []

    def fail(context: DispatchContext) -> list[Tool]:
        if failing:
            raise OSError("the store is closed")
        return []

    turn = ToolRegistry().turn(DispatchContext(), [artifacts, fail])
    artifacts.remaining, failing[:] = ["y"], [True]
    with pytest.raises(OSError, match="closed"):
        turn.begin_iteration()
    assert (turn.registry.list(), turn.iteration) == (["read_x"], 0)


@pytest.mark.parametrize(
    ("forge", "said"),
    [
        (5, "forge_tools"),
        ("forge", "forge_tools"),
        (made("a"), "register the tool"),
        (lambda context: 5, "list of tools"),
        (lambda context: ["a"], "Tool values"),
        (lambda context: None, "list of tools"),
    ],
)
def test_what_forges_nothing_is_reported(forge: Any, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        ToolRegistry().turn(DispatchContext(), forge)


def test_two_forges_with_one_name_are_an_error_unless_the_later_tool_replaces() -> None:
    def plain(context: DispatchContext) -> list[Tool]:
        return [made("x")]

    with pytest.raises(ToolAlreadyRegisteredError):
        ToolRegistry().turn(DispatchContext(), [plain, plain])
    replacing = made("x", on_collision="replace")
    turn = ToolRegistry().turn(DispatchContext(), [plain, lambda context: [replacing]])
    assert turn.registry.get("x") is replacing


@pytest.mark.parametrize("end", [DispatchContext.ack, DispatchContext.nack])
def test_a_turn_that_has_ended_begins_nothing(end: Any) -> None:
    context = DispatchContext()
    turn = ToolRegistry([made("a")]).turn(context, Artifacts("x"))
    end(context)
    with pytest.raises(TurnAlreadySignalledError):
        turn.begin_iteration()
    with pytest.raises(TurnAlreadySignalledError):
        ToolRegistry().turn(context)
    still_there = ["a", "read_x"] if context.nack_error else ["a"]
    assert turn.registry.list() == still_there


def test_a_turn_that_nobody_holds_is_collected() -> None:
    base = ToolRegistry([made("a")])
    turn = base.turn(DispatchContext(), Artifacts("x"))
    turn.registry.to_definitions()
    gone = weakref.ref(turn.registry)
    del turn
    gc.collect()
    assert gone() is None


# Calls that are told of


class Watched:
    """A turn over some tools, with what its hooks were told."""

    def __init__(self, *tools: Tool) -> None:
        self.context = DispatchContext()
        self.turn = ToolRegistry(tools).turn(self.context)
        self.reported: list[ToolExecution] = []
        self.context.on_tool_start(self.reported.append)
        self.context.on_tool_end(self.reported.append)

    def call(self, *called: tuple[str, Any], **options: Any) -> Any:
        calls = [
            {"id": f"c{index}", "name": name, "args": args}
            for index, (name, args) in enumerate(called)
        ]
        return self.turn.registry.execute_parallel_sync(calls, **options)

    def errors(self) -> list[tuple[str, bool | None]]:
        return [(one.tool_call_id, one.is_error) for one in self.reported]


@tool
def add(a: int, b: int = 1) -> int:
    """Add."""
    return a + b


@tool
async def divide(a: float, b: float, context: ToolContext) -> float:
    """Divide."""
    return a / b


def test_adk_69_a_checksum_is_of_the_tool_and_its_arguments_in_any_order_of_keys() -> None:
    checksum = call_checksum("add", {"a": {"x": 1, "y": [1, 2]}, "b": 2})
    assert checksum == call_checksum("add", {"b": 2, "a": {"y": [1, 2], "x": 1}})
    assert len(checksum) == 64
    assert set(checksum) <= set("0123456789abcdef")
    others = [
        call_checksum("sub", {"a": {"x": 1, "y": [1, 2]}, "b": 2}),
        call_checksum("add", {"a": {"x": 1, "y": [2, 1]}, "b": 2}),
        call_checksum("add", {"a": {"x": 1, "y": [1, 2]}, "b": "2"}),
        call_checksum("add", {}),
        call_checksum("add", None),
        call_checksum("add", {"a": "\ud800"}),
    ]
    assert len({checksum, *others}) == 7


def test_a_checksum_is_the_same_in_every_process() -> None:
    assert call_checksum("add", {"b": "é", "a": 1.5}) == (
        "6a39df7a3f1fb6630053ac2c3fa5612d68b80115ef81c48aa87126746fe1500e"
    )


@pytest.mark.parametrize("args", [{"a": object()}, {1: 2, "1": 3}, {"a": {1, 2}}])
def test_a_checksum_is_of_json(args: Any) -> None:
    with pytest.raises(ConfigError, match="JSON"):
        call_checksum("add", args)


def test_adk_69_equal_calls_are_counted_together() -> None:
    watched = Watched(add)
    watched.call(("add", {"a": 1, "b": 2}), ("add", '{"b": 2, "a": 1}'), ("add", {"a": 2}))
    assert watched.context.tool_call_count(call_checksum("add", {"a": 1, "b": 2})) == 2
    assert watched.context.tool_call_count(call_checksum("add", {"a": 2})) == 1
    assert watched.context.tool_call_count(call_checksum("add", {"a": 3})) == 0
    assert {one.checksum for one in watched.reported} == {
        call_checksum("add", {"a": 1, "b": 2}),
        call_checksum("add", {"a": 2}),
    }


@pytest.mark.parametrize("called", [add, divide], ids=["plain", "async"])
def test_adk_70_wrong_arguments_are_shown_to_no_one(called: Tool) -> None:
    watched = Watched(called)
    [result] = watched.call((called.name, {"a": "no number", "b": 0}))
    assert result.result.code == "input_invalid"
    assert watched.reported == []
    assert watched.context.tool_call_count(call_checksum(called.name, {"a": "no number"})) == 0


def test_adk_70_so_are_arguments_that_a_strict_schema_refuses_and_refused_calls() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    watched = Watched(made("strict", strict=True, schema=schema), made("off", is_available=bool))
    watched.call(("strict", {"a": "5"}), ("strict", "{"), ("off", {}), ("unknown", {}))
    watched.call(("strict", {}), allowed_tools=["off"])
    assert watched.reported == []


def test_adk_71_a_tool_that_raises_ends_once_with_an_error() -> None:
    watched = Watched(divide)
    [result] = watched.call(("divide", {"a": "1", "b": 0}))
    assert (result.result.code, result.result.reason) == ("execution_failed", "raised")
    assert watched.errors() == [("c0", None), ("c0", True)]
    assert watched.reported[0].args == {"a": 1.0, "b": 0.0}


def test_a_start_is_reported_with_what_the_tool_gets_and_an_end_with_how_it_went() -> None:
    async def refuse(args: Any, context: ToolContext) -> Any:
        return err("no", "execution_failed")

    watched = Watched(add, made("refuse", execute=refuse))
    watched.call(("add", {"a": "5"}))
    assert watched.reported[0].args == {"a": 5, "b": 1}
    assert watched.errors() == [("c0", None), ("c0", False)]
    watched.reported.clear()
    watched.call(("refuse", {"any": 1}))
    assert (watched.reported[0].args, watched.errors()) == (
        {"any": 1},
        [("c0", None), ("c0", True)],
    )


def test_arguments_that_are_no_json_are_reported_without_a_checksum() -> None:
    watched = Watched(made("t"))
    watched.call(("t", {"thing": object()}))
    assert [one.checksum for one in watched.reported] == [None, None]


def test_hooks_are_called_on_the_loop_and_one_that_raises_harms_nothing(caplog) -> None:
    watched, threads = Watched(add), set()
    watched.context.on_tool_start(lambda execution: threads.add(threading.get_ident()))
    watched.context.on_tool_start(lambda execution: 1 / 0)
    stop = watched.context.on_tool_end(lambda execution: threads.add(0))
    stop()
    stop()

    async def run() -> tuple[int, Any]:
        results = await watched.turn.registry.execute_parallel(
            [{"id": "1", "name": "add", "args": {"a": 1}}]
        )
        return threading.get_ident(), results[0]

    loop_thread, result = asyncio.run(run())
    assert (threads, result.text) == ({loop_thread}, "2")
    assert "`on_tool_start` hook raised" in caplog.text


def test_a_call_that_is_stopped_ends_once_too() -> None:
    async def wait(args: Any, context: ToolContext) -> Any:
        await asyncio.sleep(60)

    watched = Watched(made("wait", execute=wait, timeout_seconds=0.05))
    [result] = watched.call(("wait", {}))
    assert result.result.reason == "timeout"
    assert watched.errors() == [("c0", None), ("c0", True)]


@pytest.mark.parametrize("with_own_signal", [False, True])
def test_aborting_the_turn_stops_its_calls(with_own_signal: bool) -> None:
    context, own = DispatchContext(), AbortController()

    async def abort(args: Any, tool_context: ToolContext) -> Any:
        context.abort("enough")
        await asyncio.sleep(60)

    turn = ToolRegistry([made("abort", execute=abort)]).turn(context)
    calling = ToolContext(abort_signal=own.signal) if with_own_signal else None
    call = [{"id": "1", "name": "abort"}]
    [result] = turn.registry.execute_parallel_sync(call, calling)
    assert result.result.reason == "cancelled"
    [after] = turn.registry.execute_parallel_sync(call, calling)
    assert "was not started: the turn was aborted" in after.text


def test_the_callers_own_abort_stops_a_turn_that_was_not_aborted() -> None:
    own = AbortController()
    own.abort()
    turn = ToolRegistry([made("a")]).turn(DispatchContext())
    [result] = turn.registry.execute_parallel_sync(
        [{"id": "1", "name": "a"}], ToolContext(abort_signal=own.signal)
    )
    assert "was not started" in result.text


def test_a_view_of_a_turn_tells_its_calls() -> None:
    watched = Watched(made("t", execute=lambda args, context: ok("done")))
    view = watched.turn.registry.view(EVERYBODY)
    asyncio.run(view.execute([{"id": "1", "name": "t"}]))
    assert watched.errors() == [("1", None), ("1", False)]


def test_calls_outside_the_turn_are_not_reported() -> None:
    base, context = ToolRegistry([made("t")]), DispatchContext()
    reported: list[ToolExecution] = []
    context.on_tool_start(reported.append)
    base.turn(context)
    for registry in (base, base.for_turn()):
        assert outcomes(registry, ["t"]) == {"t": None}
    assert reported == []


def test_a_turn_shows_its_state() -> None:
    acked, failed, aborted = DispatchContext(), DispatchContext(), DispatchContext()
    assert repr(acked) == "<DispatchContext, open>"
    acked.ack()
    failed.nack()
    aborted.abort()
    shown = [repr(context).split(", ")[1] for context in (acked, failed, aborted)]
    assert shown == ["acknowledged>", "failed>", "aborted>"]
