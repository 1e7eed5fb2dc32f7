"""Copies of a turn's registry stay under its abort and its hooks; artifact tools end with it."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from artifact_tools import remaining
from ethos_registry import ConfigError, FrozenToolRegistry, ToolContext, ToolRegistry
from ethos_registry.artifacts import MemoryArtifactStore
from ethos_registry.registry import DispatchContext
from ethos_registry.tools import ArtifactReaders
from registry_tools import made

COPIES: dict[str, Any] = {
    "for_turn": lambda registry: registry.for_turn(),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "freeze": lambda registry: registry.freeze(),
    "merge": lambda registry: ToolRegistry.merge([ToolRegistry([made("other")]), registry]),
    "copy of a copy": lambda registry: copy.copy(registry.freeze().__copy__()),
    "merge of a copy": lambda registry: ToolRegistry.merge([registry.freeze(), ToolRegistry()]),
}
of_each_copy = pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES.keys())
CALL = {"id": "1", "name": "a"}


@of_each_copy
async def test_a_copy_of_a_turns_registry_is_under_the_turns_abort(copied: Any) -> None:
    context = DispatchContext()
    copy_of = copied(ToolRegistry([made("a")]).turn(context).registry)
    context.abort()
    [result] = await copy_of.execute_parallel([CALL])
    assert result.text == "Tool a was not started: the turn was aborted"


@of_each_copy
async def test_a_copy_of_a_turns_registry_is_under_the_turns_hooks(copied: Any) -> None:
    context, seen_events = DispatchContext(), []
    context.on_tool_start(lambda execution: seen_events.append(execution.tool_name))
    context.on_tool_end(lambda execution: seen_events.append(execution.is_error))
    copy_of = copied(ToolRegistry([made("a")]).turn(context).registry)
    await copy_of.execute_parallel([CALL])
    assert seen_events == ["a", False]


def test_what_would_escape_a_turn_is_refused() -> None:
    first = ToolRegistry([made("a")]).turn(DispatchContext())
    second = ToolRegistry([made("b")]).turn(DispatchContext())
    with pytest.raises(ConfigError, match="the registries of two turns cannot be merged"):
        ToolRegistry.merge([first.registry, second.registry])
    with pytest.raises(ConfigError, match="belongs to a turn that has not ended"):
        first.registry.turn(DispatchContext())
    with pytest.raises(TypeError, match="freeze the registry that the turn was made from"):
        pickle.dumps(first.registry.freeze())
    first.context.ack()
    assert first.registry.turn(DispatchContext()).registry.list() == ["a"]


def by_hand(tools: Any) -> list[Any]:
    """Every way in which somebody may put forged tools into a registry."""
    main = ToolRegistry([made("main")])
    plain = ToolRegistry(tools)
    other = ToolRegistry()
    other.register_all(tools)
    return [
        plain,
        FrozenToolRegistry(tools),
        other.for_turn(),
        plain.freeze(),
        ToolRegistry.merge([main, plain]),
        ToolRegistry.merge([main, tools]),
        ToolRegistry.merge([ToolRegistry.merge([main, tools]), ToolRegistry()]),
        ToolRegistry([tool.replace(description="mine") for tool in tools]),
    ]


@pytest.mark.parametrize("with_context", [True, False])
def test_artifact_tools_put_into_a_registry_by_hand_end_with_their_turn(with_context: bool) -> None:
    context, store = DispatchContext(), MemoryArtifactStore()
    readers = ArtifactReaders(store)
    artifact = remaining(store, "one\ntwo\n")
    store.bind_context(context)
    registries = by_hand(readers.forge_tools(context if with_context else None))
    call = {"id": "1", "name": "artifact_head", "args": {"artifact_id": artifact.id}}
    for registry in registries:
        assert registry.execute_parallel_sync([call])[0].text == "one\ntwo"
    context.ack()
    for registry in registries:
        assert not any(item["name"].startswith("artifact") for item in registry.to_definitions())
        [result] = registry.execute_parallel_sync([call])
        assert result.text == "Tool artifact_head is not currently available"


def test_merge_takes_lists_of_tools() -> None:
    main = ToolRegistry([made("main")])
    assert ToolRegistry.merge([main, []]).list() == ["main"]
    assert ToolRegistry.merge([main, iter([made("a")])]).list() == ["a", "main"]
    for wrong in (made("a"), "a", {"a": 1}, 5, [5]):
        with pytest.raises(ConfigError):
            ToolRegistry.merge([main, wrong])  # type: ignore[list-item]


def test_an_id_of_an_earlier_turn_answers_gone_and_is_never_met_again() -> None:
    ids = set()
    for _ in range(200):
        store = MemoryArtifactStore()
        ids |= {store.reserve() for _ in range(5)}
    assert len(ids) == 1_000
    assert max(map(len, ids)) <= 12
    store = MemoryArtifactStore()
    remaining(store, "text")
    registry = ToolRegistry(ArtifactReaders(store).forge_tools())
    call = {"id": "1", "name": "artifact_head", "args": {"artifact_id": min(ids)}}
    [result] = registry.execute_parallel_sync([call], ToolContext())
    assert result.text == (
        f"Error: no artifact with id {min(ids)} in this turn: it is gone; call the tool again for "
        "its output"
    )
    assert result.to_wire()["result"]["code"] == "not_available"
