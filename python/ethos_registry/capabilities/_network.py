"""One fetch without its sockets: the next request, and how much of the reply is kept."""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import json
import os
import re
import ssl
import threading
import weakref
import zlib
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping, MutableMapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from ethos_registry import _core
from ethos_registry.capabilities._address_guard import (
    HostNotAllowedError,
    HostRules,
    Resolve,
    Target,
    joined,
    system_addresses,
    target_of,
)
from ethos_registry.types import _checks
from ethos_registry.types._errors import EthosRegistryError
from ethos_registry.types._loop_thread import LoopThread
from ethos_registry.types._secret_names import is_secret_name

if TYPE_CHECKING:
    import httpcore

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_FRAMING = frozenset(
    [
        "host",
        "content-length",
        "transfer-encoding",
        "connection",
        "upgrade",
        "te",
        "trailer",
        "expect",
        "keep-alive",
        "proxy-connection",
        "accept-encoding",
    ]
)
_GZIP = 16 + zlib.MAX_WBITS
_REDIRECTS = frozenset([301, 302, 303, 307, 308])


class ResponseTooLargeError(EthosRegistryError, OSError):
    """A reply was longer than the limit; it is dropped."""

    __module__ = "ethos_registry.capabilities"


@_checks.checked_class
@dataclass(frozen=True, slots=True)
class FetchLimits:
    """What one fetch may cost."""

    total_seconds: float = 30.0
    """From the first lookup to the last byte, redirects included."""
    max_redirects: int = 5
    max_wire_bytes: int = 10 * 1024 * 1024
    """As received, compressed."""
    max_decoded_bytes: int = 20 * 1024 * 1024
    """After decompression."""


_SLOW_CHARSETS = ("idna", "punycode", "raw-unicode-escape", "unicode-escape", "undefined")
"""A peer names the charset: these take more than linear time, or are not charsets of documents."""


def decoded_by(charset: str, data: bytes) -> str:
    r"""`data` as text by a declared charset, or by UTF-8 if it is not one to be used.

    >>> decoded_by("latin-1", b"caf\xe9"), decoded_by("punycode", b"a-b")
    ('café', 'a-b')
    """
    try:
        name = codecs.lookup(charset).name.replace("_", "-")
        return data.decode("utf-8" if name in _SLOW_CHARSETS else name, "replace")
    except (LookupError, ValueError):
        return data.decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class FetchResponse:
    """The reply to a fetch."""

    status: int
    headers: Mapping[str, str]
    """Names in lower case; repeated ones are joined by a comma."""
    url: str
    """The URL of the reply, after redirects."""
    content: bytes

    @property
    def ok(self) -> bool:
        """Whether the status is 200 to 299."""
        return 200 <= self.status < 300

    @property
    def text(self) -> str:
        """The content as text, by the charset of `content-type`, else UTF-8."""
        charset = re.search(
            r"charset=\"?([\w.-]+)", self.headers.get("content-type", ""), re.IGNORECASE
        )
        return decoded_by(charset[1] if charset else "utf-8", self.content)

    def json(self) -> Any:
        """The content as JSON; `ValueError` if it is not."""
        return json.loads(self.content)


class Exchange:
    """The requests of one fetch: the first, then one for each redirect."""

    def __init__(
        self,
        rules: HostRules,
        limits: FetchLimits,
        url: str,
        method: str,
        headers: Mapping[str, str],
        content: bytes | None,
    ) -> None:
        self._rules = rules
        self.limits = limits
        self._redirects_left = limits.max_redirects
        self.method = method.upper()
        if self.method not in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"):
            raise HostNotAllowedError(f"method {method!r} is not allowed")
        self._headers = _checked(headers)
        self.content = content
        self.target = self._permitted(url)

    def _permitted(self, url: str) -> Target:
        target = target_of(url)
        self._rules.check(target.host)
        return target

    def headers(self) -> list[tuple[bytes, bytes]]:
        lines = [("Host", self.target.authority), ("Accept-Encoding", "gzip, deflate")]
        lines += self._headers
        if self.content is not None:
            lines.append(("Content-Length", str(len(self.content))))
        return [(name.encode("ascii"), value.encode("latin-1")) for name, value in lines]

    def redirect(self, status: int, headers: Mapping[str, str]) -> bool:
        """Whether the reply is a redirect; if so, the attributes are those of the next request."""
        location = headers.get("location")
        if status not in _REDIRECTS or location is None:
            return False
        if self._redirects_left == 0:
            raise HostNotAllowedError(f"more than {self.limits.max_redirects} redirects")
        self._redirects_left -= 1
        target = self._permitted(joined(self.target, location))
        if target.origin != self.target.origin:
            self._headers = [line for line in self._headers if not _is_credential(*line)]
        becomes_get = status == 303 or (status in (301, 302) and self.method == "POST")
        if becomes_get and self.method != "HEAD":
            self.method, self.content = "GET", None
            self._headers = [
                line for line in self._headers if not line[0].lower().startswith("content-")
            ]
        self.target = target
        return True


