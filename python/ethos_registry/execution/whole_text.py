"""Keeping the whole text of a result that is cut, and telling the model of it (contract 3.8)."""

from __future__ import annotations

from typing import Any

from ethos_registry import _core
from ethos_registry.artifacts.artifact_tool import ArtifactTool
from ethos_registry.artifacts.store import MemoryArtifactStore
from ethos_registry.contract import checks
from ethos_registry.contract.artifact import ArtifactOrigin
from ethos_registry.contract.dispatch import DispatchContext
from ethos_registry.contract.ports import ArtifactStore
from ethos_registry.execution.runtime import Runtime
from ethos_registry.reduction.finish import Fence
from ethos_registry.table.admission import Admission, is_available
from ethos_registry.table.entry import Entry

__all__ = ["FENCED_SOURCE_CHARS", "Keeper", "WholeText"]

FRAME_CHARS = 400
"""Marker, fence and artifact line together are no longer (contract 3.8)."""
FENCED_SOURCE_CHARS = 160
"""How much of its source a fence names where an artifact line may follow it."""
_MARKER_CHARS = len("\n[truncated — ") + len(" chars total]")
_NAMED_READERS = 4
"""How many tools the line names; the others stand beside them in the definitions."""


LOST = "\n[the rest of this output is lost: it could not be stored]"
"""What follows a shortened text that could not be stored; the longest frame has room for it."""


class Keeper:
    """The artifact store of one batch, and the readers that its model can call."""

    __slots__ = ("_admission", "_reader_names", "_runtime", "_store", "_turn")

    def __init__(
        self,
        store: ArtifactStore,
        admission: Admission,
        runtime: Runtime,
        turn: DispatchContext | None = None,
    ) -> None:
        self._store = store
        self._admission = admission
        self._runtime = runtime
        self._turn = turn
        self._reader_names: list[str] | None = None

    def spooled(self, text: str, origin: ArtifactOrigin) -> str | None:
        """The id under which `text` is kept; `None`, logged once, where it could not be."""
        try:
            artifact_id = checks.text(self._store.reserve(), "the artifact's id")
            self._store.spool(artifact_id, text, origin)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # the result is there: no store may lose it
            self._runtime.log_once("the artifact store", error)
            return None
        return artifact_id

    def reader_names(self) -> list[str]:
        """The readers that the model can call in its next reply, asked once a batch.

        They are in this registry and pass its gate; or they are made anew for each iteration of the
        turn, which has not ended, and will pass it.
        """
        if self._reader_names is None:
            try:
                self._reader_names = self._found_readers()
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                self._runtime.log_once("the artifact store", error)
                self._reader_names = []
        return self._reader_names

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
        """Whether a tool under a reader's name is one; it may be somebody's own, or another's."""
        tool, store = entry.tool, self._store
        is_reader = not isinstance(store, MemoryArtifactStore) or (
            isinstance(tool, ArtifactTool) and tool.store is store
        )
        return is_reader and is_available(entry)


class WholeText:
    """One text of which the model may read a part only."""

    __slots__ = (
        "_artifact_id",
        "_is_spooled",
        "_keeper",
        "_line_count",
        "_origin",
        "_text",
        "is_reduced",
    )

    is_reduced: bool
    """Whether a reducer left something out."""

    def __init__(
        self, keeper: Keeper, text: str, origin: ArtifactOrigin, *, is_reduced: bool
    ) -> None:
        self.is_reduced = is_reduced
        self._keeper = keeper
        self._text = text
        self._origin = origin
        self._is_spooled = False
        self._artifact_id: str | None = None
        self._line_count = 0

    def keep(self) -> None:
        """Hand the text to the store; only the first time."""
        if self._is_spooled:
            return
        self._is_spooled = True
        text, self._text = self._text, ""
        self._line_count = text.count("\n") + (not text.endswith("\n"))
        self._artifact_id = self._keeper.spooled(text, self._origin)

    def line(self, truncated_from: int | None, fence: Fence | None) -> str:
        """What follows the sent text: the artifact, its size and its readers.

        Empty if no reader can be called, or the frame has no room for it. If the text could not be
        stored, the line reports that the rest is lost.
        """
        self.keep()
        if self._artifact_id is None:
            return LOST
        if not (names := self._keeper.reader_names()):
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
