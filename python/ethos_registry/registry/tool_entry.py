"""The entry that a registry makes of a tool."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ethos_registry.contract import checks
from ethos_registry.contract.errors import ConfigError
from ethos_registry.contract.tool import Tool
from ethos_registry.providers.sent_arguments import sent_arguments
from ethos_registry.registry.immutable_entry import immutable_capabilities
from ethos_registry.schema.agreement import check_agreement
from ethos_registry.schema.binding import AsyncFunctionCall, FunctionCall
from ethos_registry.schema.decorator import FunctionTool
from ethos_registry.schema.validate import ArgumentValidator
from ethos_registry.table.entry import Entry, make_entry
from ethos_registry.table.entry_table import mcp_identity

__all__ = ["checked_entry", "validated_entry"]


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
        check_agreement(tool.name, tool.schema, tool.arguments)
    checks.optional_unicode_text(plugin_id, "plugin_id")
    checks.optional_unicode_text(owner, "owner")
    checks.optional_unicode_text(mcp_server, "mcp_server")
    execute = tool.execute
    entry = make_entry(
        tool,
        owner=owner,
        plugin_id=plugin_id,
        mcp=mcp_identity(tool.name, mcp_server),
        argument_check=_argument_check(tool, validates_arguments=validates_arguments),
        binding=execute if isinstance(execute, FunctionCall | AsyncFunctionCall) else None,
        sent_arguments=sent_arguments(tool.schema, strict=tool.strict),
    )
    if not entry.declares_capabilities:
        return entry
    return entry._replace(capabilities=immutable_capabilities(entry.capabilities))


def _argument_check(tool: Tool, *, validates_arguments: bool) -> ArgumentValidator | None:
    """The compiled schema if arguments are validated; raises if it cannot be compiled."""
    if not (tool.strict or validates_arguments):
        return None
    return _compiled(tool.name, tool.schema)


def validated_entry(entry: Entry) -> Entry:
    """The entry for a registry that validates the arguments of every tool."""
    if entry.argument_check is not None:
        return entry
    return entry._replace(
        argument_check=_compiled(entry.name, entry.definition.fresh()["parameters"])
    )


def _compiled(name: str, schema: Mapping[str, Any]) -> ArgumentValidator:
    validator = ArgumentValidator(name, schema)
    validator.compile()
    return validator
