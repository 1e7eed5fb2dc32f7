"""Properties of a session: one answer a call, in order, whatever mix of tools runs."""

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ethos_registry import Tool, ToolCall, ToolContext, ToolFilterOpts, ok
from ethos_registry.types import AbortController, MalformedCall
from session_tools import EAGER_FACTORY, code, long_grace_in, reason, registry_of, tool

MARKER_CHARS = 60
HUGE = "é😀" * 2_000


@pytest.fixture(autouse=True, scope="module")
def long_grace_for_all() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        long_grace_in(patch)
        yield


class ForeignError(BaseException):
    """What no `except Exception` catches."""


async def _hang() -> Any:
    await asyncio.Event().wait()


async def _cancel_itself() -> Any:
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    await asyncio.sleep(0)


async def _slow() -> Any:
    await asyncio.sleep(0.001)
    return ok("slow")


async def _task_group() -> Any:
    async with asyncio.TaskGroup() as group:
        group.create_task(asyncio.sleep(0))
        raise ForeignError("in a group")


ASYNC_KINDS: dict[str, Any] = {
    "hang": _hang,
    "cancel": _cancel_itself,
    "slow": _slow,
    "task_group": _task_group,
}
RAISES: dict[str, BaseException] = {
    "raise": ValueError("bad \ud800"),
    "raise_nothing": ValueError(),
    "exit": SystemExit(3),
    "foreign": ForeignError("foreign"),
    "group": BaseExceptionGroup("many", [SystemExit(), ValueError()]),
    "generator_exit": GeneratorExit(),
}
RETURNS: dict[str, Any] = {
    "ok": ok("done"),
    "mapping": {"ok": True, "value": "done", "more": 1},
    "huge": ok(HUGE),
    "surrogates": ok("a\ud800\udfffb" * 20, structured={"k\udc00": "\udc00"}),
    "wrong_type": 42,
    "nothing": None,
    "no_text": {"ok": True, "value": 5},
    "bad_code": {"ok": False, "error": "x", "code": "EACCES"},
    "huge_error": {"ok": False, "error": HUGE, "code": "STALE_WRITE"},
}
WRONG = {"wrong_type", "nothing", "no_text", "bad_code"}
PLAIN = [f"plain_{kind}" for kind in (*RAISES, *RETURNS)]
NAMES = [*ASYNC_KINDS, *RAISES, *RETURNS, *PLAIN, "abort", "unavailable", "denied", "emits"]


def _tools(controller: AbortController) -> list[Tool]:
    """One tool a kind; the plain ones do the same on a thread."""

    def made(kind: str, *, plain: bool) -> Tool:
        def function(args: Any, context: Any) -> Any:
            context.report(kind)
            if kind in RAISES:
                raise RAISES[kind]
            return RETURNS[kind]

        async def coroutine(args: Any, context: Any) -> Any:
            if kind in ASYNC_KINDS:
                return await ASYNC_KINDS[kind]()
            return function(args, context)

        limit = 50 if kind == "huge" else None
        name = f"plain_{kind}" if plain else kind
        return tool(
            function if plain else coroutine, name, timeout_seconds=0.03, max_result_chars=limit
        )

    async def abort(args: Any, context: Any) -> Any:
        controller.abort()
        return ok("done")

    async def emits(args: Any, context: Any) -> Any:
        for _ in range(3):
            context.report("one of three", percent=400)
        return ok("done")

    async def never(args: Any, context: Any) -> Any:
        raise AssertionError("this tool must not run")

    return [
        *(made(kind, plain=False) for kind in (*ASYNC_KINDS, *RAISES, *RETURNS)),
        *(made(kind, plain=True) for kind in (*RAISES, *RETURNS)),
        tool(abort),
        tool(emits),
        tool(never, "unavailable", is_available=lambda: False),
        tool(never, "denied"),
    ]


@dataclass
class Batch:
    """What one example runs, and how."""

    calls: list[Any]
    budget: float
    max_concurrency: int | None
    deadline_seconds: float | None
    is_eager: bool


IDS = st.sampled_from(["a", "b", "toolu_1", "", "\ud800"])
CALLS = st.one_of(
    st.builds(ToolCall, IDS, st.sampled_from(NAMES), st.sampled_from([{}, "", "{}", None, [1]])),
    st.builds(ToolCall, IDS, st.sampled_from(NAMES), st.just('{"broken"')),
    st.builds(ToolCall, IDS, st.text(max_size=5), st.none()),
    st.builds(MalformedCall, IDS, st.sampled_from(NAMES), st.just("cut off")),
    st.builds(lambda call_id: {"id": call_id, "name": "ok", "input": {}}, IDS),
    st.builds(lambda call_id: {"id": call_id, "function": {"name": "ok", "arguments": "{}"}}, IDS),
    st.sampled_from([None, 5, {}, {"id": "x"}, {"name": "ok"}, "ok", {"id": 1, "name": "ok"}]),
)
BATCHES = st.builds(
    Batch,
    st.lists(CALLS, max_size=14),
    st.one_of(st.sampled_from([0, 1, 13.7, 80_000, 1e300]), st.integers(0, 5_000)),
    st.sampled_from([None, None, 1, 2, 5]),
    st.sampled_from([None, None, None, 0, 0.02]),
    st.booleans(),
)


