"""A scripted HTTP server on loopback that counts who connected and what they sent."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

Reply = Callable[[str, bytes], bytes]
"""From the request's target and its whole head to the bytes of the reply."""


@dataclass
class LoopbackServer:
    """What the server saw."""

    address: str
    port: int
    requests: list[bytes] = field(default_factory=list)
    connections: int = 0
    reached_at: list[str] = field(default_factory=list)
    """The address of this machine that each client connected to."""


def response(status: int = 200, body: bytes = b"", **headers: str) -> bytes:
    """A reply; header names have underscores for hyphens."""
    lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


@contextmanager
def serving(reply: Reply, address: str = "127.0.0.1", port: int = 0) -> Iterator[LoopbackServer]:
    """Serve until the block ends; connections stay open for further requests."""
    listener = socket.create_server((address, port))
    server = LoopbackServer(address, listener.getsockname()[1])
    is_open = True
    open_sockets: list[socket.socket] = []

    def answer(connection: socket.socket) -> None:
        data = b""
        with connection:
            while is_open:
                try:
                    piece = connection.recv(65_536)
                except OSError:
                    return
                if not piece:
                    return
                data += piece
                while b"\r\n\r\n" in data:
                    head, _, data = data.partition(b"\r\n\r\n")
                    length = 0
                    for line in head.split(b"\r\n"):
                        if line.lower().startswith(b"content-length:"):
                            length = int(line.partition(b":")[2])
                    while len(data) < length:
                        data += connection.recv(65_536)
                    body, data = data[:length], data[length:]
                    server.requests.append(head + b"\r\n\r\n" + body)
                    target = head.split(b" ")[1].decode()
                    try:
                        connection.sendall(reply(target, head))
                    except OSError:
                        return

    def accept() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            server.connections += 1
            server.reached_at.append(connection.getsockname()[0])
            open_sockets.append(connection)
            threading.Thread(target=answer, args=(connection,), daemon=True).start()

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        is_open = False
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        for one in open_sockets:
            one.close()
        thread.join(5)
