"""Failures: whatever a tool raises or returns becomes one bounded, valid answer."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from ethos_registry import (
    CallResult,
    ConfigError,
    DefaultToolResultReducerRegistry,
    Tool,
    ToolContext,
    ToolError,
    ToolOk,
    default_reducers,
    err,
    ok,
)
from ethos_registry.types import MalformedCall
from session_tools import answer, calls_of, code, quick, reason, registry_of, tool

pytestmark = pytest.mark.every_python


class ForeignError(BaseException):
    """What no `except Exception` catches."""


class Unprintable(Exception):
    def __str__(self) -> str:
        raise SystemExit(3)


class Unreadable(Mapping[str, Any]):
    """A mapping whose every access raises."""

    def __getitem__(self, key: str) -> Any:
        raise RuntimeError("no access")

    def __iter__(self) -> Iterator[str]:
        raise RuntimeError("no access")

    def __len__(self) -> int:
        return 1


class LyingText(str):
    """A string of its own class that lies about its length."""

    __slots__ = ()

    def __len__(self) -> int:
        return 1


def raising(error: BaseException, *, plain: bool) -> Tool:
    async def coroutine(args: Any, context: Any) -> Any:
        raise error

    def function(args: Any, context: Any) -> Any:
        raise error

    return tool(function if plain else coroutine, "failing")


def returning(value: Any) -> Tool:
    async def give(args: Any, context: Any) -> Any:
        return value

    return tool(give, "giving")


class Text(str):
    __slots__ = ()

    def isspace(self) -> bool:
        raise RuntimeError("no answer")


class Unusual(Exception):
    def __str__(self) -> str:
        return Text("odd")


RAISED = [
    (ValueError("bad\ttext"), "bad\ttext"),
    (ValueError(), "ValueError"),
    (ValueError(""), "ValueError"),
    (ValueError(" \n"), "ValueError"),
    (SystemExit(3), "3"),
    (SystemExit(), "SystemExit"),
    (ForeignError("foreign"), "foreign"),
    (GeneratorExit(), "GeneratorExit"),
    (StopAsyncIteration("stop"), "stop"),
    (asyncio.CancelledError(), "CancelledError"),
    (BaseExceptionGroup("many", [SystemExit(), ValueError()]), "many (2 sub-exceptions)"),
    (ExceptionGroup("some", [ValueError("inner")]), "some (1 sub-exception)"),
    (Unprintable(), "Unprintable"),
    (ValueError("a\ud800b"), "a\ufffdb"),
    (KeyError("key"), "KeyError: 'key'"),
    (Unusual(), "odd"),
]


@pytest.mark.parametrize("plain", [False, True], ids=["async", "plain"])
@pytest.mark.parametrize(("error", "text"), RAISED, ids=lambda value: type(value).__name__)
async def test_what_a_tool_raises_is_its_own_answer(
    task_start: str, error: BaseException, text: str, *, plain: bool
) -> None:
    registry = registry_of(raising(error, plain=plain), quick)
    first, second = await registry.execute_parallel(calls_of("failing", "quick"))
    assert (first.text, code(first), reason(first)) == (text, "execution_failed", "raised")
    assert second.text == "done"


@pytest.mark.parametrize("plain", [False, True], ids=["async", "plain"])
async def test_stop_iteration_is_a_failure_like_any_other(*, plain: bool) -> None:
    result = await answer(raising(StopIteration("over"), plain=plain))
    assert reason(result) == "raised"
    assert "StopIteration" in result.text


async def test_texts_of_exceptions_are_trimmed_to_the_share_d6() -> None:
    huge = "é" * 10_000_000
    result = await answer(
        raising(ValueError(huge), plain=False), ToolContext(result_budget_chars=100)
    )
    assert result.text == f"{'é' * 100}\n[truncated — 10000000 chars total]"
    assert (result.raw_chars, result.truncated_from) == (10_000_000, 10_000_000)
    assert result.sent_chars == len(result.text)


async def test_error_texts_of_tools_are_trimmed_too_d6() -> None:
    result = await answer(returning(err("x" * 500)), ToolContext(result_budget_chars=100))
    assert result.text == f"{'x' * 100}\n[truncated — 500 chars total]"


NO_RESULTS = [
    (None, "NoneType"),
    ("text", "str"),
    (b"bytes", "bytes"),
    (42, "int"),
    ([ok("x")], "list"),
    pytest.param(object(), "object", id="object"),
    (ToolOk, "type"),
    ({}, "`ok: true` or `ok: false`"),
    ({"ok": 1, "value": "x"}, "`ok: true` or `ok: false`"),
    ({"ok": True}, "`value` must be a string, got NoneType"),
    ({"ok": True, "value": 5}, "`value` must be a string, got int"),
    ({"ok": True, "value": "x", "structured": [1]}, "`structured` must be an object"),
    ({"ok": True, "value": "x", "cost_usd": "1"}, "`cost_usd` must be a number"),
    ({"ok": False, "error": "x", "code": "EACCES"}, "EACCES"),
    ({"ok": False, "error": "x"}, "`code` must be one of"),
    (ToolOk(5), "`value` must be a string, got int"),  # type: ignore[arg-type]
    (ToolOk("x", structured=[1]), "`structured` must be a mapping"),  # type: ignore[arg-type]
    (ToolOk("x", cost_usd="1"), "`cost_usd` must be a number"),  # type: ignore[arg-type]
    (ToolOk("x", cost_usd=math.nan), "`cost_usd` must be a finite number: nan"),
    (ToolError("x", cost_usd=math.inf), "`cost_usd` must be a finite number: inf"),
    (ToolOk("x", extra=None), "`extra` must be a mapping"),  # type: ignore[arg-type]
    (ToolError(None), "`error` must be a string"),  # type: ignore[arg-type]
    (ToolError("x", "nope"), "'nope'"),  # type: ignore[arg-type]
    (ToolError("x", []), "`code` must be one of"),  # type: ignore[arg-type]
    (ToolError("x", reason="mine"), "`reason` must be None, or"),  # type: ignore[arg-type]
    (ToolError("x", reason=[]), "`reason` must be None, or"),  # type: ignore[arg-type]
    (Unreadable(), "no access"),
    (ToolOk("é", structured=Unreadable()), "no access"),
]


class Page(ToolOk):
    """A result of an author's own class."""


