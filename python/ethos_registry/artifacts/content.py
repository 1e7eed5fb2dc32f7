"""Where the bytes of an artifact stand: in memory, or in a file."""

from __future__ import annotations

import contextlib
import os
import weakref
from collections.abc import Iterator
from typing import Protocol

from ethos_registry.artifacts.errors import ArtifactGoneError

__all__ = ["PIECE_BYTES", "Content", "FileContent", "MemoryContent"]

PIECE_BYTES = 4 << 20
"""About how much of a file is in memory at a time while it is searched."""


class Content(Protocol):
    """UTF-8 bytes that do not change; `ArtifactGoneError` once they were removed."""

    @property
    def size_bytes(self) -> int:
        """How many there are."""

    def read(self, start: int, end: int) -> bytes:
        """Those between two offsets that lie inside."""

    def pieces(self) -> Iterator[bytes]:
        """All of them in order, in pieces of whole lines."""

    def remove(self) -> None:
        """Let them go; nothing happens the second time."""


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
        """Let the bytes go."""
        self._data = None


class FileContent:
    """Bytes in a file, opened for each use: a turn may keep more artifacts than files may be open.

    A use that has begun reads to its end, also when the file is removed meanwhile. The file goes
    with this object, and with the interpreter.
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
        """`data`, unless somebody has cut the file short."""
        if len(data) < expected:
            raise ArtifactGoneError(self._artifact_id)
        return data

    def remove(self) -> None:
        """Remove the file."""
        self._remove()


def _unlink(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)
