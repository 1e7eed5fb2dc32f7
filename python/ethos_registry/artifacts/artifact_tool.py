"""A tool that reads artifacts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn, Unpack

from ethos_registry.artifacts.store import MemoryArtifactStore
from ethos_registry.contract.tool import Tool
from ethos_registry.contract.tool_options import ToolChanges

__all__ = ["ArtifactTool"]


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
