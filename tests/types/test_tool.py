"""The tool: immutable, copied once, refused early when it is wrong."""

from __future__ import annotations

import ast
import copy
import enum
import functools
import importlib
import pickle
from pathlib import Path
from typing import Any

import pytest

from ethos_registry import ConfigError, Tool, tool
from ethos_registry.capabilities import ToolCapabilities
from ethos_registry.registry import _tool_registry
from ethos_registry.schema import _function_tool
from ethos_registry.types import _tool
from ethos_registry.types._checks import is_async_callable
from ethos_registry.types._errors import SignatureError
from ethos_registry.types._tool import REGISTRY_DEFAULT

OBJECT = {"type": "object"}


def execute(args: Any, context: Any) -> dict[str, Any]:
    return {"ok": True, "value": "ran"}


async def execute_async(args: Any, context: Any) -> dict[str, Any]:
    return {"ok": True, "value": "ran"}


class AsyncCallable:
    async def __call__(self, args: Any = None, context: Any = None) -> Any:
        return {"ok": True, "value": "ran"}

    def plain(self, args: Any, context: Any) -> Any:
        return {"ok": True, "value": "ran"}


def made(**fields: Any) -> Tool:
    return Tool(**{"name": "t", "description": "d", "schema": OBJECT, "execute": execute} | fields)


# Names


@pytest.mark.parametrize("name", ["t", "read_file", "mcp__a__b", "A-b_9", "x" * 64])
def test_names_of_the_rule_are_accepted(name: str) -> None:
    assert made(name=name).name == made(name=name).definition["name"] == name


@pytest.mark.parametrize(
    "name",
    ["rm\n", "", "1st", "_x", "a b", "a.b", "café", "x" * 65, " rm", "\ud800", None, 5, b"rm", []],
)
def test_other_names_are_refused_and_shown_on_one_line(name: Any) -> None:
    with pytest.raises(ConfigError, match="a tool's name is a letter, then at most 63 of") as no:
        made(name=name)
    assert repr(name)[:60] in str(no.value)
    assert "\n" not in str(no.value)
    assert no.value.context == {"tool_name": name, "field": "name", "value": name}


def test_a_long_name_makes_a_short_message() -> None:
    with pytest.raises(ConfigError) as refusal:
        made(name="x" * 1_000_000)
    assert len(str(refusal.value)) < 200


class Name(enum.StrEnum):
    READ = "read"


def test_the_member_of_an_enumeration_is_its_text() -> None:
    assert type(made(name=Name.READ).name) is str
    assert type(made(name=Name.READ).definition["name"]) is str


# Immutability


@pytest.mark.parametrize("field", [*Tool.FIELDS, "definition", "is_coroutine", "other"])
def test_fields_can_neither_be_set_nor_removed(field: str) -> None:
    hello = made()
    with pytest.raises(AttributeError, match=f"tool `t` is immutable; use .*replace.{field}="):
        setattr(hello, field, 1)
    with pytest.raises(AttributeError, match="tool `t` is immutable"):
        delattr(hello, field)


def test_the_schema_is_copied_once() -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {"a": {"enum": [1]}}}
    hello = made(schema=schema)
    schema["properties"]["a"]["enum"].append(2)
    schema["properties"]["b"] = {}
    expected = {"type": "object", "properties": {"a": {"enum": [1]}}}
    assert hello.schema == hello.definition["parameters"] == expected
    with pytest.raises(TypeError, match="read-only"):
        hello.schema["properties"]["b"] = {}
    with pytest.raises(TypeError, match="read-only"):
        hello.definition["parameters"]["properties"]["a"]["enum"].append(2)


def test_a_description_is_plain_and_the_authors_to_change() -> None:
    described = made(schema=OBJECT | {"required": ["a"]}).describe()
    assert described == {
        "name": "t",
        "description": "d",
        "schema": {"type": "object", "required": ["a"]},
    }
    described["schema"]["required"].append("b")


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_a_tool_survives_pickling_with_every_field(protocol: int) -> None:
    hello = made(
        execute=execute_async,
        toolset="text",
        max_result_chars=5,
        capabilities={"secrets": ["a"]},
        is_available=bool,
        on_collision="keep",
        idempotent=True,
    )
    twin = pickle.loads(pickle.dumps(hello, protocol))
    for field in (*Tool.FIELDS, "definition", "is_coroutine"):
        assert getattr(twin, field) == getattr(hello, field), field
    assert twin.timeout_seconds is REGISTRY_DEFAULT


