"""A pool of worker processes: which call goes to which worker, and what becomes of it.

All of it runs on one thread with a loop of its own, so that a pool serves the loops of many turns.
"""

from __future__ import annotations

import asyncio
import itertools
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable
from operator import attrgetter
from typing import Any

from ethos_registry.transports._limits import PoolSettings
from ethos_registry.transports._protocol import RESPOND_SECONDS, checked_offer
from ethos_registry.transports._worker_link import (
    QUEUED_CALLS,
    PoolBatch,
    PoolCall,
    WorkerLink,
    cancel_line,
    request_line,
)
from ethos_registry.types._context import ToolProgressEvent
from ethos_registry.types._result import ToolError
from ethos_registry.types._transport import (
    PROTOCOL_VERSION,
    TransportHeld,
    TransportItem,
    TransportProgress,
    TransportReply,
    TransportStarted,
    may_have_run,
    not_started,
)

# The calls that wait for a worker, and which worker each may have.


class CallQueue:
    """Plain functions and async tools wait apart: a plain one needs a worker of its own.

    Plain functions go to workers ahead of time, as messages of several, and wait there for the one
    that runs: a worker that was given one at a time would wait for the pool after each.
    """

    def __init__(self, calls_per_worker: int) -> None:
        self.tools: dict[str, list[Any]] | None = None
        """What the workers offer; `None` until the first one has reported it."""
        self._calls_per_worker = calls_per_worker
        self._numbers = itertools.count(1)
        self._tickets = itertools.count(1)
        # By their numbers, in their order.
        self._plain: OrderedDict[int, PoolCall] = OrderedDict()
        self._async: OrderedDict[int, PoolCall] = OrderedDict()

    def __len__(self) -> int:
        return len(self._plain) + len(self._async)

    def add(self, call: PoolCall) -> str:
        """Queue a call. Returns why no worker can run it, or an empty string."""
        if not call.number:
            call.number = next(self._numbers)
        queue = self._async
        if self.tools is not None:
            name, digest = call.request.name, call.request.tool_digest
            offered = self.tools.get(name)
            if offered is None:
                return f"the workers do not offer `{name}`"
            if digest and offered[0] != digest:
                return f"the workers have another version of `{name}`"
            queue = self._plain if offered[1] else self._async
        queue[call.number] = call
        return ""

    def return_plain(self, calls: Iterable[PoolCall]) -> None:
        """Let calls that were taken back from a worker wait in front of those that came later."""
        self._plain.update((call.number, call) for call in calls)
        self._plain = OrderedDict(sorted(self._plain.items()))

    def take_all(self) -> list[PoolCall]:
        """Every call, in the order of arrival; none waits after."""
        calls = sorted((*self._plain.values(), *self._async.values()), key=attrgetter("number"))
        self._plain.clear()
        self._async.clear()
        return calls

    def take(self, wanted: Iterable[PoolCall]) -> list[PoolCall]:
        """Those of the wanted calls that wait; they do not after."""
        queues = (self._plain, self._async)
        return [call for call in wanted for queue in queues if queue.pop(call.number, None)]

    def place(self, ready: Iterable[WorkerLink]) -> dict[WorkerLink, list[PoolCall]]:
        """The calls that can start now, by the workers that get them."""
        placed: dict[WorkerLink, list[PoolCall]] = {}
        if self.tools is None:
            return placed
        workers = list(ready)
        if self._plain:
            self._place_plain(workers, placed)
        if self._async:
            self._place_async([each for each in workers if not each.has_plain_call], placed)
        return placed

    def _place_plain(
        self, workers: list[WorkerLink], placed: dict[WorkerLink, list[PoolCall]]
    ) -> None:
        """Spread plain functions over the workers whose queues are half empty."""
        free = [
            worker
            for worker in workers
            if not worker.calls
            or (
                worker.has_plain_call
                and worker.takes_queue
                and len(worker.calls) <= QUEUED_CALLS // 2
            )
        ]
        while self._plain and free:
            worker = min(free, key=_load)
            if len(worker.calls) >= QUEUED_CALLS:
                return
            worker.has_plain_call = True
            self._assign(worker, self._plain.popitem(last=False)[1], placed)

    def _place_async(
        self, workers: list[WorkerLink], placed: dict[WorkerLink, list[PoolCall]]
    ) -> None:
        """Spread async calls over the workers that run no plain function.

        A plain function that waits gets the worker with the fewest calls as soon as they end:
        calls that came after it do not go there.
        """
        while self._async and workers:
            worker = min(workers, key=_load)
            if self._plain and next(iter(self._plain)) < next(iter(self._async)):
                workers = [each for each in workers if each is not worker]
                if not workers:
                    return
                worker = min(workers, key=_load)
            if len(worker.calls) >= self._calls_per_worker:
                return
            self._assign(worker, self._async.popitem(last=False)[1], placed)

    def _assign(
        self, worker: WorkerLink, call: PoolCall, placed: dict[WorkerLink, list[PoolCall]]
    ) -> None:
        call.ticket = next(self._tickets)
        worker.calls[call.ticket] = call
        placed.setdefault(worker, []).append(call)


