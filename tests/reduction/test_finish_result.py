"""Finish: a reducer of any temper, surrogates, the trim; and what must survive them."""

import asyncio
import gc
import json
import logging
from collections.abc import Callable
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ethos_registry import ToolError, ToolOk, ToolResult, err, ok
from ethos_registry.reduction import ToolReducerContext, built_in_reducers, redact_text
from ethos_registry.reduction._finish import finish_result
from ethos_registry.reduction._reducers import BuiltInReducer
from ethos_registry.types._json_values import MAX_JSON_BYTES

TERMINAL, READ_FILE, _ = built_in_reducers()
HEAD_TAIL = BuiltInReducer("any", "head_tail")
LONG = "\n".join(f"line {number}" for number in range(5_000))


class Reducer:
    """A reducer made of a function."""

    tool_name = "t"

    def __init__(self, function: Callable[[Any, ToolReducerContext], Any]) -> None:
        self.function = function

    def reduce(self, result: ToolResult, context: ToolReducerContext, /) -> ToolResult:
        answer: ToolResult = self.function(result, context)
        return answer


def marker(total: int) -> str:
    return f"\n[truncated — {total} chars total]"


def test_a_result_with_nothing_to_do_is_the_same_object() -> None:
    for result in (
        ok("text"),
        err("text"),
        ok(""),
        ok("x", structured={"exit_code": 0}, cost_usd=1.0, note="é"),
        ok("x", structured=MappingProxyType({"rows": [{"a": "é"}]})),
        ok("né"),
    ):
        finished = finish_result(result, 10)
        assert finished.result is result
        chars = len(result.text)
        assert (finished.raw_chars, finished.reduced_chars, finished.sent_chars) == (chars,) * 3
        assert finished.truncated_from is None


@pytest.mark.parametrize("make", [ok, err])
def test_a_long_text_is_trimmed_and_the_rest_survives(make: Callable[..., ToolResult]) -> None:
    result = make("a" * 50, structured={"k": [1]}, cost_usd=0.25, conflictKey="c")
    finished = finish_result(result, 20)
    assert finished.result.text == "a" * 20 + marker(50)
    assert type(finished.result) is type(result)
    assert finished.result.structured is result.structured
    assert finished.result.cost_usd == 0.25
    assert finished.result.extra == {"conflictKey": "c"}
    assert (finished.raw_chars, finished.reduced_chars) == (50, 50)
    assert finished.sent_chars == len(finished.result.text)
    assert finished.truncated_from == 50


def test_an_error_keeps_its_code_and_reason() -> None:
    result = ToolError("a" * 50, "STALE_WRITE", "raised")
    finished = finish_result(result, 20).result
    assert isinstance(finished, ToolError)
    assert (finished.code, finished.reason) == ("STALE_WRITE", "raised")


def test_a_native_reducer_runs_before_the_trim_on_successes_and_errors() -> None:
    for result in (ok(LONG, cost_usd=0.1), err(LONG, exit_code=1)):
        finished = finish_result(result, 100_000, TERMINAL, {"command": "make"}, 1)
        alone = TERMINAL.reduce(result, ToolReducerContext({"command": "make"}, 1))
        assert finished.result == alone
        assert finished.raw_chars == len(LONG)
        assert finished.reduced_chars == finished.sent_chars == len(alone.text) < len(LONG)
        assert finished.truncated_from is None


def test_what_a_native_reducer_leaves_is_trimmed() -> None:
    finished = finish_result(ok(LONG), 50, HEAD_TAIL, {}, 1)
    assert finished.truncated_from == finished.reduced_chars < finished.raw_chars
    assert finished.sent_chars == len(finished.result.text) < 120


def test_a_terminal_output_is_reduced_to_its_cap_by_rows() -> None:
    finished = finish_result(ok(LONG), 60, TERMINAL, {"command": "make"}, 1)
    assert finished.truncated_from is None
    assert finished.sent_chars <= 60
    assert finished.result.text.endswith("of 5000 lines left out]")


