from __future__ import annotations

import asyncio
import datetime as dt
import enum
import functools
import inspect
import json
import math
import re
import types
from collections import UserDict, namedtuple
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from ethos_registry import (
    ConfigError,
    Tool,
    ToolContext,
    ToolError,
    ToolRegistry,
    err,
    ok,
    tool,
)
from ethos_registry.schema import FunctionTool
from ethos_registry.schema._binding import result_from_value

pytestmark = pytest.mark.every_python


@tool
def read_file(path: str, context: ToolContext, limit: int = 5) -> str:
    """Read a file.

    Args:
        path: Where it is.
    """
    return f"{path} {limit} {context.session_id}"


@tool(name="wait-for", toolset="time", timeout_seconds=None, idempotent=True, strict=True)
async def wait(seconds: float) -> dict[str, float]:
    """Wait."""
    await asyncio.sleep(0)
    return {"waited": seconds}


CONTEXT = ToolContext(session_id="s1")


class TestDecoration:
    def test_tool_is_described_by_its_function(self) -> None:
        assert isinstance(read_file, Tool)
        assert read_file.definition == {
            "name": "read_file",
            "description": "Read a file.",
            "parameters": {
                "type": "object",
                "properties": {
                    "path": {"type": "string", "description": "Where it is."},
                    "limit": {"type": "integer", "default": 5},
                },
                "required": ["path"],
                "additionalProperties": False,
            },
        }

    def test_keywords_are_the_fields_of_a_tool(self) -> None:
        assert (wait.name, wait.toolset, wait.timeout_seconds) == ("wait-for", "time", None)
        assert wait.idempotent
        assert wait.strict

        @tool(description="Other.", capabilities={"secrets": []}, output_is_untrusted=True)
        def act() -> None:
            """Not this."""

        assert act.description == "Other."
        assert act.capabilities.declared == ("secrets",)
        assert act.output_is_untrusted

    def test_given_schema_is_shown_instead_of_the_derived_one(self) -> None:
        schema = {"type": "object", "properties": {"path": {"type": "string", "maxLength": 9}}}
        act = tool(lambda path: path, name="act", schema=schema)
        assert act.schema == schema
        assert act.execute({"path": "p"}, CONTEXT) == ok("p")

    def test_description_falls_back_to_the_name_in_words(self) -> None:
        @tool
        def list_open_tickets() -> None: ...

        assert list_open_tickets.description == "List open tickets"

    @pytest.mark.parametrize("function", [lambda: 1, functools.partial(lambda: 1)])
    def test_function_without_a_usable_name_needs_one(self, function: Any) -> None:
        with pytest.raises(ConfigError, match=r"`<lambda>` cannot be .* `tool\(name=\.\.\.\)`"):
            tool(function)
        assert tool(function, name="one").name == "one"

    def test_unknown_keyword_is_refused(self) -> None:
        with pytest.raises(ConfigError, match="unknown option 'timeout' of `tool`"):
            tool(timeout=3)

    @pytest.mark.parametrize("thing", [3, "text", read_file])
    def test_what_is_no_function_is_refused(self, thing: Any) -> None:
        with pytest.raises(ConfigError, match="a tool is made from a function"):
            tool(thing)

    @pytest.mark.parametrize(
        ("thing", "way_out"),
        [
            (read_file, "is a tool already"),
            (classmethod(lambda cls: 1), r"`tool\(Class\.method\)`"),
        ],
    )
    def test_what_is_nearly_a_function_is_answered_with_the_way_out(
        self, thing: Any, way_out: str
    ) -> None:
        with pytest.raises(ConfigError, match=way_out):
            tool(thing)

    def test_a_name_in_the_place_of_the_function_is_pointed_to_the_keyword(self) -> None:
        with pytest.raises(ConfigError, match=r"got 'reader'; .* keyword: `tool\(name=\.\.\.\)`"):
            tool("reader")  # type: ignore[call-overload]

    def test_a_name_that_is_no_text_is_refused(self) -> None:
        with pytest.raises(ConfigError, match="`name` must be a string: 3"):
            tool(lambda: 1, name=3)

    def test_async_stays_async_and_plain_stays_plain(self) -> None:
        assert wait.is_coroutine
        assert not read_file.is_coroutine
        assert tool(functools.partial(wait.function, seconds=1), name="now").is_coroutine

    def test_bound_method_reaches_its_object(self) -> None:
        class Counter:
            def __init__(self) -> None:
                self.count = 0

            def add(self, number: int) -> int:
                """Add."""
                self.count += number
                return self.count

        counter = Counter()
        assert tool(counter.add).execute({"number": "3"}, CONTEXT).value == "3"
        assert counter.count == 3


