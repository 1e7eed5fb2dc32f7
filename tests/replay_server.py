"""A server on the loopback interface that streams a recorded-like body with a delay per part."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field


@dataclass
class Replay:
    """What the server sends, and what became of it."""

    parts: Sequence[bytes]
    content_type: str = "text/event-stream"
    delay_seconds: float = 0.02
    cut_after: int | None = None
    """Close the connection after this many parts."""
    url: str = ""
    ended_at: float | None = None
    """The loop's time when the last part was sent."""
    connections: int = 0
    open_connections: int = 0
    tasks: set[asyncio.Task[None]] = field(default_factory=set)

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.open_connections += 1
        try:
            await self._read_request(reader)
            writer.write(
                b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nconnection: close\r\n"
                b"content-type: " + self.content_type.encode() + b"\r\n\r\n"
            )
            for number, part in enumerate(self.parts):
                if number == self.cut_after:
                    writer.transport.abort()
                    return
                writer.write(b"%x\r\n%b\r\n" % (len(part), part))
                await writer.drain()
                await asyncio.sleep(self.delay_seconds)
            self.ended_at = asyncio.get_running_loop().time()
            writer.write(b"0\r\n\r\n")
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the reader is gone, or the test is over
        finally:
            self.open_connections -= 1
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()

    async def _read_request(self, reader: asyncio.StreamReader) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        for line in head.lower().split(b"\r\n"):
            if line.startswith(b"content-length:"):
                await reader.readexactly(int(line.split(b":")[1]))


@asynccontextmanager
async def serving(replay: Replay) -> AsyncIterator[Replay]:
    """Serve the replay on a free port."""
    server = await asyncio.start_server(replay.answer, "127.0.0.1", 0)
    async with server:
        replay.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        yield replay
        server.close()
