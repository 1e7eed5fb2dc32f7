"""A worker process: reads requests from its channel, runs them, writes what happens.

The channel is the socket that the process was started with as standard input. Standard input is
empty for tools, and what they print goes to standard error. Lines are JSON.
"""

from __future__ import annotations

import asyncio
import dataclasses
import os
import sys
from typing import Any, NoReturn, cast

from ethos_registry.contract.context import ReadMtime
from ethos_registry.contract.execute_request import (
    PROTOCOL_VERSION,
    ToolExecuteRequest,
    batch_from_wire,
)
from ethos_registry.contract.progress import ToolProgressEvent
from ethos_registry.contract.result import ToolError, ToolOk, ToolResult
from ethos_registry.contract.transport import TransportReply
from ethos_registry.execution.refusals import exception_text
from ethos_registry.registry.local_transport import LocalRun
from ethos_registry.registry.reader import RegistryReader
from ethos_registry.transports.json_lines import json_bytes, read_line
from ethos_registry.transports.limits import apply_limits, begin_cpu_limit
from ethos_registry.transports.tool_source import load_tools, offered_tools

__all__ = ["bounded_result", "main", "tracked_mtimes"]

_READ_BYTES = 1 << 18


class Channel:
    """JSON lines to the host; of no use to a process that a tool forked."""

    def __init__(self) -> None:
        self.descriptor = os.dup(0)  # not inheritable
        os.set_blocking(self.descriptor, True)
        empty = os.open(os.devnull, os.O_RDONLY)
        os.dup2(empty, 0)
        os.close(empty)
        os.dup2(2, 1)
        self._process_id = os.getpid()
        self._pieces: list[bytes] = []
        os.register_at_fork(after_in_child=self._leave)

    def _leave(self) -> None:
        """In a process that a tool forked: the host must see when the worker ends."""
        os.close(self.descriptor)
        self.descriptor = -1

    def send(self, line: bytes) -> None:
        """Write one line of JSON; a forked process ends here instead."""
        if self.descriptor < 0 or os.getpid() != self._process_id:
            os._exit(0)
        data = memoryview(line + b"\n")
        try:
            while data:
                data = data[os.write(self.descriptor, data) :]
        except OSError:  # the host is gone
            os._exit(0)

    def receive(self) -> list[Any]:
        """The lines that have arrived; ends the process if the host is gone."""
        if self.descriptor < 0 or os.getpid() != self._process_id:
            os._exit(0)
        try:
            data = os.read(self.descriptor, _READ_BYTES)
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
        self._registry = registry
        self._max_result_bytes: int = settings["max_result_bytes"]
        self._cpu_seconds = settings["limits"].get("cpu_seconds")
        self._loop = asyncio.get_running_loop()
        self._runs: dict[int, tuple[LocalRun, int]] = {}
        self._out: list[bytes] = []

    def read(self) -> None:
        """Take the lines that have arrived."""
        for line in self._channel.receive():
            if "cancel" in line:
                for ticket in line["cancel"]:
                    found = self._runs.get(ticket)
                    if found is not None:
                        found[0].stop(found[1])
            else:
                self._start(line)

    def _start(self, line: dict[str, Any]) -> None:
        tickets = line["tickets"]
        # Before anything runs: a call that was not accepted when the worker ends did not start.
        self._channel.send(json_bytes({"accepted": tickets}))
        begin_cpu_limit(self._cpu_seconds)
        requests = batch_from_wire(line["shared"], line["requests"])
        items = _Items(self, tickets, requests)
        run = items.run = LocalRun(self._registry, requests, items)
        for index, ticket in enumerate(tickets):
            self._runs[ticket] = (run, index)
        run.start()

    def ended(self, ticket: int) -> None:
        """A call has its result."""
        self._runs.pop(ticket, None)

    def write(self, item: bytes) -> None:
        """Write an item, as JSON, with the others of this turn of the loop."""
        if not self._out:
            self._loop.call_soon(self._flush)
        self._out.append(item)

    def _flush(self) -> None:
        out, self._out = self._out, []
        abandoned = self._registry.abandoned_calls
        self._channel.send(b'{"abandoned":%d,"items":[%b]}' % (abandoned, b",".join(out)))

    def bounded(self, result: ToolResult) -> ToolResult:
        """The result, short enough to be sent."""
        return bounded_result(result, self._max_result_bytes)