def _checked(headers: Mapping[str, str]) -> list[tuple[str, str]]:
    """The caller's headers; those that change how the request is framed are refused."""
    checked = []
    for name, value in headers.items():
        if not _TOKEN.fullmatch(name):
            raise HostNotAllowedError(f"{name!r} is not a header name")
        if name.lower() in _FRAMING:
            raise HostNotAllowedError(f"header {name!r} is set by the library")
        text = str(value)
        if any(char in "\r\n\0" or ord(char) > 255 for char in text):
            raise HostNotAllowedError(
                f"the value of header {name!r} has a line break or NUL, or is not Latin-1"
            )
        checked.append((name, text))
    return checked


_CREDENTIAL_WORDS = re.compile(
    r"(?:^|[-_.])(?:authentication|cookies?|csrf|dpop|key|session|sid|sig|signature|xsrf)"
    r"(?:$|[-_.])|sessionid|sessid",
    re.IGNORECASE,
)


def _is_credential(name: str, value: str) -> bool:
    """Whether a header may hold a secret, by its name or by the shape of its value."""
    return (
        is_secret_name(name)
        or _CREDENTIAL_WORDS.search(name) is not None
        or _core.redact(value) != value
    )


class Body:
    """A reply's body as it arrives: decompressed in steps, limited before and after."""

    def __init__(self, encoding: str, limits: FetchLimits) -> None:
        self._limits = limits
        self._wire_bytes = 0
        self._chunks: list[bytes] = []
        self._decoded_bytes = 0
        self._decoder: Any = None
        encoding = encoding.strip().lower()
        self._is_gzip = encoding in ("gzip", "x-gzip")
        self._may_be_raw = encoding == "deflate"
        if self._is_gzip:
            self._decoder = zlib.decompressobj(_GZIP)
        elif encoding == "deflate":
            self._decoder = zlib.decompressobj()
        elif encoding not in ("", "identity"):
            raise HostNotAllowedError(f"content encoding {encoding!r} was not requested")

    def feed(self, chunk: bytes) -> None:
        """Add the next bytes; raises `ResponseTooLargeError` beyond a limit."""
        self._wire_bytes += len(chunk)
        if self._wire_bytes > self._limits.max_wire_bytes:
            raise ResponseTooLargeError(
                f"the reply is longer than {self._limits.max_wire_bytes} bytes"
            )
        if self._decoder is None:
            self._keep(chunk)
            return
        while chunk:
            chunk = self._decompressed(chunk)

    def _decompressed(self, chunk: bytes) -> bytes:
        """Keep what one step gives; returns the input that is left."""
        if self._decoder.eof:
            if not self._is_gzip:
                return b""
            self._decoder = zlib.decompressobj(_GZIP)
        room = self._limits.max_decoded_bytes - self._decoded_bytes + 1
        try:
            data = self._decoder.decompress(chunk, room)
        except zlib.error as error:
            if self._may_be_raw:  # some servers send deflate without its header
                self._may_be_raw = False
                self._decoder = zlib.decompressobj(-zlib.MAX_WBITS)
                return chunk
            raise OSError(f"the reply cannot be decompressed: {error}") from None
        self._may_be_raw = False
        self._keep(data)
        left: bytes = (
            self._decoder.unused_data if self._decoder.eof else self._decoder.unconsumed_tail
        )
        return left

    def _keep(self, chunk: bytes) -> None:
        self._decoded_bytes += len(chunk)
        if self._decoded_bytes > self._limits.max_decoded_bytes:
            raise ResponseTooLargeError(
                f"the decompressed reply is longer than {self._limits.max_decoded_bytes} bytes"
            )
        self._chunks.append(chunk)

    def content(self) -> bytes:
        """The whole body; `OSError` if the compressed data ends early."""
        if self._decoder is not None and self._wire_bytes and not self._decoder.eof:
            raise OSError("the compressed reply ends early")
        return b"".join(self._chunks)


