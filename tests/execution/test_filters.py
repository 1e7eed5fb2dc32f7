"""Filters run around a call: they may answer for the tool, change its answer, ask a person."""

import asyncio
import logging
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import AfterValidator

from ethos_registry import (
    ConfigError,
    InvocationFilter,
    Tool,
    ToolContext,
    ToolRegistry,
    err,
    ok,
    tool,
)
from ethos_registry.execution import _run_tool
from ethos_registry.testing import run_tool

SCHEMA = {"type": "object"}


def registry_of(execute, **fields) -> ToolRegistry:
    return ToolRegistry([Tool("t", "A tool.", SCHEMA, execute, **fields)])


async def call(registry, filters, **options):
    calls = [{"id": "1", "name": "t", "args": {"a": 1}}]
    [result] = await registry.execute_parallel(calls, filters=filters, **options)
    return result


def logging_tool(log):
    async def execute(args, context):
        log.append("execute")
        return ok("v")

    return execute


def appended(text):
    return lambda invocation, result: ok(result.text + text)


def step(log, kind, number):
    """A filter of the property: `before` passes, answers or raises; `after` adds or raises."""
    before_kind, after_kind = kind

    def before(invocation):
        log.append(f"before{number}")
        if before_kind == "raise":
            raise RuntimeError(f"before{number} raised")
        return ok(f"short{number}") if before_kind == "answer" else None

    async def after(invocation, result):
        log.append(f"after{number}")
        if after_kind == "raise":
            raise RuntimeError("lost")
        return ok(f"{result.text}+{number}") if after_kind == "add" else None

    return InvocationFilter(
        before if before_kind else None, after if after_kind or not before_kind else None
    )


kinds = st.tuples(
    st.sampled_from([None, "pass", "answer", "raise"]),
    st.sampled_from([None, "keep", "add", "raise"]),
)


@given(st.lists(kinds, max_size=4))
def test_filters_run_in_order_and_the_first_answer_is_taken_for_the_tool(chosen):
    log, expected = [], []
    filters = [step(log, kind, number) for number, kind in enumerate(chosen)]
    text = None
    for number, (before, _) in enumerate(chosen):
        if before is None:
            continue
        expected.append(f"before{number}")
        if before == "raise":
            text = f"before{number} raised"
            break
        if before == "answer":
            text = f"short{number}"
            break
    refused = bool(expected) and chosen[int(expected[-1][6:])][0] == "raise"
    if text is None:
        expected.append("execute")
        text = "v"
    if not refused:
        for number, (before, after) in reversed(list(enumerate(chosen))):
            if after is None and before is not None:
                continue
            expected.append(f"after{number}")
            text += f"+{number}" if after == "add" else ""
    logging.disable(logging.WARNING)
    try:
        result = asyncio.run(call(registry_of(logging_tool(log)), filters))
    finally:
        logging.disable(logging.NOTSET)
    assert log == expected
    assert (result.ok, result.text) == (not refused, text)


@pytest.mark.parametrize(
    ("names", "toolset", "runs"),
    [
        (None, None, True),
        ("t", None, True),
        (["t", "u"], None, True),
        ([], None, False),
        ("u", None, False),
        (None, "ts", True),
        (None, "other", False),
        ("t", "ts", True),
        ("u", "ts", False),
    ],
)
async def test_a_filter_is_for_the_tools_that_it_names(names, toolset, runs):
    registry = registry_of(logging_tool([]), toolset="ts")
    item = InvocationFilter(
        after=appended("!"), tool_names=names, toolset=toolset, allow_unmatched=True
    )
    assert (await call(registry, [item])).text == ("v!" if runs else "v")


async def test_a_failing_before_refuses_with_its_message():
    def before(invocation):
        raise PermissionError("ask an admin")

    log = []
    result = await call(registry_of(logging_tool(log)), [InvocationFilter(before)])
    assert (result.result.code, result.text, log) == ("execution_failed", "ask an admin", [])


@pytest.mark.parametrize("error", [ValueError("lost"), SystemExit(3)])
async def test_a_failing_after_keeps_the_result_and_is_logged_once(caplog, error):
    def after(invocation, result):
        raise error

    registry = registry_of(logging_tool([]))
    for _ in range(3):
        assert (await call(registry, [InvocationFilter(after=after)])).text == "v"
    assert len([record for record in caplog.records if "`after`" in record.message]) == 1


@pytest.mark.parametrize("nonsense", [5, "text", {"ok": "yes"}])
async def test_what_a_before_answers_is_checked_like_a_tools_return(nonsense):
    log = []
    registry = registry_of(logging_tool(log))
    result = await call(registry, [InvocationFilter(lambda invocation: nonsense)])
    assert (result.ok, result.result.reason, log) == (False, "bad_result", [])


