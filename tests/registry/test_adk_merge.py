"""ADK-22 to 45: merging registries (facts of seed 003, by their numbers)."""

from __future__ import annotations

from typing import Any

import pytest

from ethos_registry import (
    ConfigError,
    FrozenToolRegistry,
    Tool,
    ToolAlreadyRegisteredError,
    ToolRegistry,
    default_reducers,
)
from ethos_registry.registry import DispatchContext
from registry_tools import made, names

merge = ToolRegistry.merge
POLICIES = ("throw", "replace", "keep")


def one(name: str = "x", policy: str = "throw") -> tuple[ToolRegistry, Tool]:
    tool = made(name, on_collision=policy)
    return ToolRegistry([tool]), tool


def state(registry: ToolRegistry) -> list[Any]:
    return [(tool, registry.registration(tool.name)) for tool in registry.all()]


def test_adk_22_nothing_merged_is_empty() -> None:
    assert merge([]).all() == []


def test_adk_23_disjoint_registries_are_joined_from_left_to_right() -> None:
    left, right = ToolRegistry([made("b"), made("a")]), ToolRegistry([made("c")])
    assert names(merge([left, right]).all()) == ["b", "a", "c"]
    assert names(merge([right, left]).all()) == ["c", "b", "a"]


@pytest.mark.parametrize("policy", POLICIES)
def test_adk_24_disjoint_registries_are_joined_under_every_policy(policy: Any) -> None:
    merged = merge([ToolRegistry([made("a")]), ToolRegistry([made("b")])], on_collision=policy)
    assert names(merged.all()) == ["a", "b"]


def test_adk_25_a_collision_is_an_error() -> None:
    with pytest.raises(ToolAlreadyRegisteredError) as refused:
        merge([one()[0], one()[0]])
    assert refused.value.tool_name == "x"
    assert "on the later tool or in `merge`" in str(refused.value)
    assert "overwrite" not in str(refused.value)


def winner(existing: str, incoming: str, policy: Any) -> str:
    """Which of two tools of one name is left, by their policies and that of the merge."""
    (left, first), (right, second) = one(policy=existing), one(policy=incoming)
    [left_over] = merge([left, right], policy).all()
    return {first: "existing", second: "incoming"}[left_over]


def test_adk_26_merge_level_replace_takes_the_later() -> None:
    assert winner("throw", "throw", "replace") == "incoming"


def test_adk_27_merge_level_keep_takes_the_earlier() -> None:
    assert winner("throw", "throw", "keep") == "existing"


def test_adk_28_an_incoming_replace_wins_over_throw() -> None:
    assert winner("throw", "replace", "throw") == "incoming"


def test_adk_29_an_incoming_replace_wins_over_keep() -> None:
    assert winner("throw", "replace", "keep") == "incoming"


def test_adk_30_an_incoming_keep_wins_over_replace() -> None:
    assert winner("throw", "keep", "replace") == "existing"


def test_adk_31_an_incoming_keep_wins_over_throw() -> None:
    assert winner("throw", "keep", "throw") == "existing"


def test_adk_32_an_incoming_throw_leaves_it_to_the_merge() -> None:
    assert winner("throw", "throw", "replace") == "incoming"


def test_adk_33_the_policy_of_the_existing_tool_is_not_asked_when_it_replaces() -> None:
    with pytest.raises(ToolAlreadyRegisteredError):
        winner("replace", "throw", "throw")


def test_adk_34_the_policy_of_the_existing_tool_is_not_asked_when_it_keeps() -> None:
    assert winner("keep", "throw", "replace") == "incoming"


@pytest.mark.parametrize("policy", POLICIES)
def test_adk_35_the_inputs_do_not_change_after_an_error_either(policy: Any) -> None:
    left, right = ToolRegistry([made("a"), made("x")]), ToolRegistry([made("x"), made("b")])
    left.hide("x")
    before = state(left), state(right)
    if policy == "throw":
        with pytest.raises(ToolAlreadyRegisteredError):
            merge([left, right], policy)
    else:
        merged = merge([left, right], policy)
        merged.unregister("a")
        merged.hide("b")
    assert (state(left), state(right)) == before


def test_adk_36_one_registry_merged_is_another_registry() -> None:
    registry, _ = one()
    merged = merge([registry])
    assert merged is not registry
    merged.unregister("x")
    assert registry.has("x")


