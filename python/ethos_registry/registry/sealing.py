"""Entries that not even force changes: text, tuples and native objects all the way down.

What a registry keeps of a tool is a tuple, but some of what stands in it are objects with fields,
which `object.__setattr__` can write. Here they are held as JSON text and made anew at each use.
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

__all__ = ["sealed_entry"]


def sealed_entry(entry: Entry) -> Entry:
    """The same entry, over values that cannot be written to."""
    capabilities = entry.capabilities
    return entry._replace(
        definition=SealedDefinition(entry.definition.text),
        argument_check=_sealed_check(entry.argument_check),
        capabilities=cast(
            "ToolCapabilities",
            SealedCapabilities(json.dumps(capabilities.to_wire()), capabilities.declared),
        ),
    )


class SealedCapabilities(NamedTuple):
    """What a tool declares, as text; reads like `ToolCapabilities`."""

    text: str
    declared: tuple[CapabilityName, ...]

    def to_wire(self) -> dict[str, Any]:
        """The JSON object of seed 001."""
        wire: dict[str, Any] = json.loads(self.text)
        return wire

    def __getattr__(self, name: str) -> Any:
        return getattr(ToolCapabilities.from_wire(self.to_wire()), name)


class SealedCheck(NamedTuple):
    """A compiled schema, and its text for the messages."""

    tool_name: str
    text: str
    compiled: _core.SchemaValidator

    def problems(self, args: object) -> ToolError | None:
        """As `ArgumentValidator.problems`; the schema is read anew only to tell what is wrong."""
        with contextlib.suppress(RuntimeError):  # the core failed: it is told below
            if type(args) is dict and self.compiled.is_valid(args):
                return None
        schema = json.loads(self.text)
        return ArgumentValidator(self.tool_name, schema, self.compiled).problems(args)


def _sealed_check(check: ArgumentCheck | None) -> ArgumentCheck | None:
    if not isinstance(check, ArgumentValidator):
        return check
    return SealedCheck(check.tool_name, json.dumps(check.schema), check.compile())
