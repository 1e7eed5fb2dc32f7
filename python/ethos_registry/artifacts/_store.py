"""Stores the artifacts of one turn in memory."""

from __future__ import annotations

import re
import secrets
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from time import monotonic
from typing import Any, NamedTuple, NoReturn, Unpack

from ethos_registry import _core
from ethos_registry.artifacts._artifact import SpooledArtifact
from ethos_registry.artifacts._content import (
    ArtifactStoreError,
    Content,
    LineIndex,
    MemoryContent,
    block_bytes,
    stored_blocks,
)
from ethos_registry.types import _checks
from ethos_registry.types._closing import Closing
from ethos_registry.types._content import NO_CONTENT, ContentBlock, content_blocks
from ethos_registry.types._ports import ArtifactOrigin, TurnScope
from ethos_registry.types._tool import Tool, ToolChanges

# Ids of artifacts: random, short enough for a model to copy, never reused.

_ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"
"""Without characters that look like others."""
_LENGTH = 9
_SHAPE = re.compile(f"a[{_ALPHABET}]{{{_LENGTH}}}")


def new_artifact_id() -> str:
    """A new id, as `a7k2m9qx4t`: 44 random bits, so it is neither guessed nor met again.

    >>> is_artifact_id(new_artifact_id())
    True
    """
    return "a" + "".join(secrets.choice(_ALPHABET) for _ in range(_LENGTH))


def is_artifact_id(text: str) -> bool:
    """Whether `text` may be the id of an artifact of some turn."""
    return _SHAPE.fullmatch(text) is not None


DEFAULT_TIME_TO_LIVE_SECONDS = 3_600.0
DEFAULT_MAX_BYTES = 64 << 20


class _Kept(NamedTuple):
    artifact: SpooledArtifact
    size_bytes: int
    kept_at: float