@pytest.mark.parametrize("nonsense", [5, "text", {"ok": "yes"}])
async def test_what_an_after_answers_is_checked_and_nonsense_keeps_the_result(nonsense):
    registry = registry_of(logging_tool([]))
    result = await call(registry, [InvocationFilter(after=lambda invocation, result: nonsense)])
    assert result.text == "v"


async def test_a_tool_that_returns_nonsense_reads_so_inside_filters_too():
    registry = registry_of(lambda args, context: 5)
    result = await call(registry, [InvocationFilter(after=appended("!"))])
    assert result.result.reason == "bad_result"


async def test_an_after_sees_errors_that_the_tool_returned():
    registry = registry_of(lambda args, context: err("no"))
    result = await call(registry, [InvocationFilter(after=lambda invocation, result: ok("mended"))])
    assert (result.ok, result.text) == (True, "mended")


async def test_none_runs_in_a_dry_run_or_for_a_refused_call():
    log = []

    def before(invocation):
        log.append("before")

    registry = registry_of(logging_tool(log))
    await call(registry, [InvocationFilter(before)], context=ToolContext(dry_run=True))
    await call(registry, [InvocationFilter(before)], allowed_tools=["other"])
    assert log == []


async def test_filters_share_the_clock_of_the_tool():
    async def before(invocation):
        await asyncio.Event().wait()

    registry = registry_of(logging_tool([]), timeout_seconds=0.05)
    result = await call(registry, [InvocationFilter(before)])
    assert result.result.reason == "timeout"


async def test_an_approval_pauses_the_clock_while_it_asks():
    async def ask(invocation):
        with invocation.clock_paused():
            await asyncio.sleep(1.0)
            answer = "yes"
        return None if answer == "yes" else err("refused")

    registry = registry_of(logging_tool([]), timeout_seconds=0.5)
    assert (await call(registry, [InvocationFilter(ask)])).text == "v"


async def test_the_clock_goes_on_after_the_pause():
    async def ask(invocation):
        with invocation.clock_paused():
            await asyncio.sleep(0.2)
        await asyncio.Event().wait()

    registry = registry_of(logging_tool([]), timeout_seconds=0.1)
    result = await call(registry, [InvocationFilter(ask)])
    assert result.result.reason == "timeout"


async def test_the_deadline_of_the_batch_ends_an_approval():
    async def ask(invocation):
        with invocation.clock_paused():
            await asyncio.Event().wait()

    result = await call(
        registry_of(logging_tool([])), [InvocationFilter(ask)], deadline_seconds=0.1
    )
    assert result.result.reason == "timeout"


async def test_an_after_has_time_of_its_own():
    async def after(invocation, result):
        await asyncio.sleep(1.0)
        return ok("late")

    registry = registry_of(logging_tool([]), timeout_seconds=0.5)
    assert (await call(registry, [InvocationFilter(after=after)])).text == "late"


async def test_an_after_that_takes_too_long_is_ended_and_the_result_stays(monkeypatch, caplog):
    monkeypatch.setattr(_run_tool, "AFTER_SECONDS", 0.5)
    ended = []

    async def hangs(invocation, result):
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("after")

    async def next_one(invocation, result):
        await asyncio.sleep(0.001)
        return ok(result.text + "!")

    filters = [InvocationFilter(after=each) for each in (hangs, next_one, hangs)]
    result = await call(registry_of(logging_tool([])), filters)
    assert (result.text, ended) == ("v!", ["after", "after"])
    assert [record.message for record in caplog.records] == [
        "filter `after` of tool `t` raised; later exceptions are not logged"
    ]
    assert "it took longer than 0.5 s" in caplog.text


async def test_an_after_that_hides_the_end_of_its_time_is_seen(monkeypatch):
    monkeypatch.setattr(_run_tool, "AFTER_SECONDS", 0.05)

    async def hides(invocation, result):
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await asyncio.sleep(0.001)
            return ok("late")

    result = await call(registry_of(logging_tool([])), [InvocationFilter(after=hides)])
    assert result.text == "late"


@pytest.mark.parametrize("by", ["deadline", "caller"])
async def test_an_after_is_ended_with_its_batch(by):
    begun, seen = asyncio.Event(), []

    async def hangs(invocation, result):
        begun.set()
        await asyncio.Event().wait()

    options = {"deadline_seconds": 0.05} if by == "deadline" else {}
    batch = asyncio.ensure_future(
        call(
            registry_of(logging_tool([])),
            [InvocationFilter(after=hangs)],
            on_result=lambda result: seen.append(result.result.reason),
            **options,
        )
    )
    await begun.wait()
    if by == "caller":
        batch.cancel()
    await asyncio.wait([batch])
    assert seen == ["timeout" if by == "deadline" else "cancelled"]
    assert batch.cancelled() is (by == "caller")


