"""Messages over two descriptors, one a line.

The SDK's own transport reads by a thread that a signal cannot interrupt, so a process that is asked
to end would wait for its client. This one reads when the event loop reports data.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import select
import threading
from collections.abc import AsyncIterator, Callable

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage

from ethos_registry.mcp._json_rpc import messages_from_client

_logger = logging.getLogger("ethos_registry")

READ_BYTES = 64 * 1024
WRITE_BYTES = 4_096
"""What a pipe that is ready takes without blocking (POSIX: at least 512)."""
ANSWER_SECONDS = 0.05
"""After the end of the input, until the server ends calls: what is quick is still answered."""
MAX_MESSAGE_BYTES = 64 * 1024 * 1024


async def read_messages(
    descriptor: int,
    messages: MemoryObjectSendStream[SessionMessage | Exception],
    answers: MemoryObjectSendStream[SessionMessage],
) -> None:
    """Pass on each line as a message, until the input ends; closes both streams.

    Requests that are not valid are answered here.
    """
    async with messages, answers:
        with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            async for line in _lines(descriptor):
                received, refused = messages_from_client(line)
                if not received and not refused:
                    _logger.warning("a line that is not a message was dropped: %r", line[:200])
                for message in received:
                    await messages.send(SessionMessage(message))
                for answer in refused:
                    await answers.send(SessionMessage(answer))
            await asyncio.sleep(ANSWER_SECONDS)


async def _lines(descriptor: int) -> AsyncIterator[bytes]:
    parts: list[bytes] = []
    size = 0
    async for chunk in _chunks(descriptor):
        first, *rest = chunk.split(b"\n")
        parts.append(first)
        size += len(first)
        if rest:
            *whole, last = [b"".join(parts), *rest]
            if size > MAX_MESSAGE_BYTES:
                _logger.warning("a message of more than %d bytes was dropped", MAX_MESSAGE_BYTES)
                del whole[0]
            for line in whole:
                if line.strip():
                    yield line
            parts, size = [last], len(last)
        elif size > MAX_MESSAGE_BYTES:
            parts.clear()  # `size` remembers that its end belongs to nothing
    if size <= MAX_MESSAGE_BYTES and (line := b"".join(parts)).strip():
        yield line


async def _chunks(descriptor: int) -> AsyncIterator[bytes]:
    """What can be read, when it can be read."""
    while True:
        try:
            await _readable(descriptor)
        except (NotImplementedError, OSError):  # a file, or an event loop without readers
            async for chunk in _chunks_of_thread(descriptor):
                yield chunk
            return
        chunk = os.read(descriptor, READ_BYTES)
        if not chunk:
            return
        yield chunk


async def _readable(descriptor: int) -> None:
    """As `anyio.wait_readable`, which never returns for a pipe of Windows; this raises."""
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_reader(descriptor, ready.set)  # only while waiting: it is called again and again
    try:
        await ready.wait()
    finally:
        loop.remove_reader(descriptor)


async def _chunks_of_thread(descriptor: int) -> AsyncIterator[bytes]:
    loop = asyncio.get_running_loop()
    chunks: asyncio.Queue[bytes] = asyncio.Queue()
    own = os.dup(descriptor)  # the thread may still wait when the caller closes its descriptor

    def read() -> None:
        try:
            while chunk := os.read(own, READ_BYTES):
                loop.call_soon_threadsafe(chunks.put_nowait, chunk)
            loop.call_soon_threadsafe(chunks.put_nowait, b"")
        except (OSError, RuntimeError):  # the loop is closed
            pass
        finally:
            os.close(own)

    threading.Thread(target=read, name="mcp-stdin", daemon=True).start()
    while chunk := await chunks.get():
        yield chunk


async def write_messages(
    messages: MemoryObjectReceiveStream[SessionMessage], descriptor: int
) -> None:
    """Write each message as a line, until the stream ends or the reader has gone."""
    async with messages:
        try:
            async for message in messages:
                data = [_line(message)]
                with contextlib.suppress(anyio.WouldBlock, anyio.EndOfStream):
                    while True:
                        data.append(_line(messages.receive_nowait()))
                await _write(descriptor, b"".join(data))
        except OSError:
            _logger.debug("the client closed its end", exc_info=True)


def _line(message: SessionMessage) -> bytes:
    text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
    return f"{text}\n".encode()


async def _write(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    is_ready = _ready_check(descriptor)
    while view:
        if not is_ready():
            await anyio.wait_writable(descriptor)
        view = view[os.write(descriptor, view[:WRITE_BYTES]) :]


def _ready_check(descriptor: int) -> Callable[[], bool]:
    if not hasattr(select, "poll"):
        return lambda: True
    poll = select.poll()
    poll.register(descriptor, select.POLLOUT)
    return lambda: bool(poll.poll(0))