def test_adk_37_a_registry_merged_with_itself_is_an_error() -> None:
    registry, _ = one()
    with pytest.raises(ToolAlreadyRegisteredError):
        merge([registry, registry])


def test_adk_38_unless_its_tools_replace() -> None:
    registry = ToolRegistry([made(name, on_collision="replace") for name in "abc"])
    assert merge([registry, registry]).all() == registry.all()


def test_adk_39_a_replaced_tool_keeps_the_first_position() -> None:
    replacing = made("x", on_collision="replace")
    merged = merge([ToolRegistry([made("a"), made("x")]), ToolRegistry([replacing, made("b")])])
    assert names(merged.all()) == ["a", "x", "b"]
    assert merged.get("x") is replacing


def folded(*policies: str) -> int:
    """Which of three tools of one name is left."""
    parts = [one(policy=policy) for policy in policies]
    [left_over] = merge([registry for registry, _ in parts]).all()
    return [tool for _, tool in parts].index(left_over)


def test_adk_40_three_registries_fold_from_the_left_to_a_last_replace() -> None:
    assert folded("throw", "keep", "replace") == 2


def test_adk_41_three_registries_fold_from_the_left_to_a_replace_before_a_keep() -> None:
    assert folded("throw", "replace", "keep") == 1


def test_adk_42_no_policy_is_throw() -> None:
    for call in (lambda: merge([one()[0], one()[0]]), lambda: merge([one()[0], one()[0]], None)):
        with pytest.raises(ToolAlreadyRegisteredError):
            call()


@pytest.mark.parametrize("registries", [[], [one()[0]]], ids=["none", "one"])
@pytest.mark.parametrize("policy", ["Replace", "", "overwrite", 5])
def test_adk_43_an_unknown_policy_is_reported_before_anything_is_merged(
    registries: list[ToolRegistry], policy: Any
) -> None:
    with pytest.raises(ValueError, match="'throw', 'replace', 'keep'") as refused:
        merge(registries, policy)
    assert isinstance(refused.value, ConfigError)


def test_adk_44_ephemeral_tools_stay_ephemeral() -> None:
    merged = merge([ToolRegistry([made("a"), made("b", ephemeral=True)])])
    merged.prune_ephemeral()
    assert names(merged.all()) == ["a"]


def test_adk_45_bindings_do_not_come_along() -> None:
    source = ToolRegistry([made("a", ephemeral=True)])
    context = DispatchContext()
    source.bind_context(context)
    merged = merge([source])
    context.ack()
    assert (source.list(), merged.list()) == ([], ["a"])


# Beyond the numbers


def test_what_is_no_registry_is_not_merged() -> None:
    for wrong in (one()[0], None, 5, [made("a")], ["a"]):
        with pytest.raises(ConfigError, match="registries"):
            merge(wrong)


def test_frozen_registries_and_turns_are_merged_too() -> None:
    frozen = FrozenToolRegistry([made("a")])
    turn = ToolRegistry([made("b")]).for_turn()
    turn.hide("b")
    merged = merge([frozen, turn])
    assert names(merged.all()) == ["a", "b"]
    assert names(merged.hidden()) == ["b"]


def test_the_settings_are_those_of_the_first() -> None:
    reducers = default_reducers()
    first = ToolRegistry(reducer_registry=reducers, default_timeout_seconds=5)
    merged = merge([first, ToolRegistry(default_timeout_seconds=7)])
    settings = merged._settings()
    assert settings.reducers is reducers
    assert settings.default_timeout_seconds == 5
    assert settings is not first._settings()


def test_upstream_fault_1_a_dropped_tool_hides_nothing() -> None:
    left = ToolRegistry([made("x")])
    right = ToolRegistry([made("x", on_collision="keep")])
    right.hide("x")
    assert names(merge([left, right]).visible()) == ["x"]


def test_upstream_fault_1_a_replacement_shows_what_it_showed() -> None:
    left, right = ToolRegistry([made("x")]), ToolRegistry([made("x", on_collision="replace")])
    left.hide("x")
    assert names(merge([left, right]).visible()) == ["x"]
    left.unhide("x")
    right.hide("x")
    assert names(merge([left, right]).hidden()) == ["x"]