def test_a_tool_is_its_own_copy() -> None:
    hello = made()
    assert copy.copy(hello) is copy.deepcopy(hello) is hello
    assert copy.deepcopy([hello])[0] is hello


def test_a_tool_made_from_a_function_says_why_it_cannot_be_pickled() -> None:
    @tool
    def double(number: int) -> int:
        return number * 2

    with pytest.raises(TypeError, match="decorate the function at module level with `@tool`"):
        pickle.dumps(double)
    assert copy.deepcopy(double) is double


def test_a_tool_of_a_module_whose_name_is_no_identifier_is_pickled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = "from ethos_registry import tool\n\n@tool\ndef double(number: int) -> int: ...\n"
    (tmp_path / "my-tools.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    double = importlib.import_module("my-tools").double
    assert pickle.loads(pickle.dumps(double)) is double


def test_replace_changes_the_named_fields_only() -> None:
    hello = made(timeout_seconds=None, toolset="text")
    changed = hello.replace(name="u")
    assert (changed.name, changed.definition["name"]) == ("u", "u")
    for field in Tool.FIELDS:
        if field != "name":
            assert getattr(changed, field) == getattr(hello, field)
    with pytest.raises(ConfigError, match="tool `t` has no field 'sudo'; it has name, "):
        hello.replace(sudo=1)
    with pytest.raises(ConfigError, match="tool `t`: `strict`"):
        hello.replace(strict="yes")


# Wrong kinds


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"description": None}, "`description` must be a string: None"),
        ({"schema": None}, "`schema` must be a JSON Schema object, got NoneType"),
        ({"schema": "{}"}, "`schema` must be a JSON Schema object, got str"),
        ({"schema": {}}, "`schema` must have an object root: .*, got type None"),
        ({"schema": {"type": "array"}}, "object root: .*, got type 'array'"),
        ({"schema": {"type": ["object"]}}, "object root"),
        ({"schema": OBJECT | {1: 2}}, "schema has the key 1"),
        ({"schema": OBJECT | {"default": float("nan")}}, "schema.default contains nan"),
        ({"schema": OBJECT | {"enum": {1}}}, "schema.enum contains a value of type set"),
        ({"description": "a\ud800"}, "`description` must be text without lone surrogates"),
        ({"schema": OBJECT | {"title": "\udc00"}}, "schema.title contains a lone surrogate"),
        ({"schema": OBJECT | {"properties": {"\ud83d": {}}}}, "schema.properties contains a lone"),
        ({"toolset": "\ud800"}, "`toolset` must be text without lone surrogates"),
        ({"execute": None}, "`execute` must be callable, got NoneType"),
        ({"toolset": 5}, "`toolset` must be a string: 5"),
        ({"max_result_chars": -1}, "`max_result_chars` must be a whole number >= 0: -1"),
        ({"max_result_chars": 2.5}, "`max_result_chars`.*2.5"),
        ({"max_result_chars": True}, "`max_result_chars`.*True"),
        ({"timeout_seconds": -1}, "`timeout_seconds` must be a finite number >= 0: -1"),
        ({"timeout_seconds": float("inf")}, "`timeout_seconds`.*inf"),
        ({"timeout_seconds": 10**400}, "`timeout_seconds`"),
        ({"timeout_seconds": "5"}, "`timeout_seconds`.*'5'"),
        ({"capabilities": 5}, "capabilities is a JSON object, got int"),
        ({"is_available": True}, "`is_available` must be callable, got bool"),
        ({"is_available": execute_async}, "`is_available` must be a plain function"),
        ({"is_available": AsyncCallable()}, "`is_available` must be a plain function"),
        (
            {"is_available": functools.partial(execute_async, 1, 2)},
            "`is_available` must be a plain function",
        ),
        ({"on_collision": "merge"}, "`on_collision` must be one of 'throw', 'replace', 'keep'"),
        ({"always_include": 1}, "`always_include` must be True or False: 1"),
        ({"output_is_untrusted": None}, "`output_is_untrusted`.*None"),
        ({"ephemeral": "no"}, "`ephemeral`.*'no'"),
        ({"idempotent": 0}, "`idempotent`.*0"),
        ({"strict": "yes"}, "`strict` must be True or False: 'yes'"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_wrong_kinds_name_tool_field_and_value(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=f"^tool `t`: .*{message}") as refusal:
        made(**fields)
    assert refusal.value.context["tool_name"] == "t"
    assert "\n" not in str(refusal.value)
    assert len(str(refusal.value)) < 200


@pytest.mark.parametrize("levels", [125, 126, 127, 128])
def test_schemas_up_to_128_levels_deep_are_tools(levels: int) -> None:
    schema: dict[str, Any] = {}
    for _ in range(levels - 2):
        schema = {"a": schema}
    assert made(schema=OBJECT | {"x": schema}).definition["parameters"]["x"] == schema


def test_deeper_schemas_are_refused_with_the_tools_name() -> None:
    schema: dict[str, Any] = {}
    for _ in range(127):
        schema = {"a": schema}
    with pytest.raises(ConfigError, match=r"^tool `t`: schema\.x\.a.* nested deeper than 128"):
        made(schema=OBJECT | {"x": schema})


# Async or plain


@pytest.mark.parametrize(
    ("function", "is_async"),
    [
        (execute, False),
        (execute_async, True),
        (AsyncCallable(), True),
        (AsyncCallable().__call__, True),
        (AsyncCallable().plain, False),
        (AsyncCallable, False),
        (functools.partial(execute, 1), False),
        (functools.partial(execute_async, 1), True),
        (functools.partial(functools.partial(AsyncCallable()), 1), True),
        (print, False),
    ],
    ids=range(10),
)
def test_async_functions_are_recognised_in_every_wrapping(function: Any, is_async: bool) -> None:
    assert is_async_callable(function) is is_async


@pytest.mark.parametrize(
    ("function", "is_async"),
    [
        (execute, False),
        (execute_async, True),
        (AsyncCallable(), True),
        (functools.partial(AsyncCallable()), True),
        (print, False),
        (dict, False),
        (lambda *everything: None, False),
        (lambda args, context, more=None: None, False),
        (functools.wraps(len)(lambda *everything: None), False),
    ],
    ids=range(9),
)
def test_what_takes_arguments_and_a_context_can_be_executed(function: Any, is_async: bool) -> None:
    assert made(execute=function).is_coroutine is is_async


@pytest.mark.parametrize(
    ("function", "shown"),
    [
        (lambda args: None, "execute(args)"),
        (lambda: None, "execute()"),
        (lambda args, context, more: None, "execute(args, context, more)"),
        (lambda args, *, context: None, "execute(args, *, context)"),
        (functools.partial(execute_async, 1), "execute("),
        ("text".upper, "execute()"),
    ],
    ids=range(6),
)
def test_an_execute_that_no_call_could_reach_is_refused(function: Any, shown: str) -> None:
    with pytest.raises(ConfigError) as refusal:
        made(execute=function)
    message = "tool `t`: `execute` must take args and context, it is "
    assert str(refusal.value).startswith(message + shown)


def test_a_probe_is_asked_without_arguments() -> None:
    with pytest.raises(ConfigError, match="`is_available` must take no arguments, it is is_av"):
        made(is_available=lambda context: True)


def test_capabilities_default_to_none_declared() -> None:
    assert made().capabilities == ToolCapabilities()


def test_tools_are_distinguished_by_identity() -> None:
    assert made() != made()
    assert len({made(), made()}) == 2


PLAIN = ("toolset", "max_result_chars", "ephemeral", "reduction", "calls_per_second")
"""Settings that nothing but the table treats."""


@pytest.mark.parametrize("field", PLAIN)
def test_a_field_is_written_in_three_places(field: str) -> None:
    """Its type in `ToolSettings`, what it means in `Tool`, default and check in `_SETTINGS`."""
    places = []
    for module in (_tool, _function_tool, _tool_registry):
        for node in ast.walk(ast.parse(Path(module.__file__).read_text(encoding="utf-8"))):
            is_annotated = isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == field
            is_parameter = isinstance(node, ast.arg) and node.arg == field
            is_key = isinstance(node, ast.Dict) and any(
                isinstance(key, ast.Constant) and key.value == field for key in node.keys
            )
            if is_annotated or is_parameter or is_key:
                places.append(f"{module.__name__}:{node.lineno}")
    assert len(places) == 3, places


def test_the_three_places_name_the_same_fields() -> None:
    given = ("name", "description", "schema", "execute")
    assert (*given, *_tool.ToolSettings.__annotations__) == Tool.FIELDS
    assert _tool._SETTINGS.keys() == _tool.ToolSettings.__annotations__.keys()
    own = {"_has_default_dispatch", "definition", "is_coroutine"}
    assert {*Tool.FIELDS, *own} == {*Tool.__slots__} - {"__weakref__"}
    assert {*Tool.FIELDS, *own} == Tool.__annotations__.keys() - {"FIELDS"}


def test_an_unknown_setting_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(SignatureError, match="unknown option 'time_out_seconds' of `Tool`"):
        made(time_out_seconds=1)
