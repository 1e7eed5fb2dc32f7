"""`delegate_parallel` and `task`: tools with which an agent hands tasks to other agents."""

from __future__ import annotations

import inspect
import json
import sys
from bisect import bisect_right
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from time import monotonic
from typing import Any, NamedTuple, Protocol

from ethos_registry import _core
from ethos_registry.agents._agent import description_of, run_of
from ethos_registry.agents._catalog_view import CallScope, DelegatedContext, current_scope, scope_of
from ethos_registry.execution._refusals import bounded_name
from ethos_registry.execution._results import even_share, fill_shares
from ethos_registry.execution._runtime import DEFAULT_ABANDON_AFTER_SECONDS
from ethos_registry.registry._tool_registry import ToolRegistry
from ethos_registry.schema._binding import result_from_value
from ethos_registry.types import _checks
from ethos_registry.types._context import ToolContext, ToolProgressEvent
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._result import ToolError, ToolResult, err, ok
from ethos_registry.types._tool import BoundedTextTool, Tool

# Rows of results as JSON that fits into a budget.

_MARKER_CHARS = 60
"""Room for the marker of a cut text."""


def fit_rows(
    rows: Sequence[Mapping[str, Any]],
    budget_chars: float,
    truncated_from: Sequence[int | None] | None = None,
) -> str:
    """The rows as compact JSON of at most `budget_chars`, with strings cut where necessary.

    Each row has its text under `value` or `error`. The budget that remains beside names and
    brackets is shared max-min fairly; a cut text ends in the usual marker. A budget that is too
    small for the names alone is exceeded: the JSON is whole all the same. `truncated_from` are the
    lengths of values that were cut before: what follows their marker stays, and so does the length.

    >>> rows = [{"agent": "a", "ok": True, "value": "x" * 1_000}]
    >>> text = fit_rows(rows, 200)
    >>> len(text) <= 200, json.loads(text)[0]["agent"]
    (True, 'a')
    """
    whole = _json(rows)
    if len(whole) <= budget_chars:
        return whole
    texts = [str(row.get("value", row.get("error", ""))) for row in rows]
    lengths = [_length(text) for text in texts]
    left = max(budget_chars - (len(whole) - sum(lengths)), 0)
    shares = fill_shares(left, lengths)
    return _json(
        [
            _with_text(row, _cut(text, share, total))
            for row, text, share, total in zip(
                rows, texts, shares, truncated_from or [None] * len(rows), strict=True
            )
        ]
    )


def fit_json(rows: Sequence[Mapping[str, Any]], budget_chars: float) -> str:
    """Rows whose names alone do not fit: as many as do, without their text, and how many do not.

    >>> fit_json([{"agent": "a", "ok": True, "value": "x"}] * 9, 60)
    '[{"agent":"a","ok":true},{"left_out":8}]'
    >>> fit_json([{"agent": "a", "ok": True, "value": "x"}] * 9, 5)
    '[]'
    """
    short = [{"agent": row["agent"], "ok": row["ok"]} for row in rows if "agent" in row]
    total = len(short) + sum(row.get("left_out", 0) for row in rows)
    count = bisect_right(
        range(1, len(short) + 1),
        budget_chars,
        key=lambda count: len(_json(_first(short, count, total))),
    )
    text = _json(_first(short, count, total))
    return text if len(text) <= budget_chars else "[]"


def _first(rows: list[dict[str, Any]], count: int, total: int) -> list[dict[str, Any]]:
    return rows if count == total else [*rows[:count], {"left_out": total - count}]


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _length(text: str) -> int:
    """Characters of a string inside JSON quotes."""
    return len(json.dumps(text, ensure_ascii=False)) - 2


def _with_text(row: Mapping[str, Any], text: str) -> dict[str, Any]:
    return {**row, "value" if "value" in row else "error": text}


