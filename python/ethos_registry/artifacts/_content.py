"""The bytes of an artifact: in memory, or in a file."""

from __future__ import annotations

import contextlib
import os
import weakref
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, TypeAlias

from ethos_registry.types._content import Audio, ContentBlock, Document, Image, Link
from ethos_registry.types._errors import EthosRegistryError

# Exceptions for artifacts that cannot be stored or are gone.


class ArtifactStoreError(EthosRegistryError):
    """A store cannot store the text: it is closed or full, or its directory is not writable."""

    __module__ = "ethos_registry.artifacts"


class ArtifactGoneError(EthosRegistryError):
    """An artifact's turn is over, or its time to live has passed."""

    __module__ = "ethos_registry.artifacts"

    def __init__(self, artifact_id: str) -> None:
        super().__init__(
            f"artifact `{artifact_id}` is gone: its store was closed or its time to live is over"
        )
        self.artifact_id = artifact_id


PIECE_BYTES = 4 << 20
"""About how much of a file is in memory at a time during a search."""


class MemoryContent:
    """Bytes in memory."""

    __slots__ = ("_artifact_id", "_data", "size_bytes")

    def __init__(self, artifact_id: str, data: bytes) -> None:
        self._artifact_id = artifact_id
        self._data: bytes | None = data
        self.size_bytes = len(data)

    def read(self, start: int, end: int) -> bytes:
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
        """Remove the file; calling it again has no effect."""
        self._remove()


Content: TypeAlias = MemoryContent | FileContent
"""Immutable bytes; methods raise `ArtifactGoneError` once they were removed."""


def _unlink(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)


# The content blocks that a result carried beside its text, kept with its artifact.


class StoredData(NamedTuple):
    """An image, a document or audio, without its data."""

    make: type[Image | Document | Audio]
    media_type: str
    name: str | None
    content: Content

    def read(self) -> ContentBlock:
        """The block; raises `ArtifactGoneError` once its data was removed."""
        data = self.content.read(0, self.content.size_bytes)
        return self.make(data, self.media_type, self.name)


KeptBlock: TypeAlias = StoredData | Link


def stored_blocks(
    blocks: Iterable[ContentBlock], keep: Callable[[bytes], Content]
) -> tuple[KeptBlock, ...]:
    """The blocks, their data stored by `keep`; nothing is stored if that raises."""
    stored: list[KeptBlock] = []
    try:
        for block in blocks:
            if isinstance(block, Link):
                stored.append(block)
            else:
                content = keep(block.data_bytes)
                stored.append(StoredData(type(block), block.media_type, block.name, content))
    except BaseException:
        remove_blocks(stored)
        raise
    return tuple(stored)


def remove_blocks(blocks: Iterable[KeptBlock]) -> None:
    """Remove the data of blocks."""
    for block in blocks:
        if isinstance(block, StoredData):
            block.content.remove()


def block_bytes(blocks: Iterable[ContentBlock]) -> int:
    """The size of their data."""
    return sum(0 if isinstance(block, Link) else len(block.data_bytes) for block in blocks)


# The offsets of lines, without storing one for each line.

_BLOCK_BYTES = 64 * 1024


class LineIndex:
    r"""The number of line ends before each block of 64 KiB: a line is found within one block.

    Lines are POSIX lines: each ends with `\n`, except that the last one may be open.
    """

    __slots__ = ("_before", "_size_bytes", "count")

    count: int
    """The number of lines."""

    def __init__(self, data: bytes) -> None:
        self._size_bytes = len(data)
        self._before = array("Q")
        line_ends = 0
        for start in range(0, len(data), _BLOCK_BYTES):
            self._before.append(line_ends)
            line_ends += data.count(b"\n", start, start + _BLOCK_BYTES)
        self.count = line_ends + (bool(data) and not data.endswith(b"\n"))

    def offset(self, content: Content, line: int) -> int:
        """The offset of a line in bytes; the end of the content for a line after the last."""
        if line <= 0:
            return 0
        if line >= self.count:
            return self._size_bytes
        number = bisect_left(self._before, line) - 1
        start = number * _BLOCK_BYTES
        block = content.read(start, min(start + _BLOCK_BYTES, self._size_bytes))
        line_ends = line - self._before[number]
        return start + len(block) - len(block.split(b"\n", line_ends)[line_ends])
