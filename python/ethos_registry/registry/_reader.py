"""The methods that every registry has: look up, list, show and run tools."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import NoneType
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, Unpack

from ethos_registry._core import Gate
from ethos_registry._table.admission import (
    Admission,
    PolicyKey,
    compile_gate,
    is_available,
    personality_gate,
    policy_key,
)
from ethos_registry._table.snapshot import Snapshot
from ethos_registry.capabilities._resolver import CapabilityBackends
from ethos_registry.execution._options import BatchOptions
from ethos_registry.execution._results import CallResults
from ethos_registry.execution._runtime import Runtime
from ethos_registry.execution._usage_limits import checked_view_limits
from ethos_registry.registry._caller import Caller
from ethos_registry.registry._definitions import ViewDefinitions, plain_definitions, tools_table
from ethos_registry.registry._explain import (
    CapabilityFinding,
    Explanation,
    capability_findings,
    checked_policy,
    explain_tool,
    refuse_unmatched,
    refuse_unmatched_filters,
    unbound_tools,
    unmatched_of_policy,
    unmatched_of_registry,
)
from ethos_registry.registry._search import ToolSearch, checked_search
from ethos_registry.registry._search_view import MANY_TOOLS, searching_view, warn_of_many
from ethos_registry.registry._view import View
from ethos_registry.types import _checks
from ethos_registry.types._call import CallResult
from ethos_registry.types._context import ToolContext
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._loop_thread import run_sync
from ethos_registry.types._policy import Personality, ToolFilterOpts
from ethos_registry.types._tool import Registration, Tool
from ethos_registry.types._turn import DispatchContext
from ethos_registry.types._usage_limits import UsageLimits

# A method of the class is named `list`, so its annotations use these.
Tools: TypeAlias = list[Tool]
ToolNames: TypeAlias = list[str]
Definitions: TypeAlias = list[Mapping[str, Any]]
NamesByField: TypeAlias = dict[str, list[str]]


_RUN = "calls run through a view: `registry.view(personality).execute(reply)`"
_SHOW = "a model gets the tools of a view: `registry.view(personality).definitions(provider)`"
WAYS_OUT = {
    **dict.fromkeys(("call", "dispatch", "execute", "execute_sync", "invoke", "run"), _RUN),
    **dict.fromkeys(("definitions", "get_definitions", "schemas", "to_openai"), _SHOW),
    "tools": "`registry.all()` returns the tools, `registry.list()` their names",
    "add": "`registry.register(tool)` adds a tool",
    "remove": "`registry.unregister(name)` removes a tool",
}
"""What other packages call it."""


_RECENT = "recent"
"""The key of the last policy: allow list, filters, what the list held, and what they show."""


class RegistryReader:
    """The read-only methods of a registry; each works on a snapshot of its entries."""

    # Not an abstract base class: `register` would let other classes pass as registries.

    __slots__ = ()

    _gate_of: Callable[[PolicyKey], Gate | None] = staticmethod(compile_gate)

    if not TYPE_CHECKING:  # a type checker would accept every name

        def __getattr__(self, name: str) -> NoReturn:
            raise _checks.no_attribute(self, "a registry", name, WAYS_OUT)

    def _snapshot(self) -> Snapshot:
        """The current entries."""
        raise NotImplementedError

    def _settings(self) -> Runtime:
        """The settings of its calls."""
        raise NotImplementedError

    def _validates(self) -> bool:
        """Whether the arguments of every tool are validated against its schema."""
        raise NotImplementedError

    def _turn(self) -> DispatchContext | None:
        """The turn that calls belong to, if any."""
        return None

    def _made(self) -> dict[Any, Any] | None:
        """What was made of the current definitions; `None` if nothing is kept."""
        return self._snapshot().shown

    # Lookup

    def get(self, name: str) -> Tool | None:
        """The tool of exactly this name, or `None`."""
        entry = self._snapshot().get(name)
        return None if entry is None else entry.tool

    def resolve(self, name: str) -> Tool | None:
        """The tool of exactly this name, or `None`; the same as `get`."""
        return self.get(name)

    def has(self, name: str) -> bool:
        """Whether there is a tool of exactly this name, hidden or not."""
        return self.get(name) is not None

    def list(self) -> ToolNames:
        """The names of all tools, sorted by code point; a new list each time."""
        return sorted(entry.name for entry in self._snapshot().all())

    @property
    def size(self) -> int:
        """The number of tools, hidden ones included."""
        return len(self._snapshot())

    def all(self) -> Tools:
        """Every tool in registration order, hidden and unavailable ones included."""
        return [entry.tool for entry in self._snapshot().all()]

    def visible(self) -> Tools:
        """The tools that are not hidden, in registration order; no gate applies."""
        return [entry.tool for entry in self._snapshot().select(None).entries]

    def hidden(self) -> Tools:
        """The tools that are left out of definitions but run when called."""
        return [entry.tool for entry in self._snapshot().hidden()]

    def plugin_id_of(self, name: str) -> str | None:
        """The plugin that registered a tool, or `None`."""
        entry = self._snapshot().get(name)
        return None if entry is None else entry.plugin_id

    def registration(self, name: str) -> Registration | None:
        """A tool with the tags of its registration, or `None`."""
        snapshot = self._snapshot()
        entry = snapshot.get(name)
        return None if entry is None else entry.registration(hidden=snapshot.is_hidden(name))

    def get_available(self) -> Tools:
        """The tools that are available now, in registration order."""
        return [entry.tool for entry in self._snapshot().all() if is_available(entry)]

    def get_for_toolset(self, toolset: str) -> Tools:
        """The available tools of one group, in registration order."""
        return [
            entry.tool
            for entry in self._snapshot().group(_checks.text(toolset, "toolset"))
            if is_available(entry)
        ]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self)} tools>"

    def _repr_html_(self) -> str:
        return tools_table(type(self).__name__, self._snapshot().all())

    def __len__(self) -> int:
        return self.size

    def __bool__(self) -> bool:
        """Always true: a registry without tools is still a registry."""
        return True

    def __iter__(self) -> Iterator[Tool]:
        """The tools in registration order, as `all()` lists them."""
        return iter(self.all())

    def __contains__(self, item: object) -> bool:
        """Whether a tool of this name, or exactly this tool, is registered."""
        if isinstance(item, Tool):
            return self.get(item.name) is item
        return isinstance(item, str) and self.has(item)

    @property
    def abandoned_calls(self) -> int:
        """The number of calls that did not end within their grace period and were abandoned."""
        return self._settings().counters.abandoned_calls

    # Gates

    def _admission(
        self, allowed_tools: Iterable[str] | None, filter_opts: ToolFilterOpts | None
    ) -> Admission:
        """The policy over the current entries."""
        if allowed_tools is None and filter_opts is None:
            return Admission(self._snapshot(), None)
        key = policy_key(allowed_tools, filter_opts)
        admission = Admission(self._snapshot(), self._gate_of(key), key)
        return checked_policy(admission, self._settings())

    def _personality_admission(self, personality: Personality) -> Admission:
        return Admission(self._snapshot(), personality_gate(personality))

    def to_definitions(
        self,
        allowed_tools: Iterable[str] | None = None,
        filter_opts: ToolFilterOpts | None = None,
    ) -> Definitions:
        """`{name, description, parameters}` of each permitted and available tool.

        `allowed_tools` names the built-in tools that are permitted. It only applies if it is not
        empty: `[]` and `None` permit every built-in tool; `NO_TOOLS` permits none. MCP and plugin
        tools are gated by `filter_opts` alone. A new list of read-only values, which other lists
        may share, in registration order.
        """
        made = self._made()
        if made is not None and (recent := made.get(_RECENT)) is not None:
            allowed, filters, held, definitions = recent
            if allowed is allowed_tools and filters is filter_opts and held == allowed_tools:
                found: Definitions = definitions[:]
                return found
        admission = self._admission(allowed_tools, filter_opts)
        definitions = plain_definitions(admission, admission.unavailable())
        made = admission.snapshot.shown  # of these entries: others may have come meanwhile
        # Iterators and sets are not recognised, and availability is asked at each call.
        is_known = type(allowed_tools) in (list, tuple, NoneType)
        if made is not None and is_known and not admission.selection().probed:
            held = allowed_tools[:] if isinstance(allowed_tools, list) else allowed_tools
            made[_RECENT] = (allowed_tools, filter_opts, held, definitions)
        return definitions[:]

    @_checks.checked_signature
    def view(
        self,
        personality: Personality,
        *,
        freeze_availability: bool = False,
        search: bool | ToolSearch = False,
        allow_unmatched: bool = False,
        limits: UsageLimits | None = None,
    ) -> View:
        """A snapshot of what a personality sees and may run.

        An entry of the personality that matches nothing is a typo that would hide tools, or let
        them run: it raises `ConfigError` with the nearest name, unless `allow_unmatched` is given,
        for policies that several programs share. Tools that are hidden or not available match, and
        so do tools that were removed, declared servers and plugins, and the readers of artifacts.

        `limits` bound what its calls use, as `{"run": {"calls": 50}, "day": {"cost_usd": 5.0}}`: a
        call beyond one is answered `not_available` with the reason `limit`. The registry's
        `UsageLedger` counts, for all views and processes that share it. See `UsageLimits`.

        With `search=True` or a `ToolSearch` it lists the tools that are always included and finds
        the others; `view.search` has what was found. With `ToolSearch(by="provider")` a request
        lists them too, deferred: the provider keeps them out of the prompt until its own search
        loads them. Without, a warning is logged once if it lists more than 128 tools.
        """
        admission, runtime = self._personality_admission(personality), self._settings()
        if not _checks.boolean(allow_unmatched, "allow_unmatched"):
            refuse_unmatched(personality, admission)
        refuse_unmatched_filters(runtime.filters, admission.snapshot)
        limited = checked_view_limits(limits, runtime)
        caller = Caller(admission, runtime, personality, self._turn(), limited)
        searching = checked_search(search)
        if searching is not None:
            return searching_view(caller, searching)
        if len(admission.visible()) > MANY_TOOLS:
            warn_of_many(personality, len(admission.visible()))
        admission = admission.under(personality)
        definitions = ViewDefinitions(admission, freeze_availability=freeze_availability)
        return View(definitions, replace(caller, admission=admission))

    @_checks.checked_signature
    def explain(self, name: str, personality: Personality) -> Explanation:
        """Why a tool is visible, hidden or refused: the gate, the value and how to change it."""
        return explain_tool(
            _checks.text(name, "name"), personality, self._personality_admission(personality)
        )

    @property
    def capability_backends(self) -> CapabilityBackends | None:
        """The backends of declared capabilities; `None` if there are none."""
        return self._settings().backends

    def validate_for(self, personality: Personality) -> Sequence[CapabilityFinding]:
        """What the tools of a personality declare and do not get here, before any call.

        Names tools whose calls are refused for want of a backend, declarations wider than the
        personality's `fs_reach` or `network`, and, if it states one of these, tools that declare
        nothing, which no policy binds. Empty if there is nothing to know.
        """
        admission = self._personality_admission(personality)
        return capability_findings(admission.visible(), personality, self._settings().backends)

    @_checks.checked_signature
    def check(
        self,
        personality: Personality,
        *,
        allowed_tools: Iterable[str] | None = None,
        filter_opts: ToolFilterOpts | None = None,
    ) -> NamesByField:
        """The entries of policies that match no registered tool, by field; nothing is raised.

        Of the personality, of the allow list and filters given here and of those that batches were
        given, of the registry's `filters`, and the `reducers` of tools that are not registered. If
        the personality states `fs_reach` or `network`, `"undeclared"` lists the tools that no
        policy binds: they declare no capability, and run.
        """
        admission = self._personality_admission(personality)
        found: NamesByField = unmatched_of_policy(admission)
        if unbound := unbound_tools(personality, admission):
            found["undeclared"] = unbound
        key = policy_key(allowed_tools, filter_opts)
        gate = compile_gate(key)
        given = Admission(self._snapshot(), gate, key)
        return found | unmatched_of_registry(given, self._settings())

    # Execution

    def _caller(
        self, allowed_tools: Iterable[str] | None, filter_opts: ToolFilterOpts | None
    ) -> Caller:
        admission = self._admission(allowed_tools, filter_opts)
        return Caller(admission, self._settings(), None, self._turn())

    async def execute_parallel(
        self,
        calls: Sequence[Any],
        context: ToolContext | None = None,
        allowed_tools: Iterable[str] | None = None,
        filter_opts: ToolFilterOpts | None = None,
        turn_attachments: Sequence[Any] | None = None,
        **options: Unpack[BatchOptions],
    ) -> CallResults:
        """Run all calls concurrently and return one result per call, in the order of the calls.

        Nothing that a tool does leaves as an exception: each failure is the result of its own call.

        Args:
            calls: `ToolCall`s, dicts in plain shape or in a provider's, or the objects of its SDK,
                with arguments as values or as JSON text.
            context: What the tools know of the session and turn. Its `result_budget_chars` is
                shared among the results. Default: `ToolContext()`.
            allowed_tools: The built-in tools that are permitted. It gates only when it is
                non-empty: `[]` and `None` permit every built-in tool, `NO_TOOLS` denies them.
            filter_opts: Filters for MCP tools, plugin tools and excluded names.
            turn_attachments: The `Attachment`s of the turn; backends read them as
                `context.turn_attachments`.
            **options: See below.

        Options:
            deadline_seconds: Bounds the whole batch. Default: `None`.
            max_concurrency: How many calls run at once. Default: `None`, all of them.
            budget_policy: `"even"` (default) gives every call the same share of the budget.
                `"fill"` lets tools use all of it; refused calls take nothing, and the results
                share it max-min fairly when all have ended.
            untrusted: `"mark"` (default) flags the results of untrusted tools, `"wrap"` also puts
                their text inside a fence.
            filters: `InvocationFilter`s around each call; one that asks a person is an approval.
            on_result: Called with each `CallResult` when it is ready.

        Raises:
            ConfigError: An argument of this method is of the wrong kind; no tool was started.
            TypeError: An option is unknown; no tool was started.

        """
        checked = _checked_calls(calls)
        caller = self._caller(allowed_tools, filter_opts)
        return await caller.run(caller.request(checked, context, turn_attachments, options))

    async def resume(
        self,
        token: str,
        allowed_tools: Iterable[str] | None = None,
        filter_opts: ToolFilterOpts | None = None,
        *,
        approved: bool,
        edited_args: Any = None,
        reason: str | None = None,
        context: ToolContext | None = None,
        turn_attachments: Sequence[Any] | None = None,
        **options: Unpack[BatchOptions],
    ) -> CallResult:
        """Continue a call of `execute_parallel` that waits for approval; see `View.resume`."""
        caller = self._caller(allowed_tools, filter_opts)
        request = caller.request(None, context, turn_attachments, options)
        return await caller.resume(
            request, token, approved=approved, edited_args=edited_args, reason=reason
        )

    def execute_parallel_sync(
        self,
        calls: Sequence[Any],
        context: ToolContext | None = None,
        allowed_tools: Iterable[str] | None = None,
        filter_opts: ToolFilterOpts | None = None,
        turn_attachments: Sequence[Any] | None = None,
        **options: Unpack[BatchOptions],
    ) -> CallResults:
        """`execute_parallel` for code without an event loop; it takes the same parameters.

        It can be called while this thread runs a loop, as in a notebook; that loop is blocked
        until the batch has ended.
        """
        return run_sync(
            lambda: self.execute_parallel(
                calls, context, allowed_tools, filter_opts, turn_attachments, **options
            )
        )


def _checked_calls(calls: object) -> list[Any]:
    """The calls of a batch, as they are now; `ConfigError` for anything but a list of them."""
    if type(calls) is not list and (
        isinstance(calls, str | bytes | Mapping) or not isinstance(calls, Sequence)
    ):
        raise ConfigError(
            f"`calls` must be a list of calls, got {type(calls).__name__}; put one call in a list, "
            "and give a whole reply to `view.execute(reply)`"
        )
    return list(calls)  # a sequence may change, and lie about its length
