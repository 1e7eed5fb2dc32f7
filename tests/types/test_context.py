"""The context of a tool: read-only facts, each with a default."""

from __future__ import annotations

import copy
import os
import pickle
from pathlib import Path
from typing import Any

import pytest

from ethos_registry import ConfigError, ToolContext
from ethos_registry.capabilities import NetworkPolicy
from ethos_registry.types import AbortController, ReadMtime, ToolProgressEvent
from ethos_registry.types._context import CONTEXT_FIELDS


def test_every_field_has_a_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    context = ToolContext()
    values = {name: getattr(context, name) for name in CONTEXT_FIELDS}
    assert values.pop("abort_signal").aborted is False
    assert values.pop("emit")(ToolProgressEvent("m")) is None
    assert values.pop("working_dir") == os.getcwd() == os.path.realpath(tmp_path)
    assert {name: value for name, value in values.items() if value is not None} == {
        "session_id": "",
        "session_key": "",
        "platform": "cli",
        "current_turn": 1,
        "message_count": 0,
        "result_budget_chars": 80_000,
        "dry_run": False,
        "tool_call_id": "",
    }


@pytest.mark.parametrize("name", CONTEXT_FIELDS)
def test_fields_cannot_be_set(name: str) -> None:
    context = ToolContext()
    before = getattr(context, name)
    with pytest.raises(AttributeError):
        setattr(context, name, before)
    with pytest.raises(AttributeError):
        context.other = 1


def test_a_path_is_a_working_directory() -> None:
    assert ToolContext(working_dir=Path("a") / "b").working_dir == os.path.join("a", "b")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"session_id": 5}, "`session_id` must be a string: 5"),
        ({"platform": None}, "`platform` must be a string: None"),
        ({"working_dir": 5}, "`working_dir` must be a string: 5"),
        ({"working_dir": b"/w"}, "`working_dir` must be a string: b'/w'"),
        ({"agent_id": 5}, "`agent_id` must be a string: 5"),
        ({"memory_scope": "all"}, "`memory_scope` must be one of 'global', 'per-personality'"),
        ({"current_turn": -1}, "`current_turn` must be a whole number >= 0: -1"),
        ({"current_turn": 1.0}, "`current_turn`.*1.0"),
        ({"message_count": True}, "`message_count`.*True"),
        ({"result_budget_chars": -1}, "`result_budget_chars` must be a finite number >= 0: -1"),
        ({"result_budget_chars": float("nan")}, "`result_budget_chars`.*nan"),
        ({"result_budget_chars": "80000"}, "`result_budget_chars`.*'80000'"),
        ({"result_budget_chars": 10**400}, "`result_budget_chars`"),
        ({"dry_run": 1}, "`dry_run` must be True or False: 1"),
        ({"abort_signal": AbortController()}, "`abort_signal` must be an AbortSignal, got Abort"),
        ({"emit": "log"}, "`emit` must be callable, got str"),
        ({"network_policy": {}}, "`network_policy` must be a NetworkPolicy, got dict"),
        ({"read_mtimes": [1]}, "`read_mtimes` must be a dict of ReadMtime, got list"),
        ({"tool_call_id": None}, "`tool_call_id` must be a string: None"),
    ],
)
def test_wrong_kinds_name_field_and_value(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message) as refusal:
        ToolContext(**fields)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("fields", [{"mtime_ms": "1"}, {"read_at_turn": 1.5}, {"stamp": 5}])
def test_the_time_of_a_read_is_a_number(fields: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=next(iter(fields))):
        ReadMtime(**{"mtime_ms": 1, "read_at_turn": 1} | fields)


def test_times_before_the_epoch_are_times() -> None:
    assert ReadMtime(-5.5, 1).mtime_ms == -5.5


def test_a_replaced_context_differs_in_the_named_fields_only() -> None:
    context = ToolContext(session_id="s", kv_store=object(), network_policy=NetworkPolicy())
    changed = context.replace(current_turn=2)
    assert changed.current_turn == 2
    for name in CONTEXT_FIELDS:
        if name != "current_turn":
            assert getattr(changed, name) is getattr(context, name)
    assert changed.replace(current_turn=1) == context
    assert changed != context


def test_unknown_fields_are_refused() -> None:
    with pytest.raises(ConfigError, match="no field 'sudo'; it has session_id, "):
        ToolContext().replace(sudo=True)
    with pytest.raises(TypeError, match="sudo"):
        ToolContext(sudo=True)


def test_contexts_are_equal_to_contexts_only_and_have_no_hash() -> None:
    assert ToolContext() != "context"
    with pytest.raises(TypeError, match="unhashable"):
        hash(ToolContext())


def test_the_repr_shows_what_differs_and_no_live_object() -> None:
    shown = repr(ToolContext(working_dir="/w", platform="slack", kv_store=object()))
    assert shown == "ToolContext(platform='slack', working_dir='/w')"


def test_report_emits_an_event_with_its_details() -> None:
    events: list[ToolProgressEvent] = []
    ToolContext(emit=events.append).report("half", percent=50, audience="user")
    assert events == [ToolProgressEvent("half", percent=50, audience="user")]


def test_the_map_of_reads_is_the_callers_own() -> None:
    reads: dict[str, ReadMtime] = {}
    context = ToolContext(read_mtimes=reads)
    context.read_mtimes["/a"] = ReadMtime(1, 1)
    assert reads == {"/a": ReadMtime(1, 1)}


def test_contexts_of_the_same_facts_are_equal() -> None:
    assert ToolContext(platform="slack") == ToolContext(platform="slack")
    assert ToolContext(platform="slack") != ToolContext()
    controller = AbortController()
    signalled = ToolContext(abort_signal=controller.signal)
    assert signalled == ToolContext(abort_signal=controller.signal) != ToolContext()


def test_a_context_of_facts_alone_survives_copies_and_pickling() -> None:
    context = ToolContext(
        session_id="s", read_mtimes={"/a": ReadMtime(1, 2)}, network_policy=NetworkPolicy(["a"])
    )
    for twin in (
        copy.copy(context),
        copy.deepcopy(context),
        pickle.loads(pickle.dumps(context)),
    ):
        assert twin == context


def test_a_copied_context_is_aborted_with_its_turn() -> None:
    controller = AbortController()
    twin = copy.deepcopy(ToolContext(abort_signal=controller.signal))
    controller.abort()
    assert twin.abort_signal.aborted
