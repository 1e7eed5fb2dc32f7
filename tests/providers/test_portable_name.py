"""Names of MCP tools: accepted by every provider, and never the same for two tools."""

import hashlib
import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ethos_registry import ConfigError, _core
from ethos_registry.providers import portable_name

SERVERS = st.text(min_size=1, max_size=40).filter(
    lambda name: "__" not in name and name[0] != "_" and name[-1] != "_"
)
TOOLS = st.text(min_size=1, max_size=80)


def digest(raw: str) -> str:
    return hashlib.sha256(raw.encode()).hexdigest()[:8]


def test_a_portable_name_stays_as_it_is() -> None:
    assert portable_name("linear", "list_issues") == "mcp__linear__list_issues"
    assert portable_name("a-b", "C9") == "mcp__a-b__C9"
    assert portable_name("s", "t" * 56) == "mcp__s__" + "t" * 56


def test_other_characters_become_underscores_and_a_digest_follows() -> None:
    raw = "mcp__linear__issues.list"
    assert portable_name("linear", "issues.list") == f"mcp__linear__issues_list_{digest(raw)}"


def test_a_name_of_65_characters_is_cut_to_64() -> None:
    name = portable_name("s", "t" * 57)
    assert name == ("mcp__s__" + "t" * 57)[:55] + "_" + digest("mcp__s__" + "t" * 57)
    assert len(name) == 64


def test_the_known_long_name_is_shortened() -> None:
    server, tool = "plugin_chrome-devtools-mcp_chrome-devtools", "performance_analyze_insight"
    name = portable_name(server, tool)
    assert len(name) == 64
    assert name.startswith("mcp__plugin_chrome-devtools-mcp_chrome-devtools__")


def test_foo_2_written_in_two_ways_stays_apart() -> None:
    assert portable_name("foo.2", "x") != portable_name("foo_2", "x")


@pytest.mark.parametrize("server", ["a__b", "_a", "a_", "_", "__"])
def test_a_server_that_splits_in_two_ways_is_refused(server: str) -> None:
    with pytest.raises(ConfigError, match="rename it"):
        portable_name(server, "x")


@pytest.mark.parametrize(("server", "tool"), [("", "x"), ("a", ""), (None, "x"), ("a", 3)])
def test_a_missing_part_is_refused(server: str, tool: str) -> None:
    with pytest.raises(ConfigError):
        portable_name(server, tool)


@given(SERVERS, TOOLS)
def test_every_name_is_a_tool_name(server: str, tool: str) -> None:
    name = portable_name(server, tool)
    assert _core.is_tool_name(name)
    assert name == portable_name(server, tool)


@given(SERVERS, TOOLS, SERVERS, TOOLS)
def test_different_tools_have_different_names(s1: str, t1: str, s2: str, t2: str) -> None:
    assume((s1, t1) != (s2, t2))
    assert portable_name(s1, t1) != portable_name(s2, t2)


@given(SERVERS, TOOLS)
def test_a_changed_name_ends_in_the_digest_of_the_raw_one(server: str, tool: str) -> None:
    raw = f"mcp__{server}__{tool}"
    name = portable_name(server, tool)
    if name != raw:
        assert re.fullmatch(r".*_[0-9a-f]{8}", name)
        assert name.endswith(digest(raw))
