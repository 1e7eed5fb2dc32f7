"""What a model is shown: dicts to everybody, and what force cannot change."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ethos_registry import Tool, ToolRegistry, _core
from ethos_registry.types._json_values import freeze
from registry_tools import EVERYTHING, made, outcomes
from stopwatch import assert_ratio_below


def rich() -> Tool:
    return made(
        "t", schema={"type": "object", "properties": {"a": {"enum": ["x", 1]}}, "required": ["a"]}
    )


RICH = {
    "name": "t",
    "description": "The t.",
    "parameters": {
        "type": "object",
        "properties": {"a": {"enum": ["x", 1]}},
        "required": ["a"],
    },
}


def test_definitions_are_dicts_to_json_and_plain_ones_when_copied() -> None:
    [definition] = ToolRegistry([rich()]).to_definitions()
    assert isinstance(definition, dict)
    assert json.dumps(definition) == json.dumps(RICH)
    for twin in (copy.deepcopy(definition), pickle.loads(pickle.dumps(definition))):
        assert twin == RICH
        assert type(twin) is type(twin["parameters"]["properties"]["a"]) is dict
        assert type(twin["parameters"]["required"]) is list
    assert type(copy.copy(definition)) is type(definition.copy()) is dict


def test_definitions_are_read_only_at_every_depth() -> None:
    [definition] = ToolRegistry([rich()]).to_definitions()
    for change in (
        lambda: definition.update(name="x"),
        lambda: definition["parameters"].clear(),
        lambda: definition["parameters"]["required"].append("b"),
        lambda: definition["parameters"]["properties"]["a"].pop("enum"),
    ):
        with pytest.raises(TypeError, match="read-only"):
            change()


def forced(registry: ToolRegistry) -> None:
    """Change by force whatever the registry hands out."""
    [definition] = registry.to_definitions()
    dict.__setitem__(definition, "name", "evil")
    dict.clear(definition["parameters"]["properties"])
    list.append(definition["parameters"]["required"], "evil")
    [definition] = registry.view(EVERYTHING).definitions()
    dict.__setitem__(definition["parameters"], "evil", True)
    tool = registry.get("t")
    assert tool is not None
    dict.clear(tool.schema)
    dict.clear(tool.definition)
    for field, value in {
        "name": "evil",
        "description": "evil",
        "execute": None,
        "definition": {},
        "schema": {},
        "toolset": "evil",
        "always_include": True,
        "is_available": lambda: False,
        "is_coroutine": False,
        "max_result_chars": 0,
        "timeout_seconds": 0,
    }.items():
        object.__setattr__(tool, field, value)


def bytes_of(registry: Any) -> list[bytes]:
    view = registry.view(EVERYTHING)
    return [view.definitions_bytes(name) for name in ("anthropic", "openai", "gemini")]


def test_force_changes_no_bytes_no_fingerprint_no_verdict_and_no_function() -> None:
    registry = ToolRegistry([rich()])
    fingerprint, before = registry.view(EVERYTHING).fingerprint, bytes_of(registry)
    remaining = registry.view(EVERYTHING)
    forced(registry)
    assert bytes_of(registry) == before
    assert [remaining.definitions_bytes("anthropic")] == before[:1]
    assert registry.view(EVERYTHING).fingerprint == remaining.fingerprint == fingerprint
    assert outcomes(registry, ["t", "evil"]) == {"t": None, "evil": "unknown"}
    assert outcomes(registry, ["t"], ["other"]) == {"t": "denied"}
    [result] = registry.execute_parallel_sync([{"id": "1", "name": "t"}])
    assert result.text == "ran"


def test_force_changes_nothing_that_is_made_of_the_registry_later() -> None:
    registry = ToolRegistry([rich()])
    before = bytes_of(registry)
    forced(registry)
    strict = ToolRegistry.merge([ToolRegistry(validate_arguments=True), registry])
    assert bytes_of(strict) == bytes_of(registry.freeze()) == before
    assert registry.freeze().to_definitions() == [RICH]
    [refused] = strict.execute_parallel_sync([{"id": "1", "name": "t", "args": {"a": "y"}}])
    assert getattr(refused.result, "reason", None) == "invalid_args"
    assert registry.for_turn().view(EVERYTHING).definitions_bytes("openai") == before[1]


class Shouted(str):
    """A string that writes itself otherwise than it compares."""

    __slots__ = ()

    def __str__(self) -> str:
        return self.upper()


def reordered(definition: dict[str, Any]) -> None:
    parameters = definition["parameters"]
    dict.__setitem__(parameters, "type", dict.pop(parameters, "type"))


LEVELS: tuple[Any, ...] = (1, True, 0.0, "x")


@pytest.mark.parametrize(
    "force",
    [
        lambda shown: list.__setitem__(shown["parameters"]["properties"]["a"]["enum"], 0, True),
        lambda shown: list.__setitem__(shown["parameters"]["properties"]["a"]["enum"], 0, 1.0),
        lambda shown: list.__setitem__(shown["parameters"]["properties"]["a"]["enum"], 1, 1),
        lambda shown: list.__setitem__(shown["parameters"]["properties"]["a"]["enum"], 2, -0.0),
        lambda shown: list.__setitem__(
            shown["parameters"]["properties"]["a"]["enum"], 3, Shouted("x")
        ),
        lambda shown: dict.__setitem__(shown, "description", Shouted("The t.")),
        reordered,
    ],
    ids=["1 to True", "1 to 1.0", "True to 1", "0.0 to -0.0", "str", "description", "key order"],
)
def test_what_equals_the_definition_and_is_written_otherwise_changes_no_bytes(
    force: Callable[[dict[str, Any]], None],
) -> None:
    schema = {"type": "object", "properties": {"a": {"enum": list(LEVELS)}}}
    registry = ToolRegistry([made("t", schema=schema)])
    [shown] = registry.to_definitions()
    bytes_before, pristine = bytes_of(registry), copy.deepcopy(shown)
    fingerprint = registry.view(EVERYTHING).fingerprint
    force(shown)
    assert shown == pristine  # so that `==` alone would miss it
    assert bytes_of(registry) == bytes_before
    assert bytes_of(registry.freeze()) == bytes_before
    assert registry.view(EVERYTHING).fingerprint == fingerprint


JSON = st.recursive(
    st.sampled_from([None, True, False, 0, 1, -1, 2**70, 0.0, -0.0, 1.0, "", "a", "é", "1"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "b", "é"]), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(JSON, JSON)
def test_two_values_are_the_same_when_their_bytes_are(left: Any, right: Any) -> None:
    assert _core.same_json(left, right) == (json.dumps(left) == json.dumps(right))
    assert _core.same_json(left, copy.deepcopy(left))
    assert _core.same_json(freeze(left, "left"), left)


def test_what_is_nested_without_end_is_the_same_as_nothing() -> None:
    loop: list[Any] = []
    loop.append(loop)
    other: list[Any] = []
    other.append(other)
    assert not _core.same_json(loop, other)
    assert not _core.same_json(loop, [[[]]])


def test_definitions_of_unchanged_tools_are_the_same_object() -> None:
    registry = ToolRegistry([rich()])
    assert registry.to_definitions()[0] is registry.to_definitions()[0]


def test_the_cost_of_definitions_follows_what_is_returned() -> None:
    few, many = (
        ToolRegistry([made(f"tool_{index}") for index in range(count)]) for count in (200, 10_000)
    )
    allowed = [f"tool_{index}" for index in range(20)]
    assert few.to_definitions(allowed) == many.to_definitions(allowed)
    assert_ratio_below(
        3, lambda: many.to_definitions(allowed), lambda: few.to_definitions(allowed), 50
    )
