"""The native tool table against an ordered dict."""

from __future__ import annotations

import enum
import threading
from dataclasses import asdict

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

import oracle_table as oracle
from ethos_registry import _core
from stopwatch import assert_ratio_below
from table_cases import (
    DATA,
    GATES,
    NAMES,
    SOUND_NAMES,
    TOOLSETS,
    UNUSUAL_OBJECTS,
    native_gate,
    outcome,
)

MAX_TABLES = 4


class TableMachine(RuleBasedStateMachine):
    """A family of tables and their snapshots; each native one equals its twin at all times."""

    def __init__(self):
        super().__init__()
        self.pairs = [(_core.ToolTable(), oracle.Table())]

    def pair(self, choice):
        return self.pairs[choice % len(self.pairs)]

    @rule(choice=st.integers(0, 11), name=NAMES, data=DATA)
    def insert(self, choice, name, data):
        native, twin = self.pair(choice)
        found = outcome(lambda: native.insert(name, **asdict(data)))
        assert found == outcome(lambda: twin.insert(name, data))

    @rule(choice=st.integers(0, 11), name=NAMES, data=DATA)
    def replace(self, choice, name, data):
        native, twin = self.pair(choice)
        found = outcome(lambda: native.replace(name, **asdict(data)))
        assert found == outcome(lambda: twin.replace(name, data))

    @rule(choice=st.integers(0, 11), name=NAMES)
    def remove(self, choice, name):
        native, twin = self.pair(choice)
        assert native.remove(name) == twin.remove(name)

    @rule(choice=st.integers(0, 11), name=NAMES, hidden=st.booleans())
    def set_hidden(self, choice, name, hidden):
        native, twin = self.pair(choice)
        assert native.set_hidden(name, hidden) is twin.set_hidden(name, hidden)

    @rule(choice=st.integers(0, 11))
    def snapshot(self, choice):
        native, twin = self.pair(choice)
        self.pairs = [*self.pairs, (native.snapshot(), twin.snapshot())][-MAX_TABLES:]

    @rule(choice=st.integers(0, 11))
    def branch(self, choice):
        native, twin = self.pair(choice)
        self.pairs = [*self.pairs, (native.branch(), twin.branch())][-MAX_TABLES:]

    @rule(choice=st.integers(0, 11), gate=GATES)
    def select(self, choice, gate):
        native, twin = self.pair(choice)
        assert native.select(native_gate(gate)) == twin.select(gate)
        if gate is not None:
            assert native_gate(gate).unmatched(native) == gate.unmatched(twin)

    @invariant()
    def tables_equal_their_twins(self):
        names = [*SOUND_NAMES, *UNUSUAL_OBJECTS]
        for native, twin in self.pairs:
            assert len(native) == len(twin.entries)
            assert native.slots() == twin.slots()
            assert native.hidden_slots() == twin.hidden_slots()
            assert native.select(None) == twin.select(None)
            assert native.admit(None, names) == twin.admit(None, names)
            assert [native.group(toolset) for toolset in TOOLSETS] == [
                twin.group(toolset) for toolset in TOOLSETS
            ]
            for name in SOUND_NAMES:
                assert native.is_hidden(name) is twin.is_hidden(name)
                assert native.find(name) == twin.find(name)


TestTableMachine = TableMachine.TestCase


def test_a_fault_in_the_twin_is_seen(monkeypatch):
    def remove_nothing(table, name):
        return None

    monkeypatch.setattr(oracle.Table, "remove", remove_nothing)
    with pytest.raises(AssertionError):
        run_state_machine_as_test(
            TableMachine,
            settings=settings(
                phases=[Phase.generate],
                report_multiple_bugs=False,
                database=None,
                max_examples=5_000,
            ),
        )


def filled(count, **data):
    table = _core.ToolTable()
    for number in range(count):
        table.insert(f"tool_{number}", **data)
    return table


def test_a_present_name_is_answered_with_none_and_keeps_its_data():
    table = filled(1, toolset="files")
    assert table.insert("tool_0", toolset="web") is None
    assert table.group("files") == [0]
    assert table.group("web") == []