def header_map(lines: list[tuple[bytes, bytes]]) -> dict[str, str]:
    """Headers by lower-case name; repeated ones joined by a comma."""
    found: dict[str, str] = {}
    for name, value in lines:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        found[key] = f"{found[key]}, {text}" if key in found else text
    return found


# The connections of scoped fetches, kept for reuse.

R = TypeVar("R")
Closing = AsyncGenerator[None, None]

_CLOSING: set[asyncio.Task[None]] = set()


class ConnectionPools:
    """The connections of one application: one pool per policy and event loop.

    A connection made under one policy is never reused under another. The connections of an event
    loop are closed when `asyncio.run` ends, and by `aclose()`. Needs the extra `network`.

    Args:
        ssl_context: How TLS certificates are verified. Default: by the system's authorities.
        resolve: Returns the addresses of a host. Default: the system's resolver.
        max_connections: Of one policy at the same time; more requests wait.

    """

    def __init__(
        self,
        *,
        ssl_context: ssl.SSLContext | None = None,
        resolve: Resolve = system_addresses,
        max_connections: int = 20,
    ) -> None:
        self._ssl_context = ssl_context
        self._resolve = resolve
        self._max_connections = max_connections
        self._lock = threading.Lock()
        # The loop itself and not its `id()`, which the next loop may get.
        self._async: dict[
            tuple[HostRules, asyncio.AbstractEventLoop],
            tuple[httpcore.AsyncConnectionPool, Closing],
        ] = {}
        self._threads: dict[int, LoopThread] = {}
        # It also keeps the connections alive until then: none is found open by the collector.
        weakref.finalize(self, _abandon, self._threads, self._async)

    @property
    def resolve(self) -> Resolve:
        """Returns the addresses of a host."""
        return self._resolve

    async def for_loop(self, rules: HostRules) -> httpcore.AsyncConnectionPool:
        """The pool of a policy on the running event loop."""
        import httpcore

        from ethos_registry.capabilities._guarded_connections import GuardedBackend

        loop = asyncio.get_running_loop()
        with self._lock:
            found = self._async.get((rules, loop))
            if found is not None:
                return found[0]
            if self._ssl_context is None:
                self._ssl_context = ssl.create_default_context()
            pool = httpcore.AsyncConnectionPool(
                ssl_context=self._ssl_context,
                max_connections=self._max_connections,
                network_backend=GuardedBackend(rules, self._resolve),
            )
            for key in [key for key in self._async if key[1].is_closed()]:
                del self._async[key]
            closing = _closed_with_the_loop(pool, self._async, (rules, loop))
            self._async[rules, loop] = pool, closing
        await anext(closing)
        return pool

    def wait(self, make: Callable[[], Coroutine[Any, Any, R]]) -> R:
        """The result of a coroutine that runs on a loop of its own thread, for plain functions."""
        with self._lock:
            thread = self._threads.get(os.getpid())  # a fork has none of its parent's
            if thread is None:
                thread = self._threads[os.getpid()] = LoopThread("ethos-registry-fetch")
        return thread.wait(make)

    async def aclose(self) -> None:
        """Close every connection of this loop and of plain functions."""
        loop = asyncio.get_running_loop()
        with self._lock:
            mine = [pool for key, pool in self._async.items() if key[1] is loop]
            thread = self._threads.pop(os.getpid(), None)
        for _, closing in mine:
            await closing.aclose()
        if thread is not None:
            await asyncio.to_thread(thread.close)


async def _closed_with_the_loop(
    pool: httpcore.AsyncConnectionPool, pools: MutableMapping[Any, Any], key: Any
) -> Closing:
    """A generator that an event loop finishes when it ends: the connections end with the loop."""
    try:
        yield
    finally:
        pools.pop(key, None)
        await pool.aclose()


def _abandon(threads: dict[int, LoopThread], pools: dict[Any, tuple[Any, Closing]]) -> None:
    """Close what an object that is gone has left, each pool on its own loop."""
    for (_, loop), (_, closing) in [*pools.items()]:
        with contextlib.suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(_start_closing, loop, closing)
    pools.clear()
    for thread in threads.values():
        thread.end()


def _start_closing(loop: asyncio.AbstractEventLoop, closing: Closing) -> None:
    task = loop.create_task(_close(closing))
    _CLOSING.add(task)
    task.add_done_callback(_CLOSING.discard)


async def _close(closing: Closing) -> None:
    await closing.aclose()