def _cut(text: str, chars: int, total: int | None) -> str:
    """The longest beginning that takes at most this number of characters in JSON, with a marker."""
    if _length(text) <= chars:
        return text
    body, tail = _without_tail(text, total)
    left = chars - (_length(tail) if tail else _MARKER_CHARS)
    count = bisect_right(range(1, left + 1), left, key=lambda count: _length(body[:count]))
    cut = _core.trim(body, count)[0]
    return _without_tail(cut, len(body))[0] + tail if tail else cut


def _without_tail(text: str, total: int | None) -> tuple[str, str]:
    """The text before the marker of a cut, and the rest."""
    place = -1 if total is None else text.rfind(f"\n[truncated — {total} chars total]")
    return (text, "") if place < 0 else (text[:place], text[place:])


MAX_TASKS = 100
"""How many tasks one call may hand out."""
MARGIN_PART, MARGIN_SECONDS = 0.05, 2.5
"""Items are stopped so much before the call's own time is up: what has finished is still reported.
Half of it is for items that do not end when they are stopped."""


class Delegates(Protocol):
    """What delegation needs of a catalogue."""

    @property
    def agents(self) -> Mapping[str, Any]:
        """The agents by id."""

    def may_delegate(self, agent: str, target: str) -> bool:
        """Whether an agent may hand tasks to another."""


class DelegatedTask(NamedTuple):
    """One task for one agent."""

    agent: str
    task: str
    context: Any


class ItemResult(NamedTuple):
    """What came of it."""

    agent: Any
    result: ToolResult
    truncated_from: int | None = None
    """Characters of the agent's answer, if it was cut to its share."""


def delegation_tools(
    catalog: Delegates,
    to: Sequence[str],
    max_depth: int,
    timeout_seconds: float | None,
) -> list[Tool]:
    """The two tools; `ConfigError` for agents in `to` that nothing can be delegated to."""
    agents = catalog.agents
    for name in to:
        if name not in agents:
            raise ConfigError(f"`to` names {_checks.brief(name)}, which is not in the catalogue")
        if run_of(agents[name]) is None:
            raise ConfigError(f"`to` names `{name}`, which has no `run(task, context, ...)`")
    described = "".join(_line(name, description_of(agents[name])) for name in to)
    known = f" Agents:{described}" if described else ""
    delegation = Delegation(catalog, max_depth, timeout_seconds)
    return [
        _RowsTool(
            "delegate_parallel",
            "Hand several tasks to other agents, which work on them at the same time. "
            f"Returns a JSON array with one result for each task, in order.{known}",
            {
                "type": "object",
                "properties": {
                    "tasks": {
                        "type": "array",
                        "description": "One entry for each task.",
                        "items": _ITEM_SCHEMA,
                    }
                },
                "required": ["tasks"],
                "additionalProperties": False,
            },
            delegation.parallel,
            timeout_seconds=timeout_seconds,
        ),
        Tool(
            "task",
            f"Hand one task to another agent and get its answer.{known}",
            _ITEM_SCHEMA,
            delegation.single,
            timeout_seconds=timeout_seconds,
        ),
    ]


_ITEM_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "agent": {"type": "string", "description": "The agent that gets the task."},
        "task": {"type": "string", "description": "What it has to do."},
        "context": {"type": "string", "description": "What it needs to know."},
    },
    "required": ["agent", "task"],
    "additionalProperties": False,
}


def _line(name: str, description: str) -> str:
    return f"\n- {name}: {description}" if description else f"\n- {name}"


