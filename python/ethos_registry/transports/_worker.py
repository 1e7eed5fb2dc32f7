"""A worker process: reads requests from its channel, runs them, writes what happens.

The channel is the socket that the process was started with as standard input. Standard input is
empty for tools, and what they print goes to standard error. Lines are JSON.
"""

from __future__ import annotations

import asyncio
import os
import socket
import struct
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from itertools import groupby
from time import monotonic
from typing import Any, NoReturn

from ethos_registry.execution._approvals import PendingResult
from ethos_registry.registry._local_transport import LocalRun
from ethos_registry.registry._reader import RegistryReader
from ethos_registry.transports._limits import apply_limits, begin_cpu_limit
from ethos_registry.transports._protocol import (
    READ_BYTES,
    TICKET_BYTES,
    Replies,
    json_bytes,
    load_tools,
    offered_tools,
    read_line,
    reply_line,
)
from ethos_registry.types._context import ToolProgressEvent
from ethos_registry.types._result import ToolError, ToolResult
from ethos_registry.types._transport import (
    PROTOCOL_VERSION,
    ToolExecuteRequest,
    TransportReply,
    batch_from_wire,
    not_started,
)

_WATCH_SECONDS = 0.05
"""How long the loop may take no turn before its other calls are reported as held."""


class Channel:
    """JSON lines to the host; of no use to a process that a tool forked."""

    def __init__(self) -> None:
        self.descriptor = os.dup(0)  # not inheritable
        os.set_blocking(self.descriptor, True)
        with socket.socket(fileno=os.dup(0)) as host:
            [tickets] = socket.recv_fds(host, 1, 1)[1]
        os.set_inheritable(tickets, False)
        self._tickets = socket.socket(fileno=tickets)
        self._next_ticket = 0
        empty = os.open(os.devnull, os.O_RDONLY)
        os.dup2(empty, 0)
        os.close(empty)
        os.dup2(2, 1)
        self._process_id = os.getpid()
        self._writing = threading.Lock()
        self._pieces: list[bytes] = []
        os.register_at_fork(after_in_child=self._leave)

    def _leave(self) -> None:
        """In a process that a tool forked: the host must see when the worker ends."""
        os.close(self.descriptor)
        self._tickets.close()
        self.descriptor = -1

    def takes(self, ticket: int) -> bool:
        """Whether a queued call may start, which the host cannot take back from then on."""
        while self._next_ticket < ticket:
            try:
                data = self._tickets.recv(TICKET_BYTES, socket.MSG_DONTWAIT)
            except BlockingIOError:
                return False
            if len(data) < TICKET_BYTES:  # a tool has shut it down
                return False
            [self._next_ticket] = struct.unpack("=Q", data)
        return self._next_ticket == ticket

    def send(self, line: bytes) -> None:
        """Write one line of JSON; a forked process ends here instead."""
        if self.descriptor < 0 or os.getpid() != self._process_id:
            os._exit(0)
        data = memoryview(line + b"\n")
        try:
            with self._writing:
                while data:
                    data = data[os.write(self.descriptor, data) :]
        except OSError:  # the host is gone
            os._exit(0)

    def receive(self) -> list[Any]:
        """The lines that have arrived; ends the process if the host is gone."""
        if self.descriptor < 0 or os.getpid() != self._process_id:
            os._exit(0)
        try:
            data = os.read(self.descriptor, READ_BYTES)
        except OSError:
            data = b""
        if not data:
            os._exit(0)
        if b"\n" not in data:
            self._pieces.append(data)
            return []
        head, _, rest = data.rpartition(b"\n")
        lines = b"".join([*self._pieces, head]).split(b"\n")
        self._pieces = [rest] if rest else []
        return [read_line(line) for line in lines]