class TestFunctionStaysReachable:
    def test_calling_the_tool_calls_the_function(self) -> None:
        assert read_file("a", CONTEXT, limit=2) == "a 2 s1"
        assert asyncio.run(wait(seconds=1)) == {"waited": 1}

    def test_tool_looks_like_its_function(self) -> None:
        assert read_file.__name__ == "read_file"
        assert read_file.__doc__ == inspect.getdoc(read_file.function)
        assert inspect.unwrap(read_file) is read_file.function
        assert list(inspect.signature(read_file).parameters) == ["path", "context", "limit"]
        assert FunctionTool.__doc__.startswith("A tool made from a function")

    def test_replaced_tool_is_still_its_function(self) -> None:
        changed = read_file.replace(name="cat")
        assert isinstance(changed, FunctionTool)
        assert changed("a", CONTEXT) == "a 5 s1"
        assert changed.execute is read_file.execute
        assert changed.name == "cat"

    def test_tool_with_another_execute_is_no_longer_its_function(self) -> None:
        assert type(read_file.replace(execute=lambda args, context: ok(""))) is Tool

    def test_function_tool_is_immutable(self) -> None:
        with pytest.raises(AttributeError, match="immutable"):
            read_file.function = print


class TestExecution:
    def test_plain_function_binds_and_answers(self) -> None:
        assert read_file.execute({"path": "a", "limit": "7"}, CONTEXT) == ok("a 7 s1")

    def test_async_function_binds_and_answers(self) -> None:
        result = asyncio.run(wait.execute({"seconds": "1"}, CONTEXT))
        assert result == ok('{"waited":1.0}', structured={"waited": 1.0})

    def test_wrong_arguments_do_not_reach_the_function(self) -> None:
        def refuse(number: int) -> None:
            raise AssertionError

        expected = ToolError(
            "number: should be a whole number, got 'x'", "input_invalid", "invalid_args"
        )
        assert tool(refuse).execute({"number": "x"}, CONTEXT) == expected

        async def refuse_later(number: int) -> None:
            raise AssertionError

        assert asyncio.run(tool(refuse_later).execute({"number": "x"}, CONTEXT)) == expected

    def test_exceptions_of_the_function_pass_even_pydantics_own(self) -> None:
        class Inner(BaseModel):
            number: int

        def act(number: str) -> None:
            Inner(number=number)

        with pytest.raises(ValueError, match="1 validation error for Inner"):
            tool(act).execute({"number": "x"}, CONTEXT)


class Color(enum.Enum):
    RED = "red"


class Shade(enum.StrEnum):
    DARK = "dark"


@dataclass
class Point:
    x: int
    tags: list[Any] = field(default_factory=list)


class Model(BaseModel):
    name: str
    when: dt.date | None = None


Pair = namedtuple("Pair", "left right")  # noqa: PYI024 - the untyped one is common in tools
DAY = dt.date(2025, 1, 31)
SAMPLE = 'a1é😀\ud83d\n"\\\x00\x7f\u2028'


