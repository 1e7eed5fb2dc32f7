"""Order, markers and bytes of a provider's tools: the facts ETH-29 to ETH-43, and beyond."""

from __future__ import annotations

import copy
import hashlib
import itertools
import json
import os
import random
import subprocess
import sys
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ethos_registry import ConfigError, Personality, Tool, ToolRegistry, _core
from ethos_registry.providers._by_name import PROVIDERS
from registry_tools import EVERYTHING, made, names
from started import ended_with_test

ALL = ("anthropic", "openai", "openai_responses", "gemini", "ollama", "bedrock", "cohere")
EPHEMERAL = {"type": "ephemeral"}


def compact(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def view_of(tools: Iterable[Tool], personality: Personality = EVERYTHING) -> Any:
    return ToolRegistry(tools).view(personality)


def marked(definitions: list[Any]) -> list[str]:
    return [shown["name"] for shown in definitions if "cache_control" in shown]


def test_eth_29_the_list_is_sorted_by_name() -> None:
    view = view_of([made("c"), made("a"), made("b")])
    for order in ("segments", "name"):
        assert names(view.definitions("anthropic", order=order)) == ["a", "b", "c"]


def test_eth_29_by_name_is_one_flat_list_over_all_segments() -> None:
    registry = ToolRegistry([made("z"), made("mcp__s__a")])
    registry.register(made("m"), plugin_id="p")
    view = registry.view(Personality("p", plugins=["p"], mcp_servers=["s"]))
    assert names(view.definitions("anthropic")) == ["z", "m", "mcp__s__a"]
    assert names(view.definitions("anthropic", order="name")) == ["m", "mcp__s__a", "z"]


@pytest.mark.parametrize("provider", ALL)
def test_eth_30_every_order_of_registration_gives_the_same_bytes(provider: str) -> None:
    tools = [made(name) for name in ("d", "b", "mcp__s__x", "A")]
    personality = Personality("p", mcp_servers=["s"])
    found = {
        view_of(shuffled, personality).definitions_bytes(provider)
        for shuffled in itertools.permutations(tools)
    }
    assert len(found) == 1


@pytest.mark.parametrize("provider", ALL)
def test_eth_31_two_requests_have_the_same_bytes_those_of_the_values(provider: str) -> None:
    registry = ToolRegistry([made(name, description=f"Größe of {name} 東京") for name in "cab"])
    first, second = (registry.view(EVERYTHING).definitions_bytes(provider) for _ in range(2))
    assert first == second == compact(registry.view(EVERYTHING).definitions(provider))


def test_eth_32_names_are_compared_by_code_point() -> None:
    view = view_of([made(name) for name in ("a", "B", "b", "A", "a_", "a-", "a1")])
    expected = sorted(["a", "B", "b", "A", "a_", "a-", "a1"])
    assert expected[:2] == ["A", "B"]
    assert names(view.definitions("anthropic")) == expected


def test_eth_33_a_subset_is_sorted_as_well() -> None:
    registry = ToolRegistry([made(name) for name in "zyxcba"])
    view = registry.view(Personality("p", toolset=["y", "a", "x"]))
    assert names(view.definitions("anthropic")) == ["a", "x", "y"]


def test_eth_34_a_tool_of_another_agent_changes_nothing() -> None:
    registry = ToolRegistry([made("a"), made("c")])
    mine = Personality("mine", toolset=["a", "c"])
    before = [registry.view(mine).definitions_bytes(provider) for provider in ALL]
    registry.register(made("b"), owner="another")
    assert [registry.view(mine).definitions_bytes(provider) for provider in ALL] == before


def test_eth_35_the_order_of_keys_in_a_schema_changes_nothing_but_that_of_properties_does() -> None:
    one = {"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}, "b": {}}}
    two = {"properties": {"a": {"type": "string"}, "b": {}}, "required": ["a"], "type": "object"}
    three = one | {"properties": {"b": {}, "a": {"type": "string"}}}
    found = [
        view_of([made("t", schema=schema)]).definitions_bytes("openai")
        for schema in (one, two, three)
    ]
    assert found[0] == found[1] != found[2]


PROGRAM = """
import json, random, sys
sys.path.insert(0, sys.argv[1])
from providers.test_eth_bytes import ALL, many_tools, MANY
from ethos_registry import ToolRegistry
registry = ToolRegistry()
tools = many_tools()
random.Random(int(sys.argv[2])).shuffle(tools)
for tool, tags in tools:
    registry.register(tool, **tags)
view = registry.view(MANY)
print(json.dumps([view.bytes_digest(name, breakpoints=2) for name in ALL]))
"""

MANY = Personality("many", plugins=["p", "q"], mcp_servers=["s"])


def many_tools() -> list[tuple[Tool, dict[str, Any]]]:
    schema = {
        "type": "object",
        "properties": {f"p{index}": {"enum": ["x", 1.5, None], "default": -0.0} for index in "cab"},
        "required": ["pb", "pc"],
        "x-b": {"b": 1, "a": [1e16, 1e-7]},
        "x-a": {"ä": "é\n\u2028"},
    }
    return [
        *((made(f"t{index}", schema=schema, strict=bool(index % 2)), {}) for index in range(9)),
        *((made(f"g{index}", schema=schema), {"plugin_id": "pq"[index % 2]}) for index in range(5)),
        *((made(f"mcp__s__t{index}", schema=schema), {}) for index in range(5)),
    ]


def test_eth_36_processes_with_other_hash_seeds_and_orders_give_the_same_bytes() -> None:
    running = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, os.path.dirname(os.path.dirname(__file__)), str(seed)],
            env=os.environ | {"PYTHONHASHSEED": str(seed)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for seed in range(3)
    ]
    with ended_with_test(*running):
        printed = [process.communicate()[0] for process in running]
    assert [process.returncode for process in running] == [0] * 3
    assert len(set(printed)) == 1
    registry = ToolRegistry()
    for tool, tags in many_tools():
        registry.register(tool, **tags)
    view = registry.view(MANY)
    digests = [
        hashlib.sha256(compact(view.definitions(name, breakpoints=2))).hexdigest() for name in ALL
    ]
    assert json.loads(printed[0]) == digests


def test_eth_37_38_exactly_the_last_tool_has_the_marker() -> None:
    registry = ToolRegistry([made("b"), made("a"), made("mcp__s__a")])
    definitions = registry.view(Personality("p", mcp_servers=["s"])).definitions("anthropic")
    assert marked(definitions) == ["mcp__s__a"]
    assert definitions[-1]["cache_control"] == EPHEMERAL
    assert list(definitions[-1])[-1] == "cache_control"


def test_eth_39_one_tool_has_it() -> None:
    assert marked(view_of([made("only")]).definitions("anthropic")) == ["only"]


@pytest.mark.parametrize("provider", ALL)
def test_eth_40_no_tools_are_no_error(provider: str) -> None:
    for breakpoints in (0, 1, 2):
        view = view_of([])
        assert view.definitions(provider, breakpoints=breakpoints) == []
        assert view.definitions_bytes(provider, breakpoints=breakpoints) == b"[]"


def test_eth_41_marking_changes_no_definition() -> None:
    registry = ToolRegistry([made("a")])
    before = copy.deepcopy(registry.to_definitions())
    view = registry.view(EVERYTHING)
    for breakpoints in (1, 0, 2, 1):
        view.definitions("anthropic", breakpoints=breakpoints)
    assert registry.to_definitions() == before
    assert marked(view.definitions("anthropic", breakpoints=0)) == []


@pytest.mark.parametrize("provider", [name for name in PROVIDERS if name != "anthropic"])
def test_eth_42_other_providers_have_no_marker(provider: str) -> None:
    assert b"cache" not in view_of([made("a")]).definitions_bytes(provider, breakpoints=2)


def test_eth_43_no_option_is_needed() -> None:
    assert marked(view_of([made("a"), made("b")]).definitions("anthropic")) == ["b"]


def test_two_breakpoints_mark_the_end_of_the_built_in_tools_too() -> None:
    registry = ToolRegistry([made("b"), made("a"), made("mcp__s__a")])
    view = registry.view(Personality("p", mcp_servers=["s"]))
    assert marked(view.definitions("anthropic", breakpoints=2)) == ["b", "mcp__s__a"]


@pytest.mark.parametrize("breakpoints", [True, 1.0, -1, 3, "1", None])
def test_other_numbers_of_breakpoints_are_refused_also_when_an_answer_is_kept(
    breakpoints: Any,
) -> None:
    view = view_of([made("a")])
    view.definitions("anthropic")
    view.definitions("anthropic", order="name")
    with pytest.raises(ConfigError, match="`breakpoints` must be"):
        view.definitions("anthropic", breakpoints=breakpoints)
    with pytest.raises(ConfigError, match="`breakpoints` must be"):
        view.definitions_bytes("anthropic", breakpoints=breakpoints)
    with pytest.raises(ConfigError, match="`order` must be"):
        view.definitions("anthropic", order=["name"])


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.text(st.characters(exclude_categories=["Cs"]), max_size=5), inner, max_size=4
        )
    ),
    max_leaves=20,
)