class Denial(ToolError):
    """The same of an error."""


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (Page("text", {"a": 1}, 0.5), ok("text", structured={"a": 1}, cost_usd=0.5)),
        (Denial("no", "not_available"), err("no", "not_available")),
    ],
)
async def test_a_result_of_a_derived_class_is_a_result(value: Any, plain: Any) -> None:
    result = await answer(returning(value))
    assert result.result == plain


@pytest.mark.parametrize(("value", "reported"), NO_RESULTS, ids=lambda value: repr(value)[:40])
async def test_what_is_no_result_says_what_came(value: Any, reported: str) -> None:
    result = await answer(returning(value))
    assert (code(result), reason(result)) == ("execution_failed", "bad_result")
    assert result.text.startswith("Tool giving returned no result: ")
    assert reported in result.text


async def test_a_string_of_its_own_class_becomes_a_plain_one_and_is_trimmed() -> None:
    for value in (ok(LyingText("é" * 500)), {"ok": True, "value": LyingText("é" * 500)}):
        result = await answer(returning(value), ToolContext(result_budget_chars=10))
        assert type(result.text) is str
        assert result.text == f"{'é' * 10}\n[truncated — 500 chars total]"


async def test_structured_cost_and_extra_fields_survive_trim_and_reducers_d2() -> None:
    def long(args: Any, context: Any) -> Any:
        return ok("line\n" * 9_000, structured={"a": [1, "\ud800"]}, cost_usd=0.25, seen="é\udfff")

    registry = registry_of(tool(long, "terminal"), reducer_registry=default_reducers())
    for budget in (100, 80_000):
        [result] = await registry.execute_parallel(
            calls_of("terminal"), ToolContext(result_budget_chars=budget)
        )
        assert result.sent_chars < result.raw_chars
        assert result.result.to_wire() == {
            "ok": True,
            "value": result.text,
            "structured": {"a": [1, "\ufffd"]},
            "cost_usd": 0.25,
            "seen": "é\ufffd",
        }


