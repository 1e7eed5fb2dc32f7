"""ADK-1 to 21: making a registry, registering, looking (facts of seed 003, by their numbers)."""

from __future__ import annotations

import pytest

from ethos_registry import ToolAlreadyRegisteredError, ToolRegistry
from registry_tools import made, names


def test_adk_1_a_registry_made_of_nothing_is_empty() -> None:
    assert ToolRegistry().all() == []


def test_adk_2_tools_keep_the_order_in_which_they_were_given() -> None:
    assert names(ToolRegistry([made("c"), made("a"), made("b")]).all()) == ["c", "a", "b"]


def test_adk_3_two_tools_of_one_name_are_refused_at_construction() -> None:
    with pytest.raises(ToolAlreadyRegisteredError, match="`a`"):
        ToolRegistry([made("a"), made("a")])


def test_adk_4_the_policy_of_the_tools_does_not_matter_at_construction() -> None:
    with pytest.raises(ToolAlreadyRegisteredError):
        ToolRegistry([made("a", on_collision="replace"), made("a", on_collision="replace")])


def test_adk_5_the_error_has_its_status_and_its_code() -> None:
    with pytest.raises(ToolAlreadyRegisteredError) as refused:
        ToolRegistry([made("a"), made("a")])
    error = refused.value
    assert (error.status, error.fatal, error.code) == (409, True, "E_TOOL_ALREADY_REGISTERED")
    assert error.tool_name == "a"


def test_adk_6_registering_twice_is_refused_and_the_first_stays() -> None:
    first = made("a")
    registry = ToolRegistry()
    registry.register(first)
    with pytest.raises(ToolAlreadyRegisteredError):
        registry.register(made("a"))
    assert registry.get("a") is first


def test_adk_7_overwriting_replaces() -> None:
    registry = ToolRegistry([made("a")])
    second = made("a")
    registry.register(second, overwrite=True)
    assert registry.get("a") is second


def test_adk_8_overwriting_keeps_the_position() -> None:
    registry = ToolRegistry([made("a"), made("b"), made("c")])
    registry.register(made("a"), overwrite=True)
    assert names(registry.all()) == ["a", "b", "c"]


def test_adk_9_a_tool_that_comes_back_is_last() -> None:
    registry = ToolRegistry([made("a"), made("b"), made("c")])
    registry.unregister("a")
    registry.register(made("a"))
    assert names(registry.all()) == ["b", "c", "a"]


def test_adk_8_and_9_hold_in_a_turn() -> None:
    turn = ToolRegistry([made("a"), made("b"), made("c")]).for_turn()
    turn.register(made("a"), overwrite=True)
    assert names(turn.all()) == ["a", "b", "c"]
    turn.unregister("a")
    turn.register(made("a"))
    assert names(turn.to_definitions()) == ["b", "c", "a"]


def refused_over_a_taken_name(policy: str) -> bool:
    """Whether registering a tool of this policy is refused and leaves the first."""
    first = made("a")
    registry = ToolRegistry([first])
    with pytest.raises(ToolAlreadyRegisteredError):
        registry.register(made("a", on_collision=policy))
    return registry.get("a") is first


def test_adk_10_registering_does_not_ask_a_tool_that_would_replace() -> None:
    assert refused_over_a_taken_name("replace")


def test_adk_11_registering_does_not_ask_a_tool_that_would_keep() -> None:
    assert refused_over_a_taken_name("keep")


def test_adk_12_overwriting_a_new_name_adds_it() -> None:
    registry = ToolRegistry([made("a")])
    registry.register(made("b"), overwrite=True)
    assert names(registry.all()) == ["a", "b"]


def test_adk_13_unregistering_an_unknown_name_does_nothing() -> None:
    registry = ToolRegistry([made("a")])
    registry.unregister("b")
    assert names(registry.all()) == ["a"]


def test_adk_14_a_tool_that_was_unregistered_is_gone() -> None:
    registry = ToolRegistry([made("a")])
    registry.unregister("a")
    assert registry.has("a") is False
    assert registry.get("a") is None


def test_adk_15_an_unknown_name_is_none_and_false() -> None:
    registry = ToolRegistry([made("a")])
    assert registry.get("b") is None
    assert registry.has("b") is False
    assert registry.has("a") is True


def test_adk_16_names_are_exact() -> None:
    upper, lower = made("A"), made("a")
    registry = ToolRegistry([upper, lower])
    assert registry.get("A") is upper
    assert registry.get("a") is lower


def test_adk_17_each_list_is_a_new_one() -> None:
    registry = ToolRegistry([made("a")])
    assert registry.all() == registry.all()
    assert registry.all() is not registry.all()


def test_adk_18_a_list_that_is_changed_changes_no_registry() -> None:
    registry = ToolRegistry([made("a")])
    for listing in (registry.all, registry.visible, registry.hidden, registry.list):
        listing().clear()
    assert names(registry.all()) == ["a"]


def test_adk_19_the_listed_tools_are_the_registered_ones() -> None:
    tool = made("a")
    assert ToolRegistry([tool]).all()[0] is tool
    assert ToolRegistry([tool]).for_turn().all()[0] is tool
    assert ToolRegistry([tool]).freeze().all()[0] is tool


def test_adk_20_a_tool_cannot_be_written_to() -> None:
    with pytest.raises(AttributeError, match="immutable"):
        made("a").description = "another"


def test_adk_21_a_tool_describes_its_name_description_and_schema() -> None:
    assert made("a").describe() == {
        "name": "a",
        "description": "The a.",
        "schema": {"type": "object"},
    }
