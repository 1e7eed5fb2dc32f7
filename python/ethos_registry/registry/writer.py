"""The methods that register, unregister and hide tools."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, ParamSpec, TypeAlias, TypeVar, Unpack, overload

from ethos_registry.contract import checks
from ethos_registry.contract.capability import ToolCapabilities
from ethos_registry.contract.errors import ConfigError
from ethos_registry.contract.reduction_policy import ReductionPolicy
from ethos_registry.contract.retry import Retry
from ethos_registry.contract.tool import CollisionPolicy, DispatchMode, Tool
from ethos_registry.contract.tool_options import RegisterOptions
from ethos_registry.registry.reader import RegistryReader
from ethos_registry.registry.tool_entry import checked_entry
from ethos_registry.schema.decorator import FunctionTool
from ethos_registry.schema.decorator import tool as make_tool
from ethos_registry.table.entry import Entry
from ethos_registry.table.entry_table import EntryTable

__all__ = ["RegistryWriter"]

P = ParamSpec("P")
R = TypeVar("R")
Entries: TypeAlias = list[Entry]


class RegistryWriter(RegistryReader):
    """The methods of a registry that change it."""

    _table: EntryTable
    _validates_arguments: bool

    # Registering

    def register(
        self,
        tool: Tool,
        overwrite: bool = False,
        *,
        plugin_id: str | None = None,
        owner: str | None = None,
        mcp_server: str | None = None,
    ) -> None:
        """Register a tool under its name.

        Raises `ToolAlreadyRegisteredError` if the name is taken; with `overwrite` the tool replaces
        the other in its position, with the new tags. `plugin_id` makes it a tool of a plugin (`""`
        too). `mcp_server` names its MCP server, which is derived from a name such as `mcp__a__b` if
        there is only one way to split it.
        """
        entry = self._entry(tool, plugin_id=plugin_id, owner=owner, mcp_server=mcp_server)
        self._table.put([entry], overwrite=checks.boolean(overwrite, "overwrite"))

    def register_all(self, tools: Iterable[Tool], *, plugin_id: str | None = None) -> None:
        """Register all tools, or none if one of them cannot be registered."""
        self._table.put(self._entries(tools, plugin_id=plugin_id), overwrite=False)

    def _entries(self, tools: Iterable[Tool], *, plugin_id: str | None = None) -> Entries:
        if isinstance(tools, Tool) or not isinstance(tools, Iterable):
            raise ConfigError(f"`tools` must be a list of tools, got {type(tools).__name__}")
        return [
            self._entry(tool, plugin_id=plugin_id, owner=None, mcp_server=None) for tool in tools
        ]

    def _entry(
        self, tool: Tool, *, plugin_id: str | None, owner: str | None, mcp_server: str | None
    ) -> Entry:
        return checked_entry(
            tool,
            plugin_id=plugin_id,
            owner=owner,
            mcp_server=mcp_server,
            validates_arguments=self._validates_arguments,
        )

    @overload
    def tool(self, function: Callable[P, R], /) -> FunctionTool[P, R]: ...

    @overload
    def tool(
        self,
        function: None = None,
        /,
        *,
        overwrite: bool = ...,
        plugin_id: str | None = ...,
        owner: str | None = ...,
        name: str | None = ...,
        description: str | None = ...,
        schema: Mapping[str, Any] | None = ...,
        toolset: str | None = ...,
        max_result_chars: int | None = ...,
        capabilities: ToolCapabilities | Mapping[str, Any] | None = ...,
        is_available: Callable[[], bool] | None = ...,
        always_include: bool = ...,
        output_is_untrusted: bool = ...,
        ephemeral: bool = ...,
        on_collision: CollisionPolicy = ...,
        timeout_seconds: float | None = ...,
        idempotent: bool = ...,
        strict: bool = ...,
        dispatch: DispatchMode | None = ...,
        retry: Retry | None = ...,
        max_concurrency: int | None = ...,
        calls_per_second: float | None = ...,
        reduction: ReductionPolicy | None = ...,
    ) -> Callable[[Callable[P, R]], FunctionTool[P, R]]: ...

    @overload
    def tool(
        self, function: Callable[P, R], /, **options: Unpack[RegisterOptions]
    ) -> FunctionTool[P, R]: ...

    def tool(
        self,
        function: Callable[..., Any] | None = None,
        /,
        *,
        overwrite: bool = False,
        plugin_id: str | None = None,
        owner: str | None = None,
        **options: Any,
    ) -> Any:
        """Make a tool from a function and register it; a decorator, with or without arguments.

        `options` are those of `ethos_registry.tool`: `name`, `description`, `toolset`,
        `timeout_seconds` and so on.
        """

        def register(function: Callable[..., Any]) -> FunctionTool[..., Any]:
            if isinstance(function, Tool):
                raise ConfigError(
                    f"`{function.name}` is a Tool already; register it: `registry.register(tool)`"
                )
            made: FunctionTool[..., Any] = make_tool(function, **options)
            self.register(made, overwrite, plugin_id=plugin_id, owner=owner)
            return made

        return register if function is None else register(function)

    def unregister(self, name: str) -> None:
        """Remove a tool; an unknown name has no effect."""
        self._table.remove(checks.text(name, "name"))

    def declare(self, *, mcp_servers: Iterable[str] = (), plugins: Iterable[str] = ()) -> None:
        """Let policies name servers and plugins whose tools are registered later, or not always.

        A view of a personality that names anything else that no tool has raises `ConfigError`. An
        `McpBridge` declares its servers; the names of tools that were removed count as declared.
        """
        servers = checks.strings(mcp_servers, "mcp_servers")
        found = [("allowed_mcp_servers", server) for server in servers]
        found += [("allowed_plugins", plugin) for plugin in checks.strings(plugins, "plugins")]
        self._table.declare(found)

    # Hiding

    def hide(self, *names: str) -> None:
        """Leave tools out of definitions; they still run when called.

        The flag belongs to the registration: an unknown name has no effect, now or later; a tool
        that is overwritten stays hidden; a tool that is unregistered and registered again is shown.
        """
        for name in checks.strings(names, "names"):
            self._table.set_hidden(name, hidden=True)

    def unhide(self, *names: str) -> None:
        """Show tools again; an unknown name has no effect."""
        for name in checks.strings(names, "names"):
            self._table.set_hidden(name, hidden=False)

    def set_hidden(self, names: Iterable[str]) -> None:
        """Hide exactly these tools and show all others; an unknown name has no effect.

        Names are not remembered for tools that are registered later.
        """
        self._table.hide_only(checks.strings(names, "names"))

    def clear_hidden(self) -> None:
        """Show every tool."""
        self._table.hide_only(())