class Delegation:
    """Runs the tasks of one call, each under the limits of the call."""

    def __init__(self, catalog: Delegates, max_depth: int, timeout_seconds: float | None) -> None:
        self._catalog = catalog
        self._max_depth = max_depth
        self._timeout_seconds = timeout_seconds

    async def parallel(self, args: Any, context: ToolContext) -> ToolResult:
        """`delegate_parallel`: results as a JSON array of `{agent, ok, value | error}`."""
        tasks = args.get("tasks") if isinstance(args, Mapping) else None
        if isinstance(args, Mapping) and (unknown := args.keys() - {"tasks"}):
            return err(_unknown_key(unknown, "tasks"), "input_invalid")
        if not isinstance(tasks, list | tuple):
            return err("tasks: an array of {agent, task, context} is expected", "input_invalid")
        if len(tasks) > MAX_TASKS:
            return err(f"tasks: at most {MAX_TASKS} are taken, got {len(tasks)}", "input_invalid")
        results = await self._run_all(tasks, context)
        rows = [_row(item) for item in results]
        cuts = [item.truncated_from for item in results]
        costs = [item.result.cost_usd for item in results if item.result.cost_usd is not None]
        return ok(
            _bounded(rows, context.result_budget_chars, cuts),
            structured={"results": rows},
            cost_usd=_sum(costs) if costs else None,
        )

    async def single(self, args: Any, context: ToolContext) -> ToolResult:
        """`task`: the result of one agent, as it is."""
        [item] = await self._run_all([args], context)
        return item.result

    async def _run_all(self, tasks: Sequence[Any], context: ToolContext) -> list[ItemResult]:
        caller = context.agent_id or ""
        scope = scope_of(context, caller)
        share = even_share(context.result_budget_chars, len(tasks))
        read: list[DelegatedTask | ItemResult] = []
        for task in tasks:
            item = _read_item(task)
            if isinstance(item, DelegatedTask):
                refusal = self._refusal(item.agent, scope)
                if refusal is not None:
                    item = ItemResult(item.agent, err(refusal, "not_available"))
            read.append(item)
        items = {place: item for place, item in enumerate(read) if isinstance(item, DelegatedTask)}
        answers = await self._run_items(items, scope, share, context) if items else {}
        return [
            answers[place] if isinstance(item, DelegatedTask) else item
            for place, item in enumerate(read)
        ]

    def _refusal(self, target: str, scope: CallScope) -> str | None:
        """Why nothing is delegated to this agent."""
        caller = scope.path[-1]
        agent = self._catalog.agents.get(target)
        if agent is None:
            return f"Unknown agent: {_checks.brief(target)}"
        if target in scope.path:
            chain = " -> ".join((*scope.path, target))
            return f"Agent {target} is waiting for this task itself: {chain}"
        if not self._catalog.may_delegate(caller, target):
            return f"Agent {target} may not be given tasks by {caller}"
        if run_of(agent) is None:
            return f"Agent {target} takes no tasks"
        if len(scope.path) > self._max_depth:
            depth = self._max_depth
            return f"Agent {target} was not asked: tasks are handed on at most {depth} times"
        return None

    async def _run_items(
        self, items: Mapping[int, DelegatedTask], scope: CallScope, share: int, context: ToolContext
    ) -> dict[int, ItemResult]:
        """Run the items as one batch: its rules for time, threads, abort and failures hold."""
        named = {f"item_{place}": item for place, item in items.items()}
        grace_seconds, deadline_seconds = self._time(scope)
        if deadline_seconds is not None:
            scope = scope._replace(deadline=monotonic() + deadline_seconds)
        registry = ToolRegistry(
            [self._tool(name, item, scope) for name, item in named.items()],
            default_timeout_seconds=None,
            abandon_after_seconds=grace_seconds,
        )

        def forward(event: ToolProgressEvent) -> None:
            message = f"{named[event.tool_name].agent}: {event.message}"
            context.emit(ToolProgressEvent(message, percent=event.percent, audience=event.audience))

        results = await registry.execute_parallel(
            [{"id": name, "name": name} for name in named],
            context.replace(result_budget_chars=share * len(items), emit=forward, dry_run=False),
            max_concurrency=scope.max_concurrency,
            deadline_seconds=deadline_seconds,
        )
        return {
            place: ItemResult(
                item.agent, _named(answer.result, answer.name, item), answer.truncated_from
            )
            for (place, item), answer in zip(items.items(), results, strict=True)
        }

    def _time(self, scope: CallScope) -> tuple[float, float | None]:
        """How long stopped items may take to end, and when items are stopped; `None` for never."""
        limits = [] if self._timeout_seconds is None else [self._timeout_seconds]
        if scope.deadline is not None:
            limits.append(max(scope.deadline - monotonic(), 0.0))
        if not limits:
            return DEFAULT_ABANDON_AFTER_SECONDS, None
        limit = min(limits)
        margin = min(limit * MARGIN_PART, MARGIN_SECONDS)
        return margin / 2, limit - margin

    def _tool(self, name: str, item: DelegatedTask, scope: CallScope) -> Tool:
        """A tool whose call runs the agent."""
        run = run_of(self._catalog.agents[item.agent])
        assert run is not None
        inner = scope._replace(path=(*scope.path, item.agent))

        def started(context: ToolContext) -> Any:
            current_scope.set(inner)  # of this task or thread, whose context is its own
            own = DelegatedContext(context, inner, agent_id=item.agent, personality_id=None)
            return run(item.task, item.context, own)

        return Tool(name, item.agent, {"type": "object"}, _execute(run, started))