class Worker:
    """The requests that run, and what is to be written about them."""

    def __init__(
        self, channel: Channel, registry: RegistryReader, settings: dict[str, Any]
    ) -> None:
        self._channel = channel
        self.registry = registry
        self.max_result_bytes: int = settings["max_result_bytes"]
        self._max_line_bytes: int = settings["max_line_bytes"]
        self._out_bytes = 0
        self._cpu_seconds = settings["limits"].get("cpu_seconds")
        self._loop = asyncio.get_running_loop()
        self._runs: dict[int, tuple[LocalRun, int]] = {}
        self.begun = 0
        """The ticket of the tool that began last."""
        self._has_calls = threading.Event()
        threading.Thread(target=self._watch_loop, daemon=True, name="loop-watch").start()
        self._out: list[bytes] = []
        self._turns: deque[_Items] = deque()
        """Plain functions, which run one after another; the first has the turn."""

    def read(self) -> None:
        """Take the lines that have arrived."""
        for line in self._channel.receive():
            if "cancel" in line:
                for ticket in line["cancel"]:
                    found = self._runs.get(ticket)
                    if found is not None:
                        found[0].stop(found[1])
                self._flush()  # the host sees that the loop runs
            else:
                self._start(line)

    def _start(self, line: dict[str, Any]) -> None:
        tickets: list[int] = line["tickets"]
        requests = batch_from_wire(line["shared"], line["requests"])
        self._has_calls.set()
        if not line["plain"]:
            self._accept(tickets)
            self._items(tickets, requests, None).run.start()
            return
        first = tickets[0] if line["first"] else 0
        has_turn = bool(self._turns)
        # What shares a context is one batch, whose calls wait for each other.
        shared = [request["shared"] for request in line["requests"]]
        for _, part in groupby(range(len(tickets)), shared.__getitem__):
            indexes = list(part)
            items = self._items(
                [tickets[index] for index in indexes], [requests[index] for index in indexes], first
            )
            self._turns.append(items)
        if not has_turn:
            self._turns[0].run.start()

    def _items(
        self, tickets: list[int], requests: list[ToolExecuteRequest], first: int | None
    ) -> _Items:
        items = _Items(self, tickets, requests, first)
        for index, ticket in enumerate(tickets):
            self._runs[ticket] = (items.run, index)
        return items

    def _accept(self, tickets: list[int]) -> None:
        """Before they run: a call that was not accepted when the worker ends did not start."""
        self._flush(b',"accepted":%b' % json_bytes(tickets))
        begin_cpu_limit(self._cpu_seconds)

    def begin_plain(self, ticket: int, first: int) -> bool:
        """Accept a plain function that has the turn; false if it was taken back."""
        if ticket != first and not self._channel.takes(ticket):
            return False
        self._accept([ticket])
        return True

    def end_turn(self) -> None:
        """Let the next plain functions run."""
        self._turns.popleft()
        if self._turns:
            self._turns[0].run.start()

    def ended(self, ticket: int) -> None:
        """A call has its result."""
        self._runs.pop(ticket, None)
        if not self._runs:
            self._has_calls.clear()

    def _watch_loop(self) -> None:
        """On a thread: report the calls that cannot go on while a tool blocks the loop."""
        turn = threading.Event()
        while True:
            self._has_calls.wait()
            turn.clear()
            begun = monotonic()
            try:
                self._loop.call_soon_threadsafe(turn.set)
            except RuntimeError:  # the loop is closed
                return
            if not turn.wait(_WATCH_SECONDS):
                held = self._held()
                if held:
                    seconds = monotonic() - begun
                    self._channel.send(json_bytes({"held": held, "seconds": seconds}))
                turn.wait()
                if held:
                    self._channel.send(json_bytes({"held": held, "seconds": None}))
            time.sleep(_WATCH_SECONDS)

    def _held(self) -> list[int]:
        """The calls that run, but for the one whose tool has the turn of the loop."""
        task = asyncio.current_task(self._loop)
        tasks = {ticket: run.task_of(index) for ticket, (run, index) in self._runs.copy().items()}
        return [
            ticket
            for ticket, own in tasks.items()
            # A tool that takes its first step at once has no task yet.
            if own is not task and (ticket != self.begun or own is not None)
        ]

    def write(self, item: bytes) -> None:
        """Write an item, as JSON, with the others of this turn of the loop."""
        if self._out_bytes + len(item) > self._max_line_bytes // 2:
            self._flush()
        if not self._out:
            # A turn later, the next plain function has started: that goes with its predecessor.
            self._loop.call_soon(self._loop.call_soon if self._turns else _call, self._flush_rest)
        self._out.append(item)
        self._out_bytes += len(item)

    def write_reply(self, ticket: int, reply: TransportReply) -> None:
        """Write a reply, or that it is too large."""
        line = reply_line(ticket, reply)
        if len(line) > self._max_line_bytes - 1_000:
            size = (
                f"the result has {len(line):,} bytes, and at most {self._max_line_bytes:,} are sent"
            )
            line = reply_line(ticket, TransportReply(reply.index, ToolError(size)))
        self.write(line)

    def _flush_rest(self) -> None:
        if self._out:
            self._flush()

    def _flush(self, accepted: bytes = b"") -> None:
        """Write what was collected, and that calls were accepted."""
        out, self._out = self._out, []
        self._out_bytes = 0
        abandoned = self.registry.abandoned_calls
        items = b",".join(out)
        self._channel.send(b'{"abandoned":%d,"items":[%b]%b}' % (abandoned, items, accepted))


