"""One batch for the calls that a framework makes one by one."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from contextvars import Context, copy_context
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, TypedDict, TypeVar, Unpack

from ethos_registry.execution import _refusals
from ethos_registry.execution._options import BatchControl, StreamOptions, checked_options
from ethos_registry.providers._wire_format import EchoingId
from ethos_registry.registry._caller import checked_tool_context
from ethos_registry.types import _checks
from ethos_registry.types._blocking import called
from ethos_registry.types._call import CallResult, ToolCall
from ethos_registry.types._context import DEFAULT_BUDGET_CHARS, ToolContext, ToolProgressEvent
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._loop_thread import run_sync
from ethos_registry.types._ports import ToolView

# A call that waits for its batch, and the batch that it joined.

_NO_EMIT = ToolContext().emit
_WRITTEN = ("abort_signal", "artifact_store", "read_mtimes", "storage")
"""The fields that tools write to, or that stop them: equal is not enough."""

R = TypeVar("R")
OnProgress: TypeAlias = Callable[[ToolProgressEvent], object]
RunKey: TypeAlias = tuple[int, ...]
"""The identities of the objects of a run; it means nothing once they are gone."""


def run_key(run: object) -> RunKey:
    """What distinguishes one run of a framework from all others, while its objects exist.

    `run` is an object that the framework makes for one run, or a tuple of objects that are together
    those of one run. Raises `ConfigError` for a plain value: two runs may use the same.
    """
    parts = run if isinstance(run, tuple) else (run,)
    if not parts or isinstance(parts[0], str | bytes | int | float | None):
        raise ConfigError(
            f"`run` must be an object that the framework makes for one run, got "
            f"{_checks.brief(run)}, which another run may use as well"
        )
    return tuple(map(id, parts))


@dataclass(slots=True, eq=False, repr=False)
class CollectedCall:
    """One call, its caller's context and context variables, and the future of its result."""

    tool_call_id: str
    name: str
    args: Any
    context: ToolContext | None
    on_progress: OnProgress | None
    """Receives the events of the tool; `None` if they are dropped."""
    answer: asyncio.Future[CallResult]
    """What the caller waits for; cancelled with the caller."""
    caller: Context
    ended: asyncio.Future[None] | None = None
    """What a caller that was cancelled waits for."""

    def settle(self, result: CallResult) -> None:
        if not self.answer.done():
            self.answer.set_result(result)
        if self.ended is not None and not self.ended.done():
            self.ended.set_result(None)

    def not_started(self) -> CallResult:
        """The answer where the batch was cancelled before it started."""
        result = _refusals.aborted_before_start(_refusals.bounded_name(self.name))
        chars = len(result.text)
        return CallResult(
            self.tool_call_id,
            self.name,
            result,
            raw_chars=chars,
            reduced_chars=chars,
            sent_chars=chars,
        )


@dataclass(slots=True, eq=False, repr=False)
class CollectedBatch:
    """The calls of one run that start together, in the context that they share."""

    view: ToolView
    run: object
    """Kept while calls may join: until then no other object has its identity."""
    context: ToolContext | None
    calls: list[CollectedCall]
    control: BatchControl = field(default_factory=BatchControl)
    is_started: bool = False
    task: asyncio.Task[None] = field(init=False)

    @property
    def is_open(self) -> bool:
        """Whether calls may still join: not if its task was cancelled before it could start."""
        return not (self.is_started or self.task.done() or self.task.cancelling())

    def start(self) -> list[ToolCall]:
        """The calls to run; none joins any more.

        Their ids carry the position, so that calls with equal ids stay apart.
        """
        self.is_started = True
        self.calls = [call for call in self.calls if not call.answer.cancelled()]
        started = []
        for position, call in enumerate(self.calls):
            batch_id = EchoingId(call.tool_call_id)
            batch_id.echo = {"position": position}
            started.append(ToolCall(batch_id, call.name, call.args))
        return started

    def _call_of(self, batch_id: str) -> CollectedCall:
        assert isinstance(batch_id, EchoingId)
        position: int = batch_id.echo["position"]
        return self.calls[position]

    def hand_over(self, result: CallResult) -> None:
        """Give a result to the caller that waits for it."""
        call = self._call_of(result.tool_call_id)
        result.tool_call_id = call.tool_call_id
        call.settle(result)

    def emit(self, event: ToolProgressEvent) -> None:
        """Pass an event to the call that it belongs to, until the batch has ended."""
        call = self._call_of(event.tool_call_id)
        if call.on_progress is not None and not self.task.done():
            call.on_progress(replace(event, tool_call_id=call.tool_call_id))

    def fail(self, error: BaseException) -> None:
        """Raise an error of the whole batch in every caller that waits."""
        for call in self.calls:
            if not call.answer.done():
                call.answer.set_exception(error)

    def close(self) -> None:
        """Answer the calls that the batch was cancelled before."""
        for call in self.calls:
            if not call.answer.done():
                call.settle(call.not_started())

    async def leave(self, call: CollectedCall, *, is_held: bool) -> None:
        """Stop a call whose caller was cancelled; returns when it has ended.

        `is_held` if results are held until the end of the batch, which is not waited for.
        """
        if not self.is_started or not call.answer.cancelled() or call not in self.calls:
            return
        if all(other.answer.done() for other in self.calls):
            self.task.cancel()
            await _ended(self.task)
            return
        call.ended = self.task.get_loop().create_future()
        self.control.stop(self.calls.index(call))
        if not is_held:
            await _ended(call.ended)


