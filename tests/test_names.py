"""Names of tools, and the MCP server and tool that they stand for."""

from __future__ import annotations

import enum
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import oracle_table as oracle
from ethos_registry import _core

NAME_LIKE = st.text(st.sampled_from("aZ09_-\n é\ud800\x00"), max_size=70)
MCP_LIKE = st.builds("mcp__{}".format, st.text(st.sampled_from("a_-"), max_size=12))


def split_of(module: object, name: str, server: str | None) -> object:
    try:
        return module.split_mcp_name(name, server)
    except ValueError:
        return ValueError


@given(st.one_of(NAME_LIKE, st.text(), st.from_regex(r"[a-zA-Z][a-zA-Z0-9_-]{0,65}\n?")))
@example("rm\n")
@example("")
@example("a" * 64)
@example("a" * 65)
@example("\u212a")  # the Kelvin sign, which folds to k
def test_name_rule_equals_its_twin(name):
    assert _core.is_tool_name(name) is oracle.is_tool_name(name)


@pytest.mark.parametrize("name", ["a", "Z9", "read_file", "a-b", "mcp__a__b", "x" * 64])
def test_tool_names_are_accepted(name):
    assert _core.is_tool_name(name)


@pytest.mark.parametrize(
    "name",
    ["", "rm\n", "\nrm", " rm", "rm ", "1a", "_a", "-a", "a.b", "a b", "é", "x" * 65, "\ud800"],
)
def test_other_names_are_refused(name):
    assert not _core.is_tool_name(name)


@pytest.mark.parametrize("name", [None, 1, b"rm", ["rm"]])
def test_name_rule_takes_text_only(name):
    with pytest.raises(TypeError):
        _core.is_tool_name(name)


def test_long_texts_are_not_encoded():
    text = "é" * 100_000
    size = sys.getsizeof(text)
    table = _core.ToolTable()
    assert not _core.is_tool_name(text)
    assert table.find(text) is None
    assert table.admit(None, [text]) == [_core.VERDICT_UNKNOWN]
    assert table.remove(text) is None
    assert not table.set_hidden(text, True)
    assert not table.is_hidden(text)
    assert sys.getsizeof(text) == size


def test_the_text_of_a_subclass_counts_not_its_methods():
    class Loud(str):
        __slots__ = ()

        def __len__(self):
            raise RuntimeError

        def __hash__(self):
            raise RuntimeError

        def __eq__(self, other):
            raise RuntimeError

    class Name(enum.StrEnum):
        READ = "read"

    table = _core.ToolTable()
    slot = table.insert("read")
    assert table.find(Name.READ) == slot
    assert table.find(Loud("read")) == slot
    assert table.find(Loud("r" * 65)) is None
    assert _core.is_tool_name(Loud("read"))


@given(st.one_of(MCP_LIKE, NAME_LIKE.filter(str.isascii)), st.none() | st.text("a_", max_size=4))
@example("mcp__a__b", None)
@example("mcp__a__b__c", "a__b")
@example("mcp__a__", "a")
@example("a", "")
def test_split_equals_its_twin(name, server):
    assert split_of(_core, name, server) == split_of(oracle, name, server)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("mcp__a__b", ("a", "b")),
        ("mcp___a__b", ("_a", "b")),
        ("mcp__a_b__c_d", ("a_b", "c_d")),
        ("MCP__a__b", None),
        ("mcp_a__b", None),
        ("mcp", None),
        ("mcp_x", None),
    ],
)
def test_names_of_one_reading_are_split(name, expected):
    assert _core.split_mcp_name(name) == expected


@pytest.mark.parametrize("name", ["mcp__", "mcp____", "mcp____x", "mcp__solo", "mcp__a__"])
def test_names_without_a_reading_are_refused(name):
    with pytest.raises(ValueError, match=r"^MCP tool `\w+` does not name a server and a tool; "):
        _core.split_mcp_name(name)


@pytest.mark.parametrize(
    ("name", "readings"),
    [
        ("mcp__a___b", "2 ways: server `a` with tool `_b` or server `a_` with tool `b`; pass"),
        (
            "mcp__my__srv__tool",
            "2 ways: server `my` with tool `srv__tool` or server `my__srv` with tool `tool`; pass",
        ),
        ("mcp__a__b__c__d", "3 ways: server `a` .* or server `a__b` .*, among others; pass"),
    ],
)
def test_ambiguous_names_are_refused_with_their_readings(name, readings):
    with pytest.raises(ValueError, match=readings) as caught:
        _core.split_mcp_name(name)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "tool"),
    [
        ("mcp__my__srv__tool", "tool"),
        ("mcp__my__srv__a__b", "a__b"),
        ("mcp__my__srv__", "mcp__my__srv__"),
        ("mcp__other__tool", "mcp__other__tool"),
        ("search", "search"),
    ],
)
def test_a_given_server_decides_the_cut(name, tool):
    assert _core.split_mcp_name(name, "my__srv") == ("my__srv", tool)


def test_an_empty_server_is_refused():
    with pytest.raises(ValueError, match="`mcp_server` of tool `search` is empty"):
        _core.split_mcp_name("search", "")


def test_a_fault_in_the_twins_is_seen(monkeypatch):
    monkeypatch.setattr(oracle, "is_tool_name", lambda name: name != "")
    with pytest.raises(AssertionError):
        test_name_rule_equals_its_twin()
    monkeypatch.setattr(oracle, "split_mcp_name", lambda name, server=None: None)
    with pytest.raises(AssertionError):
        test_split_equals_its_twin()