@_checks.checked_class
class MemoryArtifactStore(Closing):
    r"""The full output of a turn's shortened results, in memory; pass it to the `ToolContext`.

    It stores at most `max_bytes` bytes of UTF-8 and of content blocks. An artifact is dropped
    `time_to_live_seconds` after it was stored, at the next use of the store; all artifacts are
    dropped when the store is closed, which `bind_context` does when the turn is acknowledged.
    Thread-safe.

    >>> from ethos_registry import ToolContext, ToolRegistry
    >>> registry, store = ToolRegistry(), MemoryArtifactStore()
    >>> @registry.tool
    ... def count() -> str: return "\n".join(map(str, range(1000)))
    >>> context = ToolContext(result_budget_chars=20, artifact_store=store)
    >>> results = registry.execute_parallel_sync([{"id": "1", "name": "count"}], context)
    >>> [artifact] = store.artifacts()
    >>> artifact.tool_call_id, artifact.line_count(), artifact.line(999)
    ('1', 1000, '999')
    """

    def __init__(
        self,
        *,
        max_bytes: int = DEFAULT_MAX_BYTES,
        time_to_live_seconds: float = DEFAULT_TIME_TO_LIVE_SECONDS,
    ) -> None:
        self._max_bytes = _checks.finite_number(max_bytes, "max_bytes", whole=True)
        self._time_to_live_seconds = _checks.finite_number(
            time_to_live_seconds, "time_to_live_seconds"
        )
        self._kept: dict[str, _Kept] = {}
        self._bytes = 0
        self._reserved: set[str] = set()
        self._is_closed = False
        self._reader_names: tuple[str, ...] = ()
        self._lock = threading.RLock()  # a signal handler may end the turn inside a method

    def __repr__(self) -> str:
        state = "closed" if self._is_closed else f"{len(self._kept)} artifacts"
        return f"<{type(self).__name__}: {state}>"

    # Writing

    def reserve(self) -> str:
        """A new artifact's id, random and never reused; nothing is stored under it yet.

        Raises `ArtifactStoreError` if the store is closed.
        """
        with self._lock:
            self._check_open()
            while (artifact_id := new_artifact_id()) in self._reserved:
                pass
            self._reserved.add(artifact_id)
            return artifact_id

    def spool(
        self,
        artifact_id: str,
        text: str,
        origin: ArtifactOrigin,
        content: Iterable[ContentBlock] = NO_CONTENT,
    ) -> None:
        """Store text under a reserved id, and the content blocks beside it.

        A lone surrogate becomes U+FFFD. Where `max_bytes` has room for the text only, the blocks
        are not stored. Raises `ArtifactStoreError`, and stores nothing, if the store is closed,
        would exceed `max_bytes`, or cannot write the text.
        """
        _checks.text(artifact_id, "artifact_id")
        _checks.instance(origin, ArtifactOrigin, "origin", "an ArtifactOrigin")
        data = _core.replace_surrogates(_checks.text(text, "text")).encode()
        self._store(artifact_id, data, origin, content_blocks(content))

    def _store(
        self,
        artifact_id: str,
        data: bytes,
        origin: ArtifactOrigin,
        given: tuple[ContentBlock, ...],
        text_of: Callable[[], Content] | None = None,
    ) -> None:
        """Store UTF-8; `text_of` makes its content, if it is not to be written."""
        lines = LineIndex(data)
        size_bytes = len(data) + block_bytes(given)
        with self._lock:
            self._check_open()
            self._drop_old()
            if artifact_id in self._kept:
                raise ArtifactStoreError(f"artifact `{artifact_id}` is already stored")
            if self._bytes + len(data) > self._max_bytes:
                raise ArtifactStoreError(
                    f"artifact `{artifact_id}` of {len(data):,} bytes does not fit: the store has "
                    f"{self._bytes:,} of `max_bytes` {self._max_bytes:,} in use"
                )
            if self._bytes + size_bytes > self._max_bytes:
                given, size_bytes = (), len(data)
            self._bytes += size_bytes
        try:
            text_content = self._content(artifact_id, data) if text_of is None else text_of()
            try:
                blocks = stored_blocks(given, lambda data: self._content(artifact_id, data))
            except BaseException:
                text_content.remove()
                raise
        except BaseException:
            with self._lock:
                self._bytes -= size_bytes
            raise
        artifact = SpooledArtifact(
            artifact_id, origin, text_content, lines, is_ascii=data.isascii(), blocks=blocks
        )
        with self._lock:
            if not self._is_closed:
                self._kept[artifact_id] = _Kept(artifact, size_bytes, monotonic())
                return
        artifact._remove()
        self._check_open()

    def _content(self, artifact_id: str, data: bytes) -> Content:
        return MemoryContent(artifact_id, data)

    # Reading

    def get(self, artifact_id: str) -> SpooledArtifact | None:
        """The artifact of this id, or `None`."""
        with self._lock:
            self._drop_old()
            stored = self._kept.get(artifact_id)
        return None if stored is None else stored.artifact

    def artifacts(self) -> list[SpooledArtifact]:
        """All artifacts, the oldest first."""
        with self._lock:
            self._drop_old()
            return [stored.artifact for stored in self._kept.values()]

    # Reader tools

    @property
    def reader_names(self) -> Sequence[str]:
        """The reader tools of the turn's next iteration; empty until some are made.

        A result names tools only if the model can call them.
        """
        return self._reader_names

    def announce_readers(self, names: Iterable[str]) -> None:
        """Set which tools are made for each iteration, the most useful first."""
        self._reader_names = tuple(names)

    # Closing

    def bind_context(self, context: TurnScope) -> Callable[[], None]:
        """Close the store when the turn is acknowledged; returns an idempotent unsubscribe."""
        return context.on_ack(self.close)

    @property
    def is_closed(self) -> bool:
        """Whether the store was closed."""
        return self._is_closed

    def close(self) -> None:
        """Remove every artifact and accept no more; closing again has no effect.

        A read that has started may still end; a later one raises `ArtifactGoneError`.
        """
        with self._lock:
            self._is_closed = True
            stored, self._kept = self._kept, {}
            self._bytes = 0
        for each in stored.values():
            each.artifact._remove()

    def _check_open(self) -> None:
        if self._is_closed:
            raise ArtifactStoreError("the artifact store is closed: its turn is over")

    def _drop_old(self) -> None:
        oldest = monotonic() - self._time_to_live_seconds
        while self._kept:
            artifact_id, stored = next(iter(self._kept.items()))
            if stored.kept_at > oldest:
                return
            del self._kept[artifact_id]
            self._bytes -= stored.size_bytes
            stored.artifact._remove()

    def __reduce__(self) -> Any:
        raise TypeError(
            "an artifact store cannot be pickled: it belongs to its process and its turn"
        )


# A tool that reads artifacts.


class ArtifactTool(Tool):
    """Ephemeral; its output is trusted as the artifact is, and never becomes an artifact.

    Made by `ArtifactReaders.forge_tools`.
    """

    __slots__ = ("store",)

    store: MemoryArtifactStore
    """The store that it reads."""

    def __init__(self, store: MemoryArtifactStore, /, **fields: Any) -> None:
        super().__init__(**fields)
        object.__setattr__(self, "store", store)

    def source_of(self, args: object) -> str | None:
        """The source of a call's output; `None` if it is trusted."""
        artifact_id = args.get("artifact_id") if isinstance(args, Mapping) else None
        artifact = self.store.get(artifact_id) if isinstance(artifact_id, str) else None
        return "unknown" if artifact is None else artifact.origin.source

    def replace(self, **changes: Unpack[ToolChanges]) -> Tool:
        """A copy with some fields changed, over the same store."""
        changed = super().replace(**changes)
        return ArtifactTool(self.store, **{name: getattr(changed, name) for name in Tool.FIELDS})

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"tool `{self.name}` cannot be pickled: it reads artifacts of this process")
