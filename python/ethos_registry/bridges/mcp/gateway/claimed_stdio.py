"""Standard input and output for one protocol alone: nothing else can write to it."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator

__all__ = ["claimed_stdio"]


@contextlib.contextmanager
def claimed_stdio() -> Iterator[tuple[int, int]]:
    """Private descriptors of standard input and output, until the block ends.

    Meanwhile descriptor 0 reads nothing and descriptor 1 is standard error, for this process and
    for the children that it starts: what a tool prints never reaches the client.
    """
    _flush_output()
    reader, writer = os.dup(0), os.dup(1)
    try:
        _point(0, os.open(os.devnull, os.O_RDONLY))
        _point(1, _errors())
        yield reader, writer
    finally:
        _flush_output()  # buffered output of tools belongs to standard error
        os.dup2(reader, 0)
        os.dup2(writer, 1)
        os.close(reader)
        os.close(writer)


def _flush_output() -> None:
    if sys.stdout is not None:
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()


def _point(descriptor: int, target: int) -> None:
    os.dup2(target, descriptor)
    os.close(target)


def _errors() -> int:
    try:
        return os.dup(2)
    except OSError:  # closed
        return os.open(os.devnull, os.O_WRONLY)