def test_a_python_reducer_sees_original_arguments_and_the_turn() -> None:
    seen: list[ToolReducerContext] = []
    args = {"path": "a"}
    reducer = Reducer(lambda result, context: (seen.append(context), ok("short"))[1])
    finished = finish_result(ok("long text"), 100, reducer, args, 7)
    assert seen == [ToolReducerContext(args, 7)]
    assert seen[0].args is args
    assert finished.result.text == "short"
    assert (finished.raw_chars, finished.reduced_chars, finished.sent_chars) == (9, 5, 5)


def test_a_python_reducer_that_changes_nothing_gives_the_same_object() -> None:
    result = ok("x", structured={"a": [1]})
    assert finish_result(result, 9, Reducer(lambda given, _: given)).result is result


def test_what_a_python_reducer_leaves_out_survives() -> None:
    result = ok("long", structured={"a": 1}, cost_usd=0.5, note="n", remaining=1)
    finished = finish_result(result, 9, Reducer(lambda *_: ok("s", note="new"))).result
    assert finished == ToolOk("s", {"a": 1}, 0.5, {"note": "new", "remaining": 1})
    refused = ToolError("long", "not_available", "denied", None, 0.5)
    finished = finish_result(refused, 9, Reducer(lambda *_: err("s", "not_available"))).result
    assert finished == ToolError("s", "not_available", "denied", None, 0.5)


def test_a_python_reducer_may_answer_in_the_seed_s_mapping() -> None:
    reducer = Reducer(lambda *_: {"ok": True, "value": "s", "exitCode": 0})
    finished = finish_result(ok("long", cost_usd=2), 9, reducer).result
    assert finished == ToolOk("s", None, 2, {"exitCode": 0})


def test_what_a_python_reducer_returns_is_trimmed_and_cleaned() -> None:
    finished = finish_result(ok("x"), 4, Reducer(lambda *_: ok("é\ud800" * 10)))
    assert finished.result.text == "é\ufffdé\ufffd" + marker(20)
    assert (finished.raw_chars, finished.reduced_chars) == (1, 20)


def mutate_and_raise(result: Any, _: ToolReducerContext) -> Any:
    result.structured["rows"].append("leak")
    result.structured["new"] = 1
    result.extra["note"] = "leak"
    raise RuntimeError("after the damage")


def test_a_reducer_that_changes_structured_and_raises_leaks_nothing() -> None:
    result = ok("x" * 20, structured={"rows": [1]}, note="n")
    finished = finish_result(result, 100, Reducer(mutate_and_raise))
    assert finished.result is result
    assert result.structured == {"rows": [1]}
    assert result.extra == {"note": "n"}


def test_what_a_python_reducer_adds_is_redacted() -> None:
    token = "ghp_" + "0aZ9" * 9
    reducer = Reducer(lambda *_: ok("short", structured={token: [token]}, note=token))
    finished = finish_result(ok("long"), 100, reducer, redact=redact_text).result
    label = "[redacted: github token]"
    assert (finished.structured, finished.extra) == ({label: [label]}, {"note": label})


class Panic(BaseException):
    """Stands for the foreign panics that derive from BaseException."""


def raising(error: BaseException) -> Reducer:
    def function(*_: object) -> Any:
        raise error

    return Reducer(function)


@pytest.mark.parametrize(
    "error",
    [RuntimeError("x"), SystemExit(1), asyncio.CancelledError(), Panic(), RecursionError()],
    ids=lambda error: type(error).__name__,
)
def test_a_reducer_that_raises_leaves_the_result_as_it_was(error: BaseException) -> None:
    result = ok("a" * 30)
    assert finish_result(result, 100, raising(error)).result is result
    assert finish_result(result, 10, raising(error)).result.text == "a" * 10 + marker(30)


def test_a_keyboard_interrupt_passes() -> None:
    with pytest.raises(KeyboardInterrupt):
        finish_result(ok("x"), 9, raising(KeyboardInterrupt()))


