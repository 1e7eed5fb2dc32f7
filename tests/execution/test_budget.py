"""The budget of a batch: an even share, a cap for each call, bodies that keep to it."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ethos_registry import ConfigError, ToolCall, ToolContext, ok
from ethos_registry.execution._results import even_share
from ethos_registry.types import Attachment
from session_tools import calls_of, registry_of, tool

MARKER = "\n[truncated — "


@given(budget=st.one_of(st.integers(0, 10**9), st.floats(0, 1e12)), count=st.integers(0, 10_000))
def test_an_even_share_is_the_floor_of_the_budget_by_the_calls(budget: float, count: int) -> None:
    share = even_share(budget, count)
    assert isinstance(share, int)
    assert share * max(count, 1) <= budget
    assert math.isclose(share, math.floor(budget / max(count, 1)), rel_tol=1e-9, abs_tol=1)


def test_a_budget_beyond_every_text_is_no_overflow() -> None:
    assert even_share(1e300, 3) == even_share(10**200, 1)
    assert even_share(1e300, 3) > 10**18


async def test_each_tool_sees_its_cap_and_keeps_to_it() -> None:
    seen: dict[str, Any] = {}

    async def long(args: Any, context: Any) -> Any:
        seen[context.tool_call_id] = context.result_budget_chars
        return ok("é" * args["chars"])

    registry = registry_of(tool(long, "wide"), tool(long, "narrow", max_result_chars=7))
    calls = [
        ToolCall("a", "wide", {"chars": 34}),
        ToolCall("b", "narrow", {"chars": 7}),
        ToolCall("c", "narrow", {"chars": 8}),
    ]
    results = await registry.execute_parallel(calls, ToolContext(result_budget_chars=100.9))
    assert seen == {"a": 33, "b": 7, "c": 7}
    assert [result.text for result in results] == [
        f"{'é' * 33}{MARKER}34 chars total]",
        "é" * 7,
        f"{'é' * 7}{MARKER}8 chars total]",
    ]
    assert [result.truncated_from for result in results] == [34, None, 8]
    assert [result.raw_chars for result in results] == [34, 7, 8]


@pytest.mark.parametrize("budget", [0, 0.9, 2])
async def test_a_budget_smaller_than_the_calls_leaves_the_marker_alone(budget: float) -> None:
    async def long(args: Any, context: Any) -> Any:
        return ok("text")

    results = await registry_of(long).execute_parallel(
        calls_of("long", "long", "long"), ToolContext(result_budget_chars=budget)
    )
    assert [result.text for result in results] == [f"{MARKER}4 chars total]"] * 3


async def test_the_same_budget_bounds_ok_error_and_exception() -> None:
    async def kinds(args: Any, context: Any) -> Any:
        if args["kind"] == "raise":
            raise ValueError("x" * 1_000)
        is_ok = args["kind"] == "ok"
        text = {"value" if is_ok else "error": "x" * 1_000}
        return {"ok": is_ok, **text, "code": "execution_failed"}

    calls = [ToolCall(kind, "kinds", {"kind": kind}) for kind in ("ok", "error", "raise")]
    results = await registry_of(kinds).execute_parallel(calls, ToolContext(result_budget_chars=150))
    assert {result.text for result in results} == {f"{'x' * 50}{MARKER}1000 chars total]"}


WRONG: list[dict[str, Any]] = [
    {"deadline_seconds": -1},
    {"deadline_seconds": math.nan},
    {"deadline_seconds": math.inf},
    {"deadline_seconds": 10**400},
    {"deadline_seconds": "1"},
    {"deadline_seconds": True},
    {"max_concurrency": 0},
    {"max_concurrency": 1.5},
    {"max_concurrency": "2"},
    {"budget_policy": "uneven"},
    {"budget_policy": None},
    {"untrusted": "trust"},
    {"on_result": 5},
    {"turn_attachments": 5},
    {"turn_attachments": 0},
    {"turn_attachments": ["a.png"]},
    {"context": {"session_id": "s"}},
    {"calls": "[]"},
    {"calls": {"id": "1", "name": "run"}},
    {"calls": None},
    {"allowed_tools": "run"},
    {"allowed_tools": [5]},
    {"filter_opts": {"exclude_tools": "run"}},
]


@pytest.mark.parametrize("wrong", WRONG, ids=str)
async def test_arguments_of_the_wrong_kind_raise_before_any_tool_starts(
    wrong: dict[str, Any],
) -> None:
    ran: list[int] = []

    async def run(args: Any, context: Any) -> Any:
        ran.append(1)
        return ok("ran")

    with pytest.raises(ConfigError) as raised:
        await registry_of(run).execute_parallel(**{"calls": calls_of("run"), **wrong})
    assert "\n" not in str(raised.value)
    assert ran == []


@pytest.mark.parametrize("budget", [-1, math.nan, math.inf, "80", None, True, 10**400])
def test_a_budget_is_a_finite_number(budget: Any) -> None:
    with pytest.raises(ConfigError, match="result_budget_chars"):
        ToolContext(result_budget_chars=budget)


async def test_no_calls_give_no_results() -> None:
    registry = registry_of()
    assert await registry.execute_parallel([]) == []
    assert await registry.execute_parallel((), deadline_seconds=0, max_concurrency=1) == []


async def test_attachments_of_the_right_kind_are_taken() -> None:
    async def run(args: Any, context: Any) -> Any:
        return ok("ran")

    one = Attachment(ref="r", type="image", url="file:a.png")
    [result] = await registry_of(run).execute_parallel(calls_of("run"), turn_attachments=[one])
    assert result.text == "ran"
