"""What the registry asks of the outside: protocols only, each built elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

from ethos_registry.contract.dispatch import DispatchContext

if TYPE_CHECKING:  # a tool's context has fields of these kinds
    from ethos_registry.contract.tool import Tool

from ethos_registry.contract.artifact import ArtifactOrigin

__all__ = [
    "ArtifactStore",
    "ForgedTools",
    "KeyValueStore",
    "ScopedAttachments",
    "ScopedFetch",
    "ScopedFs",
    "ScopedProcess",
    "ScopedSecretsResolver",
    "Storage",
    "ToolForge",
    "ToolResolver",
    "ToolView",
    "TurnScope",
    "UsageRecorder",
]


class Storage(Protocol):
    """A turn's file storage, already confined to the personality's reach."""

    async def read(self, path: str) -> bytes:
        """The bytes of a file."""

    async def write(self, path: str, data: bytes) -> None:
        """Replace a file."""


class KeyValueStore(Protocol):
    """Values of one tool, session or personality."""

    async def get(self, key: str) -> str | None:
        """The value, or `None`."""

    async def set(self, key: str, value: str, *, ttl_seconds: float | None = None) -> None:
        """Store a value, for ever or for some seconds."""

    async def delete(self, key: str) -> None:
        """Forget a value."""


class ScopedSecretsResolver(Protocol):
    """Secrets that the tool declared, and no others."""

    async def resolve(self, reference: str) -> str:
        """The secret behind a reference."""


class ScopedFetch(Protocol):
    """HTTP to the hosts that the tool declared and the personality permits."""

    async def fetch(self, url: str, *, method: str = "GET", **options: Any) -> Any:
        """The response to one request."""


class ScopedFs(Protocol):
    """Files below the folders that the tool declared and the personality permits."""

    async def read(self, path: str) -> bytes:
        """The bytes of a file."""

    async def write(self, path: str, data: bytes) -> None:
        """Replace a file."""


class ScopedProcess(Protocol):
    """Programs that the tool declared, without a shell."""

    async def run(self, binary: str, arguments: Sequence[str], **options: Any) -> Any:
        """The outcome of one program."""


class ScopedAttachments(Protocol):
    """The turn's attachments of the kinds that the tool declared."""

    def list(self) -> Sequence[Any]:
        """The attachments that this tool may open."""

    async def open(self, ref: str) -> bytes:
        """The bytes of one of them."""


class ArtifactStore(Protocol):
    """Keeps the whole texts of one turn's results that were cut.

    Whatever it raises is logged once, and the cut result is sent all the same. Called from threads.
    """

    @property
    def reader_names(self) -> Sequence[str]:
        """The tools that the turn's next iteration has for reading, the most useful first."""

    def reserve(self) -> str:
        """A new artifact's id."""

    def spool(self, artifact_id: str, text: str, origin: ArtifactOrigin) -> None:
        """Keep the text under a reserved id."""


class UsageRecorder(Protocol):
    """Counts who called what, and how it ended."""

    def record(self, tool_name: str, agent_id: str | None, outcome: str) -> None:
        """Count one attempt."""


class TurnScope(Protocol):
    """One turn: it is acknowledged or not, once."""

    @property
    def is_acked(self) -> bool:
        """Whether the turn was acknowledged."""

    def on_ack(self, handler: Callable[[], object]) -> Callable[[], None]:
        """Call `handler` when the turn is acknowledged; returns an idempotent unsubscribe."""


@runtime_checkable
class ToolResolver(Protocol):
    """Tools by exact name, for code that only looks them up (seed 004)."""

    @property
    def size(self) -> int:
        """How many tools there are."""

    def resolve(self, name: str) -> Tool | None:
        """The tool of exactly this name, or `None`; nothing is raised and nothing is run."""

    def list(self) -> Sequence[str]:
        """The names, sorted by code point."""


ForgedTools: TypeAlias = "Iterable[Tool] | ToolResolver"
"""Tools made for one turn: a list of them, or a registry of them."""


class ToolForge(Protocol):
    """Makes tools for one turn, from what the turn has so far (seed 003: `forgeTools`)."""

    def forge_tools(self, context: DispatchContext) -> ForgedTools:
        """The tools of this iteration; none is an empty list."""


@runtime_checkable
class ToolView(Protocol):
    """What one agent sees and may run, as of one moment."""

    @property
    def fingerprint(self) -> str:
        """SHA-256 hex over the canonical JSON of the definitions."""

    def definitions(self, provider: str | None = None) -> Sequence[Mapping[str, Any]]:
        """The definitions a model is shown."""

    async def execute(self, calls: Sequence[Any], context: Any = None, **options: Any) -> Any:
        """One result a call, in order."""