@pytest.mark.parametrize(
    "answer",
    [
        None,
        "text",
        3,
        {},
        {"ok": True},
        {"ok": True, "value": 3},
        {"ok": False, "error": "x", "code": "unknown"},
        ToolOk(3),  # type: ignore[arg-type]
        ToolOk("x", [1]),  # type: ignore[arg-type]
        ToolOk("x", None, None, None),  # type: ignore[arg-type]
        ToolError("x", "unknown"),  # type: ignore[arg-type]
        ToolOk,
    ],
    ids=repr,
)
def test_an_answer_that_is_no_result_leaves_the_result_as_it_was(answer: object) -> None:
    result = ok("before")
    assert finish_result(result, 100, Reducer(lambda *_: answer)).result is result


def test_an_async_reducer_leaves_the_result_and_no_warning() -> None:
    async def function(result: ToolResult, _: ToolReducerContext) -> ToolResult:
        return ok("never")

    result = ok("before")
    assert finish_result(result, 100, Reducer(function)).result is result
    gc.collect()  # a coroutine that nobody awaited would warn here, and warnings are errors


def test_a_failing_reducer_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    first, second = raising(RuntimeError("first")), raising(RuntimeError("second"))
    with caplog.at_level(logging.DEBUG, "ethos_registry"):
        for _ in range(3):
            finish_result(ok("x"), 9, first)
            finish_result(ok("x"), 9, second)
    assert [(record.name, record.levelname) for record in caplog.records] == [
        ("ethos_registry", "WARNING")
    ] * 2
    assert "reducer Reducer of tool 't' failed" in caplog.records[0].getMessage()
    assert caplog.records[0].exc_info is not None


class Slotted:
    """Cannot be referenced weakly."""

    __slots__ = ()
    tool_name = "s"

    def reduce(self, result: ToolResult, context: ToolReducerContext, /) -> ToolResult:
        raise ValueError("no")


def test_a_failing_reducer_without_weak_references_is_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    reducer = Slotted()
    for _ in range(3):
        finish_result(ok("x"), 9, reducer)
    assert len(caplog.records) == 1


def test_surrogates_are_replaced_in_every_part_and_at_every_depth() -> None:
    result = err(
        "t\ud800\udc00",
        structured={"k\udfff": ["\ud800", {"deep": ("\ud800", 1, None)}], "n": 1.5},
        note={"x": "\ud800"},
    )
    finished = finish_result(result, 100).result
    assert finished == ToolError(
        "t\ufffd\ufffd",
        "execution_failed",
        None,
        {"k\ufffd": ["\ufffd", {"deep": ["\ufffd", 1, None]}], "n": 1.5},
        None,
        {"note": {"x": "\ufffd"}},
    )
    assert result.structured == {"k\udfff": ["\ud800", {"deep": ("\ud800", 1, None)}], "n": 1.5}


def test_a_lone_surrogate_in_the_text_alone_is_replaced() -> None:
    for make in (ok, err):
        assert finish_result(make("a\ud800"), 10).result == make("a\ufffd")


def test_structured_of_1_mib_stays_and_one_byte_more_is_dropped_with_a_note() -> None:
    frame = len('{"k":""}')
    fits = {"k": "x" * (MAX_JSON_BYTES - frame)}
    assert finish_result(ok("t", structured=fits), 9).result.structured is fits
    large = {"k": "x" * (MAX_JSON_BYTES - frame + 1)}
    finished = finish_result(ok("t", structured=large, cost_usd=1), 9).result
    assert finished == ToolOk(
        "t", {"dropped": "structured is larger than 1,048,576 bytes as JSON, which is the limit"}, 1
    )


