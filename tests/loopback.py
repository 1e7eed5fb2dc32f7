"""A server on this machine that records what a client sends and answers from a script."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Loopback:
    """`replies` are given out one a request, as JSON; bytes are the body of a stream.

    `requests` are the bodies that came.
    """

    def __init__(self, replies: list[dict[str, Any] | bytes]) -> None:
        self.replies = list(replies)
        self.requests: list[bytes] = []
        self.headers: list[dict[str, str]] = []
        self.url = ""

    def body(self, index: int = -1) -> Any:
        return json.loads(self.requests[index])


@contextmanager
def loopback(*replies: dict[str, Any] | bytes) -> Iterator[Loopback]:
    recorded = Loopback(list(replies))

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            recorded.requests.append(self._read())
            recorded.headers.append({name.lower(): value for name, value in self.headers.items()})
            given = recorded.replies.pop(0)
            is_stream = isinstance(given, bytes)
            reply = given if isinstance(given, bytes) else json.dumps(given).encode()
            kind = "text/event-stream" if is_stream else "application/json"
            self.send_response(200)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(reply)))
            self.end_headers()
            self.wfile.write(reply)

        def _read(self) -> bytes:
            if self.headers.get("transfer-encoding", "") != "chunked":
                return self.rfile.read(int(self.headers["content-length"]))
            body = b""
            while size := int(self.rfile.readline(), 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return body

        def log_message(self, *arguments: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    recorded.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield recorded
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
