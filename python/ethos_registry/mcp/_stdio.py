"""A server that is a command: its pipes, under the supervisor that ends everything it starts."""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import subprocess
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Self, cast

from ethos_registry._persistence.files import make_private_file
from ethos_registry._processes.supervised_process import SupervisedProcess
from ethos_registry._processes.supervisor import start_supervised

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectSendStream
    from mcp.shared.message import SessionMessage


async def within(seconds: float, waiting: Coroutine[Any, Any, object]) -> None:
    """Wait for something, for a time."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await waiting


# The standard error of a server: a file of bounded size, and its end in memory.

MAX_LOG_BYTES = 1024 * 1024
TAIL_BYTES = 4096


class LogFile:
    """Keeps the end of what is written: the older half goes when the file has its full size."""

    __slots__ = ("_path", "_size", "_tail", "lines_dropped")

    def __init__(self, path: str | None) -> None:
        self._path = path
        self._tail = b""
        self._size = 0
        self.lines_dropped = 0
        """Lines of standard output that were not messages."""
        if path is not None:
            make_private_file(path)
            os.truncate(path, 0)

    @property
    def tail(self) -> str:
        return self._tail.decode("utf-8", "replace")

    def write(self, data: bytes) -> None:
        """Append; a file that cannot be written is given up, the tail is not."""
        self._tail = (self._tail + data[-TAIL_BYTES:])[-TAIL_BYTES:]
        if self._path is None:
            return
        try:
            data = data[-MAX_LOG_BYTES // 2 :]
            if self._size + len(data) > MAX_LOG_BYTES:
                path = Path(self._path)
                self._size = path.write_bytes(path.read_bytes()[-MAX_LOG_BYTES // 2 :])
            if not os.path.exists(self._path):  # it was removed, as by a rotation of logs
                make_private_file(self._path)
            with open(self._path, "ab", buffering=0) as file:
                file.write(data)
            self._size += len(data)
        except OSError:
            self._path = None


MAX_LINE_BYTES = 64 * 1024 * 1024
"""A longer line ends the connection: the server would be read into memory without a limit."""
_MAX_WAITING = 256
_RESUME_SECONDS = 0.005
_FLUSH_SECONDS = 0.5
_EXIT_SECONDS = 2.0
_GRACE_SECONDS = 2.0
_KILL_SECONDS = 5.0
_DRAIN_SECONDS = 0.2
"""What a server wrote before it exited is still read for that long."""


@dataclass(eq=False, repr=False)  # it holds secrets
class StdioTransport:
    """The streams that the SDK's client reads and writes, over the pipes of one process.

    Lines are joined once, so that a message of 10 MB costs ten times one of 1 MB.
    """

    argv: Sequence[str]
    environment: Mapping[str, str]
    directory: str | None
    log: LogFile
    on_lost: Callable[[], object]
    is_initialized: bool = False
    """Whether the server has answered; one that never did gets no time to exit by itself."""
    process: SupervisedProcess | None = None

    _probe: _Probe | None = None
    _is_closing: bool = False
    _ended_itself: bool = False

    @property
    def was_probed(self) -> bool:
        """Whether the program was asked for its revision, and has answered nothing at all."""
        probe = self._probe
        return probe is not None and not probe.is_answered

    async def __aenter__(self) -> tuple[Any, Any]:
        import anyio

        loop = self._loop = asyncio.get_running_loop()
        self._exited, self._ended = asyncio.Event(), asyncio.Event()
        process = self.process = start_supervised(
            self.argv,
            directory=self.directory,
            environment=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            grace_seconds=_GRACE_SECONDS,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self._pipes = (process.stdout, process.stderr, process.stdin)
        self._transports: list[asyncio.BaseTransport] = []
        # The client does not close what it reads if it is cancelled before it begins.
        send, self._receive = anyio.create_memory_object_stream[Any](math.inf)
        self._reader = _LineReader(send, self.log, self._lost)
        try:
            pipe = _given_to(loop, process.stdout)
            reading, _ = await loop.connect_read_pipe(lambda: self._reader, pipe)
            self._transports.append(reading)
            pipe = _given_to(loop, process.stderr)
            logging, _ = await loop.connect_read_pipe(lambda: _LogReader(self.log), pipe)
            self._transports.append(logging)
            pipe = _given_to(loop, process.stdin)
            probe = self._probe = _Probe(self._reader.answer)
            writing, self._writer = await loop.connect_write_pipe(
                lambda: _LineWriter(probe.sent), pipe
            )
            self._transports.append(writing)
            self._reader.on_line = probe.answered
            process.on_exit(self._from_thread(self._program_exited))
            process.on_end(self._from_thread(self._ended.set))
        except BaseException:
            self._release()
            raise
        return self._receive, self._writer

    async def __aexit__(self, *_: object) -> None:
        import anyio

        self._is_closing = True
        try:
            with anyio.CancelScope(shield=True):
                await self._stop()
        finally:
            self._release()

    def exit_text(self) -> str | None:
        """How the program ended by itself, or why it did not start; `None` otherwise."""
        assert self.process is not None
        try:
            status = self.process.wait(0)
        except TimeoutError:
            return None
        except OSError as error:
            return f"it cannot be started: {error.strerror or error}: {error.filename!r}"
        if not self._ended_itself:
            return self._reader.problem or None
        return f"it ended by signal {-status}" if status < 0 else f"it exited with status {status}"

    async def wait_exit(self, seconds: float) -> None:
        """Wait until the program has ended, for a time."""
        await within(seconds, self._exited.wait())

    def process_id(self) -> int | None:
        """The process, while it runs."""
        process = self.process
        if process is None or self._exited.is_set():
            return None
        try:
            return process.wait_started(0)
        except (OSError, TimeoutError):
            return None

    # The end

    async def _stop(self) -> None:
        """Close standard input, wait for the exit, and end what is left of the tree."""
        process = self.process
        assert process is not None
        if self._reader.problem:  # perhaps it has just ended
            await within(_DRAIN_SECONDS, self._exited.wait())
        self._ended_itself = self._exited.is_set()
        self._reader.close()
        if self.is_initialized:
            await self._writer.flush(_FLUSH_SECONDS)
            self._writer.abort()
            await within(_EXIT_SECONDS, self._exited.wait())
        self._writer.abort()
        if not self._ended.is_set():
            process.terminate(_GRACE_SECONDS if self.is_initialized else 0.5)
            await within(_GRACE_SECONDS + _KILL_SECONDS, self._ended.wait())

    def _release(self) -> None:
        process = self.process
        if process is not None:
            if not self._ended.is_set():
                process.kill()
            process.detach()
        self._reader.close()
        self._receive.close()
        for transport in self._transports:
            _abort(transport)
        for pipe in self._pipes[len(self._transports) :]:  # no transport took them over
            with contextlib.suppress(OSError):
                pipe.close()

    def _from_thread(self, function: Callable[[], object]) -> Callable[[], None]:
        def call() -> None:
            with contextlib.suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(function)

        return call

    def _program_exited(self) -> None:
        self._exited.set()
        # A process that it left may hold the pipe open; what is in the pipe is read first.
        self._loop.call_later(_DRAIN_SECONDS, self._lost)

    def _lost(self) -> None:
        """The server cannot answer any more: calls are refused before the callers wake up."""
        if not self._is_closing:
            self.on_lost()
        self._reader.close()


PROBE_SECONDS = 3.0
"""A server that answers nothing in that time is asked by the older handshake too."""
_METHOD_NOT_FOUND = -32601


@dataclass(eq=False, repr=False)
class _Probe:
    """Answers `server/discover` for a server that is silent, as one that does not know it would.

    The SDK's client waits ten seconds. What the server answers later is dropped by the client.
    """

    answer: Callable[[Any], object]
    is_answered: bool = True
    timer: asyncio.TimerHandle | None = None

    def sent(self, message: Any) -> None:
        """A message goes to the server."""
        if getattr(message, "method", None) == "server/discover":
            self.is_answered = False
            loop = asyncio.get_running_loop()
            self.timer = loop.call_later(PROBE_SECONDS, self._refuse, message.id)

    def answered(self) -> None:
        """The server wrote a message."""
        self.is_answered = True
        if self.timer is not None:
            self.timer.cancel()

    def _refuse(self, identifier: int | str) -> None:
        from mcp_types import ErrorData, JSONRPCError

        error = ErrorData(code=_METHOD_NOT_FOUND, message="no answer to server/discover")
        self.answer(JSONRPCError(jsonrpc="2.0", id=identifier, error=error))


class _LineReader(asyncio.Protocol):
    """Standard output: each line is a message, and goes to the client without another task."""

    def __init__(
        self,
        send: MemoryObjectSendStream[Any],
        log: LogFile,
        on_end: Callable[[], None],
    ) -> None:
        from anyio import BrokenResourceError, ClosedResourceError
        from mcp.shared.message import SessionMessage

        from ethos_registry.mcp._json_rpc import messages_from_server

        self._gone = (BrokenResourceError, ClosedResourceError)
        self._send = send
        self._log = log
        self._on_end = on_end
        self._message: type[SessionMessage] = SessionMessage
        self._messages_in = messages_from_server
        self._parts: list[bytes] = []
        self._size = 0
        self._is_closed = False
        self.on_line: Callable[[], object] | None = None
        """Called at the first message."""
        self.problem = ""
        """Why nothing more is read, if that is not the server's end."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # Not checked by its class: uvloop's transports have none of asyncio's.
        self._transport = cast("asyncio.ReadTransport", transport)

    def data_received(self, data: bytes) -> None:
        if self._is_closed:
            return
        start = 0
        while (end := data.find(b"\n", start)) >= 0:
            if self._parts:
                self._parts.append(data[start:end])
                line = b"".join(self._parts)
                self._parts.clear()
                self._size = 0
            else:
                line = data[start:end]
            self._take(line)
            start = end + 1
        if start < len(data):
            self._parts.append(data[start:] if start else data)
            self._size += len(data) - start
            if self._size > MAX_LINE_BYTES and not self._is_closed:
                self.problem = f"it wrote a line of more than {MAX_LINE_BYTES >> 20} MiB"
                self._on_end()
        if self._send.statistics().current_buffer_used > _MAX_WAITING:
            self._pause()

    def connection_lost(self, error: Exception | None) -> None:
        if not self._is_closed:
            self.problem = "it closed its standard output"
        self._on_end()

    def close(self) -> None:
        """Wake up everyone who waits for an answer; what still comes is discarded."""
        if not self._is_closed:
            self._is_closed = True
            self._parts.clear()
            self._send.close()

    def _take(self, line: bytes) -> None:
        if not line.strip():
            return
        messages = self._messages_in(line)
        if not messages:
            self._log.lines_dropped += 1
            self._log.write(b"[not a message, on standard output] " + line[:500] + b"\n")
        elif self.on_line is not None:
            self.on_line()
            self.on_line = None
        for message in messages:
            self.answer(message)

    def answer(self, message: Any) -> None:
        with contextlib.suppress(*self._gone):
            self._send.send_nowait(self._message(message))

    def _pause(self) -> None:
        if self._transport.is_reading():
            self._transport.pause_reading()
            asyncio.get_running_loop().call_later(_RESUME_SECONDS, self._resume)

    def _resume(self) -> None:
        if self._transport.is_closing():
            return
        if not self._is_closed and self._send.statistics().current_buffer_used > _MAX_WAITING:
            asyncio.get_running_loop().call_later(_RESUME_SECONDS, self._resume)
        else:
            self._transport.resume_reading()