def test_the_size_of_structured_counts_bytes() -> None:
    wide = {"k": "é" * (MAX_JSON_BYTES // 2)}
    broken = {"k": "\ud800" * 349_523 + "xxxx" + "é" * 3}  # a replaced surrogate takes three bytes
    for value in (wide, broken):
        finished = finish_result(ok("t", structured=value), 9).result
        assert finished.structured == {
            "dropped": "structured is larger than 1,048,576 bytes as JSON, which is the limit"
        }


def circular() -> dict[str, Any]:
    value: dict[str, Any] = {}
    value["self"] = [value, value]
    return value


def looped() -> dict[str, Any]:
    value: dict[str, Any] = {}
    value["self"] = [value]
    return value


def deep() -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(100_000):
        value = {"k": value}
    return value


@pytest.mark.parametrize(
    ("make", "note"),
    [
        (circular, "structured is larger than 1,048,576 bytes as JSON, which is the limit"),
        (looped, "self[0]: contains itself"),
        (deep, f"{'.'.join('k' * 29)}...: nested deeper than 128 levels"),
        (lambda: {("a", "b"): 1}, "a key of type tuple has no JSON form"),
    ],
)
def test_what_is_no_json_in_structured_is_dropped_with_a_note(
    make: Callable[[], Any], note: str
) -> None:
    finished = finish_result(ok("t", structured=make()), 9).result
    assert finished.structured is not None
    assert finished.structured["dropped"] == note
    json.dumps(finished.to_wire())


@pytest.mark.parametrize("make", [circular, deep])
def test_a_python_reducer_meets_circular_and_deep_values_unharmed(make: Callable[[], Any]) -> None:
    result = ok("long", structured=make())
    finished = finish_result(result, 9, Reducer(lambda *_: ok("s")))
    assert finished.result.text == "s"


def test_a_circular_extra_field_is_cut_where_it_contains_itself() -> None:
    finished = finish_result(ok("t", loop=looped()), 9).result
    assert finished.extra == {
        "loop": {"self": [None]},
        "dropped": "loop.self[0]: contains itself",
    }


def test_a_reducer_that_raises_changed_its_own_copy_of_every_container() -> None:
    def change_and_raise(result: Any, _: ToolReducerContext) -> Any:
        result.structured["a"][1]["b"] = 2
        result.structured["t"][1].append(3)
        result.structured["m"]["x"].append(3)
        result.extra["rows"].append(3)
        raise ValueError("no")

    value = {"a": [1, {"b": 1}], "t": (1, [2]), "m": MappingProxyType({"x": []})}
    rows = [1]
    finished = finish_result(ok("t", structured=value, rows=rows), 9, Reducer(change_and_raise))
    assert value == {"a": [1, {"b": 1}], "t": (1, [2]), "m": {"x": []}}
    plain = {"a": [1, {"b": 1}], "t": (1, [2])}
    again = finish_result(ok("t", structured=plain), 9, Reducer(change_and_raise)).result
    assert again.structured is plain
    assert plain == {"a": [1, {"b": 1}], "t": (1, [2])}
    assert finished.result.structured == {"a": [1, {"b": 1}], "t": [1, [2]], "m": {"x": []}}
    assert (rows, finished.result.extra) == ([1], {"rows": [1]})


TEXTS = st.text(st.characters(exclude_categories=()), max_size=60)
VALUES = st.recursive(
    st.none() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


@given(TEXTS, st.integers(0, 70), st.dictionaries(TEXTS, VALUES, max_size=3), st.booleans())
def test_a_finished_result_can_always_be_sent(
    text: str, cap: int, structured: dict[str, Any], reduce: bool
) -> None:
    reducer = Reducer(lambda result, _: result) if reduce else TERMINAL
    for result in (ToolOk(text, structured), ToolError(text, structured=structured)):
        finished = finish_result(result, cap, reducer, {}, 1)
        json.dumps(finished.result.to_wire(), ensure_ascii=False).encode()
        assert finished.raw_chars == len(text)
        assert finished.sent_chars == len(finished.result.text)
        if finished.truncated_from is None:
            assert finished.sent_chars == finished.reduced_chars <= cap
        else:
            assert finished.result.text.endswith(f"{finished.truncated_from} chars total]")