class _Items:
    """The items of one message, under the tickets of its requests."""

    run: LocalRun

    def __init__(
        self, worker: Worker, tickets: list[int], requests: list[ToolExecuteRequest]
    ) -> None:
        self._worker = worker
        self._tickets = tickets
        self._open = len(tickets)
        self._mtimes = [tracked_mtimes(request) for request in requests]
        self._closing: asyncio.Task[None] | None = None

    def started(self, index: int) -> None:
        """The host knows: the calls of a message were accepted together."""

    def event(self, index: int, event: ToolProgressEvent) -> None:
        line = json_bytes(["event", self._tickets[index], event.to_wire()])
        self._worker.write(line)

    def reply(self, index: int, result: ToolResult, was_started: bool) -> None:
        ticket, mtimes = self._tickets[index], self._mtimes[index]
        written = None if mtimes is None else mtimes.take_written()
        reply = TransportReply(index, self._worker.bounded(result), was_started, None, written)
        try:
            line = json_bytes(["reply", ticket, reply.to_wire()])
        except Exception as error:  # a value that has no JSON form after all
            failed = ToolError(f"the result cannot be sent: {exception_text(error)}")
            line = json_bytes(["reply", ticket, TransportReply(index, failed).to_wire()])
        self._worker.ended(ticket)
        self._worker.write(line)
        self._open -= 1
        if self._open == 0:
            self._closing = asyncio.get_running_loop().create_task(self.run.aclose())


class _Mtimes(dict[str, ReadMtime]):
    """Records the entries that tools write, which go back to the caller."""

    def __init__(self, entries: Any) -> None:
        super().__init__(entries)
        self._written: dict[str, ReadMtime] = {}

    def __setitem__(self, path: str, entry: ReadMtime) -> None:
        super().__setitem__(path, entry)
        self._written[path] = entry

    def update(self, *args: Any, **kwargs: Any) -> None:
        for path, entry in dict(*args, **kwargs).items():
            self[path] = entry

    def take_written(self) -> dict[str, ReadMtime]:
        written, self._written = self._written, {}
        return written


def tracked_mtimes(request: ToolExecuteRequest) -> _Mtimes | None:
    """The map of a request's context, which from now on records what tools write."""
    facts = request.context._facts
    if facts.read_mtimes is None:
        return None
    if not isinstance(facts.read_mtimes, _Mtimes):
        object.__setattr__(facts, "read_mtimes", _Mtimes(facts.read_mtimes))
    return cast("_Mtimes", facts.read_mtimes)


def bounded_result(result: ToolResult, max_bytes: int) -> ToolResult:
    r"""The result with the start and the end of text that is too long.

    >>> bounded_result(ToolOk("a" * 50 + "b" * 50), 20).text
    'aaaaaaaaaa\n[80 characters left out here: the result exceeds 20 bytes]\nbbbbbbbbbb'
    """
    text = result.text
    if len(text) * 4 <= max_bytes or len(text.encode("utf-8", "surrogatepass")) <= max_bytes:
        return result
    per_char = -(-len(text.encode("utf-8", "surrogatepass")) // len(text))
    half = max(max_bytes // per_char // 2, 1)
    left_out = len(text) - 2 * half
    note = f"\n[{left_out:,} characters left out here: the result exceeds {max_bytes:,} bytes]\n"
    shown = text[:half] + note + text[-half:]
    if isinstance(result, ToolOk):
        return dataclasses.replace(result, value=shown)
    return dataclasses.replace(result, error=shown)


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
