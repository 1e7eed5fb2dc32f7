"""Check that a file is unchanged since it was read (`read_mtimes`, `STALE_WRITE`)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from ethos_registry.contract.context import ReadMtime, ToolContext
from ethos_registry.toolkit.arguments import RefusalError, shown
from ethos_registry.toolkit.folder import Status

__all__ = ["MAX_DIGEST_BYTES", "check_fresh", "digest_of", "forget", "new_digest", "note"]

MAX_DIGEST_BYTES = 10_000_000
"""For a larger file only inode, size and modification time are compared."""

_SAME_MTIME_MS = 0.001
"""Entries from elsewhere hold milliseconds as a float, rounded in the last places."""


def new_digest() -> hashlib.blake2b:
    """A digest to feed while a file is read."""
    return hashlib.blake2b(digest_size=16)


def digest_of(content: bytes) -> str:
    """The digest of a whole content, for `note`."""
    digest = new_digest()
    digest.update(content)
    return digest.hexdigest()


def note(context: ToolContext, resolved: str, status: Status, digest: str) -> None:
    """Record the state of a file in the context's map, if it has one.

    `digest` is that of the whole content, `""` if there is none.
    """
    if context.read_mtimes is not None:
        context.read_mtimes[resolved] = ReadMtime(
            status[4] / 1_000_000, context.current_turn, _stamp(status) + digest
        )


def forget(context: ToolContext, resolved: str) -> None:
    """Remove the record of a file: the model has seen that it is gone."""
    if context.read_mtimes is not None:
        context.read_mtimes.pop(resolved, None)


def check_fresh(
    context: ToolContext,
    resolved: str,
    path: str,
    status: Status | None,
    content: Callable[[], bytes],
) -> None:
    """Refuse a change if the file differs from its record in the context's map.

    `status` is `None` if there is no file now. Without a map or an entry nothing is checked. The
    modification
    time decides, and for entries of this package's tools also inode, size and content: two writes
    in one tick of the clock leave the same time, and a freed inode is given out again at once.
    """
    entry = None if context.read_mtimes is None else context.read_mtimes.get(resolved)
    if entry is None:
        return
    if status is None:
        raise RefusalError(
            f"{shown(path)} was deleted after it was read, so nothing was written; call read_file "
            "to make sure that it is gone, then write_file creates it again",
            "STALE_WRITE",
        )
    if not _is_same(entry, status, content):
        raise RefusalError(
            f"{shown(path)} was changed by someone else after it was read, so nothing was "
            "written; read it again with read_file, then redo the change on its new text",
            "STALE_WRITE",
        )


def _is_same(entry: ReadMtime, status: Status, content: Callable[[], bytes]) -> bool:
    if entry.stamp is None:
        return abs(entry.mtime_ms - status[4] / 1_000_000) < _SAME_MTIME_MS
    stamp = _stamp(status)
    if not entry.stamp.startswith(stamp):
        return False
    digest = entry.stamp[len(stamp) :]
    return not digest or digest == digest_of(content())


def _stamp(status: Status) -> str:
    _, device, inode, size_bytes, modified_nanoseconds = status
    return f"{device}:{inode}:{size_bytes}:{modified_nanoseconds}:"
