"""What the registry needs from the host: protocols only, implemented elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from ethos_registry.contract.artifact import ArtifactOrigin
from ethos_registry.contract.content import ContentBlock
from ethos_registry.contract.finish_elsewhere import SharedFolder

__all__ = [
    "ArtifactStore",
    "SharedArtifactStore",
    "StoredText",
    "ToolView",
    "TurnScope",
    "UsageRecorder",
]


class ArtifactStore(Protocol):
    """Stores the full text of results that were cut, for one turn.

    What it raises is logged once, and the cut result is sent all the same. Called from threads.
    """

    @property
    def reader_names(self) -> Sequence[str]:
        """The tools that can read artifacts in the next iteration, the most useful first."""

    def reserve(self) -> str:
        """A new artifact's id."""

    def spool(
        self,
        artifact_id: str,
        text: str,
        origin: ArtifactOrigin,
        content: Iterable[ContentBlock] = ...,
    ) -> None:
        """Store the text under a reserved id; `content` is passed where the result has blocks."""


class StoredText(Protocol):
    """The full text of one result in a store."""

    def line_count(self) -> int:
        """The number of lines."""


@runtime_checkable
class SharedArtifactStore(ArtifactStore, Protocol):
    """An artifact store in a folder that workers may reach: the full text need not travel."""

    def share(self) -> SharedFolder | None:
        """Where workers may store text; `None` if they cannot."""

    def adopt(
        self,
        artifact_id: str,
        file: str,
        origin: ArtifactOrigin,
        content: Iterable[ContentBlock] = ...,
    ) -> None:
        """Store the text that a worker wrote to a file of the folder under a reserved id."""

    def get(self, artifact_id: str) -> StoredText | None:
        """The artifact of this id, or `None`."""


class UsageRecorder(Protocol):
    """Counts calls by tool, agent and outcome."""

    def record(self, tool_name: str, agent_id: str | None, outcome: str) -> None:
        """Count one attempt."""


class TurnScope(Protocol):
    """One turn, which is acknowledged at most once."""

    @property
    def is_acked(self) -> bool:
        """Whether the turn was acknowledged."""

    def on_ack(self, handler: Callable[[], object]) -> Callable[[], None]:
        """Call `handler` when the turn is acknowledged; returns an idempotent unsubscribe."""


@runtime_checkable
class ToolView(Protocol):
    """What one agent sees and may run: a snapshot."""

    @property
    def fingerprint(self) -> str:
        """SHA-256 hex over the canonical JSON of the definitions."""

    def definitions(self, provider: str | None = None) -> Sequence[Mapping[str, Any]]:
        """The definitions a model is shown."""

    async def execute(self, calls: Sequence[Any], context: Any = None, **options: Any) -> Any:
        """One result a call, in order."""