async def test_an_after_that_is_cancelled_by_others_ends_its_call_only():
    async def cancels(invocation, result):
        asyncio.current_task().cancel()
        await asyncio.Event().wait()

    result = await call(registry_of(logging_tool([])), [InvocationFilter(after=cancels)])
    assert result.result.reason == "raised"


async def test_what_filters_answer_is_finished_like_any_result():
    registry = registry_of(logging_tool([]))
    item = InvocationFilter(lambda invocation: ok("x" * 500))
    result = await call(registry, [item], context=ToolContext(result_budget_chars=100))
    assert result.truncated_from == 500


@pytest.mark.parametrize("filters", [5, "x", [5], {"a": 1}, InvocationFilter(appended)])
async def test_filters_of_the_wrong_kind_are_refused_before_any_tool_starts(filters):
    log = []
    with pytest.raises(ConfigError, match="filters"):
        await call(registry_of(logging_tool(log)), filters)
    assert log == []


@pytest.mark.parametrize(
    "fields",
    [
        {"before": lambda: None},
        {"before": lambda invocation, result: None},
        {"after": lambda result: None},
    ],
)
def test_a_filter_that_takes_something_else_is_refused_when_it_is_made(fields):
    with pytest.raises(ConfigError, match="must take"):
        InvocationFilter(**fields)


def test_a_filter_may_take_more_than_it_is_given():
    InvocationFilter(before=lambda invocation, more=None: None, after=lambda *all_of_it: None)


def test_a_single_call_can_be_tested_with_its_filters():
    tool = Tool("t", "A tool.", SCHEMA, lambda args, context: ok("v"))
    result = run_tool(tool, filters=[InvocationFilter(lambda invocation: err("no"))])
    assert (result.ok, result.text) == (False, "no")


@pytest.mark.parametrize(
    "fields", [{}, {"before": 5}, {"after": "x"}, {"before": print, "tool_names": 5}]
)
def test_a_filter_of_the_wrong_kind_is_refused(fields):
    with pytest.raises(ConfigError):
        InvocationFilter(**fields)


async def test_nonsense_of_a_before_is_laid_to_the_filter_not_to_the_tool():
    registry = registry_of(logging_tool([]))
    result = await call(registry, [InvocationFilter(lambda invocation: True)])
    assert "the filter before it answered: got bool" in result.text


async def test_an_invocation_shows_its_tool_and_arguments() -> None:
    shown: list[str] = []
    looks = InvocationFilter(before=lambda invocation: shown.append(repr(invocation)))
    await call(registry_of(logging_tool([])), [looks])
    [text] = shown
    assert text == "Invocation('t', {'a': 1})"


def counting(bound: list[int]) -> Any:
    """A tool whose validator counts how often its argument is bound."""

    def count(value: int) -> int:
        bound.append(value)
        return value

    @tool(name="counted")
    def counted(number: Annotated[int, AfterValidator(count)], tags: Any = None) -> str:
        if isinstance(tags, list):
            tags.append("changed by the tool")
        return f"{number!r}"

    return counted


@pytest.mark.parametrize("given", ["5", 5, '{"number": "5"}'])
async def test_arguments_that_a_filter_only_reads_are_bound_once(given):
    bound: list[int] = []
    seen: list[Any] = []
    registry = ToolRegistry([counting(bound)])
    args = given if isinstance(given, str) and given[:1] == "{" else {"number": given, "tags": []}
    [result] = await registry.execute_parallel(
        [{"id": "1", "name": "counted", "args": args}],
        filters=[InvocationFilter(lambda invocation: seen.append(invocation.args))],
    )
    assert (result.text, bound) == ("5", [5])
    assert "changed by the tool" not in str(seen)


@pytest.mark.parametrize("changed", [6, True, 5.0])
async def test_arguments_that_a_filter_changes_are_bound_again(changed):
    bound: list[int] = []

    def change(invocation: Any) -> None:
        invocation.args["number"] = changed

    [result] = await ToolRegistry([counting(bound)]).execute_parallel(
        [{"id": "1", "name": "counted", "args": {"number": 5}}],
        filters=[InvocationFilter(change)],
    )
    assert (result.text, bound) == (repr(int(changed)), [5, int(changed)])
