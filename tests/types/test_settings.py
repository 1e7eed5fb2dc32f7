"""Groups of settings: one mechanism, and mirrors for type checkers that name the same options."""

from __future__ import annotations

import dataclasses
import inspect
import json
from typing import Any

import pytest

from ethos_registry import ConfigError, ToolRegistry
from ethos_registry.execution._options import BatchOptions, CheckedOptions
from ethos_registry.execution._runtime import Runtime
from ethos_registry.mcp import McpBridge
from ethos_registry.mcp._bridge import BridgeSettings, McpBridgeOptions
from ethos_registry.registry._settings import RunOptions
from ethos_registry.transports import ProcessTransport, WorkerLimits
from ethos_registry.transports._limits import PoolSettings
from ethos_registry.types import SignatureError
from ethos_registry.types._settings import setting_names

GROUPS = {
    Runtime: {*RunOptions.__annotations__, "default_timeout_seconds"} - {"max_threads", "redact"},
    CheckedOptions: {*BatchOptions.__annotations__},
    BridgeSettings: {*McpBridgeOptions.__annotations__},
    PoolSettings: {*inspect.signature(ProcessTransport).parameters},
    WorkerLimits: {*inspect.signature(WorkerLimits).parameters},
}


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group.__name__)
def test_a_group_has_a_checked_field_for_each_option(group: type[Any]) -> None:
    assert {*setting_names(group)} == GROUPS[group]


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group.__name__)
def test_a_group_is_frozen(group: type[Any]) -> None:
    made = object.__new__(group)
    for field in dataclasses.fields(group):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(made, field.name, None)


def test_a_wrong_value_names_its_setting() -> None:
    for make, name, value in (
        (ToolRegistry, "thread_wait_seconds", -1),
        (ToolRegistry, "approvals", "yes"),
        (McpBridge, "on_change", "acept"),
        (McpBridge, "roots", "file:///a"),
        (ProcessTransport, "calls_per_worker", None),
        (ProcessTransport, "start_seconds", None),
        (ProcessTransport, "limits", {}),
        (WorkerLimits, "open_files", 0),
    ):
        arguments = ["a:b"] if make is ProcessTransport else []
        if make is McpBridge:
            arguments = [[]]
        with pytest.raises(ConfigError, match=f"`{name}`"):
            make(*arguments, **{name: value})


def test_an_unknown_option_of_a_bridge_names_the_near_one() -> None:
    with pytest.raises(SignatureError, match="did you mean 'on_change'"):
        McpBridge([], on_chang="drop")  # type: ignore[call-arg]


def test_a_worker_reads_these_settings() -> None:
    pool = ProcessTransport("a:b", workers=2, limits=WorkerLimits(open_files=64))
    sent = json.loads(pool._settings.for_worker())
    assert sent.pop("path") == pool._settings.import_path()
    assert sent == {
        "tools": ["a:b"],
        "max_result_bytes": 16 << 20,
        "max_line_bytes": 112 << 20,
        "limits": {
            "memory_bytes": None,
            "cpu_seconds": None,
            "open_files": 64,
            "file_bytes": None,
        },
    }
    pool.close()