class TestReturnedValues:
    @pytest.mark.parametrize(
        ("returned", "value", "structured"),
        [
            (None, "null", {"result": None}),
            (3, "3", {"result": 3}),
            (2.5, "2.5", {"result": 2.5}),
            (True, "true", {"result": True}),
            ([1, "ä"], '[1,"ä"]', {"result": [1, "ä"]}),
            ((1, 2), "[1,2]", {"result": [1, 2]}),
            (Pair(1, 2), "[1,2]", {"result": [1, 2]}),
            ({"a": {"b": None}}, '{"a":{"b":null}}', {"a": {"b": None}}),
            ({1: "a"}, '{"1":"a"}', {"1": "a"}),
            ({}, "{}", {}),
            (UserDict(a=1), '{"a":1}', {"a": 1}),
            (types.MappingProxyType({"a": 1}), '{"a":1}', {"a": 1}),
            (Point(1, [DAY]), '{"x":1,"tags":["2025-01-31"]}', {"x": 1, "tags": ["2025-01-31"]}),
            (
                Model(name="n", when=DAY),
                '{"name":"n","when":"2025-01-31"}',
                {"name": "n", "when": "2025-01-31"},
            ),
            (Color.RED, '"red"', {"result": "red"}),
            (DAY, '"2025-01-31"', {"result": "2025-01-31"}),
            ({"point": Point(1)}, '{"point":{"x":1,"tags":[]}}', {"point": {"x": 1, "tags": []}}),
        ],
    )
    def test_objects_become_compact_json_and_structured(
        self, returned: Any, value: str, structured: dict[str, Any]
    ) -> None:
        result = result_from_value(returned)
        assert (result.value, result.structured) == (value, structured)
        json.dumps(result.structured)

    @pytest.mark.parametrize("text", ["", "text", '{"ok": true}', "\ud83d", "a\x00"])
    def test_text_stays_as_it_is(self, text: str) -> None:
        assert result_from_value(text) == ok(text)

    def test_member_of_a_text_enum_is_its_text(self) -> None:
        result = result_from_value(Shade.DARK)
        assert result == ok("dark")
        assert type(result.value) is str

    @pytest.mark.parametrize("result", [ok("v", cost_usd=1.0), err("e", "STALE_WRITE")])
    def test_results_stay_what_they_are(self, result: Any) -> None:
        assert result_from_value(result) is result

    def test_mapping_that_reads_as_a_result_is_one(self) -> None:
        assert result_from_value({"ok": True, "value": "v", "more": 1}) == ok("v", more=1)
        failed = {"ok": False, "error": "e", "code": "execution_failed", "exit_code": 2}
        assert result_from_value(types.MappingProxyType(failed)) == err("e", exit_code=2)

    @pytest.mark.parametrize("payload", [{"ok": True, "count": 3}, {"ok": "yes", "value": "v"}])
    def test_mapping_with_another_ok_is_data(self, payload: dict[str, Any]) -> None:
        assert result_from_value(payload) == ok(
            json.dumps(payload, separators=(",", ":")), structured=payload
        )

    @pytest.mark.parametrize(
        "returned",
        ["\ud83d", {"\ud83d": 1}, ["\ud83d"], Point(1, ["\ud83d"]), {"m": Model(name="\ud83d")}],
        ids=["text", "key", "item", "dataclass", "model"],
    )
    def test_lone_surrogates_pass(self, returned: Any) -> None:
        result = result_from_value(returned)
        assert result.ok
        assert "\ud83d" in result.value

    @pytest.mark.parametrize(
        ("returned", "named"),
        [
            (object(), "object"),
            ({"a": [object()]}, "dict"),
            (math.nan, "nan"),
            (-math.inf, "-inf"),
            ([math.nan], "list"),
            (Point(1, [math.inf]), "Point"),
            (b"\xff", "bytes"),
            (print, "builtin_function_or_method"),
            ([10**5000], "list"),
            ((number for number in [1]), "generator"),
            ({"\ud83d": object()}, "dict"),
        ],
    )
    def test_what_json_cannot_hold_is_a_bad_result(self, returned: Any, named: str) -> None:
        result = result_from_value(returned)
        assert (result.ok, result.code, result.reason) == (False, "execution_failed", "bad_result")
        assert named in result.error

    def test_values_that_hold_themselves_or_never_end_are_bad_results(self) -> None:
        cyclic: list[Any] = []
        cyclic.append(cyclic)
        deep: list[Any] = []
        for _ in range(100_000):
            deep = [deep]
        assert result_from_value(cyclic).reason == result_from_value(deep).reason == "bad_result"

    def test_coroutine_of_a_plain_function_is_reported_and_closed(self) -> None:
        async def later() -> None: ...

        result = tool(lambda: later(), name="later").execute({}, CONTEXT)
        assert result.reason == "bad_result"
        assert "`async def`" in result.error

    def test_an_asynchronous_generator_is_not_asked_to_be_async(self) -> None:
        async def numbers() -> AsyncIterator[int]:
            yield 1

        result = tool(lambda: numbers(), name="numbers").execute({}, CONTEXT)
        assert result.error == (
            "the tool returned a value of type async_generator; it should return a list"
        )

    def test_structured_does_not_share_the_tools_own_objects(self) -> None:
        remaining = {"items": [1]}
        result = result_from_value(remaining)
        remaining["items"].append(2)
        assert result.structured == {"items": [1]}

    @given(
        st.recursive(
            st.none()
            | st.booleans()
            | st.integers()
            | st.floats(allow_nan=False, allow_infinity=False)
            | st.text(SAMPLE),
            lambda inner: st.lists(inner) | st.dictionaries(st.text(SAMPLE), inner),
            max_leaves=12,
        ).filter(lambda value: not isinstance(value, str))
    )
    def test_any_json_value_comes_back_from_value_and_structured(self, value: Any) -> None:
        result = result_from_value(value)
        assert json.loads(result.value) == value
        assert result.structured == (value if isinstance(value, dict) else {"result": value})


def test_a_function_that_yields_is_refused_when_the_tool_is_made() -> None:
    def pages(count: int) -> Iterator[int]:
        yield count

    async def lines(count: int) -> AsyncIterator[int]:
        yield count

    for function in (pages, lines, functools.partial(pages, 1)):
        with pytest.raises(ConfigError, match=r"^tool `\w+`: its function yields, .* a list"):
            tool(function)

    @functools.wraps(pages)
    def collected(count: int) -> list[int]:
        return list(pages(count))

    assert tool(collected).execute({"count": 2}, CONTEXT).value == "[2]"


def test_a_keyword_that_a_tool_lacks_is_reported_with_those_that_it_has() -> None:
    with pytest.raises(ConfigError, match=r"'tool_set' .*'toolset'\?\); known are name, "):
        tool(tool_set="file")


def test_help_lists_every_option_of_both_decorators():
    options = [field for field in Tool.FIELDS if field != "execute"]
    for decorator in (tool, ToolRegistry.tool):
        described = re.findall(r"^ +(\w+) \(", inspect.getdoc(decorator) or "", re.MULTILINE)
        assert sorted(described) == sorted(options), decorator