class _LogReader(asyncio.Protocol):
    """Standard error."""

    def __init__(self, log: LogFile) -> None:
        self._log = log

    def data_received(self, data: bytes) -> None:
        self._log.write(data)


class _LineWriter(asyncio.BaseProtocol):
    """Standard input: its pipe's protocol, and the stream that the client writes to."""

    def __init__(self, on_first: Callable[[Any], object]) -> None:
        from anyio import BrokenResourceError

        self._on_first: Callable[[Any], object] | None = on_first
        self._broken = BrokenResourceError
        self._may_write = asyncio.Event()
        self._may_write.set()
        self._is_lost = False
        self._lines: list[str] = []
        self._call_soon = asyncio.get_running_loop().call_soon

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.WriteTransport", transport)

    def pause_writing(self) -> None:
        self._may_write.clear()

    def resume_writing(self) -> None:
        self._may_write.set()

    def connection_lost(self, error: Exception | None) -> None:
        self._is_lost = True
        self._may_write.set()

    async def send(self, item: SessionMessage) -> None:
        """Write one message; waits while the server does not read.

        The messages of one turn of the event loop, such as the calls of a batch, are one write.
        """
        if self._is_lost or self._transport.is_closing():
            raise self._broken
        if self._on_first is not None:
            self._on_first(item.message)
            self._on_first = None
        if not self._lines:
            self._call_soon(self._write)
        self._lines.append(item.message.model_dump_json(by_alias=True, exclude_unset=True))
        if not self._may_write.is_set():
            await self._may_write.wait()

    def _write(self) -> None:
        lines, self._lines = self._lines, []
        if lines and not self._transport.is_closing():
            lines.append("")
            self._transport.write("\n".join(lines).encode())

    async def flush(self, seconds: float) -> None:
        """Wait until everything is written, for a time."""
        self._write()
        end = asyncio.get_running_loop().time() + seconds
        while self._transport.get_write_buffer_size() and not self._is_lost:
            if asyncio.get_running_loop().time() > end:
                return
            await asyncio.sleep(0.01)

    def abort(self) -> None:
        _abort(self._transport)

    async def aclose(self) -> None:
        """The transport's end closes the pipe, in the order that the protocol asks for."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *details: object) -> None:
        await self.aclose()


def _abort(transport: asyncio.BaseTransport) -> None:
    """Close at once; one that is closed already cannot be closed again."""
    if not transport.is_closing():
        try:
            cast("asyncio.WriteTransport", transport).abort()
        except (AttributeError, NotImplementedError):  # it reads
            transport.close()


class _Descriptor:
    """What uvloop needs to know of a pipe."""

    def __init__(self, number: int) -> None:
        self._number = number

    def fileno(self) -> int:
        """The number, which is the loop's to close."""
        return self._number

    def close(self) -> None:
        """Nothing: the number may be another file's by now."""


def _given_to(loop: asyncio.AbstractEventLoop, pipe: IO[bytes]) -> IO[bytes]:
    """A pipe that only the loop closes.

    uvloop closes the descriptor and then the file, which closes the number a second time: by then
    another thread may have opened a file of that number.
    """
    if isinstance(loop, asyncio.BaseEventLoop):
        return pipe
    with pipe:
        return cast("IO[bytes]", _Descriptor(os.dup(pipe.fileno())))
