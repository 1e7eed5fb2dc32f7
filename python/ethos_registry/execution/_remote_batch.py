"""The calls of one batch that a transport runs: sent together, answered one by one."""

from __future__ import annotations

import asyncio
import hashlib
import json
import weakref
from contextlib import aclosing
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from ethos_registry import _core
from ethos_registry._table.entry import Entry
from ethos_registry.artifacts._spooled_store import write_shared
from ethos_registry.execution._call import Batch, Call, CallPlan
from ethos_registry.execution._full_text import FRAME_CHARS
from ethos_registry.execution._refusals import exception_text
from ethos_registry.reduction._finish import Fence, Finished, finish_result, sanitized
from ethos_registry.reduction._redaction import Redact, Redactor
from ethos_registry.reduction._reducers import reducer_identity
from ethos_registry.types._blocking import watched
from ethos_registry.types._reducer import ToolResultReducer
from ethos_registry.types._remote_finish import FinishFacts, FinishOrder
from ethos_registry.types._result import ToolError, ToolResult
from ethos_registry.types._tool import Tool
from ethos_registry.types._transport import (
    LiveContext,
    ToolExecuteRequest,
    ToolTransport,
    TransportHeld,
    TransportProgress,
    TransportReply,
    TransportTraits,
    may_have_run,
    not_started,
)

# Shortening results where their tools run: what is asked for, done there, and taken here.

STORED_FROM_CHARS = 64 * 1024
"""Shorter text is not written to a shared folder: it travels, and the caller stores it."""
NO_TRIM = 2**63 - 1
"""The cap of a result that is trimmed elsewhere, or with others."""


def finish_order(batch: Batch, plan: CallPlan, traits: TransportTraits) -> FinishOrder | None:
    """What a worker is asked to do with the results of a tool.

    `None` if their full text is needed here: for a filter, a recorder, a reduction policy, a
    reducer or a redaction that the worker does not have, or an artifact store that it cannot reach.
    """
    observers, entry = batch.observers, plan.entry
    reducer = reducer_identity(plan.reducer)
    fences = batch.wraps_untrusted and entry.output_is_untrusted
    if (
        not traits.finishes_results
        or plan.filters
        or batch.options.resumed is not None
        or reducer is None
        or (observers is not None and observers.batch_recorded)
        or (fences and entry.mcp_server is not None)
        or (batch.trims_at_end and not reducer)
        or (plan.reduction is not None and reducer)
        or not _is_standard(plan.redact, batch)
    ):
        return None
    folder = None
    if batch.artifacts is not None:
        folder = batch.artifacts.shared_folder()
        if folder is None:
            return None
    return FinishOrder(
        plan.cap, not batch.trims_at_end, reducer, plan.redact is not None, fences, folder
    )


def _is_standard(redact: Redact | None, batch: Batch) -> bool:
    """Whether credentials are recognised by their shape alone: no secret was handed out here."""
    if redact is None or redact is _core.redact:
        return True
    return type(redact) is Redactor and redact.own is None and redact.known is None


def needs_full_text(finished: Finished, cap: int, *, is_reduced: bool, trims: bool) -> bool:
    """Whether the model does not receive the whole text."""
    if is_reduced:
        return True
    if trims:
        return finished.truncated_from == finished.reduced_chars
    return finished.sent_chars > cap


def finished_locally(
    order: FinishOrder,
    call: Call,
    result: ToolResult,
    reducer: ToolResultReducer | None,
    fence: Fence | None,
) -> tuple[Finished, FinishFacts] | None:
    """A result as the registry of the caller would finish it; `None` if it has to travel whole.

    `reducer` is that of this registry; `None` for a result that no reducer may change.
    """
    if order.folder is not None and len(result.text) < STORED_FROM_CHARS:
        return None
    redact = call.plan.redact
    if order.redacts:
        redact = _core.redact if redact is None else Redactor(own=redact)
    cap, now = (order.cap, fence) if order.trims else (NO_TRIM, None)
    turn_count = call.batch.context.current_turn
    finished = finish_result(result, cap, reducer, call.args, turn_count, now, redact=redact)
    text, file = finished.raw_text, None
    if order.folder is not None:
        is_reduced = reducer is not None and finished.reduced_chars < len(text)
        is_cut = needs_full_text(finished, order.cap, is_reduced=is_reduced, trims=order.trims)
        if is_cut:
            file = write_shared(order.folder, text)
        if file is None and (is_cut or not order.trims):
            return None
    if not order.trims and fence is not None:
        finished = sanitized(finished)
    facts = FinishFacts(finished.raw_chars, finished.reduced_chars, finished.truncated_from, file)
    return finished, facts


