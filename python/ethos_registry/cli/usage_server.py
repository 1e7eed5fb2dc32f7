"""The usage page, live, for this machine only."""

from __future__ import annotations

import sys
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from ethos_registry import EthosRegistryError, UsageReport
from ethos_registry.cli.errors import CommandError, print_line
from ethos_registry.cli.output import json_text

__all__ = ["make_server", "serve"]

ADDRESS = "127.0.0.1"
_HOSTS = frozenset({ADDRESS, "localhost"})


def serve(report: Callable[[], UsageReport], port: int) -> None:
    """Serve until an interrupt; a report that cannot be made is an error before that."""
    report()
    server = make_server(report, port)
    with server:
        print_line(f"usage at http://{ADDRESS}:{server.server_port}/ until Ctrl-C")
        server.serve_forever()


def make_server(report: Callable[[], UsageReport], port: int) -> ThreadingHTTPServer:
    """A server of `/` (the page) and `/usage.json`, on the loopback address."""

    class Handler(_Handler):
        make_report = staticmethod(report)

    try:
        return _Server((ADDRESS, port), Handler)
    except OSError as error:
        raise CommandError(
            f"port {port} of {ADDRESS} cannot be used: {error.strerror}; choose another `--port`"
        ) from None


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore a browser that went away before it had its answer."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    make_report: Callable[[], UsageReport]
    timeout = 30

    def do_GET(self) -> None:
        """Answer with the page, its figures, or an error."""
        if not self._is_for_us():
            # A page elsewhere may let its own name point here, to read what it may not see.
            self._answer(HTTPStatus.FORBIDDEN, "text/plain", "ask for 127.0.0.1 or localhost\n")
            return
        if self.path not in ("/", "/usage.json"):
            self._answer(HTTPStatus.NOT_FOUND, "text/plain", "there are / and /usage.json\n")
            return
        try:
            made = type(self).make_report()
        except EthosRegistryError as error:
            self._answer(HTTPStatus.SERVICE_UNAVAILABLE, "text/plain", f"{error}\n")
            return
        if self.path == "/":
            self._answer(HTTPStatus.OK, "text/html", made.to_html(is_live=True))
        else:
            self._answer(HTTPStatus.OK, "application/json", json_text(made.to_wire()))

    def _is_for_us(self) -> bool:
        host, _, port = self.headers.get("Host", "").partition(":")
        return host in _HOSTS and port == str(self.server.server_port)  # type: ignore[attr-defined]

    def _answer(self, status: HTTPStatus, kind: str, text: str) -> None:
        body = text.encode("utf-8", "replace")
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Cross-Origin-Resource-Policy", "same-origin")
        self.send_header("X-Frame-Options", "DENY")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the base's
        """Write nothing: the terminal shows the address, and that is all one needs."""
