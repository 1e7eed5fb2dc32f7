"""Gates: one verdict for what may be seen and what may run."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from types import MappingProxyType

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import oracle_table as oracle
from ethos_registry import _core
from stopwatch import assert_ratio_below
from table_cases import (
    DATA,
    GATES,
    REFUSED_NAMES,
    SOUND_NAMES,
    UNUSUAL_OBJECTS,
    native_gate,
    outcome,
)

UNKNOWN = _core.VERDICT_UNKNOWN
EXCLUDED = _core.VERDICT_EXCLUDED
TOOLSET = _core.VERDICT_TOOLSET
MCP_SERVER = _core.VERDICT_MCP_SERVER
MCP_TOOL = _core.VERDICT_MCP_TOOL
PLUGIN = _core.VERDICT_PLUGIN
NOT_GRANTED = _core.VERDICT_NOT_GRANTED

TOOLS = {
    "read": {"toolset": "files"},
    "fetch": {"toolset": "web"},
    "now": {"always_include": True},
    "plain": {},
    "mcp__git__log": {},
    "mcp__git__push": {"toolset": "files", "always_include": True},
    "mcp__my__srv__log": {"mcp_server": "my__srv"},
    "search": {"mcp_server": "constructor"},
    "draw": {"plugin_id": "p", "toolset": "files"},
    "blank": {"plugin_id": ""},
    "mcp__git__both": {"plugin_id": "p"},
}
ALL = list(TOOLS)


def native_table(tools=None):
    table = _core.ToolTable()
    for name, data in (TOOLS if tools is None else tools).items():
        table.insert(name, **data)
    return table


def permitted(gate):
    """The names that the gate shows; what it admits is the same."""
    table = native_table()
    admitted = [slot for slot in table.admit(gate, ALL) if slot >= 0]
    assert table.select(gate) == admitted
    return [ALL[slot] for slot in admitted]


def verdicts(gate, *names):
    return native_table().admit(gate, list(names))


TABLES = st.lists(
    st.tuples(st.sampled_from(SOUND_NAMES), DATA, st.booleans()),
    max_size=12,
    unique_by=lambda tool: tool[0],
)


def built(tools):
    """A native table and its twin of the tools that are accepted, the flagged ones hidden."""
    native, twin = _core.ToolTable(), oracle.Table()
    for name, data, hidden in tools:
        slot = outcome(lambda name=name, data=data: native.insert(name, **asdict(data)))
        assert slot == outcome(lambda name=name, data=data: twin.insert(name, data))
        native.set_hidden(name, hidden)
        twin.set_hidden(name, hidden)
    return native, twin


def assert_gate_equals_its_twin(tools, gate):
    native, twin = built(tools)
    names = [*SOUND_NAMES, *REFUSED_NAMES, *UNUSUAL_OBJECTS]
    assert native.select(native_gate(gate)) == twin.select(gate)
    assert native.admit(native_gate(gate), names) == twin.admit(gate, names)
    if gate is not None:
        assert native_gate(gate).unmatched(native) == gate.unmatched(twin)


test_gate_equals_its_twin = given(TABLES, GATES)(assert_gate_equals_its_twin)


@given(TABLES, GATES)
def test_what_is_shown_is_what_runs_without_the_hidden(tools, gate):
    native, _ = built(tools)
    names = [name for name in SOUND_NAMES if native.find(name) is not None]
    slots = native.admit(native_gate(gate), names)
    shown = {
        slot
        for name, slot in zip(names, slots, strict=True)
        if slot >= 0 and not native.is_hidden(name)
    }
    selected = native.select(native_gate(gate))
    assert set(selected) == shown
    assert selected == [slot for slot in native.slots() if slot in shown]


@pytest.mark.slow
def test_the_property_reaches_every_verdict():
    seen = Counter()

    @settings(max_examples=max(settings.default.max_examples, 1_000))
    @given(TABLES, GATES)
    def collect(tools, gate):
        native, _ = built(tools)
        seen.update(min(slot, 0) for slot in native.admit(native_gate(gate), [*SOUND_NAMES]))

    collect()
    assert set(seen) == {0, UNKNOWN, EXCLUDED, TOOLSET, MCP_SERVER, MCP_TOOL, PLUGIN, NOT_GRANTED}


@pytest.mark.parametrize(
    "fault",
    [
        lambda gate, entry: None,
        lambda gate, entry: oracle.EXCLUDED if entry.name in (gate.exclude_tools or ()) else None,
    ],
)
def test_a_fault_in_the_twin_is_seen(monkeypatch, fault):
    monkeypatch.setattr(oracle.Gate, "verdict_of", fault)
    compare = given(TABLES, GATES)(assert_gate_equals_its_twin)
    first_fault_only = settings(
        phases=[Phase.generate], report_multiple_bugs=False, database=None, max_examples=5_000
    )
    with pytest.raises(AssertionError):
        first_fault_only(compare)()


@pytest.mark.parametrize("gate", [None, _core.Gate()])
def test_no_list_is_no_gate(gate):
    assert permitted(gate) == ALL


def test_an_empty_list_of_tools_leaves_built_ins_that_are_always_included():
    others = ["mcp__git__log", "mcp__git__push", "mcp__my__srv__log", "search"]
    plugins = ["draw", "blank", "mcp__git__both"]
    assert permitted(_core.Gate(allowed_tools=[])) == ["now", *others, *plugins]


def test_names_and_groups_are_two_halves_of_one_gate():
    closed = {"allowed_mcp_servers": [], "allowed_plugins": []}
    assert permitted(_core.Gate(allowed_tools=["plain"], **closed)) == ["now", "plain"]
    assert permitted(_core.Gate(allowed_groups=["files"], **closed)) == ["read", "now"]
    both = _core.Gate(allowed_tools=["plain", "read"], allowed_groups=["files", "web"], **closed)
    assert permitted(both) == ["read", "fetch", "now", "plain"]


def test_naming_an_mcp_or_plugin_tool_in_the_toolset_does_nothing():
    gate = _core.Gate(
        allowed_tools=["draw", "mcp__git__log"], allowed_mcp_servers=[], allowed_plugins=[]
    )
    assert verdicts(gate, "draw", "mcp__git__log") == [PLUGIN, MCP_SERVER]


def test_always_include_passes_the_toolset_gate_alone():
    assert verdicts(_core.Gate(allowed_tools=[], exclude_tools=["now"]), "now") == [EXCLUDED]
    gate = _core.Gate(allowed_tools=[], allowed_mcp_servers=[])
    assert verdicts(gate, "now", "mcp__git__push") == [ALL.index("now"), MCP_SERVER]


@pytest.mark.parametrize("name", ["read", "now", "mcp__git__log", "draw", "mcp__git__both"])
def test_exclusion_is_stronger_than_everything(name):
    gate = _core.Gate(
        allowed_tools=ALL,
        allowed_groups=["files"],
        exclude_tools=[name],
        allowed_mcp_servers=["git"],
        allowed_mcp_tools={"git": ["log", "both"]},
        allowed_plugins=["p"],
    )
    assert verdicts(gate, name) == [EXCLUDED]
    assert name not in permitted(gate)


def test_servers_with_underscores_pass_by_their_own_name_only():
    tools = ("mcp__my__srv__log", "mcp__git__log")
    assert verdicts(_core.Gate(allowed_mcp_servers=["my__srv"]), *tools) == [6, MCP_SERVER]
    assert verdicts(_core.Gate(allowed_mcp_servers=["my"]), *tools) == [MCP_SERVER, MCP_SERVER]


def test_bare_names_narrow_the_servers_that_are_given():
    gate = _core.Gate(allowed_mcp_tools={"git": ["log"], "constructor": []})
    names = ("mcp__git__log", "mcp__git__push", "search", "mcp__my__srv__log")
    assert verdicts(gate, *names) == [4, MCP_TOOL, MCP_TOOL, 6]


def test_a_server_named_like_a_member_of_an_object_is_a_server():
    gate = _core.Gate(allowed_mcp_tools={"git": ["log"]}, allowed_mcp_servers=["constructor"])
    assert verdicts(gate, "search", "mcp__git__log") == [ALL.index("search"), MCP_SERVER]


def test_a_tool_of_server_and_plugin_passes_both_gates():
    name = "mcp__git__both"
    slot = ALL.index(name)
    for servers, plugins, verdict in [
        (["git"], ["p"], slot),
        (["git"], [], PLUGIN),
        ([], ["p"], MCP_SERVER),
        (None, ["p"], slot),
        (["git"], None, slot),
    ]:
        gate = _core.Gate(allowed_mcp_servers=servers, allowed_plugins=plugins)
        assert verdicts(gate, name) == [verdict]
        assert (name in permitted(gate)) is (verdict == slot)


def test_an_empty_plugin_id_is_a_tag():
    assert verdicts(_core.Gate(allowed_tools=[], allowed_plugins=["p"]), "blank") == [PLUGIN]
    gate = _core.Gate(allowed_tools=[], allowed_plugins=[""])
    assert verdicts(gate, "blank", "draw") == [ALL.index("blank"), PLUGIN]


def test_verdicts_come_in_the_order_of_the_gates():
    closed = _core.Gate(
        allowed_tools=[],
        exclude_tools=["plain"],
        allowed_mcp_servers=["git"],
        allowed_mcp_tools={"git": [], "my__srv": []},
        allowed_plugins=[],
    )
    names = ("none", "plain", "read", "mcp__my__srv__log", "mcp__git__both", "draw")
    assert verdicts(closed, *names) == [UNKNOWN, EXCLUDED, TOOLSET, MCP_SERVER, MCP_TOOL, PLUGIN]


def test_hidden_tools_are_admitted_and_not_selected():
    table = native_table()
    table.set_hidden("read", True)
    gate = _core.Gate(allowed_tools=["read", "plain"], allowed_mcp_servers=[], allowed_plugins=[])
    assert table.admit(gate, ["read"]) == [0]
    assert table.select(gate) == [ALL.index("now"), ALL.index("plain")]
    table.set_hidden("read", False)
    assert table.select(gate)[0] == 0


def test_a_gate_holds_copies_of_its_lists():
    names = ["read"]
    gate = _core.Gate(allowed_tools=names)
    names.append("plain")
    assert verdicts(gate, "plain") == [TOOLSET]


def test_sequences_and_mappings_of_any_kind_are_lists():
    gate = _core.Gate(
        allowed_tools=("read",), allowed_mcp_tools=MappingProxyType({"git": ("log",)})
    )
    assert verdicts(gate, "read", "plain", "mcp__git__push") == [0, TOOLSET, MCP_TOOL]


@pytest.mark.parametrize(
    ("lists", "message"),
    [
        ({"allowed_tools": "read"}, "expected a sequence of `str`, got `str`\n.*allowed_tools"),
        ({"allowed_tools": b""}, "got `bytes`"),
        ({"exclude_tools": 5}, "got `int`\n.*exclude_tools"),
        ({"allowed_plugins": [None]}, "expected `str` entries, got `NoneType`\n.*allowed_plugins"),
        ({"allowed_mcp_servers": {"git": 1}}, "got `dict`"),
        ({"allowed_groups": iter(())}, "allowed_groups"),
        ({"allowed_mcp_tools": ["git"]}, "expected a mapping .*, got `list`\n.*allowed_mcp_tools"),
        ({"allowed_mcp_tools": {"git": "log"}}, "got `str`\n.*allowed_mcp_tools"),
        ({"allowed_mcp_tools": {5: ["log"]}}, "expected `str` entries, got `int`"),
    ],
)
def test_wrong_types_raise_a_type_error(lists, message):
    with pytest.raises(TypeError, match=message):
        _core.Gate(**lists)


def test_entries_of_lone_surrogates_match_nothing():
    gate = _core.Gate(
        allowed_tools=["\ud800", "read"],
        exclude_tools=["\udfff"],
        allowed_mcp_tools={"\ud800": ["log"], "git": ["\ud800"]},
    )
    assert verdicts(gate, "read", "plain", "mcp__git__log") == [0, TOOLSET, MCP_TOOL]


def test_entries_without_a_match_are_reported_by_list():
    gate = _core.Gate(
        allowed_tools=["read", "raed", "draw", "abc"],
        allowed_groups=["files", "flies"],
        exclude_tools=["draw", "gone"],
        allowed_mcp_servers=["git", "gti"],
        allowed_mcp_tools={"git": ["log", "lgo"], "gti": [], "my": ["log"]},
        allowed_plugins=["", "p", "q"],
    )
    assert gate.unmatched(native_table()) == {
        "allowed_tools": ["abc", "draw", "raed"],
        "allowed_groups": ["flies"],
        "exclude_tools": ["gone"],
        "allowed_mcp_servers": ["gti"],
        "allowed_mcp_tools": ["git/lgo", "gti/", "my/log"],
        "allowed_plugins": ["q"],
    }
    assert _core.Gate(allowed_tools=["read"], allowed_plugins=[]).unmatched(native_table()) == {}


def many(count):
    """`count` tools: a tenth of a server, a tenth of a plugin, all in groups of twenty."""
    kinds = {0: {"mcp_server": "big"}, 1: {"plugin_id": "big"}}
    return native_table(
        {f"t{i}": {"toolset": f"g{i // 20}", **kinds.get(i % 10, {})} for i in range(count)}
    )


TWENTY = [f"t{i}" for i in range(2, 240) if i % 10 == 5][:20]
CLOSED = {"allowed_mcp_servers": [], "allowed_plugins": []}


@pytest.mark.parametrize(
    ("lists", "shown"),
    [
        ({"allowed_tools": TWENTY, **CLOSED}, 20),
        ({"allowed_groups": ["g1"], **CLOSED}, 16),
        ({"allowed_tools": [], "allowed_mcp_servers": ["small"], "allowed_plugins": []}, 0),
        (
            {
                "allowed_tools": TWENTY,
                **CLOSED,
                "allowed_mcp_servers": None,
                "allowed_mcp_tools": {"big": ["t10", "t20"]},
            },
            22,
        ),
    ],
)
def test_selecting_the_same_tools_costs_the_same_for_ten_times_as_many(lists, shown):
    gate = _core.Gate(**lists)
    small, large = many(1_000), many(10_000)
    assert len(large.select(gate)) == shown == len(small.select(gate))
    assert_ratio_below(3, lambda: large.select(gate), lambda: small.select(gate), 300)


def test_the_cost_of_selecting_grows_with_what_is_returned():
    table = many(10_000)
    few, lots = (
        _core.Gate(allowed_tools=[f"t{i}" for i in range(0, 10 * count, 10)], **CLOSED)
        for count in (100, 1_000)
    )
    assert_ratio_below(30, lambda: table.select(lots), lambda: table.select(few), 20, 200)