def is_within_order(order: FinishOrder | None, result: ToolResult) -> bool:
    """Whether the text keeps to what was asked for; other text is finished here."""
    if order is None:
        return False
    return not order.trims or len(result.text) <= order.cap + 2 * FRAME_CHARS


# The identity of a tool, by which two processes see that they mean the same one.

_known: weakref.WeakKeyDictionary[Tool, tuple[bytes, str]] = weakref.WeakKeyDictionary()


def tool_digest(entry: Entry) -> str:
    """SHA-256 hex over the definition and the declared capabilities of a registered tool."""
    text = entry.definition.text
    known = _known.get(entry.tool)
    if known is not None and known[0] is text:
        return known[1]
    capabilities = json.dumps(entry.capabilities.to_wire(), sort_keys=True)
    digest = hashlib.sha256(text + capabilities.encode()).hexdigest()
    _known[entry.tool] = (text, digest)
    return digest


_MAX_HELD_SECONDS = 10.0
"""A worker that is blocked for longer is judged like any other that does not answer."""


@dataclass(slots=True, eq=False, repr=False)
class _Sent:
    """A call that was given to the transport, and who waits for its reply."""

    call: Call
    request: ToolExecuteRequest
    caller: Context = field(default_factory=copy_context)
    submitted_at: float = field(default_factory=monotonic)
    reply: TransportReply | None = None
    waiter: asyncio.Future[None] | None = None
    _held_at: float | None = None
    _held_seconds: float = 0.0
    _release: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """The tool is about to run, or goes on."""
        if self.call.started is None:
            self.call.started = monotonic()
        if self._release is not None:
            self._release.cancel()
        self._resume()

    def hold(self, seconds: float, loop: asyncio.AbstractEventLoop) -> None:
        """The tool cannot go on, for some seconds already: its time does not count."""
        call, left = self.call, _MAX_HELD_SECONDS - self._held_seconds
        if call.started is None or self._held_at is not None or left <= 0:
            return
        now = monotonic()
        seconds = min(seconds, left, now - call.started) if seconds > 0 else 0.0  # or NaN
        self._held_seconds += seconds
        self._held_at = now
        call.pause_clock()
        call.leave_out(seconds)
        self._release = loop.call_later(left - seconds, self._resume)

    def _resume(self) -> None:
        if self._held_at is not None:
            self._held_seconds += monotonic() - self._held_at
            self._held_at = None
        self.call.resume_clock()

    def settle(self, reply: TransportReply) -> None:
        """Only the first reply counts."""
        if self.reply is None:
            self.reply = reply
            if self._release is not None:
                self._release.cancel()
            if self.waiter is not None and not self.waiter.done():
                self.waiter.set_result(None)

    async def wait(self, loop: asyncio.AbstractEventLoop) -> TransportReply:
        """The reply. Cancelling one wait does not affect the next."""
        while self.reply is None:
            self.waiter = loop.create_future()
            await self.waiter
        return self.reply


