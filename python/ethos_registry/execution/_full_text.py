"""Storing the full text of a result that is cut, and naming the artifact to the model."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from ethos_registry import _core
from ethos_registry._table.admission import Admission, is_available
from ethos_registry._table.entry import Entry
from ethos_registry.artifacts._store import ArtifactTool, MemoryArtifactStore
from ethos_registry.execution._runtime import Runtime
from ethos_registry.reduction._finish import Fence
from ethos_registry.types import _checks
from ethos_registry.types._blocking import measured
from ethos_registry.types._checks import guarded
from ethos_registry.types._content import ContentBlock
from ethos_registry.types._ports import ArtifactOrigin, ArtifactStore, SharedArtifactStore
from ethos_registry.types._remote_finish import SharedFolder
from ethos_registry.types._turn import DispatchContext

FRAME_CHARS = 400
"""Marker, fence and artifact line together have at most this many characters."""
FENCED_SOURCE_CHARS = 160
"""The longest source in a fence that an artifact line may follow."""
_MARKER_CHARS = len("\n[truncated — ") + len(" chars total]")
_NAMED_READERS = 4
"""How many readers the line names; the definitions show the others."""


LOST = "\n[the rest of this output is lost: it could not be stored]"
"""What follows a shortened text that could not be stored; the longest frame has room for it."""


@dataclass(slots=True, eq=False, repr=False)
class ArtifactWriter:
    """The artifact store of one batch, and the readers that the model can call."""

    _store: ArtifactStore
    _admission: Admission
    _runtime: Runtime
    _turn: DispatchContext | None
    _reader_names: list[str] | None = None

    def shared_folder(self) -> SharedFolder | None:
        """Where workers may store full text; `None` if the store has no such folder."""
        return guarded(self._log, self._shared_folder)

    def _shared_folder(self) -> SharedFolder | None:
        return self._store.share() if isinstance(self._store, SharedArtifactStore) else None

    def spooled(
        self,
        text: str,
        origin: ArtifactOrigin,
        content: tuple[ContentBlock, ...],
        file: str | None = None,
    ) -> str | None:
        """The id under which `text` is stored; `None` if the store raised, which is logged once.

        With `file` the text is in that file of the shared folder.
        """

        def store() -> str:
            with measured(partial(self._runtime.report_blocking, "the artifact store")):
                artifact_id = _checks.text(self._store.reserve(), "the artifact's id")
                if file is not None:
                    assert isinstance(self._store, SharedArtifactStore)
                    self._store.adopt(artifact_id, file, origin, content)
                elif content:
                    self._store.spool(artifact_id, text, origin, content)
                else:
                    self._store.spool(artifact_id, text, origin)
            return artifact_id

        return guarded(self._log, store)

    def line_count(self, artifact_id: str) -> int:
        """The lines of an artifact that a worker wrote."""
        assert isinstance(self._store, SharedArtifactStore)
        artifact = self._store.get(artifact_id)
        return 0 if artifact is None else artifact.line_count()

    def reader_names(self) -> list[str]:
        """The readers that the model can call in its next reply, looked up once per batch.

        They are registered and permitted; or the turn has not ended, makes them for its next
        iteration, and its gate permits them.
        """
        if self._reader_names is None:
            self._reader_names = guarded(self._log, self._found_readers) or []
        return self._reader_names

    def _log(self, error: BaseException) -> None:
        self._runtime.log_once("the artifact store", error)

    def _found_readers(self) -> list[str]:
        announced: list[Any] = list(self._store.reader_names)
        visible = {entry.name: entry for entry in self._admission.visible()}
        known = self._admission.snapshot
        coming = _core.ToolTable()
        for name in announced:
            coming.insert(name, always_include=True)
        verdicts = coming.admit(self._admission.gate, announced)
        is_over = self._turn is not None and self._turn.is_signalled
        return [
            name
            for name, verdict in zip(announced, verdicts, strict=True)
            if (
                self._reads(visible[name])
                if name in visible
                else verdict >= 0 and not is_over and known.get(name) is None
            )
        ]

    def _reads(self, entry: Entry) -> bool:
        """Whether the tool registered under a reader's name reads this store."""
        tool, store = entry.tool, self._store
        is_reader = not isinstance(store, MemoryArtifactStore) or (
            isinstance(tool, ArtifactTool) and tool.store is store
        )
        return is_reader and is_available(entry)


@dataclass(slots=True, eq=False, repr=False)
class FullText:
    """An output that the model may receive only in part."""

    _writer: ArtifactWriter
    _text: str
    _origin: ArtifactOrigin
    _content: tuple[ContentBlock, ...]
    is_reduced: bool
    """Whether a reducer removed something."""
    _file: str | None
    """The file of the shared folder that has the text; `None` for `_text` itself."""
    _is_spooled: bool = False
    _artifact_id: str | None = None
    _line_count: int = 0

    def store(self) -> None:
        """Write the text to the artifact store, once."""
        if self._is_spooled:
            return
        self._is_spooled = True
        text, self._text = self._text, ""
        self._artifact_id = self._writer.spooled(text, self._origin, self._content, self._file)
        if self._file is None:
            self._line_count = text.count("\n") + (not text.endswith("\n"))
        elif self._artifact_id is not None:
            self._line_count = self._writer.line_count(self._artifact_id)

    def artifact_line(self, truncated_from: int | None, fence: Fence | None) -> str:
        """The line after the sent text: the artifact, its size and its readers.

        Empty if no reader can be called, or the frame has no room for it. If the text could not be
        stored, the line reports that the rest is lost.
        """
        self.store()
        if self._artifact_id is None:
            return LOST
        if not (names := self._writer.reader_names()):
            return ""
        frame = 0 if fence is None else len(_core.wrap("", *fence))
        if truncated_from is not None:
            frame += _MARKER_CHARS + len(str(truncated_from))
        size = f"{self._line_count:,} line{'' if self._line_count == 1 else 's'}"
        short = f"\n[artifact {self._artifact_id}: {size}]"
        readers = ", ".join(names[:_NAMED_READERS])
        full = f"\n[artifact {self._artifact_id}: the whole text, {size}; read it with {readers}]"
        for line in (full, short):
            if frame + len(line) <= FRAME_CHARS:
                return line
        return ""
