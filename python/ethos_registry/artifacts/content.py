"""The bytes of an artifact: in memory, or in a file."""

from __future__ import annotations

import contextlib
import os
import weakref
from collections.abc import Iterator
from typing import Protocol

from ethos_registry.artifacts.errors import ArtifactGoneError

__all__ = ["PIECE_BYTES", "Content", "FileContent", "MemoryContent"]

PIECE_BYTES = 4 << 20
"""About how much of a file is in memory at a time during a search."""


class Content(Protocol):
    """Immutable UTF-8 bytes; methods raise `ArtifactGoneError` once they were removed."""

    @property
    def size_bytes(self) -> int:
        """The number of bytes."""

    def read(self, start: int, end: int) -> bytes:
        """The bytes between two offsets."""

    def pieces(self) -> Iterator[bytes]:
        """All bytes in order, in pieces of whole lines."""

    def remove(self) -> None:
        """Remove the bytes; calling it again has no effect."""


class MemoryContent:
    """Bytes in memory."""

    __slots__ = ("_artifact_id", "_data", "size_bytes")

    def __init__(self, artifact_id: str, data: bytes) -> None:
        self._artifact_id = artifact_id
        self._data: bytes | None = data
        self.size_bytes = len(data)

    def read(self, start: int, end: int) -> bytes:
        """The bytes between two offsets."""
        return self._kept()[start:end]

    def pieces(self) -> Iterator[bytes]:
        """All bytes as one piece."""
        yield self._kept()

    def _kept(self) -> bytes:
        data = self._data  # another thread may remove it meanwhile
        if data is None:
            raise ArtifactGoneError(self._artifact_id)
        return data

    def remove(self) -> None:
        """Remove the bytes."""
        self._data = None


class FileContent:
    """Bytes in a file, opened for each use: a turn may have more artifacts than files may be open.

    A read that has started ends normally even if the file is removed meanwhile. The file is removed
    with this object, and at the exit of the interpreter.
    """

    __slots__ = ("__weakref__", "_artifact_id", "_path", "_remove", "size_bytes")

    def __init__(self, artifact_id: str, path: str, size_bytes: int) -> None:
        self._artifact_id = artifact_id
        self._path = path
        self._remove = weakref.finalize(self, _unlink, path)
        self.size_bytes = size_bytes

    def read(self, start: int, end: int) -> bytes:
        """The bytes between two offsets."""
        try:
            with open(self._path, "rb", buffering=0) as file:
                file.seek(start)
                return self._whole(file.read(end - start), end - start)
        except OSError as error:
            raise ArtifactGoneError(self._artifact_id) from error

    def pieces(self) -> Iterator[bytes]:
        """All bytes in pieces of about 4 MB; one line is never in two."""
        seen = 0
        try:
            with open(self._path, "rb") as file:
                while piece := file.read(PIECE_BYTES):
                    if not piece.endswith(b"\n"):
                        piece += file.readline()
                    seen += len(piece)
                    yield piece
        except OSError as error:
            raise ArtifactGoneError(self._artifact_id) from error
        self._whole(b"", self.size_bytes - seen)

    def _whole(self, data: bytes, expected: int) -> bytes:
        """`data`; raises if the file was truncated."""
        if len(data) < expected:
            raise ArtifactGoneError(self._artifact_id)
        return data

    def remove(self) -> None:
        """Remove the file."""
        self._remove()


def _unlink(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)