def _identity(call: Any, index: int) -> tuple[str, str]:
    """The id and name that the answer must carry."""
    if isinstance(call, ToolCall | MalformedCall):
        return call.tool_call_id, call.name
    if not isinstance(call, dict):
        return str(index), ""
    call_id = call["id"] if isinstance(call.get("id"), str) else str(index)
    return call_id, call.get("name") or call.get("function", {}).get("name", "")


def _expected(call: Any) -> set[tuple[str | None, str | None]]:
    """The codes and reasons that a call may be answered with, when nothing ends the batch."""
    if isinstance(call, MalformedCall) or not isinstance(call, ToolCall):
        whole = isinstance(call, dict) and isinstance(call.get("id"), str) and len(call) > 1
        return {(None, None)} if whole else {("input_invalid", "invalid_args")}
    kind = call.name.removeprefix("plain_")
    if call.name not in NAMES:
        return {("not_available", "unknown")}
    if kind == "denied":
        return {("not_available", "excluded")}
    if kind == "unavailable":
        return {("not_available", "unavailable")}
    if call.args == '{"broken"':
        return {("input_invalid", "invalid_args")}
    if kind in RAISES or kind in ("cancel", "task_group"):
        return {("execution_failed", "raised")}
    if kind in WRONG:
        return {("execution_failed", "bad_result")}
    if kind == "huge_error":
        return {("STALE_WRITE", None)}
    return {("execution_failed", "timeout")} if kind == "hang" else {(None, None)}


STOPPED = {
    (code_, reason_)
    for code_ in ("execution_failed", "not_available")
    for reason_ in ("timeout", "cancelled")
}


async def _run(batch: Batch) -> None:
    if batch.is_eager and EAGER_FACTORY is not None:
        asyncio.get_running_loop().set_task_factory(EAGER_FACTORY)
    controller = AbortController()
    registry = registry_of(*_tools(controller))
    before = {name: value for name, value in vars(registry).items() if name != "_gates"}
    seen: list[Any] = []
    events: list[Any] = []
    results = await registry.execute_parallel(
        batch.calls,
        ToolContext(
            result_budget_chars=batch.budget, abort_signal=controller.signal, emit=events.append
        ),
        filter_opts=ToolFilterOpts(exclude_tools=("denied",)),
        max_concurrency=batch.max_concurrency,
        deadline_seconds=batch.deadline_seconds,
        on_result=seen.append,
    )

    assert [(one.tool_call_id, one.name) for one in results] == [
        _identity(call, index) for index, call in enumerate(batch.calls)
    ]
    assert sorted(map(id, seen)) == sorted(map(id, results))
    # A plain function may lose a race with its clock of 30 ms on a busy machine.
    may_stop = controller.signal.aborted or batch.deadline_seconds is not None
    for call, result in zip(batch.calls, results, strict=True):
        outcome = (code(result), reason(result))
        late = {("execution_failed", "timeout")} if call_runs(call) else set()
        allowed = _expected(call) | late | (STOPPED if may_stop else set())
        assert outcome in allowed, (call, outcome)
        _check_text(result, math.floor(batch.budget / len(batch.calls)))
    assert all(event.tool_name in NAMES for event in events)
    assert all(event.percent is None or 0 <= event.percent <= 100 for event in events)

    assert registry.abandoned_calls == 0
    assert not registry._runtime.counters.abandoned_tasks
    assert not controller.signal._listeners
    assert {name: value for name, value in vars(registry).items() if name in before} == before
    await asyncio.sleep(0)
    assert asyncio.all_tasks() == {asyncio.current_task()}


def call_runs(call: Any) -> bool:
    return _expected(call).isdisjoint(
        {("input_invalid", "invalid_args"), ("not_available", "unknown")}
    )


def _check_text(result: Any, share: int) -> None:
    text = result.text
    text.encode()  # no lone surrogate
    assert result.sent_chars == len(text)
    cap = min(share, 50) if result.name.endswith("huge") else share
    if result.truncated_from is not None:
        body, _, rest = text.rpartition("\n[truncated — ")
        assert rest == f"{result.truncated_from} chars total]"
        # The first grapheme cluster is kept whole; all of ours are short.
        assert len(body) <= max(cap, 2)
    elif result.ok:
        assert len(text) <= cap
    else:
        assert len(text) <= max(cap, 500)


@given(BATCHES)
def test_every_call_is_answered_once_in_order_and_inside_the_budget(batch: Batch) -> None:
    asyncio.run(_run(batch))


@given(st.lists(st.sampled_from(["slow", "plain_ok", "ok", "huge"]), min_size=1, max_size=30))
@settings(max_examples=25)
def test_no_more_calls_run_at_once_than_allowed(names: list[str]) -> None:
    lock = threading.Lock()
    running, most = 0, 0

    def enter(change: int) -> None:
        nonlocal running, most
        with lock:
            running += change
            most = max(most, running)

    async def coroutine(args: Any, context: Any) -> Any:
        enter(1)
        await asyncio.sleep(0)
        enter(-1)
        return ok("done")

    def function(args: Any, context: Any) -> Any:
        enter(1)
        enter(-1)
        return ok("done")

    registry = registry_of(
        *(tool(function if "plain" in name else coroutine, name) for name in set(names))
    )
    calls = [ToolCall(str(index), name, {}) for index, name in enumerate(names)]
    results = registry.execute_parallel_sync(calls, max_concurrency=3)
    assert [result.tool_call_id for result in results] == [call.tool_call_id for call in calls]
    assert all(result.ok for result in results)
    assert most <= 3
