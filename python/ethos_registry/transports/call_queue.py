"""The calls that wait for a worker, and which worker each may have."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterable
from typing import Any

from ethos_registry.transports.pool_batch import PoolBatch, PoolCall
from ethos_registry.transports.worker_link import WorkerLink

__all__ = ["CallQueue"]


class CallQueue:
    """Plain functions and async tools wait apart: a plain one needs a worker of its own."""

    def __init__(self, calls_per_worker: int) -> None:
        self.tools: dict[str, list[Any]] | None = None
        """What the workers offer; `None` until the first one has reported it."""
        self._calls_per_worker = calls_per_worker
        self._numbers = itertools.count(1)
        self._plain: deque[PoolCall] = deque()
        self._async: deque[PoolCall] = deque()

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
        queue.append(call)
        return ""

    def take_all(self) -> list[PoolCall]:
        """Every call, in the order of arrival; none waits after."""
        calls = sorted((*self._plain, *self._async), key=_number)
        self._plain.clear()
        self._async.clear()
        return calls

    def take_batch(self, batch: PoolBatch) -> list[PoolCall]:
        """The calls of a batch; they do not wait after."""
        calls = [call for call in (*self._plain, *self._async) if call.batch is batch]
        for call in calls:
            self.remove(call)
        return calls

    def remove(self, call: PoolCall) -> bool:
        """Whether the call waited; it does not after."""
        for queue in (self._plain, self._async):
            if call in queue:
                queue.remove(call)
                return True
        return False

    def place(self, ready: Iterable[WorkerLink]) -> dict[WorkerLink, list[PoolCall]]:
        """The calls that can start now, by the workers that get them."""
        placed: dict[WorkerLink, list[PoolCall]] = {}
        if self.tools is None:
            return placed
        workers = list(ready)
        while self._plain:
            idle = next((worker for worker in workers if not worker.calls), None)
            if idle is None:
                break
            idle.has_plain_call = True
            _assign(idle, self._plain.popleft(), placed)
        self._place_async([worker for worker in workers if not worker.has_plain_call], placed)
        return placed

    def _place_async(
        self, workers: list[WorkerLink], placed: dict[WorkerLink, list[PoolCall]]
    ) -> None:
        """Spread async calls over the workers that run no plain function.

        A plain function that waits gets the worker with the fewest calls as soon as they end:
        calls that came after it do not go there.
        """
        while self._async and workers:
            call = self._async[0]
            worker = min(workers, key=_load)
            if self._plain and self._plain[0].number < call.number:
                workers = [each for each in workers if each is not worker]
                if not workers:
                    return
                worker = min(workers, key=_load)
            if len(worker.calls) >= self._calls_per_worker:
                return
            _assign(worker, self._async.popleft(), placed)


def _assign(worker: WorkerLink, call: PoolCall, placed: dict[WorkerLink, list[PoolCall]]) -> None:
    worker.calls[call.number] = call
    placed.setdefault(worker, []).append(call)


def _load(worker: WorkerLink) -> int:
    return len(worker.calls)


def _number(call: PoolCall) -> int:
    return call.number
