"""The full output of one result, read by lines."""

from __future__ import annotations

from typing import Any

import pydantic_core

from ethos_registry import _core
from ethos_registry.artifacts._content import (
    PIECE_BYTES,
    Content,
    KeptBlock,
    LineIndex,
    StoredData,
    remove_blocks,
)
from ethos_registry.types import _checks
from ethos_registry.types._content import ContentBlock
from ethos_registry.types._ports import ArtifactOrigin

MAX_JSON_BYTES = 32 << 20
"""A larger text is not parsed as JSON: its values would need many times as much memory."""

_NOT_ASKED: Any = object()


class SpooledArtifact:
    r"""An immutable text, read by lines; made by a store.

    Lines are counted from 0. A line ends with `\n`, and a `\r` before it is not part of the line; a
    line end at the end of the text begins no further line. Ranges are half-open and may exceed the
    end. Methods raise `ArtifactGoneError` once the store was closed or the time to live has passed.
    Thread-safe.

    >>> from ethos_registry.artifacts import ArtifactOrigin, MemoryArtifactStore
    >>> store = MemoryArtifactStore()
    >>> artifact_id = store.reserve()
    >>> store.spool(artifact_id, "a\nb\nc\n", ArtifactOrigin("make", "call_1"))
    >>> artifact = store.get(artifact_id)
    >>> artifact.line_count(), artifact.line(1), artifact.tail(2), artifact.grep("[ac]").text
    (3, 'b', 'b\nc', '0:a\n2:c')
    """

    __slots__ = (
        "__weakref__",
        "_blocks",
        "_content",
        "_is_ascii",
        "_json",
        "_lines",
        "id",
        "origin",
    )

    id: str
    """Its id, as `a7k2m9qx4t`."""
    origin: ArtifactOrigin
    """The call whose output it is."""

    def __init__(
        self,
        artifact_id: str,
        origin: ArtifactOrigin,
        content: Content,
        lines: LineIndex,
        *,
        is_ascii: bool,
        blocks: tuple[KeptBlock, ...] = (),
    ) -> None:
        self.id = artifact_id
        self.origin = origin
        self._content = content
        self._blocks = blocks
        self._lines = lines
        self._is_ascii = is_ascii
        self._json = _NOT_ASKED

    def __repr__(self) -> str:
        return f"<SpooledArtifact {self.id} of {self.origin.tool_name}: {self._lines.count} lines>"

    @property
    def tool_call_id(self) -> str:
        """The call whose result it was."""
        return self.origin.tool_call_id

    @property
    def content_count(self) -> int:
        """How many content blocks are kept."""
        return len(self._blocks)

    @property
    def content(self) -> tuple[ContentBlock, ...]:
        """The images, documents, audio and links that the result carried beside its text."""
        blocks = self._blocks
        return tuple(block.read() if isinstance(block, StoredData) else block for block in blocks)

    def byte_length(self) -> int:
        """The size of its text in bytes, as UTF-8."""
        return self._content.size_bytes

    def line_count(self) -> int:
        """The number of lines."""
        return self._lines.count

    def line(self, number: int) -> str | None:
        """One line without its line end; `None` if it does not exist."""
        _checks.finite_number(number, "number", whole=True)
        return self.cat(number, number + 1) if number < self._lines.count else None

    def head(self, count: int = 10) -> str:
        """The first lines."""
        return self.cat(0, int(_checks.finite_number(count, "count", whole=True)))

    def tail(self, count: int = 10) -> str:
        """The last lines."""
        _checks.finite_number(count, "count", whole=True)
        return self.cat(max(0, self._lines.count - count))

    def cat(self, start: int = 0, end: int | None = None) -> str:
        """The lines from `start` up to `end`, without `end`, joined by line feeds."""
        _checks.finite_number(start, "start", whole=True)
        if end is not None:
            _checks.finite_number(end, "end", whole=True)
        first, last = self.span(start, end)
        data = self._content.read(first, last)
        return data.replace(b"\r\n", b"\n").removesuffix(b"\n").decode()

    def span(self, start: int, end: int | None) -> tuple[int, int]:
        """The byte offsets of the lines from `start` up to `end`, with their line ends."""
        last = self._lines.count if end is None else end
        offset = self._lines.offset
        return offset(self._content, start), offset(self._content, max(start, last))

    def read_bytes(self, start: int, end: int) -> bytes:
        """The bytes between two offsets."""
        size = self._content.size_bytes
        return self._content.read(min(max(start, 0), size), min(max(end, 0), size))

    def characters(self, start: int, end: int) -> int:
        """The number of characters between two byte offsets, the first at a character boundary."""
        if self._is_ascii:
            return end - start
        pieces = range(start, end, PIECE_BYTES)
        return sum(_beginning(self.read_bytes(at, min(at + PIECE_BYTES, end))) for at in pieces)

    def grep(
        self,
        pattern: str,
        flags: str = "",
        *,
        context_lines: int = 0,
        max_matches: int = 1_000,
        max_chars: int = 80_000,
        max_line_bytes: int = 400,
    ) -> _core.Grep:
        """The lines that match a regular expression, as `7:text`, with lines around them.

        The result has `text`, `matches` (lines that match) and `shown` (those in the text). The
        search takes linear time. Raises `ValueError` for an invalid pattern or a flag not in
        `imsu`.
        """
        search = _core.Grep(
            pattern,
            flags,
            context_lines=context_lines,
            max_matches=max_matches,
            max_chars=max_chars,
            max_line_bytes=max_line_bytes,
            first_number=0,
        )
        for piece in self._content.pieces():
            search.feed(piece)
        return search

    def read_all(self) -> str:
        """The whole text with its line ends."""
        return self._content.read(0, self._content.size_bytes).decode()

    def is_json(self) -> bool:
        """Whether the text is one JSON object or array of at most 32 MiB; computed once."""
        if self._json is _NOT_ASKED:
            try:
                self.read_json()
            except ValueError:
                self._json = False
            else:
                self._json = True
        return bool(self._json)

    def read_json(self) -> Any:
        """The text as a JSON value; raises `ValueError` if it is not an object or array."""
        start = self.read_bytes(0, 64).lstrip()[:1]
        if self.byte_length() > MAX_JSON_BYTES or start not in (b"{", b"["):
            raise ValueError("the text is not a JSON object or array of at most 32 MiB")
        return pydantic_core.from_json(
            self._content.read(0, self._content.size_bytes), allow_inf_nan=False
        )

    def _remove(self) -> None:
        self._content.remove()
        remove_blocks(self._blocks)


def _beginning(data: bytes) -> int:
    """The number of characters that begin in a piece of UTF-8."""
    return len(data.translate(None, delete=_INSIDE))


_INSIDE = bytes(range(0x80, 0xC0))
"""The continuation bytes of UTF-8."""
