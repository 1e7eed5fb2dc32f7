"""The mutable registry: one place that knows the tools (seeds 000 and 003)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ParamSpec, TypeVar, overload

from ethos_registry.capabilities.resolver import CapabilityBackends, checked_backends
from ethos_registry.contract import checks
from ethos_registry.contract.context import ToolContext
from ethos_registry.contract.errors import ConfigError
from ethos_registry.contract.policy import Personality, ToolFilterOpts
from ethos_registry.contract.reducer import ToolResultReducerRegistry
from ethos_registry.contract.registration import Registration
from ethos_registry.contract.tool import Tool
from ethos_registry.execution.filters import InvocationFilter
from ethos_registry.execution.options import BudgetPolicy, OnResult, UntrustedPolicy
from ethos_registry.execution.results import CallResults
from ethos_registry.execution.runtime import Runtime
from ethos_registry.registry.explain import Explanation, explain_tool, unmatched_entries
from ethos_registry.registry.sync import run_sync
from ethos_registry.registry.view import View
from ethos_registry.schema.agreement import check_agreement
from ethos_registry.schema.decorator import FunctionTool
from ethos_registry.schema.decorator import tool as make_tool
from ethos_registry.schema.validate import ArgumentValidator
from ethos_registry.table.admission import Admission, is_available
from ethos_registry.table.entry import Entry, make_entry
from ethos_registry.table.entry_table import EntryTable, mcp_identity
from ethos_registry.table.gates import PolicyKey, compile_gate, personality_gate, policy_key

__all__ = ["DefaultToolRegistry", "ToolRegistry"]

Taken = ParamSpec("Taken")
Returned = TypeVar("Returned")

DEFAULT_TIMEOUT_SECONDS = 120.0
"""A tool's clock when it sets none of its own."""
_CACHED_POLICIES = 64


