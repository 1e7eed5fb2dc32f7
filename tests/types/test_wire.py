"""One full payload of each type, byte for byte in the spelling of the seeds.

The golden files hold compact JSON and one newline; every reader of the format can be held to them.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ethos_registry import (
    CallResult,
    ConfigError,
    Personality,
    ToolCall,
    ToolContext,
    ToolError,
    ToolFilterOpts,
    ToolRegistry,
    err,
    ok,
)
from ethos_registry.artifacts import MemoryArtifactStore
from ethos_registry.capabilities import NetworkPolicy, ToolCapabilities
from ethos_registry.transports import ToolExecuteRequest
from ethos_registry.types import (
    AbortController,
    Attachment,
    ReadMtime,
    ToolProgressEvent,
    result_from_wire,
)
from ethos_registry.types._context import CONTEXT_FIELDS, LIVE_FIELDS, WIRE_FIELDS

GOLDEN = Path(__file__).parents[1] / "golden"

READERS: dict[str, Callable[[Any], Any]] = {
    "tool_ok": result_from_wire,
    "tool_error": result_from_wire,
    "tool_progress_event": ToolProgressEvent.from_wire,
    "tool_context": ToolContext.from_wire,
    "tool_filter_opts": ToolFilterOpts.from_wire,
    "tool_capabilities": ToolCapabilities.from_wire,
    "network_policy": NetworkPolicy.from_wire,
    "personality": Personality.from_wire,
    "call_result": CallResult.from_wire,
    "tool_execute_request": ToolExecuteRequest.from_wire,
    "attachment": Attachment.from_wire,
}

CONTEXT = {
    "session_id": "s-1",
    "session_key": "cli:my-repo",
    "platform": "slack",
    "working_dir": "/srv/repo",
    "agent_id": "agent-7",
    "personality_id": "reader",
    "memory_scope": "per-personality",
    "memory_scope_id": "scope-1",
    "team_id": "team-1",
    "tenant_id": "tenant-1",
    "run_id": "run-1",
    "current_turn": 3,
    "message_count": 12,
    "result_budget_chars": 20_000,
    "read_mtimes": {"/srv/repo/a.txt": ReadMtime(1700000000123.5, 2)},
    "network_policy": NetworkPolicy(["api.example.com"], ["*.internal"], False),
    "dry_run": True,
    "tool_call_id": "call-1",
}

VALUES: dict[str, Any] = {
    "tool_ok": ok(
        "Grüße, 42 files", structured={"files": [{"n": 1}]}, cost_usd=0.25, durationMs=12
    ),
    "tool_error": err("mtime differs", "STALE_WRITE", conflictKey="/a", exit_code=1),
    "tool_progress_event": ToolProgressEvent("half way", "read_file", 50, "user"),
    "tool_context": ToolContext(**CONTEXT),
    "tool_filter_opts": ToolFilterOpts(["linear"], [], {"linear": ["list"]}, ["terminal"]),
    "tool_capabilities": ToolCapabilities(
        network={"allowedHosts": ["*.example.org"]},
        secrets=["stripe/*"],
        storage={"scope": "session", "kind": "kv"},
        fs_reach={"read": ["/data"], "write": []},
        process={"allowedBinaries": ["git"]},
        attachments={"kinds": "*"},
    ),
    "network_policy": NetworkPolicy(["api.example.com"], ["*.internal"], False),
    "personality": Personality(
        "reader",
        ["read_file", "toolset:web"],
        ["linear"],
        ["p1"],
        ["terminal"],
        {"read": ["/data"], "write": []},
        NetworkPolicy(["api.example.com"], [], True),
    ),
    "call_result": CallResult("call-1", "read_file", ok("text", cost_usd=1)),
    "tool_execute_request": ToolExecuteRequest(
        "call-1",
        "read_file",
        {"path": "a.txt"},
        ToolContext(**CONTEXT),
        (Attachment("a0", "image", "file:///cache/a0.png", {"name": "a0.png"}),),
    ),
    "attachment": Attachment("a0", "image", "file:///cache/a0.png", {"name": "a0.png"}),
}


def golden(name: str) -> bytes:
    return (GOLDEN / f"{name}.json").read_bytes()


def written(value: Any) -> bytes:
    text = json.dumps(value.to_wire(), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return f"{text}\n".encode()


@pytest.mark.parametrize("name", READERS)
def test_what_is_read_is_written_byte_for_byte(name: str) -> None:
    assert written(READERS[name](json.loads(golden(name)))) == golden(name)


@pytest.mark.parametrize("name", READERS)
def test_values_made_in_python_are_written_the_same(name: str) -> None:
    assert written(VALUES[name]) == golden(name)


def test_every_golden_file_is_read() -> None:
    assert {path.stem for path in GOLDEN.glob("*.json")} == READERS.keys() == VALUES.keys()


def test_the_context_on_the_wire_has_every_field_that_is_data() -> None:
    assert CONTEXT.keys() == set(WIRE_FIELDS)
    assert len(json.loads(golden("tool_context"))) == len(WIRE_FIELDS)
    assert set(CONTEXT_FIELDS) == {*WIRE_FIELDS, *LIVE_FIELDS}


@pytest.mark.parametrize(
    "name",
    [
        "tool_progress_event",
        "tool_context",
        "tool_filter_opts",
        "tool_capabilities",
        "network_policy",
        "personality",
        "call_result",
        "tool_execute_request",
    ],
)
def test_unknown_fields_are_refused_by_name(name: str) -> None:
    payload = json.loads(golden(name)) | {"sudo": True}
    with pytest.raises(ConfigError, match="has no field 'sudo'; it has ") as refusal:
        READERS[name](payload)
    assert refusal.value.context == {"field": "sudo", "value": True}


@pytest.mark.parametrize(
    ("outer", "payload"),
    [
        (ToolContext, {"networkPolicy": {"sudo": 1}}),
        (ToolContext, {"readMtimes": {"/a": {"mtimeMs": 1, "readAtTurn": 1, "sudo": 1}}}),
        (Personality, {"id": "p", "network": {"sudo": 1}}),
        (Personality, {"id": "p", "fs_reach": {"sudo": 1}}),
    ],
)
def test_unknown_fields_are_refused_inside_too(outer: Any, payload: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="has no field 'sudo'"):
        outer.from_wire(payload)


@pytest.mark.parametrize("name", ["tool_ok", "tool_error", "attachment"])
def test_unknown_fields_of_results_and_attachments_are_kept(name: str) -> None:
    payload = json.loads(golden(name)) | {"later": {"deep": [1, {"x": None}]}}
    value = READERS[name](payload)
    assert value.extra["later"] == {"deep": [1, {"x": None}]}
    assert value.to_wire() == payload


def test_an_extra_field_never_hides_a_field_of_the_result() -> None:
    assert ok("fine", ok=False).to_wire() == {"ok": True, "value": "fine"}
    assert err("bad", ok=True, value="fine").to_wire()["ok"] is False
    assert Attachment("a", "b", "c", {"url": "evil"}).to_wire()["url"] == "c"


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("payload", [None, 5, "text", [1], [["id", "x"]]])
def test_what_is_no_object_is_refused_on_one_line(name: str, payload: object) -> None:
    with pytest.raises(ConfigError, match="is a JSON object, got ") as refusal:
        READERS[name](payload)
    assert "\n" not in str(refusal.value)


REQUIRED = {
    "tool_ok": ["ok", "value"],
    "tool_error": ["ok", "error", "code"],
    "tool_progress_event": ["message"],
    "personality": ["id"],
    "call_result": ["toolCallId", "name", "result"],
    "tool_execute_request": ["toolCallId", "name", "args", "context"],
    "attachment": ["ref", "type", "url"],
}


@pytest.mark.parametrize(
    ("name", "field"), [(name, field) for name, fields in REQUIRED.items() for field in fields]
)
def test_a_missing_field_is_named(name: str, field: str) -> None:
    payload = json.loads(golden(name))
    del payload[field]
    with pytest.raises(ConfigError, match=f"`{field}[`:]"):
        READERS[name](payload)


def test_both_spellings_are_read_but_not_at_once() -> None:
    assert ToolFilterOpts.from_wire({"allowed_plugins": ["p"]}).allowed_plugins == ("p",)
    with pytest.raises(ConfigError, match="`allowed_plugins` twice"):
        ToolFilterOpts.from_wire({"allowed_plugins": [], "allowedPlugins": []})


def test_what_is_not_set_is_left_out() -> None:
    assert ToolFilterOpts().to_wire() == {}
    assert NetworkPolicy().to_wire() == {}
    assert ToolCapabilities().to_wire() == {}
    assert Personality("p").to_wire() == {"id": "p"}
    assert ok("x").to_wire() == {"ok": True, "value": "x"}
    assert ToolProgressEvent("m", "t").to_wire() == {
        "type": "progress",
        "toolName": "t",
        "message": "m",
    }
    assert list(ToolContext(working_dir="/w").to_wire()) == [
        "sessionId",
        "sessionKey",
        "platform",
        "workingDir",
        "currentTurn",
        "messageCount",
        "resultBudgetChars",
    ]


def test_empty_lists_are_not_left_out() -> None:
    assert ToolFilterOpts(allowed_plugins=[]).to_wire() == {"allowedPlugins": []}
    assert ToolCapabilities(secrets=[]).to_wire() == {"secrets": []}
    assert Personality("p", toolset=[]).to_wire() == {"id": "p", "toolset": []}


def test_the_reason_of_an_error_stays_off_the_wire() -> None:
    assert (
        "reason"
        not in CallResult("1", "t", ToolError("no", "not_available", "denied")).to_wire()["result"]
    )
    reported = result_from_wire(
        {"ok": False, "error": "e", "code": "not_available", "reason": "theirs"}
    )
    assert reported.reason is None
    assert reported.to_wire()["reason"] == "theirs"


def test_a_request_arrives_equal_when_live_objects_are_given_anew() -> None:
    controller = AbortController()
    live: dict[str, Any] = {name: object() for name in LIVE_FIELDS}
    live |= {
        "abort_signal": controller.signal,
        "emit": print,
        "artifact_store": MemoryArtifactStore(),
    }
    sent = ToolExecuteRequest(
        "call-1",
        "t",
        [1, {"a": None}],
        ToolContext(**CONTEXT, **live),
        VALUES["tool_execute_request"].attachments,
    )
    arrived = ToolExecuteRequest.from_wire(json.loads(written(sent)), **live)
    assert arrived == sent
    for name in CONTEXT_FIELDS:
        assert getattr(arrived.context, name) == getattr(sent.context, name), name
    assert arrived.context.abort_signal is controller.signal


def test_live_objects_do_not_travel() -> None:
    live: dict[str, Any] = {
        name: object() for name in LIVE_FIELDS if name not in ("abort_signal", "emit")
    }
    live["artifact_store"] = MemoryArtifactStore()
    context = ToolContext(**CONTEXT, **live)
    assert context.to_wire() == ToolContext(**CONTEXT).to_wire()
    for name in LIVE_FIELDS:
        with pytest.raises(ConfigError, match="has no field"):
            ToolContext.from_wire({name: 1})


def test_only_live_objects_are_given_anew() -> None:
    with pytest.raises(ConfigError, match="no live field 'session_id'"):
        ToolContext.from_wire({}, session_id="other")


@pytest.mark.parametrize(
    ("payload", "message"),
    [
        ({"readMtimes": [1]}, "`readMtimes` must be an object, got list"),
        ({"readMtimes": {"/a": {"mtimeMs": 1}}}, "needs `readAtTurn`"),
        ({"readMtimes": {"/a": {"mtimeMs": "1", "readAtTurn": 1}}}, "`mtime_ms`.*'1'"),
        ({"networkPolicy": {"allow": "a.example"}}, "`network.allow`.*'a.example'"),
        ({"currentTurn": 1.5}, "`current_turn`.*1.5"),
        ({"memoryScope": "team"}, "`memory_scope`.*'team'"),
        ({"resultBudgetChars": -1}, "`result_budget_chars`.*-1"),
        ({"sessionId": None}, "`session_id` must be a string: None"),
    ],
)
def test_wrong_kinds_in_a_context_name_field_and_value(
    payload: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        ToolContext.from_wire(payload)


@pytest.mark.parametrize("attachments", [None, "abc", {"a": 1}])
def test_attachments_of_a_request_are_a_list(attachments: object) -> None:
    payload = json.loads(golden("tool_execute_request")) | {"attachments": attachments}
    with pytest.raises(ConfigError, match="`attachments` must be a list"):
        ToolExecuteRequest.from_wire(payload)


def test_calls_are_read_in_three_shapes_and_written_in_one() -> None:
    shapes = [
        {"toolCallId": "1", "name": "t", "args": {"a": 1}},
        {"type": "tool_use", "id": "1", "name": "t", "input": {"a": 1}},
        {"id": "1", "type": "function", "function": {"name": "t", "arguments": {"a": 1}}},
    ]
    assert {json.dumps(ToolCall.parse(shape).to_wire()) for shape in shapes} == {
        json.dumps(shapes[0])
    }


def test_an_item_of_openais_responses_is_answered_under_its_call_id() -> None:
    item = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "stat"}
    assert ToolCall.parse(item | {"arguments": "{}"}) == ToolCall("call_1", "stat", "{}")
    [answer] = ToolRegistry().execute_parallel_sync([item | {"name": 5}])
    assert answer.tool_call_id == "call_1"
