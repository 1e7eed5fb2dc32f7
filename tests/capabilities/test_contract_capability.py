"""Capabilities: what a tool declares that it touches."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError
from typing import Any

import pytest

from ethos_registry import ConfigError, Tool
from ethos_registry.capabilities import ToolCapabilities
from ethos_registry.capabilities._resolver import checked_backends, first_missing_backend
from ethos_registry.types._policy import CAPABILITY_NAMES


def test_a_declaration_counts_by_being_there() -> None:
    nothing = ToolCapabilities()
    assert nothing.declared == ()
    everything = ToolCapabilities({}, [], {}, {}, {}, {})
    assert everything.declared == CAPABILITY_NAMES


def test_declarations_are_copied_and_read_only() -> None:
    hosts = ["a.example"]
    made = ToolCapabilities(network={"allowedHosts": hosts}, secrets=(name for name in "ab"))
    hosts.append("evil.example")
    assert made.network == {"allowedHosts": ["a.example"]}
    assert made.secrets == ("a", "b")
    with pytest.raises(TypeError, match="read-only"):
        made.network["allowedHosts"].append("evil.example")
    with pytest.raises(FrozenInstanceError):
        made.network = None


@pytest.mark.parametrize(
    "twin", [copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))]
)
def test_copies_are_equal_and_read_only_too(twin: Any) -> None:
    made = ToolCapabilities(network={"allowedHosts": ["a.example"]}, secrets=[])
    assert twin(made) == made
    with pytest.raises(TypeError, match="read-only"):
        twin(made).network["allowedHosts"] = []


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"network": ["a"]}, "`capabilities.network` must be an object, got list"),
        ({"secrets": "stripe"}, "`capabilities.secrets` must be a list of strings: 'stripe'"),
        ({"secrets": [1]}, "`capabilities.secrets`"),
        (
            {"storage": {"scope": object()}},
            "capabilities.storage.scope contains a value of type object",
        ),
        ({"gpu": {}}, "tool capabilities has no field 'gpu'; it has network, secrets"),
    ],
)
def test_wrong_kinds_name_tool_field_and_value(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=f"^tool `t`: .*{message}") as refusal:
        Tool("t", "", {"type": "object"}, print, capabilities=fields)
    assert refusal.value.context["tool_name"] == "t"


def test_a_tool_takes_capabilities_as_value_or_mapping() -> None:
    made = ToolCapabilities(process={"allowedBinaries": ["git"]})
    for given in (made, made.to_wire()):
        assert Tool("t", "", {"type": "object"}, print, capabilities=given).capabilities == made


@pytest.mark.parametrize(
    ("backends", "message"),
    [
        ([1], "`capability_backends` must map capabilities to factories, got list"),
        ({"gpu": print}, "has an unknown capability 'gpu'; known are network"),
        ({"network": 5}, "`the backend of network` must be callable, got int"),
    ],
)
def test_backends_of_the_wrong_kind_are_refused(backends: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        checked_backends(backends)


def test_the_first_declaration_without_a_backend_is_named() -> None:
    declared = ToolCapabilities(network={}, process={})
    assert first_missing_backend(declared, {"network": print, "process": print}) is None
    assert first_missing_backend(declared, {"network": print}) == "process"
    assert first_missing_backend(declared, {}) == "network"