def _execute(run: Callable[..., Any], started: Callable[[ToolContext], Any]) -> Any:
    if _checks.is_async_callable(run):

        async def execute(args: Any, context: ToolContext) -> ToolResult:
            return result_from_value(await started(context))

        return execute

    def execute_plain(args: Any, context: ToolContext) -> ToolResult | Awaitable[ToolResult]:
        value = started(context)
        return _awaited(value) if inspect.isawaitable(value) else result_from_value(value)

    return execute_plain


async def _awaited(value: Awaitable[Any]) -> ToolResult:
    return result_from_value(await value)


def _named(result: ToolResult, name: str, item: DelegatedTask) -> ToolResult:
    """The result under the agent's name: the registry's own errors name the internal tool."""
    if result.ok or result.reason is None:
        return result
    error = result.error.replace(f"Tool {name}", f"Agent {item.agent}")
    return ToolError(error, result.code, result.reason, result.structured, result.cost_usd)


def _read_item(task: Any) -> DelegatedTask | ItemResult:
    if not isinstance(task, Mapping):
        return ItemResult(
            None, err("an object {agent, task, context} is expected", "input_invalid")
        )
    agent, text = task.get("agent"), task.get("task")
    if unknown := task.keys() - {"agent", "task", "context"}:
        about = _unknown_key(unknown, "agent, task, context")
        return ItemResult(agent if isinstance(agent, str) else None, err(about, "input_invalid"))
    if not isinstance(agent, str) or not agent:
        return ItemResult(None, err("agent: the id of an agent is expected", "input_invalid"))
    if not isinstance(text, str) or not text.strip():
        return ItemResult(agent, err("task: text that is not empty is expected", "input_invalid"))
    return DelegatedTask(agent, text, task.get("context"))


def _unknown_key(unknown: AbstractSet[object], known: str) -> str:
    return f"{_checks.brief(min(unknown, key=str))} is not an argument; the arguments are: {known}"


def _sum(costs: Iterable[float]) -> float:
    """All costs together; the largest number there is, where they are beyond it."""
    return max(-sys.float_info.max, min(sum(map(float, costs)), sys.float_info.max))


class _RowsTool(BoundedTextTool):
    """A tool whose text is the JSON of `_bounded`."""

    __slots__ = ()

    def fit(self, text: str, chars: int) -> str | None:
        """The rows in at most this number of characters."""
        try:
            return _bounded(json.loads(text), chars)
        except (ValueError, LookupError, TypeError):  # the message of an error
            return None


def _bounded(
    rows: Sequence[Mapping[str, Any]], chars: float, cuts: Sequence[int | None] | None = None
) -> str:
    if all("value" in row or "error" in row for row in rows):
        text = fit_rows(rows, chars, cuts)
        if len(text) <= chars:
            return text
    return fit_json(rows, chars)


def _row(item: ItemResult) -> dict[str, Any]:
    agent = None if item.agent is None else bounded_name(item.agent)
    if item.result.ok:
        return {"agent": agent, "ok": True, "value": item.result.value}
    return {"agent": agent, "ok": False, "error": item.result.error}