async def test_refused_calls_take_their_share_of_an_even_budget_d7() -> None:
    async def long(args: Any, context: Any) -> Any:
        return ok(f"{context.result_budget_chars}".ljust(1_000, "x"))

    registry = registry_of(long)
    results = await registry.execute_parallel(
        [*calls_of("long", "ghost"), {"nonsense": 1}, MalformedCall("m", "long", "cut off")],
        ToolContext(result_budget_chars=403),
    )
    assert results[0].text.startswith("100xxx")
    assert results[0].truncated_from == 1_000
    assert [reason(result) for result in results[1:]] == ["unknown", "invalid_args", "invalid_args"]


class BadReducer:
    tool_name = "long"

    def reduce(self, result: Any, context: Any) -> Any:
        result.structured["leaked"] = True
        object.__setattr__(result, "value", "mutated")
        raise SystemExit(3)


async def test_a_reducer_that_mutates_and_raises_leaves_the_result_as_it_was_d23() -> None:
    structured = {"exit_code": 0}

    async def long(args: Any, context: Any) -> Any:
        return ok("as it was", structured=structured, cost_usd=1.5)

    reducers = DefaultToolResultReducerRegistry()
    reducers.register(BadReducer())
    registry = registry_of(long, reducer_registry=reducers)
    [result] = await registry.execute_parallel(calls_of("long"))
    assert result.result == ok("as it was", structured={"exit_code": 0}, cost_usd=1.5)
    assert structured == {"exit_code": 0}


@pytest.mark.parametrize("error", [SystemExit(3), ForeignError("x"), ValueError("y")])
async def test_a_probe_that_raises_makes_its_tool_unavailable_and_no_other(
    error: BaseException,
) -> None:
    def probe() -> bool:
        raise error

    registry = registry_of(tool(quick, "probed", is_available=probe), quick)
    first, second = await registry.execute_parallel(calls_of("probed", "quick"))
    assert first.text == "Tool probed is not currently available"
    assert second.text == "done"


async def test_a_backend_that_raises_refuses_its_tool_and_no_other() -> None:
    def broken(name: str, declaration: Any, context: Any) -> Any:
        raise SystemExit("backend is down")

    declaring = tool(quick, "declaring", capabilities={"storage": {"scope": "tool"}})
    registry = registry_of(declaring, quick, capability_backends={"storage": broken})
    first, second = await registry.execute_parallel(calls_of("declaring", "quick"))
    assert (code(first), reason(first)) == ("not_available", "no_backends")
    assert "backend is down" in first.text
    assert second.text == "done"


async def awaited(*given: Any) -> object:
    return object()


@pytest.mark.parametrize("made", [lambda *given: None, lambda *given: awaited()])
async def test_a_backend_that_makes_no_object_refuses_its_tool(made: Any) -> None:
    declaring = tool(quick, "declaring", capabilities={"secrets": []})
    registry = registry_of(declaring, capability_backends={"secrets": made})
    [result] = await registry.execute_parallel(calls_of("declaring"))
    assert (code(result), reason(result)) == ("not_available", "no_backends")
    assert "the backend of `secrets` must return an object, got " in result.text