class _Items(Replies):
    """The items of one message, under the tickets of its requests.

    Plain functions run one after another; `first` is the ticket of the one that may surely start.
    """

    def __init__(
        self,
        worker: Worker,
        tickets: list[int],
        requests: list[ToolExecuteRequest],
        first: int | None,
    ) -> None:
        super().__init__(requests, worker.max_result_bytes)
        self.run = LocalRun(worker.registry, requests, self, is_serial=first is not None)
        self._worker = worker
        self._tickets = tickets
        self._requests = requests
        self._first = first
        self._taken_back: int | None = None
        self._open = len(tickets)
        self._closing: asyncio.Task[None] | None = None

    def started(self, index: int) -> None:
        """Async tools of a message were accepted together; a plain function is now."""
        ticket = self._tickets[index]
        if self._first is not None and not self._worker.begin_plain(ticket, self._first):
            self._taken_back = index
            raise PendingResult(not_started(self._requests[index].name, "it was taken back"))
        self._worker.begun = ticket

    def event(self, index: int, event: ToolProgressEvent) -> None:
        line = json_bytes(["event", self._tickets[index], event.to_wire()])
        self._worker.write(line)

    def reply(self, index: int, result: ToolResult, was_started: bool) -> None:
        ticket = self._tickets[index]
        reply = self.reply_with(index, result, was_started)
        self._worker.ended(ticket)
        if index != self._taken_back:
            self._worker.write_reply(ticket, reply)
        self._open -= 1
        if self._open == 0:
            # Not by `create_task`: an eager factory would start it before `start` has ended.
            self._closing = asyncio.Task(self._close(), loop=asyncio.get_running_loop())

    async def _close(self) -> None:
        await self.run.aclose()
        if self._first is not None:
            self._worker.end_turn()


def _call(function: Callable[[], None]) -> None:
    function()


async def _serve(channel: Channel, registry: RegistryReader, settings: dict[str, Any]) -> NoReturn:
    worker = Worker(channel, registry, settings)
    loop = asyncio.get_running_loop()
    channel.send(json_bytes({"version": PROTOCOL_VERSION, "tools": offered_tools(registry)}))
    loop.add_reader(channel.descriptor, worker.read)
    await loop.create_future()
    raise AssertionError("a worker ends with its channel")


def main(settings: dict[str, Any]) -> None:
    """Serve the requests of the host until it closes the channel."""
    channel = Channel()
    try:
        apply_limits(settings["limits"])
        registry = load_tools(settings["tools"])
    except BaseException as error:
        channel.send(json_bytes({"failed": f"{type(error).__name__}: {error}"}))
        sys.exit(1)
    asyncio.run(_serve(channel, registry, settings))