@given(JSON)
def test_native_json_is_what_json_dumps_writes(value: Any) -> None:
    assert _core.json_bytes(value) == compact(value)


@given(st.lists(JSON, max_size=5))
def test_native_lists_are_what_json_dumps_writes(values: list[Any]) -> None:
    assert _core.join_json([compact(value) for value in values]) == compact(values)


@pytest.mark.parametrize(
    ("value", "error"),
    [
        (float("nan"), ValueError),
        (float("inf"), ValueError),
        ("\ud800", ValueError),
        ({1: 2}, TypeError),
        (object(), TypeError),
        ((1,), TypeError),
        (type("Text", (str,), {})("x"), TypeError),
    ],
)
def test_what_json_does_not_have_is_refused(value: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        _core.json_bytes(value)
    with pytest.raises(error):
        _core.json_bytes([value])


def test_what_is_nested_without_end_is_refused() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(ValueError, match="too deeply"):
        _core.json_bytes(loop)


PROPERTIES = st.dictionaries(
    st.text(min_size=1, max_size=4).filter(lambda name: name.isprintable()),
    st.sampled_from(
        [
            {"type": "string", "description": "é\n"},
            {"type": "integer", "minimum": 1, "default": 1.0},
            {"anyOf": [{"type": "string"}, {"type": "null"}]},
            {"type": "object", "properties": {"x": {"enum": [1, True, "y"]}}},
            True,
        ]
    ),
    max_size=4,
)


@given(
    st.dictionaries(st.from_regex(r"[a-zA-Z][a-z0-9_-]{0,5}", fullmatch=True), PROPERTIES),
    st.sampled_from(ALL),
    st.sampled_from(["segments", "name", "registration"]),
    st.sampled_from([0, 1, 2]),
    st.randoms(),
    st.booleans(),
)
def test_bytes_are_those_of_the_values_whatever_was_registered(
    schemas: dict[str, Any],
    provider: str,
    order: Any,
    breakpoints: int,
    shuffle: random.Random,
    strict: bool,
) -> None:
    tools = [
        made(name, schema={"type": "object", "properties": properties}, strict=strict)
        for name, properties in schemas.items()
    ]
    view = view_of(tools)
    options: dict[str, Any] = {"order": order, "breakpoints": breakpoints}
    written = view.definitions_bytes(provider, **options)
    assert written == compact(view.definitions(provider, **options))
    assert view.bytes_digest(provider, **options) == hashlib.sha256(written).hexdigest()
    frozen = ToolRegistry(tools).freeze().view(EVERYTHING)
    assert frozen.definitions_bytes(provider, **options) == written
    assert frozen.fingerprint == view.fingerprint
    if order != "registration":
        shuffle.shuffle(tools)
        assert view_of(tools).definitions_bytes(provider, **options) == written
