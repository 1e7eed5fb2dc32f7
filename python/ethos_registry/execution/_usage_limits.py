"""Limits of calls, cost and tokens: judged where a tool starts, counted by a ledger."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from ethos_registry.execution._approvals import PendingResult
from ethos_registry.execution._call import Call
from ethos_registry.execution._refusals import checked_result, not_started
from ethos_registry.execution._runtime import Runtime
from ethos_registry.execution._threads import DaemonThreads, Job
from ethos_registry.types import _checks
from ethos_registry.types._context import ToolContext
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._result import ToolError
from ethos_registry.types._usage_limits import (
    NANO_USD,
    CheckedLimit,
    LimitKey,
    UsageAmounts,
    UsageCounter,
    checked_limits,
    limit_keys,
)

_SECONDS_PER_DAY = 86_400
_ledger_threads = DaemonThreads(8)
"""Where ledgers are asked: apart, so that hung tools cannot delay them."""


class ViewLimits(NamedTuple):
    """The limits of a view and what counts them."""

    limits: tuple[CheckedLimit, ...]
    counter: UsageCounter

    def of_batch(self, context: ToolContext, runtime: Runtime) -> BatchLimits:
        """The limits in a context; `ConfigError` if it does not name its run or tenant."""
        scopes = list(dict.fromkeys(limit.scope for limit in self.limits))
        return BatchLimits(self, limit_keys(scopes, context), runtime)


def checked_view_limits(limits: object, runtime: Runtime) -> ViewLimits | None:
    """The limits of a view; `ConfigError` for what cannot be meant, or if nothing counts them."""
    if limits is None:
        return None
    checked = checked_limits(limits)
    observers = () if runtime.observers is None else runtime.observers.given
    for observer in observers:
        if isinstance(observer, UsageCounter):
            return ViewLimits(checked, observer)
    raise ConfigError(
        "`limits` are counted by a ledger, and the registry has none: give it "
        "`observers=[UsageLedger(place)]`, with a file or a URL if processes share the limits"
    )


class _Waiting(NamedTuple):
    name: str
    refusal: asyncio.Future[ToolError | None]


class BatchLimits:
    """The limits of one batch, and its calls that wait to be counted.

    Calls that get here in one turn of the loop are counted together, in their order.
    """

    __slots__ = ("_counter", "_has_cost", "_keys", "_limits", "_runtime", "_tasks", "_waiting")

    def __init__(self, view: ViewLimits, keys: list[LimitKey], runtime: Runtime) -> None:
        self._limits = view.limits
        self._counter = view.counter
        self._keys = keys
        self._runtime = runtime
        self._has_cost = any(limit.amount == "cost_usd" for limit in view.limits)
        self._waiting: list[_Waiting] = []
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self, run_tool: Callable[[Call], Awaitable[Any]], call: Call) -> Any:
        """What the tool returns if the limits let it start. Counting is not its time."""
        if call.clock_started is not None:  # a filter ran before
            call.pause_clock()
        refusal = await self._admitted(call)
        call.resume_clock()
        if refusal is not None:
            raise PendingResult(refusal)
        try:
            value = await run_tool(call)
        finally:
            if call.started is None:
                self._give_back()
        if self._has_cost and (cost := _cost_nano_usd(value)):
            call.pause_clock()
            await self.add(UsageAmounts(cost_nano_usd=cost))
            call.resume_clock()
        return value

    async def add(self, amounts: UsageAmounts) -> None:
        """Count what was used; a ledger that cannot is logged."""
        problem = await self._counted(lambda used: amounts)
        if problem is not None:
            self._runtime.log_once("the ledger of `limits`", problem)

    async def _admitted(self, call: Call) -> ToolError | None:
        loop = asyncio.get_running_loop()
        refusal: asyncio.Future[ToolError | None] = loop.create_future()
        self._waiting.append(_Waiting(call.plan.name, refusal))
        if len(self._waiting) == 1:
            loop.call_soon(self._begin)
        return await refusal

    def _begin(self) -> None:
        # Not by `create_task`: a task factory of the host must not delay or drop it.
        task = asyncio.Task(self._admit_waiting(), loop=asyncio.get_running_loop())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _give_back(self) -> None:
        """A call that was counted did not start. Its loop may end before the ledger answers."""
        with contextlib.suppress(RuntimeError):  # the system starts no more threads
            self._submit(lambda used: UsageAmounts(calls=-1))

    async def _admit_waiting(self) -> None:
        """Start the waiting calls that the limits permit, in order, and refuse the rest."""
        waiting, self._waiting = self._waiting, []
        waiting = [each for each in waiting if not each.refusal.done()]
        admitted, reached = 0, None

        def decide(used: Sequence[UsageAmounts]) -> UsageAmounts:
            nonlocal admitted, reached
            admitted, reached = self._left(used, len(waiting))
            return UsageAmounts(calls=admitted)

        problem = await self._counted(decide) if waiting else None
        for position, (name, refusal) in enumerate(waiting):
            if refusal.done():  # cancelled meanwhile
                if problem is None and position < admitted:
                    self._give_back()
            elif problem is not None:
                refusal.set_result(not_started(name, "its limits could not be counted", "limit"))
            elif position < admitted:
                refusal.set_result(None)
            else:
                assert reached is not None
                refusal.set_result(not_started(name, reached, "limit"))
        if problem is not None:
            self._runtime.log_once("the ledger of `limits`, which refuses all calls,", problem)

    def _left(self, used: Sequence[UsageAmounts], wanted: int) -> tuple[int, str | None]:
        """How many of these calls may start, and the limit that the others exceed."""
        by_scope = dict(zip((key.scope for key in self._keys), used, strict=True))
        admitted, reached = wanted, None
        for limit in self._limits:
            amounts = by_scope[limit.scope]
            if limit.amount == "calls":
                left = max(int(limit.most) - amounts.calls, 0)
            else:
                left = 0 if _used(amounts, limit) >= limit.most else wanted
            if left < admitted:
                admitted, reached = left, _described(limit, amounts, left)
        return admitted, reached

    async def _counted(
        self, decide: Callable[[Sequence[UsageAmounts]], UsageAmounts]
    ) -> BaseException | None:
        """Count on a thread; what went wrong, if anything."""
        try:
            return (await self._submit(decide).future).error
        except RuntimeError as error:  # the system starts no more threads
            return error

    def _submit(self, decide: Callable[[Sequence[UsageAmounts]], UsageAmounts]) -> Job:
        today = int(time.time()) // _SECONDS_PER_DAY
        keys = [key if key.scope in _ENDLESS else key._replace(day=today) for key in self._keys]
        return _ledger_threads.submit(self._counter.count_limits, keys, decide)


_ENDLESS = ("run", "tenant")


def _cost_nano_usd(value: Any) -> int:
    try:
        cost = checked_result(value).cost_usd
    except ConfigError:  # answered by the step after
        return 0
    return _nano_usd(cost or 0)


def _nano_usd(cost_usd: float) -> int:
    return round(min(max(cost_usd, 0), 1e9) * NANO_USD)


def _used(amounts: UsageAmounts, limit: CheckedLimit) -> float:
    if limit.amount == "cost_usd":
        return amounts.cost_nano_usd / NANO_USD
    return amounts.calls if limit.amount == "calls" else amounts.tokens


_SCOPE_TEXTS = {
    "run": ("for each run", "with the next run"),
    "day": ("for each day", "at {tomorrow} 00:00 UTC"),
    "tenant": ("for each tenant", "when the limit is raised"),
    "tenant_day": ("for each tenant and day", "at {tomorrow} 00:00 UTC"),
}
"""What a limit is for, and when it frees."""


def _described(limit: CheckedLimit, amounts: UsageAmounts, admitted: int) -> str:
    unit = "USD" if limit.amount == "cost_usd" else limit.amount
    used = _used(amounts, limit) + (admitted if limit.amount == "calls" else 0)
    scope, frees = _SCOPE_TEXTS[limit.scope]
    tomorrow = datetime.now(UTC).date() + timedelta(days=1)
    return (
        f"the limit of {_number(limit.most)} {unit} {scope} is reached "
        f"({_number(used)} used); it frees {frees.format(tomorrow=tomorrow)}"
    )


def _number(value: float) -> str:
    return f"{value:.10g}" if isinstance(value, float) else str(value)


def reported_usage(tokens: object, cost_usd: object) -> UsageAmounts:
    """What a program reports, checked."""
    count = _checks.finite_number(tokens, "tokens", whole=True)
    cost = _checks.finite_number(cost_usd, "cost_usd")
    return UsageAmounts(0, _nano_usd(cost), int(count))
