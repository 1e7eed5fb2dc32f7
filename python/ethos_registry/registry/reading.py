"""What every registry can do, mutable or not: look, show, run (contract 0)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from ethos_registry.contract import checks
from ethos_registry.contract.context import ToolContext
from ethos_registry.contract.dispatch import DispatchContext
from ethos_registry.contract.policy import Personality, ToolFilterOpts
from ethos_registry.contract.registration import Registration
from ethos_registry.contract.tool import Tool
from ethos_registry.execution.filters import InvocationFilter
from ethos_registry.execution.options import BudgetPolicy, OnResult, UntrustedPolicy
from ethos_registry.execution.results import CallResults
from ethos_registry.execution.runtime import Runtime
from ethos_registry.registry.explain import Explanation, explain_tool, unmatched_entries
from ethos_registry.registry.shown import plain_definitions
from ethos_registry.registry.sync import run_sync
from ethos_registry.registry.view import View
from ethos_registry.table.admission import Admission, is_available
from ethos_registry.table.gates import compile_gate, personality_gate, policy_key
from ethos_registry.table.snapshot import Snapshot

__all__ = ["Definitions", "RegistryReader"]

# A method of the class is named `list`, so its annotations use these.
Tools: TypeAlias = list[Tool]
Names: TypeAlias = list[str]
Definitions: TypeAlias = list[Mapping[str, Any]]
NamesByField: TypeAlias = dict[str, list[str]]


class RegistryReader:
    """The methods of a registry that change nothing; each is over the entries of one moment."""

    # No abstract base class: that would let strangers count as registries by `register`.

    __slots__ = ()

    def _snapshot(self) -> Snapshot:
        """The entries as they are now."""
        raise NotImplementedError

    def _settings(self) -> Runtime:
        """How calls run."""
        raise NotImplementedError

    def _validates(self) -> bool:
        """Whether the arguments of every tool are held against its schema."""
        raise NotImplementedError

    def _turn(self) -> DispatchContext | None:
        """The turn that calls belong to, if any."""
        return None

    # Looking

    def get(self, name: str) -> Tool | None:
        """The tool of exactly this name, or `None`."""
        entry = self._snapshot().get(name)
        return None if entry is None else entry.tool

    def resolve(self, name: str) -> Tool | None:
        """The tool of exactly this name, or `None`: seed 004's word for `get`."""
        return self.get(name)

    def has(self, name: str) -> bool:
        """Whether there is a tool of exactly this name, hidden or not."""
        return self.get(name) is not None

    def list(self) -> Names:
        """The names of all tools, sorted by code point; a fresh list (seed 004)."""
        return sorted(entry.name for entry in self._snapshot().all())

    @property
    def size(self) -> int:
        """How many tools there are, hidden ones too."""
        return len(self._snapshot())

    def all(self) -> Tools:
        """Every tool, hidden or not available too, in registration order."""
        return [entry.tool for entry in self._snapshot().all()]

    def visible(self) -> Tools:
        """The tools that are not hidden, in registration order; no gate is asked."""
        return [entry.tool for entry in self._snapshot().select(None).entries]

    def hidden(self) -> Tools:
        """The tools that are left out of definitions, and still run when called."""
        return [entry.tool for entry in self._snapshot().hidden()]

    def plugin_id_of(self, name: str) -> str | None:
        """The plugin that a tool was registered by, or `None`."""
        entry = self._snapshot().get(name)
        return None if entry is None else entry.plugin_id

    def registration(self, name: str) -> Registration | None:
        """A tool with the tags of its registration, or `None`."""
        snapshot = self._snapshot()
        entry = snapshot.get(name)
        return None if entry is None else entry.registration(hidden=snapshot.is_hidden(name))

    def get_available(self) -> Tools:
        """The tools whose `is_available` does not say no, in registration order."""
        return [entry.tool for entry in self._snapshot().all() if is_available(entry)]

    def get_for_toolset(self, toolset: str) -> Tools:
        """The available tools of one group, in registration order."""
        return [
            entry.tool
            for entry in self._snapshot().group(checks.text(toolset, "toolset"))
            if is_available(entry)
        ]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self)} tools>"

    def __len__(self) -> int:
        return self.size

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.has(name)

    @property
    def abandoned_calls(self) -> int:
        """How many calls did not end in their grace and were left behind."""
        return self._settings().abandoned_calls

    # Gates

    def _admission(
        self, allowed_tools: Iterable[str] | None, filter_opts: ToolFilterOpts | None
    ) -> Admission:
        """The policy over the entries of now."""
        key = policy_key(allowed_tools, filter_opts)
        return Admission(self._snapshot(), compile_gate(key))

    def _personality_admission(self, personality: Personality) -> Admission:
        return Admission(self._snapshot(), personality_gate(personality))

    def to_definitions(
        self,
        allowed_tools: Iterable[str] | None = None,
        filter_opts: ToolFilterOpts | None = None,
    ) -> Definitions:
        """`{name, description, parameters}` of what is permitted and available.

        `allowed_tools` names the built-in tools that are permitted. As in seed 000 it gates only
        when it is non-empty: `[]` and `None` permit every built-in; `NO_TOOLS` denies them. MCP and
        plugin tools are gated by `filter_opts` alone. A fresh list of read-only values, which other
        lists may share, in registration order.
        """
        admission = self._admission(allowed_tools, filter_opts)
        return plain_definitions(admission, admission.unavailable())[:]

    def view(self, personality: Personality, *, freeze_availability: bool = False) -> View:
        """What a personality sees and may run, over the entries of now."""
        return View(
            self._personality_admission(personality),
            self._settings(),
            personality_id=personality.id,
            freeze_availability=freeze_availability,
            turn=self._turn(),
        )

    def explain(self, name: str, personality: Personality) -> Explanation:
        """Why a tool is visible, hidden or refused: the gate, the value, the way out."""
        return explain_tool(
            checks.text(name, "name"), personality, self._personality_admission(personality)
        )

    def check(self, personality: Personality) -> NamesByField:
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
        view = View(
            self._admission(allowed_tools, filter_opts), self._settings(), turn=self._turn()
        )
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
        """`execute_parallel` from code without an event loop; the same parameters.

        It may be called while this thread runs a loop (in a notebook); that loop waits meanwhile.
        """
        return run_sync(
            lambda: self.execute_parallel(
                calls,
                context,
                allowed_tools,
                filter_opts,
                turn_attachments,
                deadline_seconds=deadline_seconds,
                max_concurrency=max_concurrency,
                budget_policy=budget_policy,
                untrusted=untrusted,
                filters=filters,
                on_result=on_result,
            )
        )
