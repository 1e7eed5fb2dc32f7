"""One batch for the calls that a framework makes one by one."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any, TypeAlias, Unpack

from ethos_registry.bridges.collected_call import (
    CollectedBatch,
    CollectedCall,
    OnProgress,
    RunKey,
    batch_number,
    is_same_context,
    run_key,
)
from ethos_registry.contract import checks
from ethos_registry.contract.call import CallResult, ToolCall
from ethos_registry.contract.context import DEFAULT_BUDGET_CHARS, ToolContext
from ethos_registry.contract.errors import ConfigError
from ethos_registry.contract.ports import ToolView
from ethos_registry.contract.progress import ToolProgressEvent
from ethos_registry.execution.options import StreamOptions, checked_options
from ethos_registry.registry.batch_arguments import checked_context
from ethos_registry.registry.sync import run_sync

__all__ = ["TurnCollector"]

_Key: TypeAlias = tuple[asyncio.AbstractEventLoop, int, RunKey]


class TurnCollector:
    """Joins the calls that one run of a framework starts in one tick into one batch of a view.

    Frameworks call one tool at a time, and most start all calls of a turn in the same tick. So that
    the calls still share one budget, `max_concurrency` and `budget_policy`, the first call opens a
    batch, later calls of the same `run` join it, and the batch starts in the next tick: no call
    waits longer for others. Calls without a `run`, and those of different runs, event loops, views
    or contexts are never joined. Each call runs in a copy of its own caller's context variables.

    `turn_budget_chars` is what the results of one batch may have together, by default that of the
    call's context, and `call_budget_chars` what they may have for each of its calls: the limit of a
    call that joins no other. The other options are those of `View.execute`.

    Raises `ConfigError` for a value of the wrong kind and `TypeError` for an unknown option.

    >>> import asyncio
    >>> from ethos_registry import Personality, ToolRegistry
    >>> registry = ToolRegistry()
    >>> @registry.tool
    ... async def double(number: int) -> int: return 2 * number
    >>> view = registry.view(Personality("worker"))
    >>> async def turn():
    ...     collector = TurnCollector(view, turn_budget_chars=10_000)
    ...     run = object()  # what a framework has one of for each run
    ...     calls = [collector.call("double", {"number": n}, run=run) for n in (1, 2, 3)]
    ...     return [result.text for result in await asyncio.gather(*calls)]  # one batch
    >>> asyncio.run(turn())
    ['2', '4', '6']
    """

    __slots__ = (
        "_call_budget_chars",
        "_is_filled",
        "_numbers",
        "_open",
        "_options",
        "_running",
        "_tasks",
        "_turn_budget_chars",
        "view",
    )

    def __init__(
        self,
        view: ToolView,
        *,
        turn_budget_chars: float | None = None,
        call_budget_chars: float | None = None,
        **options: Unpack[StreamOptions],
    ) -> None:
        if not isinstance(view, ToolView):
            raise ConfigError(
                f"`view` must be a view, got {type(view).__name__}; "
                "`registry.view(personality)` makes one"
            )
        checked_options(options)
        if turn_budget_chars is not None:
            checks.finite_number(turn_budget_chars, "turn_budget_chars")
        if call_budget_chars is not None:
            checks.finite_number(call_budget_chars, "call_budget_chars")
        self.view = view
        """The view whose tools are called by default."""
        self._turn_budget_chars = turn_budget_chars
        self._call_budget_chars = call_budget_chars
        self._options = options
        self._is_filled = options.get("budget_policy") == "fill"
        self._open: dict[_Key, list[CollectedBatch]] = {}
        """What still takes calls in this tick."""
        self._running: dict[int, CollectedBatch] = {}
        self._numbers = itertools.count()
        self._tasks: set[asyncio.Task[None]] = set()  # an event loop keeps no task alive

    def __repr__(self) -> str:
        return f"<TurnCollector of {self.view!r}>"

    async def call(
        self,
        name: str,
        args: Any,
        *,
        run: object | None = None,
        tool_call_id: str = "",
        context: ToolContext | None = None,
        view: ToolView | None = None,
        on_progress: OnProgress | None = None,
    ) -> CallResult:
        """The result of one call, as soon as it is ready.

        `args` is a mapping, or JSON text. `run` is an object that the framework makes for one run,
        or a tuple of objects that are together those of one run: only calls whose objects are the
        same ones, not equal ones, may share a batch. Without it the call is a batch of its own.
        `tool_call_id` is what the tool reads in its context and
        what the result carries; it need not be unique. Events of the tool go to `on_progress`, by
        default to the `emit` of this call's `context`. `view` replaces the collector's own.

        Cancelling the caller stops this call alone, and waits until it has ended; when no call of
        the batch has a caller any more, the batch is cancelled.

        Raises `ConfigError` for a name, id, context or run of the wrong kind; everything else is a
        result.
        """
        if run is None:
            return await self.call_alone(
                name,
                args,
                tool_call_id=tool_call_id,
                context=context,
                view=view,
                on_progress=on_progress,
            )
        if context is not None:
            checked_context(context)
        call = CollectedCall(tool_call_id, name, args, context, on_progress)
        batch = self._joined(call, run, self.view if view is None else view)
        try:
            return await call.answer
        except asyncio.CancelledError:
            await batch.leave(call, is_held=self._is_filled)
            raise

    async def call_alone(
        self,
        name: str,
        args: Any,
        *,
        tool_call_id: str = "",
        context: ToolContext | None = None,
        view: ToolView | None = None,
        on_progress: OnProgress | None = None,
    ) -> CallResult:
        """The result of one call as a batch of its own, which starts at once.

        For a framework that calls its tools one after the other: there is nothing to join, and the
        call runs in the caller's task. The arguments are those of `call`.
        """
        if context is not None:
            checked_context(context)
        [result] = await (self.view if view is None else view).execute(
            [ToolCall(checks.text(tool_call_id, "tool_call_id"), checks.text(name, "name"), args)],
            self._batch_context(context, 1, on_progress),
            **self._options,
        )
        return result  # type: ignore[no-any-return]

    def call_sync(
        self,
        name: str,
        args: Any,
        *,
        tool_call_id: str = "",
        context: ToolContext | None = None,
        view: ToolView | None = None,
        on_progress: OnProgress | None = None,
    ) -> CallResult:
        """The result of one call for code without an event loop: a batch of its own."""
        return run_sync(
            lambda: self.call_alone(
                name,
                args,
                tool_call_id=tool_call_id,
                context=context,
                view=view,
                on_progress=on_progress,
            )
        )

    def _joined(self, call: CollectedCall, run: object, view: ToolView) -> CollectedBatch:
        """The open batch that the call joined, or the one that it opened."""
        loop = asyncio.get_running_loop()
        key = (loop, id(view), run_key(run))
        call.answer = loop.create_future()
        opened = self._open.get(key)
        if opened is None:
            for old in [key for key in list(self._open) if key[0].is_closed()]:
                self._open.pop(old, None)  # its loop ended before the batch could start
            opened = self._open[key] = []
        for batch in opened:
            if batch.is_open and is_same_context(batch.context, call.context):
                batch.calls.append(call)
                return batch
        batch = CollectedBatch(view, run, call)
        opened.append(batch)
        # A task of its own: it outlives the caller that opened it, and its first step, in the next
        # tick, comes after all that this tick still runs. Not by `create_task`: an eager factory
        # would start it now.
        batch.task = asyncio.Task(self._run(batch, key), loop=loop, name="ethos-registry turn")
        self._tasks.add(batch.task)
        batch.task.add_done_callback(lambda task: self._end(task, batch, key))
        return batch

    def _end(self, task: asyncio.Task[None], batch: CollectedBatch, key: _Key) -> None:
        self._tasks.discard(task)
        if not batch.is_started:  # cancelled before its first step, so `_run` did nothing
            self._close(batch, key)
            batch.close()

    async def _run(self, batch: CollectedBatch, key: _Key) -> None:
        self._close(batch, key)
        number = next(self._numbers)
        calls = batch.start(number)
        if not calls:
            return
        self._running[number] = batch
        try:
            await batch.view.execute(
                calls,
                self._batch_context(batch.context, len(batch.calls), self._emit_of(batch)),
                **self._options,
                on_result=batch.hand_over,
                control=batch.control,
                callers=[call.caller for call in batch.calls],
            )
        except asyncio.CancelledError:
            raise  # its last caller left, or the event loop ends
        except Exception as error:
            batch.fail(error)
        except BaseException as error:
            batch.fail(error)
            raise
        finally:
            del self._running[number]
            batch.close()

    def _close(self, batch: CollectedBatch, key: _Key) -> None:
        """No call joins the batch any more."""
        opened = self._open.get(key, [])
        if batch in opened:
            opened.remove(batch)
            if not opened:
                del self._open[key]

    def _batch_context(
        self, context: ToolContext | None, calls: int, emit: OnProgress | None
    ) -> ToolContext:
        """The context of the calls with the budget of the batch, and their own listeners."""
        budget = self._turn_budget_chars
        if budget is None:
            budget = DEFAULT_BUDGET_CHARS if context is None else context.result_budget_chars
        if self._call_budget_chars is not None:
            budget = min(budget, calls * self._call_budget_chars)
        if context is None:
            return ToolContext(result_budget_chars=budget, emit=emit)
        if emit is None:
            emit = context.emit
        if budget == context.result_budget_chars and emit is context.emit:
            return context
        return context.replace(result_budget_chars=budget, emit=emit)

    def _emit_of(self, batch: CollectedBatch) -> OnProgress | None:
        emits = any(call.on_progress is not None for call in batch.calls)
        return self._emit if emits else None

    def _emit(self, event: ToolProgressEvent) -> None:
        """Pass an event to the call that it belongs to."""
        batch = self._running.get(batch_number(event.tool_call_id))
        if batch is not None:
            batch.emit(event)
