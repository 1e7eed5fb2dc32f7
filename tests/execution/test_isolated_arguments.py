"""What a tool does to its arguments reaches nobody else (contract 3.7 and 4)."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ethos_registry import (
    DefaultToolResultReducerRegistry,
    InvocationFilter,
    ToolContext,
    ToolRegistry,
    _core,
    ok,
)
from ethos_registry.registry import DispatchContext
from session_tools import quick, registry_of, tool

pytestmark = pytest.mark.every_python

SENT = {"path": "a.txt", "lines": [1, {"to": 2}], "none": None}


def greedy(args: Any, context: Any) -> Any:
    """A tool that takes its arguments apart while it reads them."""
    args["lines"].clear()
    return ok(args.pop("path"))


def run(registry: ToolRegistry, *args: Any, **options: Any) -> list[str]:
    calls = [{"id": str(index), "name": "greedy", "args": one} for index, one in enumerate(args)]
    return [
        result.text
        for result in registry.execute_parallel_sync(calls, ToolContext(), **options)
        if result.ok
    ]


def test_the_callers_reply_is_as_it_was_and_calls_that_share_arguments_each_have_them() -> None:
    sent = copy.deepcopy(SENT)
    assert run(registry_of(greedy), sent, sent) == ["a.txt"] * 2
    assert sent == SENT


@pytest.mark.parametrize("as_text", [False, True])
def test_a_reducer_reads_the_original_arguments(*, as_text: bool) -> None:
    seen: list[Any] = []

    class Reading:
        tool_name = "greedy"

        def reduce(self, result: Any, context: Any) -> Any:
            seen.append(context.args)
            return result

    reducers = DefaultToolResultReducerRegistry()
    reducers.register(Reading())
    text = '{"path": "a.txt", "lines": [1, {"to": 2}], "none": null}'
    run(registry_of(greedy, reducer_registry=reducers), text if as_text else copy.deepcopy(SENT))
    assert seen == [SENT]


def test_the_source_of_untrusted_output_is_reported_by_the_original_arguments() -> None:
    registry = registry_of(tool(greedy, output_is_untrusted=True))
    calls = [{"id": "1", "name": "greedy", "args": copy.deepcopy(SENT)}]
    [result] = registry.execute_parallel_sync(calls)
    assert (result.text, result.source) == ("a.txt", "a.txt")


def test_the_hooks_of_a_turn_learn_of_the_original_arguments() -> None:
    turn = DispatchContext()
    reported: list[Any] = []
    turn.on_tool_end(lambda execution: reported.append(execution.args))
    run(registry_of(greedy).turn(turn).registry, copy.deepcopy(SENT))
    assert reported == [SENT]


def test_a_filter_sees_and_may_change_what_the_tool_gets() -> None:
    sent = copy.deepcopy(SENT)

    def before(invocation: Any) -> None:
        invocation.args["path"] = "b.txt"

    assert run(registry_of(greedy), sent, filters=[InvocationFilter(before)]) == ["b.txt"]
    assert sent == SENT


@pytest.mark.parametrize("in_turn", [False, True])
def test_a_filter_may_put_other_arguments_in_the_place_of_these(*, in_turn: bool) -> None:
    def before(invocation: Any) -> None:
        invocation.args = {"path": "c.txt", "lines": []}

    registry = registry_of(greedy)
    registry = registry.turn(DispatchContext()).registry if in_turn else registry
    filters = [InvocationFilter(before)]
    assert run(registry, copy.deepcopy(SENT), filters=filters) == ["c.txt"]


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


def containers(value: Any) -> list[Any]:
    """Every dict and list in a value."""
    if isinstance(value, dict):
        return [value, *(one for item in value.values() for one in containers(item))]
    if isinstance(value, list):
        return [value, *(one for item in value for one in containers(item))]
    return []


@given(JSON_VALUES)
def test_a_copy_is_equal_and_shares_no_container(value: Any) -> None:
    copied = _core.isolated_arguments(value)
    assert repr(copied) == repr(value)
    assert {id(one) for one in containers(copied)}.isdisjoint(id(one) for one in containers(value))


def test_a_value_that_holds_itself_is_copied_once() -> None:
    loop: list[Any] = []
    loop.append({"again": loop})
    copied = _core.isolated_arguments(loop)
    assert copied is not loop
    assert copied[0]["again"] is copied


@pytest.mark.parametrize("value", [None, "text", 5, (1, [2]), MappingProxyType({"a": 1}), {1, 2}])
def test_what_is_no_dict_or_list_is_passed_on_as_it_is(value: Any) -> None:
    assert _core.isolated_arguments(value) is value
    assert _core.isolated_arguments({"inner": value})["inner"] is value


def test_what_lies_deeper_than_128_levels_is_shared() -> None:
    bottom: list[Any] = []
    deep = bottom
    for _ in range(10_000):
        deep = [deep]
    copied = _core.isolated_arguments(deep)
    for _ in range(10_000):
        copied = copied[0]
    assert copied is bottom


class Unreadable(Mapping[str, Any]):
    """Arguments of a program's own class, which fail wherever they are read."""

    def __len__(self) -> int:
        return 1

    def __iter__(self) -> Any:
        raise SystemExit(3)

    def __getitem__(self, key: str) -> Any:
        raise SystemExit(3)


class Moody(dict[str, Any]):
    def items(self) -> Any:
        raise SystemExit(3)

    def get(self, key: str, default: Any = None) -> Any:
        raise SystemExit(3)


@pytest.mark.parametrize("args", [Unreadable(), Moody(a=1), {"inner": Moody(a=1)}, [Moody(a=1)]])
@pytest.mark.parametrize("dry_run", [False, True])
@pytest.mark.parametrize("options", [{}, {"output_is_untrusted": True}, {"strict": True}])
def test_arguments_that_cannot_be_read_cost_their_own_call_and_no_other(
    args: Any, dry_run: bool, options: dict[str, Any]
) -> None:
    registry = registry_of(tool(quick, "reading", **options), quick)
    calls = [{"id": name, "name": name, "args": {}} for name in ("quick", "reading", "quick")]
    calls[1]["args"] = args
    results = registry.execute_parallel_sync(
        calls, ToolContext(dry_run=dry_run), untrusted="wrap", deadline_seconds=60
    )
    assert [result.name for result in results] == ["quick", "reading", "quick"]
    assert results[0].ok
    assert results[2].ok
