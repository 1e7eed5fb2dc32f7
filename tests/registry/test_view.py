"""Views: one personality over the entries of one moment."""

from __future__ import annotations

import asyncio
import hashlib
import json
from typing import Any

import pytest

from ethos_registry import ConfigError, Personality, ToolContext, ToolRegistry
from ethos_registry.registry import ToolView
from registry_tools import EVERYTHING, made, names

pytestmark = pytest.mark.every_python


def run(view: Any, *called: str) -> list[str | None]:
    """Of each call why it was refused; `None` if it ran."""
    calls = [{"id": str(index), "name": name} for index, name in enumerate(called)]
    return [getattr(answer.result, "reason", None) for answer in asyncio.run(view.execute(calls))]


def test_a_view_is_a_tool_view() -> None:
    assert isinstance(ToolRegistry().view(EVERYTHING), ToolView)


@pytest.mark.parametrize(
    ("named", "reported"), [(None, "everything"), ("another", "another"), ("", "")]
)
def test_tools_know_the_personality_unless_the_caller_names_one(
    named: str | None, reported: str
) -> None:
    def look(args: Any, context: Any) -> Any:
        derived = context.replace(current_turn=2)
        wire = context.to_wire().get("personalityId")
        return {"ok": True, "value": repr([context.personality_id, derived.personality_id, wire])}

    registry = ToolRegistry([made("t", execute=look)])
    context, calls = ToolContext(personality_id=named), [{"id": "1", "name": "t"}]
    view = registry.view(EVERYTHING)
    [result] = asyncio.run(view.execute(calls, context))
    assert result.text == repr([reported] * 3)
    assert context.personality_id == named
    [result] = registry.execute_parallel_sync(calls, context)
    assert result.text == repr([named] * 3)


def test_a_view_keeps_the_entries_of_the_moment_it_was_made() -> None:
    def answer(text: str) -> Any:
        return lambda args, context: {"ok": True, "value": text}

    registry = ToolRegistry([made("a", execute=answer("old")), made("b")])
    view = registry.view(EVERYTHING)
    fingerprint = view.fingerprint
    registry.register(made("a", execute=answer("new"), description="new"), overwrite=True)
    registry.unregister("b")
    registry.register(made("c"))
    assert names(view.definitions()) == ["a", "b"]
    assert view.definitions()[0]["description"] == "The a."
    assert view.fingerprint == fingerprint
    assert run(view, "a", "b", "c") == [None, None, "unknown"]
    [result] = asyncio.run(view.execute([{"id": "1", "name": "a"}]))
    assert result.text == "old"
    assert run(registry.view(EVERYTHING), "a", "b", "c") == [None, "unknown", None]


def test_a_running_batch_keeps_the_entries_it_started_with() -> None:
    registry = ToolRegistry()

    async def leave(args: Any, context: Any) -> dict[str, Any]:
        registry.unregister("b")
        return {"ok": True, "value": "left"}

    registry.register_all([made("a", execute=leave), made("b")])
    calls = [{"id": "1", "name": "a"}, {"id": "2", "name": "b"}]
    assert [item.ok for item in registry.execute_parallel_sync(calls)] == [True, True]
    assert "b" not in registry


def test_availability_is_asked_each_time_unless_it_is_frozen() -> None:
    available = [True]
    registry = ToolRegistry([made("a", is_available=lambda: available[0])])
    asked, frozen = (
        registry.view(EVERYTHING),
        registry.view(EVERYTHING, freeze_availability=True),
    )
    available[0] = False
    assert asked.definitions() == []
    assert names(frozen.definitions()) == ["a"]
    assert asked.fingerprint != frozen.fingerprint
    assert run(frozen, "a") == ["unavailable"]


def test_the_fingerprint_is_the_digest_of_the_canonical_json() -> None:
    registry = ToolRegistry([made("b"), made("a", description="Grüße")])
    canonical = (
        '[{"description":"Grüße","name":"a","parameters":{"type":"object"}},'
        '{"description":"The b.","name":"b","parameters":{"type":"object"}}]'
    )
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    assert registry.view(EVERYTHING).fingerprint == digest
    assert json.loads(canonical) == registry.to_definitions()[::-1]


def test_the_fingerprint_follows_what_is_shown_and_nothing_else() -> None:
    def one(**fields: Any) -> str:
        return ToolRegistry([made("a", **fields)]).view(EVERYTHING).fingerprint

    assert one(schema={"type": "object", "title": "x"}) == one(
        schema={"title": "x", "type": "object"}
    )
    assert one(timeout_seconds=5, toolset="x") == one()
    assert one(description="other") != one()
    two = ToolRegistry([made("a"), made("b")])
    assert two.view(Personality("p", toolset=["a"])).fingerprint == one()
    assert two.view(EVERYTHING).fingerprint != one()


@pytest.mark.parametrize("personality", [None, "p", {"id": "p"}])
def test_a_view_takes_a_personality(personality: Any) -> None:
    registry = ToolRegistry()
    for face in (registry.view, registry.check, lambda it: registry.explain("a", it)):
        with pytest.raises(ConfigError, match="`personality` must be a Personality, got"):
            face(personality)


def test_providers_get_read_only_dicts_by_name_within_segments() -> None:
    registry = ToolRegistry([made("mcp__s__a"), made("b"), made("a")])
    registry.register(made("c"), plugin_id="p")
    view = registry.view(Personality("p", mcp_servers=["s"], plugins=["p"]))
    assert names(view.definitions()) == ["mcp__s__a", "b", "a", "c"]
    shown = view.definitions("anthropic")
    assert names(shown) == ["a", "b", "c", "mcp__s__a"]
    assert names(view.definitions("anthropic", order="name")) == ["a", "b", "c", "mcp__s__a"]
    assert names(view.definitions("anthropic", order="registration")) == names(view.definitions())
    assert isinstance(shown[0], dict)
    with pytest.raises(TypeError, match="read-only"):
        shown[0]["evil"] = True
    with pytest.raises(TypeError, match="read-only"):
        shown[0]["input_schema"]["evil"] = True
    assert "evil" not in json.dumps(view.definitions("anthropic"))