async def _ended(future: asyncio.Future[Any]) -> None:
    """Wait for the end; a second cancellation ends the wait."""
    with contextlib.suppress(asyncio.CancelledError):
        await asyncio.wait([future])


def call_factory(
    factory: Callable[..., R] | None, *given: object, name: str = "context_factory"
) -> R | None:
    """What a factory of the host makes for one call; `None` without one."""
    return None if factory is None else called(f"`{name}`", factory, *given)


def is_same_context(first: ToolContext | None, second: ToolContext | None) -> bool:
    """Whether calls of two contexts may share a batch: all but `emit` and the id is the same."""
    if first is second:
        return True
    if type(first) is not ToolContext or type(second) is not ToolContext:
        return False  # a subclass may hold more
    return (
        first.result_budget_chars == second.result_budget_chars
        and all(getattr(first, name) is getattr(second, name) for name in _WRITTEN)
        and first._facts == second._facts
        and first._scoped == second._scoped
    )


class CallOptions(TypedDict, total=False):
    """The options of a call that joins no other."""

    tool_call_id: str
    context: ToolContext | None
    view: ToolView | None
    on_progress: OnProgress | None


_Key: TypeAlias = tuple[asyncio.AbstractEventLoop, int, RunKey]


@_checks.checked_class
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

    Raises `ConfigError` for a value of the wrong kind and `SignatureError` for an unknown option.

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

    def __init__(
        self,
        view: ToolView,
        *,
        turn_budget_chars: float | None = None,
        call_budget_chars: float | None = None,
        **options: Unpack[StreamOptions],
    ) -> None:
        _checks.instance(view, ToolView, "view", "a view", "`registry.view(personality)` makes one")
        checked_options(options)
        if turn_budget_chars is not None:
            _checks.finite_number(turn_budget_chars, "turn_budget_chars")
        if call_budget_chars is not None:
            _checks.finite_number(call_budget_chars, "call_budget_chars")
        self.view = view
        """The view whose tools are called by default."""
        self._turn_budget_chars = turn_budget_chars
        self._call_budget_chars = call_budget_chars
        self._options = options
        self._is_filled = options.get("budget_policy") == "fill"
        self._open: dict[_Key, list[CollectedBatch]] = {}
        """What still takes calls in this tick."""
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
            checked_tool_context(context)
            if on_progress is None and context.emit is not _NO_EMIT:
                on_progress = context.emit
        call = CollectedCall(
            _checks.text(tool_call_id, "tool_call_id"),
            _checks.text(name, "name"),
            args,
            context,
            on_progress,
            asyncio.get_running_loop().create_future(),
            copy_context(),
        )
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
            checked_tool_context(context)
        [result] = await (self.view if view is None else view).execute(
            [
                ToolCall(
                    _checks.text(tool_call_id, "tool_call_id"), _checks.text(name, "name"), args
                )
            ],
            self._batch_context(context, 1, on_progress),
            **self._options,
        )
        return result  # type: ignore[no-any-return]

    def call_sync(
        self,
        name: str,
        args: Any,
        **options: Unpack[CallOptions],
    ) -> CallResult:
        """The result of one call for code without an event loop: a batch of its own."""
        return run_sync(lambda: self.call_alone(name, args, **options))

    def _joined(self, call: CollectedCall, run: object, view: ToolView) -> CollectedBatch:
        """The open batch that the call joined, or the one that it opened."""
        loop = asyncio.get_running_loop()
        key = (loop, id(view), run_key(run))
        opened = self._open.get(key)
        if opened is None:
            for old in [key for key in list(self._open) if key[0].is_closed()]:
                self._open.pop(old, None)  # its loop ended before the batch could start
            opened = self._open[key] = []
        for batch in opened:
            if batch.is_open and is_same_context(batch.context, call.context):
                batch.calls.append(call)
                return batch
        batch = CollectedBatch(view, run, call.context, [call])
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
        calls = batch.start()
        if not calls:
            return
        emits = any(call.on_progress is not None for call in batch.calls)
        try:
            await batch.view.execute(
                calls,
                self._batch_context(batch.context, len(calls), batch.emit if emits else None),
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


class AdapterCalls(TurnCollector):
    """The collector of an adapter, with what makes the context of each call."""

    def __init__(
        self,
        view: ToolView,
        context_factory: Callable[..., ToolContext] | None,
        turn_budget_chars: float | None,
        call_budget_chars: float | None,
        options: StreamOptions,
    ) -> None:
        super().__init__(
            view,
            turn_budget_chars=turn_budget_chars,
            call_budget_chars=call_budget_chars,
            **options,
        )
        self._context_factory = context_factory

    def context(self, *framework: object) -> ToolContext | None:
        """What the factory makes of the framework's objects; `None` without one."""
        return call_factory(self._context_factory, *framework)
