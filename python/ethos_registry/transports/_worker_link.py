"""One worker process, seen from the pool: its socket, its state, its end."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import struct
import sys
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ethos_registry._processes.supervised_process import SupervisedProcess
from ethos_registry._processes.supervisor import start_supervised
from ethos_registry.capabilities._sandbox import PreparedCommand
from ethos_registry.transports._caller_queue import CallerQueue
from ethos_registry.transports._limits import PoolSettings
from ethos_registry.transports._protocol import (
    READ_BYTES,
    TICKET_BYTES,
    exact_json_bytes,
    read_line,
)
from ethos_registry.types._transport import ToolExecuteRequest, TransportItem, batch_to_wire

QUEUED_CALLS = 32
"""The most plain functions that a worker is given: one that runs, the others wait in its queue."""


# The calls of a pool, and the way of their answers back to the loops that wait for them.


@dataclass(eq=False, repr=False, slots=True)  # its arguments may hold secrets
class PoolCall:
    """One request in the pool."""

    batch: PoolBatch
    index: int
    request: ToolExecuteRequest
    number: int = 0
    """Its place among all calls of the pool."""
    ticket: int = 0
    """Its number at the worker that it was sent to last; larger than those before it."""
    is_accepted: bool = False
    """A worker was about to run it."""
    is_reported: bool = False
    """Its caller knows that it began."""
    is_stopped: bool = False
    attempts: int = 0


class PoolBatch(CallerQueue):
    """The requests of one `execute_many`, and the way back to its loop."""

    def __init__(self, requests: Sequence[ToolExecuteRequest]) -> None:
        super().__init__(requests)
        self.calls = [PoolCall(self, index, request) for index, request in enumerate(requests)]
        self.unanswered = self.missing.copy()
        """The positions of the calls without an answer, on the pool's thread."""
        self.has_expired = False
        """Its calls may no longer wait for a worker."""
        self._outbox: list[TransportItem] = []

    def collect(self, item: TransportItem) -> bool:
        """On the pool's thread; returns whether the batch has to be flushed."""
        self._outbox.append(item)
        return len(self._outbox) == 1

    def flush(self) -> None:
        """Send what was collected to the loop of the batch."""
        items, self._outbox = self._outbox, []
        self.put(*items)


def request_line(calls: Sequence[PoolCall], *, is_plain: bool, may_start: bool) -> bytes:
    """The message that gives calls to a worker. Raises if arguments have no JSON form.

    Plain functions run one after another. `may_start` is for the first one: it needs no ticket.
    """
    batch = batch_to_wire([call.request for call in calls])
    return _line(
        {
            "tickets": [call.ticket for call in calls],
            "plain": is_plain,
            "first": may_start,
            "shared": batch.shared,
            "requests": batch.requests,
        }
    )


def cancel_line(call: PoolCall) -> bytes:
    """The message that stops a call."""
    return _line({"cancel": [call.ticket]})


def _line(value: Any) -> bytes:
    return exact_json_bytes(value) + b"\n"


_START = (
    "import json,sys\n"
    "settings=json.loads(sys.argv[1])\n"
    "sys.path[:]=settings['path']\n"
    "from ethos_registry.transports._worker import main\n"
    "main(settings)\n"
)
_AFTER_END_OF_CHANNEL_SECONDS = 2.0