@pytest.mark.parametrize(
    ("backend", "message"),
    [
        (awaited, "`the backend of secrets` must be a plain function"),
        (lambda: object(), "`the backend of secrets` must take a name and a declaration and a con"),
        (None, "`the backend of secrets` must be callable, got NoneType"),
    ],
)
def test_a_backend_that_could_not_make_an_object_is_refused(backend: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        registry_of(quick, capability_backends={"secrets": backend})


MALFORMED: list[tuple[Any, str]] = [
    (None, "0"),
    (5, "0"),
    ("quick", "0"),
    ([], "0"),
    ({}, "0"),
    ({"id": "x"}, "x"),
    ({"name": "quick"}, "0"),
    ({"id": 7, "name": "quick"}, "0"),
    ({"id": "x", "name": None, "function": {"name": 4}}, "x"),
    (Unreadable(), "0"),
]


@pytest.mark.parametrize(("call", "call_id"), MALFORMED, ids=lambda value: repr(value)[:30])
async def test_a_malformed_call_is_answered_under_its_id_or_its_position(
    call: Any, call_id: str
) -> None:
    first, second = await registry_of(quick).execute_parallel([call, *calls_of("quick")])
    assert (code(first), reason(first), first.tool_call_id) == (
        "input_invalid",
        "invalid_args",
        call_id,
    )
    assert second.text == "done"


@pytest.mark.parametrize(
    "args", ['{"a": ', "nonsense", '{"a": NaN}', "[1,]", '"\ud800', "{" * 5_000, "9" * 5_000]
)
async def test_text_that_is_no_json_never_runs_the_tool(args: str) -> None:
    ran: list[int] = []

    async def run(given: Any, context: Any) -> Any:
        ran.append(1)
        return ok("ran")

    [result] = await registry_of(run).execute_parallel([{"id": "1", "name": "run", "args": args}])
    assert (code(result), reason(result), ran) == ("input_invalid", "invalid_args", [])
    assert len(result.text) <= 400


@pytest.mark.parametrize("args", [{"n": 10**5_000}, {"d": object()}, {"k": {1: {2}}}])
async def test_a_dry_run_answers_whatever_the_arguments_hold(args: Any) -> None:
    [result] = await registry_of(quick).execute_parallel(
        [{"id": "1", "name": "quick", "args": args}], ToolContext(dry_run=True)
    )
    assert result.text.startswith("[dry-run] quick would be called with: ")
    assert len(result.text) <= 8_100


@pytest.mark.parametrize("error", [ValueError("mine"), SystemExit(3), asyncio.CancelledError()])
async def test_an_on_result_that_raises_breaks_nothing(error: BaseException) -> None:
    def broken(result: CallResult) -> None:
        raise error

    results = await registry_of(quick).execute_parallel(
        calls_of("quick", "ghost"), on_result=broken
    )
    assert [result.ok for result in results] == [True, False]


@pytest.mark.parametrize("error", [KeyError("city"), SystemExit(3), Unprintable()])
async def test_the_traceback_of_what_a_tool_raised_is_in_the_log_for_who_debugs(
    error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(args: Any, context: ToolContext) -> ToolOk:
        raise error

    registry = registry_of(fail)
    for level, records in ((logging.ERROR, 0), (logging.WARNING, 1)):
        with caplog.at_level(level, "ethos_registry"):
            [result] = await registry.execute_parallel(calls_of("fail"))
        assert reason(result) == "raised"
        assert len(caplog.records) == records
    assert caplog.records[0].exc_info is not None
    assert caplog.records[0].exc_info[1] is error


async def test_a_log_that_breaks_on_an_exception_costs_no_result() -> None:
    class Reading(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            str(record.exc_info and record.exc_info[1])

    def fail(args: Any, context: ToolContext) -> ToolOk:
        raise Unprintable

    logger, reading = logging.getLogger("ethos_registry"), Reading()
    before = logger.level
    logger.addHandler(reading)
    logger.setLevel(logging.DEBUG)
    try:
        [result] = await registry_of(fail).execute_parallel(calls_of("fail"))
    finally:
        logger.setLevel(before)
        logger.removeHandler(reading)
    assert result.text == "Unprintable"
