"""The capabilities that a tool declares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, TypeAlias

from ethos_registry.contract import checks
from ethos_registry.contract.errors import ConfigError
from ethos_registry.contract.read_only import freeze, thaw
from ethos_registry.contract.wire import python_names, wire_name

__all__ = ["CAPABILITY_ALIASES", "CAPABILITY_NAMES", "CapabilityName", "ToolCapabilities"]

CapabilityName: TypeAlias = Literal[
    "network", "secrets", "storage", "fs_reach", "process", "attachments"
]
CAPABILITY_NAMES: tuple[CapabilityName, ...] = (
    "network",
    "secrets",
    "storage",
    "fs_reach",
    "process",
    "attachments",
)

CAPABILITY_ALIASES: Mapping[str, CapabilityName] = {"fs": "fs_reach", "kv": "storage"}
"""Other names of capabilities in JSON and in mappings of backends."""


@dataclass(frozen=True, slots=True)
class ToolCapabilities:
    """The scoped objects that a tool needs; without a declaration it never receives one.

    An empty declaration is one too: `secrets=[]` requests the resolver.

    >>> ToolCapabilities(secrets=[]).declared
    ('secrets',)
    """

    network: Mapping[str, Any] | None = None
    """`{"allowedHosts": ["api.example.com", "*.example.org"]}`"""
    secrets: Sequence[str] | None = None
    """References of secrets, exact or `a/b/*`."""
    storage: Mapping[str, Any] | None = None
    """`{"scope": "tool" | "session" | "personality", "kind": "kv"}`"""
    fs_reach: Mapping[str, Any] | None = None
    """`{"read": ["/data"], "write": []}`"""
    process: Mapping[str, Any] | None = None
    """`{"allowedBinaries": ["git"]}`"""
    attachments: Mapping[str, Any] | None = None
    """`{"kinds": ["image"]}` or `{"kinds": "*"}`"""

    def __post_init__(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            if value is None:
                continue
            what = f"capabilities.{item.name}"
            if item.name == "secrets":
                object.__setattr__(self, "secrets", checks.strings(value, what))
            elif isinstance(value, Mapping):
                object.__setattr__(self, item.name, freeze(value, what))
            else:
                raise ConfigError(f"`{what}` must be an object, got {type(value).__name__}")

    @property
    def declared(self) -> tuple[CapabilityName, ...]:
        """The names of the declared capabilities, in the order of the fields."""
        return tuple(name for name in CAPABILITY_NAMES if getattr(self, name) is not None)

    def to_wire(self) -> dict[str, Any]:
        """The JSON object, without what is not declared."""
        return {
            wire_name(name): list(self.secrets or ())
            if name == "secrets"
            else thaw(getattr(self, name))
            for name in self.declared
        }

    def __reduce__(self) -> tuple[Any, ...]:
        return ToolCapabilities, tuple(thaw(getattr(self, name)) for name in CAPABILITY_NAMES)

    @classmethod
    def from_wire(cls, payload: Mapping[str, Any]) -> ToolCapabilities:
        """The capabilities that a JSON object describes; raises `ConfigError` for unknown ones.

        `fs` is read as `fs_reach` and `kv` as `storage`.

        >>> ToolCapabilities.from_wire({"fs": {"read": ["/data"]}}).declared
        ('fs_reach',)
        """
        return cls(
            **python_names(payload, CAPABILITY_NAMES, "tool capabilities", CAPABILITY_ALIASES)
        )