class WorkerLink:
    """A worker and the calls that it was given; used on the thread of the pool only."""

    def __init__(
        self,
        settings: PoolSettings,
        loop: asyncio.AbstractEventLoop,
        on_line: Callable[[WorkerLink, dict[str, Any]], None],
        on_lost: Callable[[WorkerLink], None],
    ) -> None:
        self.is_ready = False
        self.is_lost = False
        self.is_retiring = False
        """It gets no more calls, and is ended when none of its calls waits for an answer."""
        self.failure = ""
        """What the worker reported when it could not start."""
        self.calls: dict[int, PoolCall] = {}
        """The calls without a reply, by their tickets."""
        self.has_plain_call = False
        """It runs a plain function, with others in its queue, and nothing else."""
        self.takes_queue = True
        """Whether calls may be queued behind the one that runs."""
        self.progressed_at = 0.0
        """When it got its first call, or answered one."""
        self.abandoned_calls = 0
        self.read_at = loop.time()
        """When it wrote last."""
        self._loop = loop
        self._on_line = on_line
        self._on_lost = on_lost
        self._pieces: list[bytes] = []
        self._unread_bytes = 0
        self._max_line_bytes = settings.max_line_bytes
        self._out: deque[memoryview] = deque()
        self._channel_ended = False
        self._exited = False
        self._prepared: PreparedCommand | None = None
        ours, theirs = socket.socketpair()
        # Both ends stay open here, so that calls can be taken back from a worker that has ended.
        # Sockets, not a pipe: a worker could make the shared end of a pipe block this thread.
        self._tickets, self._tickets_in = socket.socketpair()
        self._tickets_in.setblocking(False)
        try:
            self._process = self._start(settings, theirs)
            socket.send_fds(ours, [b"\n"], [self._tickets.fileno()])
        except BaseException:
            ours.close()
            self._close_tickets()
            raise
        finally:
            theirs.close()
        ours.setblocking(False)
        self._socket = ours
        loop.add_reader(ours, self._read_once)
        self._process.on_exit(lambda: self._soon(self._process_exited))

    def _start(self, settings: PoolSettings, channel: socket.socket) -> SupervisedProcess:
        argv = [sys.executable, "-c", _START, settings.for_worker()]
        environment = settings.environment
        if settings.sandbox is not None:
            self._prepared = settings.wrapped(argv)
            argv, environment = self._prepared.argv, self._prepared.environment
        return start_supervised(
            argv,
            directory=settings.directory,
            environment=environment,
            stdin=channel.fileno(),
            stdout=None,
            stderr=None,
            grace_seconds=0.0,
        )

    def _soon(self, callback: Callable[[], None]) -> None:
        with contextlib.suppress(RuntimeError):  # the pool is closed
            self._loop.call_soon_threadsafe(callback)

    def _close_tickets(self) -> None:
        self._tickets.close()
        self._tickets_in.close()

    # The queue of the worker: a call in it starts only with its ticket, which either side may read.

    def queue(self, calls: Sequence[PoolCall]) -> None:
        """Let calls start in this order after those before them."""
        if not calls or self.is_lost:
            return
        tickets = [call.ticket for call in calls]
        try:
            self._tickets_in.sendall(struct.pack(f"={len(tickets)}Q", *tickets))
        except OSError:  # it takes none, or has shut the socket down
            self._give_up("a worker closed its queue")

    def take_back(self) -> list[PoolCall]:
        """The queued calls that have not started; the worker never starts them after."""
        if len(self.calls) < 2 or self.is_lost:
            return []
        try:
            data = self._tickets.recv(TICKET_BYTES * QUEUED_CALLS, socket.MSG_DONTWAIT)
        except OSError:  # every ticket is taken
            return []
        if len(data) % TICKET_BYTES:
            self._give_up("a worker took a part of a ticket")
            return []
        tickets = [ticket for (ticket,) in struct.iter_unpack("=Q", data)]
        return [self.calls.pop(ticket) for ticket in tickets if ticket in self.calls]

    def named(self, tickets: Sequence[int]) -> list[PoolCall]:
        """Each of its calls that a line names, once."""
        return [self.calls[ticket] for ticket in {*tickets} if ticket in self.calls]

    # Lines

    def send(self, line: bytes) -> None:
        """Write one line, now or when the worker reads."""
        if self.is_lost or self._channel_ended:
            return
        if self._out:
            self._out.append(memoryview(line))
            return
        rest = self._written(memoryview(line))
        if rest:
            self._out.append(rest)
            self._loop.add_writer(self._socket, self._writable)

    def _written(self, data: memoryview) -> memoryview:
        try:
            return data[self._socket.send(data) :]
        except BlockingIOError:
            return data
        except OSError:
            self._end_of_channel()
            return data[:0]

    def _writable(self) -> None:
        while self._out:
            rest = self._written(self._out[0])
            if rest:
                self._out[0] = rest
                return
            if self._out:
                self._out.popleft()
        self._loop.remove_writer(self._socket)

    def _read_once(self) -> bool:
        """Whether there may be more."""
        try:
            data = self._socket.recv(READ_BYTES)
        except BlockingIOError:
            return False
        except OSError:
            data = b""
        if not data:
            self._end_of_channel()
            return False
        self.read_at = self._loop.time()
        if b"\n" not in data:
            self._pieces.append(data)
            self._unread_bytes += len(data)
            if self._unread_bytes > self._max_line_bytes:
                return self._give_up(
                    f"a worker wrote a line of over {self._max_line_bytes:,} bytes"
                )
            return True
        head, _, rest = data.rpartition(b"\n")
        lines = b"".join([*self._pieces, head]).split(b"\n")
        self._pieces = [rest] if rest else []
        self._unread_bytes = len(rest)
        for line in lines:
            try:
                self._on_line(self, read_line(line))
            except Exception as error:  # whatever is wrong with a line, the pool goes on
                return self._give_up(f"a worker wrote an invalid line: {type(error).__name__}")
        return True

    def _give_up(self, failure: str) -> bool:
        """The worker does not keep to the protocol: nothing more of it is read."""
        self.failure = failure
        self._pieces.clear()
        self._end_of_channel()
        return False

    # The end

    def kill(self) -> None:
        """End the worker and everything that it started; `on_lost` is called when it has ended."""
        self._process.kill()

    def _end_of_channel(self) -> None:
        if self._channel_ended:
            return
        self._channel_ended = True
        self._out.clear()
        self._loop.remove_reader(self._socket)
        self._loop.remove_writer(self._socket)
        if self._exited:
            self._lose()
        else:
            self.kill()
            self._loop.call_later(_AFTER_END_OF_CHANNEL_SECONDS, self._lose)

    def _process_exited(self) -> None:
        self._exited = True
        if self._channel_ended:
            self._lose()
            return
        while self._read_once():  # what it wrote before its end
            pass
        if not self._channel_ended:  # a process that it forked holds the socket
            self._end_of_channel()

    def _lose(self) -> None:
        if self.is_lost:
            return
        self.is_lost = True
        self._socket.close()
        self._close_tickets()
        self._process.kill()
        self._process.detach()
        if self._prepared is not None:
            self._prepared.clean_up()
        self._on_lost(self)

    def end_text(self) -> str:
        """How the process ended, for people and models."""
        if self.failure:
            return self.failure
        try:
            status = self._process.wait(0)
        except TimeoutError:
            return "its worker process closed its channel"
        except OSError as error:
            return f"its worker process could not be started: {error.strerror or error}"
        if status < 0:
            with contextlib.suppress(ValueError):
                name = signal.Signals(-status).name
                return f"its worker process was ended by {name}"
        return f"its worker process ended with status {status}"

    def wait_ended(self, seconds: float) -> None:
        """Wait for the end of everything that the worker started; on any thread."""
        with contextlib.suppress(TimeoutError, OSError):
            self._process.wait_ended(seconds)
