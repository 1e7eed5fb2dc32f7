"""Policies: filters of a batch, personalities, and `NO_TOOLS`."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, dataclass
from typing import Any

import pytest

from ethos_registry import (
    NO_TOOLS,
    ConfigError,
    Personality,
    Tool,
    ToolFilterOpts,
    ToolRegistry,
)
from ethos_registry.capabilities import FsReach, NetworkPolicy

VALUES = [
    ToolFilterOpts(["a"], ["b"], {"s": ["x"]}, ["c"]),
    NetworkPolicy(["a"], ["b"], True),
    FsReach(["/a"], ["/b"]),
    Personality("p", ["t"], ["s"], ["g"], ["e"], FsReach(["/a"]), NetworkPolicy(["h"])),
]
TWINS = [copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))]


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_no_tools_stays_itself_in_every_copy(protocol: int) -> None:
    assert pickle.loads(pickle.dumps(NO_TOOLS, protocol)) is NO_TOOLS
    [inside] = pickle.loads(pickle.dumps([NO_TOOLS], protocol))
    assert inside is NO_TOOLS


def test_no_tools_is_itself_when_copied_and_says_its_name() -> None:
    assert copy.copy(NO_TOOLS) is copy.deepcopy(NO_TOOLS) is NO_TOOLS
    assert copy.deepcopy({"allowed": NO_TOOLS})["allowed"] is NO_TOOLS
    assert repr(NO_TOOLS) == "NO_TOOLS"
    assert len(NO_TOOLS) == 0


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("twin", TWINS)
def test_copies_are_equal_hashable_and_immutable(value: Any, twin: Any) -> None:
    made = twin(value)
    assert made == value
    assert hash(made) == hash(value)
    assert made.to_wire() == value.to_wire()
    name = next(iter(value.__dataclass_fields__))
    with pytest.raises(FrozenInstanceError):
        setattr(made, name, None)


@pytest.mark.parametrize("twin", TWINS)
def test_the_tools_of_servers_are_read_only_in_copies_too(twin: Any) -> None:
    filters = twin(ToolFilterOpts(allowed_mcp_tools={"s": ["x"]}))
    with pytest.raises(TypeError, match="read-only"):
        filters.allowed_mcp_tools["s"] = ("y",)


def test_fields_that_a_subclass_adds_stay_off_the_wire() -> None:
    @dataclass(frozen=True)
    class Team(Personality):
        owner: str = ""

    wire = Team("reader", exclude=["rm"], owner="ops").to_wire()
    assert Personality.from_wire(wire) == Personality("reader", exclude=["rm"])


def test_a_filter_that_was_changed_by_force_decides_for_no_other() -> None:
    registry = ToolRegistry()
    for name in ("mcp__s__secret", "mcp__s__public"):
        tool = Tool(name=name, description="", schema={"type": "object"}, execute=print)
        registry.register(tool, mcp_server="s")
    changed = ToolFilterOpts(allowed_mcp_tools={"s": ["secret"]})
    registry.to_definitions(filter_opts=changed)
    dict.__setitem__(changed.allowed_mcp_tools, "s", ("public",))  # type: ignore[index,arg-type]
    other = ToolFilterOpts(allowed_mcp_tools={"s": ["public"]})
    [shown] = registry.to_definitions(filter_opts=other)
    assert shown["name"] == "mcp__s__public"


def test_lists_are_copied() -> None:
    names = ["a"]
    filters = ToolFilterOpts(names, names, {"s": names}, names)
    personality = Personality("p", names, names, names, names)
    names.append("b")
    assert filters == ToolFilterOpts(["a"], ["a"], {"s": ["a"]}, ["a"])
    assert personality == Personality("p", ["a"], ["a"], ["a"], ["a"])


def test_equal_policies_are_equal_whatever_the_lists_are() -> None:
    assert ToolFilterOpts(["a"]) == ToolFilterOpts(("a",)) == ToolFilterOpts({"a"})
    assert ToolFilterOpts() != ToolFilterOpts(allowed_plugins=[])


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"allowed_plugins": "p"}, "`allowed_plugins` must be a list of strings: 'p'"),
        ({"allowed_mcp_servers": [None]}, r"`allowed_mcp_servers`.*\[None\]"),
        ({"exclude_tools": 5}, "`exclude_tools`.*5"),
        ({"allowed_mcp_tools": ["s"]}, "`allowed_mcp_tools` must map servers to tool names"),
        ({"allowed_mcp_tools": {5: []}}, "server in allowed_mcp_tools"),
        ({"allowed_mcp_tools": {"s": "x"}}, r"`allowed_mcp_tools\['s'\]`.*'x'"),
    ],
)
def test_filters_of_the_wrong_kind_name_field_and_value(
    fields: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        ToolFilterOpts(**fields)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"id": ""}, "`id` of a personality must not be empty"),
        ({"id": None}, "`id` must be a string: None"),
        ({"id": "p", "toolset": "read_file"}, "`toolset` must be a list of strings: 'read_file'"),
        ({"id": "p", "plugins": {"a": 1}}, "`plugins` must be a list of strings"),
        ({"id": "p", "fs_reach": ["/a"]}, "`fs_reach` must be a FsReach, got list"),
        ({"id": "p", "network": "all"}, "`network` must be a NetworkPolicy, got str"),
        ({"id": "p", "network": {"allow_private_urls": 1}}, "`network.allow_private_urls`.*1"),
        ({"id": "p", "fs_reach": {"read": "/a"}}, "`fs_reach.read`.*'/a'"),
    ],
)
def test_personalities_of_the_wrong_kind_name_field_and_value(
    fields: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        Personality(**fields)


def test_a_personality_is_strict_where_nothing_is_named() -> None:
    bare = Personality("p")
    assert (bare.mcp_servers, bare.plugins, bare.exclude) == ((), (), ())
    assert bare.tool_names is None
    assert Personality("p", toolset=[]).tool_names == ()
    assert Personality("p", toolset=["a", "toolset:b"]).groups == ("b",)


def test_keys_without_a_value_mean_none() -> None:
    assert Personality.from_wire({"id": "p", "plugins": None, "mcp_servers": None}) == Personality(
        "p"
    )


@pytest.mark.parametrize("field", ["allow", "deny"])
@pytest.mark.parametrize(
    "pattern",
    [
        "",
        "https://example.com",
        "example.com:443",
        "example.com/path",
        "10.0.0.0/8",
        "a.*.com",
        "*example.com",
        ".example.com",
        "user@example.com",
        "[2001:db8::1]",
    ],
)
def test_a_pattern_that_matches_no_host_is_refused(field, pattern):
    """A policy that denies it would deny nothing."""
    with pytest.raises(ConfigError, match=f"network.{field}"):
        NetworkPolicy(**{field: [pattern]})


def test_hosts_and_addresses_are_patterns():
    hosts = ("*", "*.example.com", "bücher.example", "10.0.0.1", "2001:db8::1", "0x7f.1")
    assert NetworkPolicy(allow=hosts).allow == hosts


@pytest.mark.parametrize("field", ["read", "write"])
@pytest.mark.parametrize("path", ["", " ", "*", "/srv/*", "$HOME/x", "/srv/${NAME}", "/a\0b"])
def test_a_reach_has_no_empty_paths_and_no_patterns(field, path):
    """An empty path would be the working directory."""
    with pytest.raises(ConfigError, match=f"fs_reach.{field}"):
        FsReach(**{field: [path]})