def _load(worker: WorkerLink) -> int:
    return len(worker.calls)


_CLOSE_SECONDS = 5.0
_REPORT_SECONDS = 0.005
_MOVE_SECONDS = 0.02
"""How long a function may run before those queued behind it go to a worker that is free."""


class WorkerPool:
    """The workers and the calls that wait for one."""

    def __init__(self, settings: PoolSettings) -> None:
        self._settings = settings
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="ethos-registry-pool", daemon=True)
        self._queue = CallQueue(settings.calls_per_worker)
        self._workers: list[WorkerLink] = []
        self._is_closed = False
        self._unflushed: list[PoolBatch] = []
        self._accepted: list[PoolCall] = []
        self._reports_soon = False
        self._moves_soon = False
        self._ready_waiters: list[Callable[[str], None]] = []
        self._thread.start()

    # From any thread

    def post(self, callback: Callable[..., object], *arguments: Any) -> bool:
        """Run a callback on the pool's thread; false if the pool is closed."""
        try:
            self._loop.call_soon_threadsafe(callback, *arguments)
        except RuntimeError:
            return False
        return True

    def close(self) -> None:
        """End the workers, answer what waits, stop the thread. Blocks until they have ended."""
        workers: list[WorkerLink] = []
        done = threading.Event()

        def stop() -> None:
            workers.extend(self._workers)
            self._close_now()
            done.set()

        if self.post(stop):
            done.wait(_CLOSE_SECONDS)
            for worker in workers:
                worker.wait_ended(_CLOSE_SECONDS)
            self.post(self._loop.stop)
        if threading.current_thread() is not self._thread:
            self._thread.join(_CLOSE_SECONDS)

    # The thread of the pool

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
            # What was posted since: calls are refused, sockets of workers that ended are closed.
            self._loop.run_until_complete(asyncio.sleep(0.01))
        finally:
            self._loop.close()

    def _close_now(self) -> None:
        self._is_closed = True
        for call in self._queue.take_all():
            self._refuse(call, "the transport was closed")
        for worker in self._workers:
            for call in worker.take_back():
                self._refuse(call, "the transport was closed")
            for call in worker.calls.values():
                self._reply(call, may_have_run(call.request.name, "the transport was closed"))
            worker.calls.clear()
            worker.kill()

    def submit(self, batch: PoolBatch) -> None:
        """Queue the calls of a batch, as far as there is room."""
        settings = self._settings
        room = settings.max_pending - len(self._queue)
        for call in batch.calls:
            if self._is_closed:
                self._refuse(call, "the transport was closed")
            elif call.is_stopped:
                self._refuse(call, "it was stopped")
            elif room <= 0:
                self._refuse(call, f"{settings.max_pending} calls wait for a worker already")
            elif self._enqueue(call):
                room -= 1
        if settings.queue_seconds is not None:
            self._loop.call_later(settings.queue_seconds, self._expire, batch)
        self._pump()

    def _enqueue(self, call: PoolCall) -> bool:
        """Let a call wait for a worker; false if no worker can run it."""
        problem = self._expired_text() if call.batch.has_expired else self._queue.add(call)
        if problem:
            self._refuse(call, problem)
        return not problem

    def _expire(self, batch: PoolBatch) -> None:
        """Answer the calls of a batch that still wait for a worker."""
        if not batch.unanswered:
            return
        batch.has_expired = True
        for call in self._taken({*batch.calls}):
            self._refuse(call, self._expired_text())
        self._pump()

    def _taken(self, wanted: Collection[PoolCall]) -> list[PoolCall]:
        """Those of the wanted calls that have not started, here or at workers; they never will."""
        for worker in self._workers:
            if any(call in wanted for call in worker.calls.values()):
                self._queue.return_plain(worker.take_back())
        return self._queue.take(wanted)

    def _expired_text(self) -> str:
        return f"no worker was free for {self._settings.queue_seconds:g} s"

    def stop(self, calls: Iterable[PoolCall]) -> None:
        """Stop calls: one does not start, or its tool is stopped, or its worker is ended."""
        stopped = {
            call for call in calls if not call.is_stopped and call.index in call.batch.unanswered
        }
        for call in stopped:
            call.is_stopped = True
        for call in self._taken(stopped):
            self._refuse(call, "it was stopped")
        grace = self._settings.cancel_grace_seconds
        for worker in self._workers:
            for call in stopped.intersection(worker.calls.values()):
                worker.takes_queue = False
                worker.send(cancel_line(call))
                self._loop.call_later(grace, self._end_stopped, worker, call)
                self._loop.call_later(
                    grace + RESPOND_SECONDS, self._end_silent, worker, self._loop.time()
                )
        self._pump()

    def _end_stopped(self, worker: WorkerLink, call: PoolCall) -> None:
        """A call that was stopped has not ended in its grace: end its worker.

        A worker with other calls gets no more, and is ended after them.
        """
        if call.ticket not in worker.calls or worker.is_lost:
            return
        worker.is_retiring = True
        if any(not other.is_stopped for other in worker.calls.values()):
            del worker.calls[call.ticket]
            self._reply(call, may_have_run(call.request.name, "it was stopped"))
            self._pump()
        else:
            worker.kill()

    def _end_silent(self, worker: WorkerLink, asked_at: float) -> None:
        """A worker answers each request to stop a call; one whose loop is blocked serves none."""
        if worker.read_at <= asked_at and worker.calls and not worker.is_lost:
            worker.failure = "its worker process did not respond"
            worker.kill()

    # Workers

    def _pump(self) -> None:
        """Give waiting calls to workers, and start workers for the rest."""
        if self._is_closed:
            return
        ready = [each for each in self._workers if each.is_ready and not each.is_retiring]
        if not len(self._queue) and any(not worker.calls for worker in ready):
            self._take_back_behind_slow()
        if len(self._queue):
            for worker, calls in self._queue.place(ready).items():
                self._send(worker, calls)
        queued = sum(len(each.calls) - 1 for each in ready if each.has_plain_call)
        if queued and not self._moves_soon and any(not each.calls for each in ready):
            self._moves_soon = True
            self._loop.call_later(_MOVE_SECONDS, self._move_queued)
        waiting = len(self._queue) + queued
        starting = sum(not worker.is_ready for worker in self._workers)
        while waiting > starting and len(self._workers) < self._settings.workers:
            starting += 1
            if not self._start_worker():
                break

    def _move_queued(self) -> None:
        """Look after a while whether what is queued at workers waits for a slow function."""
        self._moves_soon = False
        self._pump()

    def _take_back_behind_slow(self) -> None:
        """A worker is free: take back what is queued at others behind a function that runs long."""
        moment = self._loop.time() - _MOVE_SECONDS
        for worker in self._workers:
            if worker.has_plain_call and worker.progressed_at <= moment:
                self._queue.return_plain(worker.take_back())

    def _send(self, worker: WorkerLink, calls: list[PoolCall]) -> None:
        is_plain, may_start = worker.has_plain_call, len(worker.calls) == len(calls)
        try:
            line = request_line(calls, is_plain=is_plain, may_start=may_start)
        except Exception:  # one of them has arguments without a JSON form
            sendable = []
            for call in calls:
                try:
                    request_line([call], is_plain=is_plain, may_start=may_start)
                except Exception as error:
                    del worker.calls[call.ticket]
                    self._refuse(call, f"its arguments cannot be sent: {error}")
                else:
                    sendable.append(call)
            if sendable:
                self._send(worker, sendable)
            elif not worker.calls:
                worker.has_plain_call = False
            return
        if may_start:
            worker.progressed_at = self._loop.time()
        if is_plain:
            worker.queue(calls[1:] if may_start else calls)
        worker.send(line)

    def _start_worker(self) -> bool:
        try:
            worker = WorkerLink(self._settings, self._loop, self._on_line, self._on_lost)
        except Exception as error:  # no process, or nothing that confines it
            self._start_failed(f"a worker process could not be started: {error}")
            return False
        self._workers.append(worker)
        self._loop.call_later(self._settings.start_seconds, self._start_expired, worker)
        return True

    def _start_expired(self, worker: WorkerLink) -> None:
        if not worker.is_ready and not worker.is_lost:
            worker.failure = f"a worker was not ready within {self._settings.start_seconds:g} s"
            worker.kill()

    def _start_failed(self, problem: str) -> None:
        """No worker can start: answer what waits, unless another worker runs."""
        self._report_ready(problem)
        if any(worker.is_ready and not worker.is_retiring for worker in self._workers):
            return
        for call in self._queue.take_all():
            self._refuse(call, problem)

    def start_all(self, answer: Callable[[str], None]) -> None:
        """Start every worker; `answer` gets a problem, or `""` when all are ready."""
        if self._is_closed:
            answer("the transport was closed")
            return
        self._ready_waiters.append(answer)
        while len(self._workers) < self._settings.workers and self._start_worker():
            pass
        self._report_ready()

    def _report_ready(self, problem: str = "") -> None:
        if problem or sum(each.is_ready for each in self._workers) >= self._settings.workers:
            waiters, self._ready_waiters = self._ready_waiters, []
            for answer in waiters:
                answer(problem)

    # What workers write

    def _on_line(self, worker: WorkerLink, line: Any) -> None:
        """Raises if it is not what a worker writes."""
        if not isinstance(line, dict):
            raise ValueError("a line is an object")
        if "accepted" in line:
            self._take_accepted(worker, line["accepted"])
        if "items" in line:
            self._take_items(worker, line)
        elif "held" in line:
            seconds = line["seconds"]
            for call in worker.named(line["held"]):
                if call.is_reported:
                    self._put(
                        call.batch,
                        TransportStarted(call.index)
                        if seconds is None
                        else TransportHeld(call.index, float(seconds)),
                    )
        elif "tools" in line:
            self._worker_ready(worker, line)
        elif "failed" in line:
            worker.failure = f"a worker could not load its tools: {line['failed']}"
        elif "accepted" not in line:
            raise ValueError("an unknown kind of line")

    def _take_accepted(self, worker: WorkerLink, tickets: list[int]) -> None:
        for call in worker.named(tickets):
            call.is_accepted = True
            self._accepted.append(call)
        if self._accepted and not self._reports_soon:
            self._reports_soon = True
            self._loop.call_later(_REPORT_SECONDS, self._report_started)

    def _report_started(self) -> None:
        """Report the calls that began and are not answered yet.

        Later than they began: most calls are answered first, and waking the loop of their batch in
        between would cost more than they do.
        """
        self._reports_soon = False
        accepted, self._accepted = self._accepted, []
        for call in accepted:
            if call.index in call.batch.unanswered:
                self._report(call)

    def _report(self, call: PoolCall) -> None:
        if not call.is_reported:
            call.is_reported = True
            self._put(call.batch, TransportStarted(call.index))

    def _worker_ready(self, worker: WorkerLink, line: dict[str, Any]) -> None:
        if worker.is_ready:
            raise ValueError("a worker reports its tools once")
        if line["version"] != PROTOCOL_VERSION:
            worker.failure = (
                f"a worker has protocol {line['version']}, this process {PROTOCOL_VERSION}; "
                "install the same version of ethos-registry"
            )
            worker.kill()
            return
        self._queue.tools = checked_offer(line["tools"])
        worker.is_ready = True
        for call in self._queue.take_all():
            self._enqueue(call)
        self._report_ready()
        self._pump()

    def _take_items(self, worker: WorkerLink, line: dict[str, Any]) -> None:
        has_room = False
        for kind, ticket, payload in line["items"]:
            call = worker.calls.get(ticket)
            if call is None:
                continue
            if kind == "event":
                self._report(call)
                event = ToolProgressEvent.from_wire(payload)
                self._put(call.batch, TransportProgress(call.index, event))
                continue
            if kind != "reply":
                raise ValueError("an unknown kind of item")
            payload["index"] = call.index
            reply = TransportReply.from_wire(payload)
            del worker.calls[ticket]
            has_room = True
            self._answer(call, reply)
        if line["abandoned"] > worker.abandoned_calls:
            worker.abandoned_calls = line["abandoned"]
            worker.is_retiring = True  # a function of it runs on
            self._queue.return_plain(worker.take_back())
            has_room = True
        if has_room:
            worker.progressed_at = worker.read_at
        if not worker.calls:
            worker.has_plain_call, worker.takes_queue = False, True
        if worker.is_retiring and not any(not call.is_stopped for call in worker.calls.values()):
            worker.kill()
        if has_room and (len(self._queue) or not worker.calls):
            self._pump()

    def _on_lost(self, worker: WorkerLink) -> None:
        self._workers.remove(worker)
        calls, worker.calls = list(worker.calls.values()), {}
        problem = worker.end_text()
        for position, call in enumerate(calls):
            # One that was queued behind another did not end the worker.
            is_queued = position > 0 and worker.has_plain_call and not call.is_accepted
            may_send = is_queued or (
                call.attempts == 0 and (call.request.idempotent or not call.is_accepted)
            )
            if may_send and not (call.is_stopped or self._is_closed):
                call.attempts += not is_queued
                self._enqueue(call)
            else:
                self._refuse(call, "it was stopped" if call.is_stopped else problem)
        if not worker.is_ready:
            self._start_failed(problem)
        self._pump()

    # Answers

    def _refuse(self, call: PoolCall, problem: str) -> None:
        """Answer a call that goes to no worker; one that a worker accepted before may have run."""
        if call.is_accepted:
            self._reply(call, may_have_run(call.request.name, problem))
            return
        result = not_started(call.request.name, problem)
        self._answer(call, TransportReply(call.index, result, was_started=False))

    def _reply(self, call: PoolCall, result: ToolError) -> None:
        self._answer(call, TransportReply(call.index, result))

    def _answer(self, call: PoolCall, reply: TransportReply) -> None:
        if call.index in call.batch.unanswered:
            call.batch.unanswered.discard(call.index)
            self._put(call.batch, reply)

    def _put(self, batch: PoolBatch, item: TransportItem) -> None:
        if batch.collect(item):
            if not self._unflushed:
                self._loop.call_soon(self._flush_all)
            self._unflushed.append(batch)

    def _flush_all(self) -> None:
        unflushed, self._unflushed = self._unflushed, []
        for batch in unflushed:
            batch.flush()
