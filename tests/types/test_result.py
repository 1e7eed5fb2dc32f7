"""Results: what a tool answers."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError
from typing import Any

import pytest

from ethos_registry import CallResult, ConfigError, ToolError, ToolOk, err, ok
from ethos_registry.types import result_from_wire

RESULTS = [
    ok("done"),
    ok("done", structured={"a": [1]}, cost_usd=0.5, extra_field="x"),
    err("no", "STALE_WRITE", conflictKey="/a"),
    ToolError("no", "not_available", "denied"),
]


@pytest.mark.parametrize("result", RESULTS, ids=range(4))
@pytest.mark.parametrize(
    "twin", [copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))]
)
def test_results_survive_copies_and_pickling(result: Any, twin: Any) -> None:
    assert twin(result) == result
    assert twin(result).to_wire() == result.to_wire()
    whole = CallResult("1", "t", result, True, "url", 1, 2, 3, 4, 0.5)
    assert twin(whole) == whole


def test_results_are_immutable() -> None:
    with pytest.raises(FrozenInstanceError):
        ok("x").value = "y"
    with pytest.raises(FrozenInstanceError):
        err("x").code = "input_invalid"
    with pytest.raises(TypeError):
        ok("x").extra["a"] = 1


def test_ok_tells_successes_from_failures_and_is_no_parameter() -> None:
    assert ToolOk.ok is True
    assert ToolError.ok is False
    assert ok("x").text == "x"
    assert err("y").text == "y"
    assert err("y").code == "execution_failed"


@pytest.mark.parametrize(
    ("payload", "message"),
    [
        ({}, "`ok: true` or `ok: false`"),
        ({"ok": 1, "value": "x"}, "`ok: true` or `ok: false`"),
        ({"ok": True}, "`value` must be a string, got NoneType"),
        ({"ok": True, "error": "x"}, "`value` must be a string"),
        ({"ok": True, "value": 5}, "`value` must be a string, got int"),
        ({"ok": False, "error": "x"}, "`code` must be one of .*: None"),
        ({"ok": False, "error": "x", "code": "whatever"}, "`code` must be one of .*'whatever'"),
        ({"ok": False, "error": "x", "code": ["input_invalid"]}, "`code` must be one of"),
        ({"ok": True, "value": "x", "structured": [1]}, "`structured` must be an object"),
        ({"ok": True, "value": "x", "cost_usd": "1"}, "`cost_usd` must be a number, got str"),
        ({"ok": True, "value": "x", "cost_usd": True}, "`cost_usd` must be a number, got bool"),
        ({"ok": True, "value": "x", "cost_usd": float("nan")}, "`cost_usd` must be a finite"),
        ({"ok": True, "value": "x", "cost_usd": float("inf")}, "`cost_usd` must be a finite"),
    ],
)
def test_what_is_no_result_says_which_field(payload: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message) as refusal:
        result_from_wire(payload)
    assert "\n" not in str(refusal.value)


def test_null_fields_are_absent_ones() -> None:
    assert result_from_wire({"ok": True, "value": "x", "structured": None}) == ok("x")