class ToolRegistry:
    """Knows the tools, shows each agent only what it may use, and answers every call.

    Safe from threads. `reducer_registry` shortens results (`default_reducers()` has the built-in
    ones; without it nothing is reduced). `default_timeout_seconds` is the clock of tools that set
    none, `None` for no clock. With `validate_arguments` the arguments of every tool are held
    against its schema, without coercion, as those of `strict` tools always are.

    >>> registry = ToolRegistry()
    >>> @registry.tool
    ... def add(a: int, b: int) -> int:
    ...     \"\"\"Add two numbers.\"\"\"
    ...     return a + b
    >>> [definition["name"] for definition in registry.to_definitions()]
    ['add']
    >>> calls = [{"id": "1", "name": "add", "args": {"a": 2, "b": 3}}]
    >>> [result] = registry.execute_parallel_sync(calls)
    >>> result.text
    '5'
    """

    def __init__(
        self,
        tools: Iterable[Tool] = (),
        *,
        capability_backends: CapabilityBackends | None = None,
        reducer_registry: ToolResultReducerRegistry | None = None,
        default_timeout_seconds: float | None = DEFAULT_TIMEOUT_SECONDS,
        validate_arguments: bool = False,
    ) -> None:
        if default_timeout_seconds is not None:
            checks.finite_number(default_timeout_seconds, "default_timeout_seconds")
        if reducer_registry is not None and not callable(getattr(reducer_registry, "get", None)):
            raise ConfigError(
                "`reducer_registry` must have `get(tool_name)`, "
                f"got {type(reducer_registry).__name__}"
            )
        self._validates_arguments = checks.boolean(validate_arguments, "validate_arguments")
        self._table = EntryTable()
        self._runtime = Runtime(
            backends=checked_backends(capability_backends),
            reducers=reducer_registry,
            default_timeout_seconds=default_timeout_seconds,
        )
        self._admissions: dict[PolicyKey, Admission] = {}
        self.register_all(tools)

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

        A name that is taken raises `ToolAlreadyRegisteredError`; with `overwrite` the tool replaces
        the other in its place and takes the new tags. `plugin_id` makes it a plugin's tool (`""`
        too); `mcp_server` names the MCP server behind it, which a name like `mcp__a__b` tells by
        itself where it can be read in one way only.
        """
        entry = self._entry(tool, plugin_id=plugin_id, owner=owner, mcp_server=mcp_server)
        self._table.put([entry], overwrite=checks.boolean(overwrite, "overwrite"))

    def register_all(self, tools: Iterable[Tool], *, plugin_id: str | None = None) -> None:
        """Register all of the tools, or none when one of them cannot be."""
        if isinstance(tools, Tool) or not isinstance(tools, Iterable):
            raise ConfigError(f"`tools` must be a list of tools, got {type(tools).__name__}")
        entries = [
            self._entry(tool, plugin_id=plugin_id, owner=None, mcp_server=None) for tool in tools
        ]
        self._table.put(entries, overwrite=False)

    def _entry(
        self, tool: Tool, *, plugin_id: str | None, owner: str | None, mcp_server: str | None
    ) -> Entry:
        if not isinstance(tool, Tool):
            raise ConfigError(
                f"a registry holds Tool values, got {type(tool).__name__}; "
                "`@tool` or `@registry.tool` makes one from a function"
            )
        if isinstance(tool, FunctionTool):
            check_agreement(tool.name, tool.schema, tool.arguments)
        checks.optional_text(plugin_id, "plugin_id")
        checks.optional_text(owner, "owner")
        checks.optional_text(mcp_server, "mcp_server")
        return make_entry(
            tool,
            owner=owner,
            plugin_id=plugin_id,
            mcp=mcp_identity(tool.name, mcp_server),
            argument_check=self._argument_check(tool),
        )

    def _argument_check(self, tool: Tool) -> ArgumentValidator | None:
        """The compiled schema where arguments are held against it: a bad one is told now."""
        if not (tool.strict or self._validates_arguments):
            return None
        validator = ArgumentValidator(tool.name, tool.schema)
        validator.compile()
        return validator

    @overload
    def tool(self, function: Callable[Taken, Returned], /) -> FunctionTool[Taken, Returned]: ...

    @overload
    def tool(
        self,
        function: None = None,
        /,
        *,
        overwrite: bool = ...,
        plugin_id: str | None = ...,
        owner: str | None = ...,
        **options: Any,
    ) -> Callable[[Callable[Taken, Returned]], FunctionTool[Taken, Returned]]: ...

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
        """Forget a tool; an unknown name is no error."""
        self._table.remove(checks.text(name, "name"))

    # Looking

    def get(self, name: str) -> Tool | None:
        """The tool of exactly this name, or `None`."""
        entry = self._table.find(name)
        return None if entry is None else entry.tool

    def plugin_id_of(self, name: str) -> str | None:
        """The plugin that a tool was registered by, or `None`."""
        entry = self._table.find(name)
        return None if entry is None else entry.plugin_id

    def registration(self, name: str) -> Registration | None:
        """A tool with the tags of its registration, or `None`."""
        snapshot = self._table.snapshot()
        entry = snapshot.get(name)
        return None if entry is None else entry.registration(hidden=snapshot.is_hidden(name))

    def all(self) -> list[Tool]:
        """Every registered tool, hidden or not available too, in registration order."""
        return [entry.tool for entry in self._table.snapshot().all()]

    def get_available(self) -> list[Tool]:
        """The tools whose `is_available` does not say no, in registration order."""
        return [entry.tool for entry in self._table.snapshot().all() if is_available(entry)]

    def get_for_toolset(self, toolset: str) -> list[Tool]:
        """The available tools of one group, in registration order."""
        return [
            entry.tool
            for entry in self._table.snapshot().group(checks.text(toolset, "toolset"))
            if is_available(entry)
        ]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self)} tools>"

    def __len__(self) -> int:
        return len(self._table)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._table.find(name) is not None

    @property
    def abandoned_calls(self) -> int:
        """How many calls did not end in their grace and were left behind."""
        return self._runtime.abandoned_calls

    # Gates

    def _admission(
        self, allowed_tools: Iterable[str] | None, filter_opts: ToolFilterOpts | None
    ) -> Admission:
        """The policy over the entries of now; compiled once while nothing changes."""
        key = policy_key(allowed_tools, filter_opts)
        snapshot = self._table.snapshot()
        admission = self._admissions.get(key)
        if admission is not None and admission.snapshot is snapshot:
            return admission
        gate = compile_gate(key) if admission is None else admission.gate
        if len(self._admissions) >= _CACHED_POLICIES:
            self._admissions.clear()
        admission = self._admissions[key] = Admission(snapshot, gate)
        return admission

    def to_definitions(
        self,
        allowed_tools: Iterable[str] | None = None,
        filter_opts: ToolFilterOpts | None = None,
    ) -> list[Mapping[str, Any]]:
        """`{name, description, parameters}` of what is permitted and available.

        `allowed_tools` names the built-in tools that are permitted. As in seed 000 it gates only
        when it is non-empty: `[]` and `None` permit every built-in; `NO_TOOLS` denies them. MCP and
        plugin tools are gated by `filter_opts` alone. Read-only values in registration order.
        """
        admission = self._admission(allowed_tools, filter_opts)
        return [entry.definition.value for entry in admission.available()]

    def view(self, personality: Personality, *, freeze_availability: bool = False) -> View:
        """What a personality sees and may run, over the entries of now."""
        return View(
            self._personality_admission(personality),
            self._runtime,
            personality_id=personality.id,
            freeze_availability=freeze_availability,
        )

    def _personality_admission(self, personality: Personality) -> Admission:
        return Admission(self._table.snapshot(), personality_gate(personality))

    def explain(self, name: str, personality: Personality) -> Explanation:
        """Why a tool is visible, hidden or refused: the gate, the value, the way out."""
        return explain_tool(
            checks.text(name, "name"), personality, self._personality_admission(personality)
        )

    def check(self, personality: Personality) -> dict[str, list[str]]:
        """The entries of a personality that match no registered tool, by field; else empty."""
        return unmatched_entries(self._personality_admission(personality))

    # Running

    async def execute_parallel(
        self,
        calls: Sequence[Any],
        context: ToolContext | None = None,
        allowed_tools: Iterable[str] | None = None,
        filter_opts: ToolFilterOpts | None = None,
        turn_attachments: Sequence[Any] | None = None,
        *,
        deadline_seconds: float | None = None,
        max_concurrency: int | None = None,
        budget_policy: BudgetPolicy = "even",
        untrusted: UntrustedPolicy = "mark",
        filters: Sequence[InvocationFilter] = (),
        on_result: OnResult | None = None,
    ) -> CallResults:
        """Run all calls at once; one result a call, in the order of the calls.

        `calls` are `ToolCall`s or dicts in plain, Anthropic `tool_use` or OpenAI `tool_calls`
        shape, with arguments as values or as JSON text. Nothing that a tool does leaves as an
        exception: each failure is the result of its own call. Arguments of this function that are
        of the wrong kind raise `ConfigError` before any tool starts.

        The context's `result_budget_chars` is shared evenly among the calls; with
        `budget_policy="fill"` tools may use all of it, refused calls take nothing, and the results
        share it max-min fairly when all have ended. `filters` run around each call; one that asks
        a person is an approval (see `InvocationFilter`). `allowed_tools` gates
        when it is non-empty, as in seed 000; `NO_TOOLS` denies every built-in.
        `deadline_seconds` bounds the batch, `max_concurrency` the calls that run at once;
        `on_result` gets each `CallResult` as it comes. `turn_attachments` are the `Attachment`s of
        the turn: backends find them in `context.turn_attachments`.
        """
        view = View(self._admission(allowed_tools, filter_opts), self._runtime)
        return await view.execute(
            calls,
            context,
            turn_attachments,
            deadline_seconds=deadline_seconds,
            max_concurrency=max_concurrency,
            budget_policy=budget_policy,
            untrusted=untrusted,
            filters=filters,
            on_result=on_result,
        )

    def execute_parallel_sync(
        self, calls: Sequence[Any], *args: Any, **options: Any
    ) -> CallResults:
        """`execute_parallel` from code without an event loop; the same parameters.

        It may be called while this thread runs a loop (in a notebook); that loop waits meanwhile.
        """
        return run_sync(lambda: self.execute_parallel(calls, *args, **options))


class DefaultToolRegistry(ToolRegistry):
    """The Ethos spelling of `ToolRegistry`: backends and reducers by position (seed 000)."""

    def __init__(
        self,
        capability_backends: CapabilityBackends | None = None,
        reducer_registry: ToolResultReducerRegistry | None = None,
    ) -> None:
        super().__init__(capability_backends=capability_backends, reducer_registry=reducer_registry)
