"""Entries that not even `object.__setattr__` can change: text, tuples and native objects.

An entry is a tuple, but some of its items are objects with writable fields. Here those are kept as
JSON text and built again at each use.
"""

from __future__ import annotations

import contextlib
import json
from typing import Any, NamedTuple, cast

from ethos_registry import _core
from ethos_registry.contract.capability import CapabilityName, ToolCapabilities
from ethos_registry.contract.result import ToolError
from ethos_registry.schema.validate import ArgumentValidator
from ethos_registry.table.definition import SealedDefinition
from ethos_registry.table.entry import ArgumentCheck, Entry

__all__ = ["ImmutableCapabilities", "immutable_capabilities", "immutable_entry"]


def immutable_entry(entry: Entry) -> Entry:
    """The same entry over values that cannot be written to."""
    return entry._replace(
        definition=SealedDefinition(entry.definition.text),
        argument_check=_immutable_check(entry.argument_check),
        capabilities=immutable_capabilities(entry.capabilities),
    )


def immutable_capabilities(capabilities: ToolCapabilities) -> ToolCapabilities:
    """The same declaration, independent of the object that the tool hands out."""
    if isinstance(capabilities, ImmutableCapabilities):
        return capabilities
    text = json.dumps(capabilities.to_wire())
    return cast("ToolCapabilities", ImmutableCapabilities(text, capabilities.declared))


class ImmutableCapabilities(NamedTuple):
    """A tool's capabilities as text; reads like `ToolCapabilities`."""

    text: str
    declared: tuple[CapabilityName, ...]

    def to_wire(self) -> dict[str, Any]:
        """The JSON object of the capabilities."""
        wire: dict[str, Any] = json.loads(self.text)
        return wire

    def __getattr__(self, name: str) -> Any:
        return getattr(ToolCapabilities.from_wire(self.to_wire()), name)


class ImmutableCheck(NamedTuple):
    """A compiled schema, and its text for messages."""

    tool_name: str
    text: str
    compiled: _core.SchemaValidator

    def problems(self, args: object) -> ToolError | None:
        """As `ArgumentValidator.problems`; the schema is parsed again only to describe problems."""
        with contextlib.suppress(RuntimeError):  # the core failed: reported below
            if type(args) is dict and self.compiled.is_valid(args):
                return None
        schema = json.loads(self.text)
        return ArgumentValidator(self.tool_name, schema, self.compiled).problems(args)


def _immutable_check(check: ArgumentCheck | None) -> ArgumentCheck | None:
    if not isinstance(check, ArgumentValidator):
        return check
    return ImmutableCheck(check.tool_name, json.dumps(check.schema), check.compile())
