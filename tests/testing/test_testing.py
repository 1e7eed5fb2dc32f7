"""The helpers for people who test their own tools."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ethos_registry import CallResult, Tool, ToolContext, ToolError, default_reducers, err, ok, tool
from ethos_registry.testing import (
    RecordingEmit,
    assert_error,
    assert_ok,
    fake_context,
    run_tool,
    run_tool_async,
)
from ethos_registry.types import ReadMtime, ToolProgressEvent
from registry_tools import OBJECT, made


@tool
def count(upto: int, context: ToolContext) -> str:
    """Count aloud."""
    for number in range(1, upto + 1):
        context.report(f"{number}", percent=100 * number / upto)
    return f"counted to {upto} in {context.session_id}"


def message_of(check: Callable[[], object]) -> str:
    with pytest.raises(AssertionError) as caught:
        check()
    return str(caught.value)


# One call


def test_a_call_goes_through_arguments_reducer_and_trim() -> None:
    text = "\n".join(f"line {number} {'x' * 90}" for number in range(1_000))
    talking = made("terminal", execute=lambda args, context: ok(text))
    reduced = run_tool(talking, {"command": "make"}, reducers=default_reducers())
    assert (reduced.raw_chars, reduced.truncated_from) == (len(text), None)
    assert reduced.reduced_chars < len(text)
    trimmed = run_tool(talking, {}, ToolContext(result_budget_chars=100))
    assert trimmed.truncated_from == len(text)


@pytest.mark.parametrize("args", [{"upto": "2"}, '{"upto": 2}'])
def test_arguments_are_values_or_json_text(args: Any) -> None:
    assert assert_ok(run_tool(count, args)).value == "counted to 2 in "


def test_no_arguments_are_an_empty_object() -> None:
    echo = made("echo", execute=lambda args, context: ok(repr(args)))
    assert run_tool(echo).text == "{}"


async def test_a_call_on_a_running_loop_does_not_block_it() -> None:
    assert_ok(await run_tool_async(count, {"upto": 1}), contains="counted to 1")
    assert_ok(run_tool(count, {"upto": 1}), contains="counted to 1")


# Contexts


def test_a_fake_context_records_what_a_tool_emits() -> None:
    context = fake_context(session_id="s1")
    assert_ok(run_tool(count, {"upto": 2}, context), contains="in s1")
    assert context.messages == ["1", "2"]
    assert [(event.tool_name, event.percent) for event in context.emitted.events] == [
        ("count", 50.0),
        ("count", 100.0),
    ]


def test_every_fake_context_has_a_map_of_reads_of_its_own() -> None:
    first, second = fake_context(), fake_context()
    assert first.read_mtimes is not second.read_mtimes
    reads = {"a": ReadMtime(1.0, 1)}
    assert fake_context(read_mtimes=reads).read_mtimes is reads
    assert fake_context(read_mtimes=None).read_mtimes is None


def test_an_emit_of_ones_own_is_called_instead() -> None:
    emit = RecordingEmit()
    context = fake_context(emit=emit)
    context.report("hello")
    assert (emit.messages, context.messages) == (["hello"], [])


def test_fields_that_a_context_does_not_have_are_refused() -> None:
    with pytest.raises(TypeError, match="turn"):
        fake_context(turn=3)


def test_a_recording_emit_keeps_every_event_as_it_is() -> None:
    emit = RecordingEmit()
    event = ToolProgressEvent("a", percent=1, audience="user")
    emit(event)
    assert emit.events == [event]


# Assertions


def test_what_is_asserted_comes_back() -> None:
    success, failure = ok("42 files", cost_usd=0.5), err("gone", "STALE_WRITE")
    assert assert_ok(success, contains=["42", "files"]) is success
    assert assert_error(failure, code="STALE_WRITE", contains="gone") is failure
    assert assert_ok(CallResult("1", "t", success)) is success
    assert assert_error(CallResult("1", "t", failure)) is failure


def test_an_error_of_the_registry_is_reported_by_its_reason() -> None:
    def fail(args: Any, context: Any) -> Any:
        raise ValueError("boom")

    result = run_tool(Tool("fail", "Fails.", OBJECT, fail))
    assert_error(result, code="execution_failed", reason="raised", contains="boom")
    assert message_of(lambda: assert_error(result, reason="timeout")) == (
        "expected the reason `timeout`, got the error `execution_failed` (raised): 'boom'"
    )
    assert message_of(lambda: assert_error(err("boom"), reason="raised")) == (
        "expected the reason `raised`, got the error `execution_failed`: 'boom'"
    )


def test_the_message_says_what_came_instead_on_one_line() -> None:
    assert message_of(lambda: assert_error(ok("a\nb"))) == "expected an error, got ok: 'a\\nb'"
    assert message_of(lambda: assert_ok(ToolError("late", reason="timeout"))) == (
        "expected ok, got the error `execution_failed` (timeout): 'late'"
    )
    assert message_of(lambda: assert_error(err("no"), code="not_available")) == (
        "expected the code `not_available`, got the error `execution_failed`: 'no'"
    )
    assert message_of(lambda: assert_ok(ok("a"), contains=["a", "b"])) == (
        "expected 'b' in the text, got ok: 'a'"
    )
    assert message_of(lambda: assert_error(err("a"), contains="b")).startswith("expected 'b' in")


def test_a_long_text_is_shown_by_its_start_and_length() -> None:
    message = message_of(lambda: assert_error(ok("x" * 10_000)))
    assert message.endswith("... (10000 characters)")
    assert len(message) < 600


@pytest.mark.parametrize("check", [assert_ok, assert_error])
@pytest.mark.parametrize("result", [[], None, "text", {"ok": True, "value": "a"}])
def test_what_is_no_result_is_no_failed_assertion(check: Any, result: Any) -> None:
    with pytest.raises(TypeError, match="`result` must be one result, got "):
        check(result)