class RemoteBatch:
    """What a batch gives to one transport.

    The calls that start in one tick of the loop are one `execute_many`.
    """

    __slots__ = ("_batch", "_loop", "_streams", "_transport", "_waiting", "loses_text")

    def __init__(self, batch: Batch, transport: ToolTransport) -> None:
        self._batch = batch
        self._loop = asyncio.get_running_loop()
        self._transport = transport
        self._waiting: list[_Sent] = []
        self._streams: set[asyncio.Task[None]] = set()
        self.loses_text = transport.traits.reduces_results
        """Whether results may arrive reduced."""

    async def run(self, call: Call) -> Any:
        """What the tool returned where it ran, or why it did not run."""
        request = self._request(call)
        traits = self._transport.traits
        if traits.remote and (obstacle := request.obstacle) is not None:
            return not_started(
                request.name,
                f"the context has `{obstacle}`, an object of this process that cannot be sent",
            )
        sent = _Sent(call, request)
        if traits.reports_start:
            if call.clock_started is None:
                call.clock_started = sent.submitted_at
            call.pause_clock()
        else:
            call.started = sent.submitted_at
        call.abort_signal  # noqa: B018  its controller is what a stop of this call fires
        if not self._waiting:
            self._loop.call_soon(self._send)
        self._waiting.append(sent)
        try:
            reply = await sent.wait(self._loop)
        except asyncio.CancelledError:
            await self._stopped(sent)
            raise
        self._take(sent, reply)
        return reply.result

    def _request(self, call: Call) -> ToolExecuteRequest:
        batch, entry = self._batch, call.plan.entry
        allowed_tools, filter_opts = batch.admission.policy
        return ToolExecuteRequest(
            call.tool_call_id,
            entry.name,
            call.tool_args,
            call,
            batch.options.turn_attachments,
            batch.personality,
            allowed_tools,
            filter_opts,
            entry.tool.idempotent,
            tool_digest(entry),
            call.plan.finish_order,
        )

    async def _stopped(self, sent: _Sent) -> None:
        """The call was stopped: tell the transport, and learn whether the tool had started.

        The timer of the batch bounds the wait: it abandons the call.
        """
        call = sent.call
        if call.started is None:
            call.started = sent.submitted_at  # unless the transport knows better
        if call.controller is not None:
            call.controller.abort("the call was stopped")
        if sent in self._waiting:
            self._waiting.remove(sent)
            call.started = None
            return
        self._take(sent, await sent.wait(self._loop))

    def _take(self, sent: _Sent, reply: TransportReply) -> None:
        call = sent.call
        if not reply.was_started:
            call.started = None
        elif call.started is None:
            call.started = sent.submitted_at
        result = reply.result
        call.worker_raw_chars = reply.raw_chars
        if reply.finish is not None and is_within_order(sent.request.finish, result):
            call.finish_facts = reply.finish
        else:
            call.has_registry_error = not result.ok and result.reason is not None
        mtimes = call.read_mtimes
        if reply.read_mtimes and mtimes is not None:
            mtimes.update(reply.read_mtimes)

    def _send(self) -> None:
        """Give the transport what has come since the last time."""
        sent, self._waiting = self._waiting, []
        if not sent:
            return
        stream = self._loop.create_task(self._stream(sent))
        self._streams.add(stream)
        stream.add_done_callback(self._streams.discard)

    async def _stream(self, sent: list[_Sent]) -> None:
        problem, traits = "the transport sent no result", self._transport.traits
        late = None
        if traits.reports_start and traits.start_seconds is not None:
            late = self._loop.call_later(traits.start_seconds, _count_time, sent)
        blocked = 0.0

        def report(seconds: float) -> None:
            nonlocal blocked
            blocked = seconds
            self._batch.runtime.report_blocking(f"transport `{traits.name}`", seconds)

        live = LiveContext(
            [each.call.abort_signal for each in sent], [each.caller for each in sent]
        )
        requests = [each.request for each in sent]
        try:
            items = self._transport.execute_many(requests, self._batch.abort_signal, live=live)
            async with aclosing(items) as stream:  # type: ignore[type-var]
                while True:
                    blocked = 0.0
                    try:
                        item = await watched(anext(stream), report)
                    except StopAsyncIteration:
                        break
                    one = sent[item.index]
                    if type(item) is TransportReply:
                        blocked_seconds = max(item.blocked_seconds, blocked)
                        if blocked_seconds > one.call.blocked_seconds:
                            one.call.blocked_seconds = blocked_seconds
                        one.settle(item)
                    elif type(item) is TransportProgress:
                        one.call.emit(item.event)
                    elif type(item) is TransportHeld:
                        one.hold(item.seconds, self._loop)
                    else:
                        one.start()
        except asyncio.CancelledError:
            problem = "its transport was cancelled"
            raise
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # its calls are answered all the same
            self._batch.runtime.log_once(f"transport `{traits.name}`", error)
            problem = f"its transport raised: {exception_text(error)}"
        finally:
            if late is not None:
                late.cancel()
            for index, one in enumerate(sent):
                if one.reply is None:
                    lost: ToolError = may_have_run(one.request.name, problem)
                    one.settle(TransportReply(index, lost))


def _count_time(sent: list[_Sent]) -> None:
    """From now on the time of these calls counts, though no start was reported."""
    for one in sent:
        if one.reply is None and one.call.started is None:
            one.call.resume_clock()
