"""One clock for all reads and writes of a blocking fetch."""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpcore

__all__ = ["TimedStream", "deadline_in", "seconds_left"]

_WRITE_BYTES = 65_536


class _Clock(threading.local):
    deadline: float | None = None
    total_seconds: float = 0.0


_CLOCK = _Clock()


@contextmanager
def deadline_in(seconds: float) -> Iterator[None]:
    """Bound everything that this thread reads and writes in the block to a total time."""
    _CLOCK.deadline, _CLOCK.total_seconds = time.monotonic() + seconds, seconds
    try:
        yield
    finally:
        _CLOCK.deadline = None


def seconds_left(timeout: float | None = None) -> float | None:
    """The time that the next step may take; `TimeoutError` if the fetch is over."""
    if _CLOCK.deadline is None:
        return timeout
    left = _CLOCK.deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError(f"the fetch took longer than {_CLOCK.total_seconds:g} s")
    return left if timeout is None else min(left, timeout)


class TimedStream(httpcore.NetworkStream):
    """A connection whose every step has only the time that is left.

    A server that sends a byte now and then never runs into the timeout of a single read.
    """

    def __init__(self, stream: httpcore.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """The next bytes."""
        return self._stream.read(max_bytes, seconds_left(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send bytes."""
        for start in range(0, len(buffer), _WRITE_BYTES):
            self._stream.write(buffer[start : start + _WRITE_BYTES], seconds_left(timeout))

    def close(self) -> None:
        """Close the connection."""
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        """The same connection, encrypted."""
        return TimedStream(
            self._stream.start_tls(ssl_context, server_hostname, seconds_left(timeout))
        )

    def get_extra_info(self, info: str) -> Any:
        """Facts of the connection, such as its socket."""
        return self._stream.get_extra_info(info)
