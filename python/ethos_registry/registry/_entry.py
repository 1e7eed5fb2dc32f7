"""The entry that a registry makes of a tool."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, cast

from ethos_registry._table.entry import Entry, SealedDefinition, make_entry
from ethos_registry._table.entry_table import mcp_identity
from ethos_registry.execution._arguments import parse_json_arguments
from ethos_registry.providers._sent_arguments import sent_arguments
from ethos_registry.schema._binding import AsyncFunctionCall, FunctionCall
from ethos_registry.schema._compatibility import check_compatibility
from ethos_registry.schema._function_tool import FunctionTool
from ethos_registry.schema._repair import ArgumentRepair
from ethos_registry.schema._validate import ArgumentValidator
from ethos_registry.types import _checks
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._policy import CAPABILITY_NAMES, CapabilityName, ToolCapabilities
from ethos_registry.types._schema_rules import doubts
from ethos_registry.types._tool import Tool

_logger = logging.getLogger("ethos_registry")

# Entries that not even `object.__setattr__` can change: text, tuples and native objects.


def immutable_entry(entry: Entry) -> Entry:
    """The same entry over values that cannot be written to."""
    return entry._replace(
        definition=SealedDefinition(entry.definition.text),
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
        if name not in CAPABILITY_NAMES:
            return getattr(ToolCapabilities.from_wire(self.to_wire()), name)
        # What was checked once is only parsed again, into values of the caller's own.
        declaration = self.to_wire().get(_checks.wire_name(name))
        return tuple(declaration) if isinstance(declaration, list) else declaration


def checked_entry(
    tool: Tool,
    *,
    plugin_id: str | None = None,
    owner: str | None = None,
    mcp_server: str | None = None,
    validates_arguments: bool = False,
) -> Entry:
    """The entry of a tool that is being registered; raises `ConfigError` for an invalid one."""
    if not isinstance(tool, Tool):
        way_out = "`@tool` or `@registry.tool` makes one from a function"
        if isinstance(tool, list | tuple):
            way_out = "`register_all(tools)` takes several"
        raise ConfigError(f"a registry holds Tool values, got {type(tool).__name__}; {way_out}")
    if isinstance(tool, FunctionTool):
        check_compatibility(tool.name, tool.schema, tool.arguments)
    elif mcp_server is None and not tool.name.startswith("mcp__"):  # written by hand
        for doubt in doubts(tool.schema):
            _logger.warning("tool `%s`: %s", tool.name, doubt)
    _checks.optional_unicode_text(plugin_id, "plugin_id")
    _checks.optional_unicode_text(owner, "owner")
    _checks.optional_unicode_text(mcp_server, "mcp_server")
    execute = tool.execute
    entry = make_entry(
        tool,
        owner=owner,
        plugin_id=plugin_id,
        mcp=mcp_identity(tool.name, mcp_server),
        argument_check=_argument_check(tool, validates_arguments=validates_arguments),
        binding=execute if isinstance(execute, FunctionCall | AsyncFunctionCall) else None,
        sent_arguments=sent_arguments(tool.schema, strict=tool.strict),
        repair=_REPAIR,
    )
    if not entry.declares_capabilities:
        return entry
    return entry._replace(capabilities=immutable_capabilities(entry.capabilities))


def checked_entries(
    tools: Any, *, plugin_id: str | None = None, validates_arguments: bool = False
) -> list[Entry]:
    """The entries of several tools; `ConfigError` for anything but a list of them."""
    if isinstance(tools, Tool | Mapping) or not isinstance(tools, Iterable):
        raise ConfigError(f"`tools` must be a list of tools, got {type(tools).__name__}")
    return [
        checked_entry(tool, plugin_id=plugin_id, validates_arguments=validates_arguments)
        for tool in tools
    ]


_REPAIR = ArgumentRepair(parse_json_arguments)


def _argument_check(tool: Tool, *, validates_arguments: bool) -> ArgumentValidator | None:
    """The compiled schema if arguments are validated; raises if it cannot be compiled."""
    of_server = getattr(tool.execute, "argument_check", None)
    if isinstance(of_server, ArgumentValidator):
        return of_server
    if not (tool.strict or validates_arguments):
        return None
    return ArgumentValidator(tool.name, tool.schema)


def validated_entry(entry: Entry) -> Entry:
    """The entry for a registry that validates the arguments of every tool."""
    if entry.argument_check is not None:
        return entry
    return entry._replace(
        argument_check=ArgumentValidator(entry.name, entry.definition.fresh()["parameters"])
    )
