"""Every kind of copy of a registry keeps tags, order and flags: the same gates say the same."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ethos_registry import NO_TOOLS, Personality, ToolFilterOpts, ToolRegistry
from registry_tools import made, names

TOOLS = st.lists(
    st.fixed_dictionaries(
        {
            "name": st.sampled_from(["a", "b", "c", "mcp__git__log", "mcp__svn__log"]),
            "toolset": st.sampled_from([None, "file", "web"]),
            "always_include": st.booleans(),
            "available": st.booleans(),
            "plugin_id": st.sampled_from([None, "", "p"]),
            "mcp_server": st.sampled_from([None, None, "git", "other"]),
            "owner": st.sampled_from([None, "me"]),
            "hidden": st.booleans(),
        }
    ),
    unique_by=lambda fields: fields["name"],
    max_size=5,
)

COPIES = {
    "merge": lambda registry: ToolRegistry.merge([registry]),
    "merge with nothing": lambda registry: ToolRegistry.merge([ToolRegistry(), registry]),
    "turn": ToolRegistry.for_turn,
    "turn of a turn": lambda registry: registry.for_turn().for_turn(),
    "turn after a change": lambda registry: changed_back(registry.for_turn()),
    "merged turn": lambda registry: ToolRegistry.merge([registry.for_turn()]),
    "frozen": ToolRegistry.freeze,
    "frozen turn": lambda registry: changed_back(registry.for_turn()).freeze(),
    "merged from frozen": lambda registry: ToolRegistry.merge([registry.freeze()]),
    "copy": copy.copy,
    "deep copy": copy.deepcopy,
    "pickled": lambda registry: pickle.loads(pickle.dumps(registry.freeze())),
}
POLICIES: list[Any] = [
    (None, None),
    (NO_TOOLS, None),
    (["a", "mcp__git__log"], None),
    (None, ToolFilterOpts(allowed_mcp_servers=["git"], allowed_plugins=[""])),
    (["b"], ToolFilterOpts(allowed_plugins=["p"], exclude_tools=["c"])),
    (None, ToolFilterOpts(allowed_mcp_tools={"git": ["log"], "other": []})),
]
PERSONALITIES = [
    Personality("all", mcp_servers=["git", "svn", "other"], plugins=["", "p"]),
    Personality("few", toolset=["toolset:file", "b"], plugins=["p"], exclude=["a"]),
    Personality("typing error", toolset=["toolset:fil", "d"], mcp_servers=["gti"]),
]


def yes() -> bool:
    return True


def no() -> bool:
    return False


def changed_back(registry: ToolRegistry) -> ToolRegistry:
    """A turn in which every entry was touched and is as it was."""
    registry.register(made("extra"))
    for name in registry.list():
        was_hidden = registry.registration(name).hidden
        registry.hide(name)
        if not was_hidden:
            registry.unhide(name)
    registry.unregister("extra")
    return registry


def filled(specs: list[dict[str, Any]]) -> ToolRegistry:
    registry = ToolRegistry([made("gone")])
    for spec in specs:
        tool = made(
            spec["name"],
            toolset=spec["toolset"],
            always_include=spec["always_include"],
            is_available=yes if spec["available"] else no,
        )
        registry.register(
            tool,
            plugin_id=spec["plugin_id"],
            mcp_server=spec["mcp_server"],
            owner=spec["owner"],
        )
    registry.unregister("gone")
    registry.set_hidden([spec["name"] for spec in specs if spec["hidden"]])
    return registry


def said_by(registry: Any) -> list[Any]:
    listed = [registry.registration(name) for name in registry.list()]
    return [
        names(registry.all()),
        [
            (one.owner, one.plugin_id, one.mcp_server, one.mcp_tool, one.hidden, one.segment)
            for one in listed
        ],
        [one.registered_at_seconds for one in listed],
        [registry.to_definitions(*policy) for policy in POLICIES],
        [names(registry.get_for_toolset(group)) for group in ("file", "web")],
        [
            registry.view(personality, allow_unmatched=True).fingerprint
            for personality in PERSONALITIES
        ],
        [
            registry.explain(name, personality).outcome
            for personality in PERSONALITIES
            for name in (*registry.list(), "gone")
        ],
        [registry.check(personality) for personality in PERSONALITIES],
    ]


@pytest.mark.parametrize("kind", COPIES)
@settings(max_examples=max(settings().max_examples // 10, 10))
@given(specs=TOOLS)
def test_a_copy_says_what_its_origin_says(kind: str, specs: list[dict[str, Any]]) -> None:
    registry = filled(specs)
    before = said_by(registry)
    assert said_by(COPIES[kind](registry)) == before
    assert said_by(registry) == before


def test_a_copy_that_lost_a_tag_would_be_seen() -> None:
    registry = ToolRegistry()
    registry.register(made("a"), plugin_id="p")
    assert said_by(ToolRegistry(registry.all())) != said_by(registry)


def bytes_of_a_turn(count: int) -> int:
    """What Python allocates for one turn over many tools, with a change and a look."""
    origin = made("t0")
    base = ToolRegistry(origin.replace(name=f"t{number}") for number in range(count))
    base.for_turn()
    tracemalloc.start()
    try:
        turn = base.for_turn()
        turn.register(origin.replace(name="new"))
        turn.hide("t1")
        assert turn.get("new") is not None
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_what_a_turn_takes_does_not_follow_the_number_of_tools() -> None:
    assert bytes_of_a_turn(5_000) < bytes_of_a_turn(10) + 4_096


def test_a_thousand_live_turns_over_ten_thousand_tools_take_at_most_20_mib() -> None:
    """What the whole process grows by (contract 5): Python's objects and the native ones."""
    program = Path(__file__).parents[1] / "turns_memory.py"
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, check=True)
    assert int(done.stdout) <= 20 * 2**20


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_what_is_done_to_a_copy_is_not_done_to_the_registry(copied: Any) -> None:
    registry = ToolRegistry([made("a")])
    other = copied(registry)
    other.register(made("b"))
    other.unregister("a")
    registry.register(made("c"))
    assert (registry.list(), other.list()) == (["a", "c"], ["b"])


def test_a_registry_that_can_change_says_how_it_is_sent() -> None:
    with pytest.raises(TypeError, match=r"pickle `registry\.freeze\(\)`"):
        pickle.dumps(ToolRegistry())