def test_a_replaced_tool_keeps_slot_position_and_flag():
    table = filled(3, toolset="files")
    table.set_hidden("tool_1", True)
    assert table.replace("tool_1", plugin_id="p") == 1
    assert table.slots() == [0, 1, 2]
    assert table.is_hidden("tool_1")
    assert table.group("files") == [0, 2]
    assert table.replace("unknown") is None


def test_a_removed_tool_that_comes_back_is_last_and_shown():
    table = filled(3)
    table.set_hidden("tool_0", True)
    assert table.remove("tool_0") == 0
    assert table.remove("tool_0") is None
    assert table.insert("tool_0") == 0
    assert table.slots() == [1, 2, 0]
    assert table.select(None) == [1, 2, 0]


def test_the_slot_freed_last_is_given_out_first():
    table = filled(4)
    table.remove("tool_1")
    table.remove("tool_3")
    assert [table.insert(name) for name in "abc"] == [3, 1, 4]


@pytest.mark.parametrize("name", ["rm\n", "", "1st", "x" * 65, "é", "mcp__solo", "mcp__a___b"])
def test_a_refused_name_changes_nothing(name):
    table = filled(1)
    with pytest.raises(ValueError, match="tool"):
        table.insert(name)
    assert table.slots() == [0]
    assert table.insert("next") == 1


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"mcp_tool": "log"}, "without `mcp_server`"),
        ({"mcp_server": ""}, "`mcp_server` of tool `tool_0` is empty"),
        ({"mcp_server": "", "mcp_tool": "log"}, "`mcp_server` of tool `tool_0` is empty"),
        ({"mcp_server": "git", "mcp_tool": ""}, "`mcp_tool` of tool `tool_0` is empty"),
    ],
)
def test_refused_gate_data_changes_nothing(data, message):
    table = filled(1, toolset="files")
    with pytest.raises(ValueError, match=message):
        table.replace("tool_0", **data)
    assert table.group("files") == [0]


@pytest.mark.parametrize("name", UNUSUAL_OBJECTS)
def test_any_object_is_looked_up_without_an_error(name):
    table = filled(3)
    table.insert("read")
    assert table.find(name) is None
    assert table.admit(None, [name, "read"]) == [_core.VERDICT_UNKNOWN, 3]


def test_names_of_lone_surrogates_are_unknown_everywhere():
    table = filled(1)
    assert table.remove("\ud800") is None
    assert table.set_hidden("\ud800", True) is False
    assert table.is_hidden("\ud800") is False


def test_a_snapshot_and_its_origin_change_apart():
    origin = filled(3, toolset="files")
    snapshot = origin.snapshot()
    origin.remove("tool_0")
    origin.insert("new")
    snapshot.set_hidden("tool_2", True)
    snapshot.replace("tool_1", toolset="web")
    assert (origin.slots(), snapshot.slots()) == ([1, 2, 0], [0, 1, 2])
    assert (origin.find("tool_0"), snapshot.find("new")) == (None, None)
    assert (origin.select(None), snapshot.select(None)) == ([1, 2, 0], [0, 1])
    assert (origin.group("files"), snapshot.group("files")) == ([1, 2], [0, 2])


def test_a_snapshot_costs_the_same_for_any_number_of_tools():
    small, large = filled(10), filled(20_000)
    assert_ratio_below(10, large.snapshot, small.snapshot, 200)


def test_a_change_copies_only_while_a_snapshot_lives():
    table = filled(20_000)

    def change():
        table.replace("tool_7", toolset="files")

    def change_beside_a_snapshot():
        snapshot = table.snapshot()
        change()
        return snapshot

    assert_ratio_below(0.1, change, change_beside_a_snapshot, 50, 5)


def test_threads_share_a_table():
    table = filled(0)

    def work(thread):
        for number in range(200):
            table.insert(f"t{thread}_{number}")
            table.admit(None, [f"t{thread}_{number}"])
            table.snapshot().select(None)
            table.remove(f"t{thread}_{number}" if number % 2 else "unknown")

    threads = [threading.Thread(target=work, args=(thread,)) for thread in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(table) == 4 * 100
    assert len(set(table.slots())) == 4 * 100


def test_a_table_may_be_used_while_it_looks_at_names():
    table = filled(2)

    class Name(enum.StrEnum):
        FIRST = "tool_0"

        def __len__(self):
            table.remove("tool_1")
            return 6

    assert table.admit(None, [Name.FIRST, "tool_1"]) == [0, 1]
