"""The calls of one batch that a transport runs: sent together, answered one by one."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from contextvars import copy_context
from time import monotonic
from typing import Any

from ethos_registry.contract.execute_request import ToolExecuteRequest
from ethos_registry.contract.result import ToolError
from ethos_registry.contract.transport import (
    LiveContext,
    ToolTransport,
    TransportProgress,
    TransportReply,
    may_have_run,
    not_started,
)
from ethos_registry.execution.batch import Batch
from ethos_registry.execution.call import Call
from ethos_registry.execution.finish_order import is_within_order
from ethos_registry.execution.refusals import exception_text
from ethos_registry.execution.tool_digest import tool_digest

__all__ = ["TransportLane"]


class _Sent:
    """A call that was given to the transport, and who waits for its reply."""

    __slots__ = ("call", "caller", "reply", "request", "submitted_at", "waiter")

    def __init__(self, call: Call, request: ToolExecuteRequest) -> None:
        self.call = call
        self.caller = copy_context()
        self.request = request
        self.submitted_at = monotonic()
        self.reply: TransportReply | None = None
        self.waiter: asyncio.Future[None] | None = None

    def settle(self, reply: TransportReply) -> None:
        """Only the first reply counts."""
        if self.reply is None:
            self.reply = reply
            if self.waiter is not None and not self.waiter.done():
                self.waiter.set_result(None)

    async def wait(self, loop: asyncio.AbstractEventLoop) -> TransportReply:
        """The reply. Cancelling one wait does not affect the next."""
        while self.reply is None:
            self.waiter = loop.create_future()
            await self.waiter
        return self.reply


class TransportLane:
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
        if traits.remote and (field := request.obstacle) is not None:
            return not_started(
                request.name,
                f"the context has `{field}`, an object of this process that cannot be sent",
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
        problem = "the transport sent no result"
        live = LiveContext(
            [each.call.abort_signal for each in sent], [each.caller for each in sent]
        )
        requests = [each.request for each in sent]
        try:
            items = self._transport.execute_many(requests, self._batch.abort_signal, live=live)
            async with aclosing(items) as stream:  # type: ignore[type-var]
                async for item in stream:
                    one = sent[item.index]
                    if type(item) is TransportReply:
                        one.settle(item)
                    elif type(item) is TransportProgress:
                        one.call.emit(item.event)
                    elif one.call.started is None:
                        one.call.started = monotonic()
                        one.call.resume_clock()
        except asyncio.CancelledError:
            problem = "its transport was cancelled"
            raise
        except Exception as error:  # its calls are answered all the same
            self._batch.runtime.log_once(f"the transport {self._transport.traits.name}", error)
            problem = f"its transport raised: {exception_text(error)}"
        finally:
            for index, one in enumerate(sent):
                if one.reply is None:
                    lost: ToolError = may_have_run(one.request.name, problem)
                    one.settle(TransportReply(index, lost))
