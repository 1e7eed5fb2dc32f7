"""What the registry needs from the host: protocols only, implemented elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any, Literal, Protocol, runtime_checkable

from ethos_registry.types import _checks
from ethos_registry.types._content import Attachment, ContentBlock
from ethos_registry.types._remote_finish import SharedFolder

# The origin of an artifact.


@dataclass(frozen=True, slots=True)
class ArtifactOrigin:
    """The call whose result was shortened, and whether its output is trusted.

    >>> ArtifactOrigin("fetch", "call_1", "https://example.org").is_untrusted
    True
    """

    tool_name: str
    tool_call_id: str
    source: str | None = None
    """The source of untrusted output, as `file:a.txt`; `None` for trusted output."""

    def __post_init__(self) -> None:
        _checks.text(self.tool_name, "tool_name")
        _checks.text(self.tool_call_id, "tool_call_id")
        _checks.optional_text(self.source, "source")

    @property
    def is_untrusted(self) -> bool:
        """Whether the output is untrusted; what is read from the artifact is untrusted too."""
        return self.source is not None


# What tools receive for the capabilities that they declare: protocols only.


class ScopedFileEntry(Protocol):
    """One entry of a directory."""

    @property
    def name(self) -> str:
        """Its name, without the directory."""

    @property
    def kind(self) -> Literal["file", "directory", "symlink", "other"]:
        """What it is; symbolic links are not followed."""

    @property
    def size_bytes(self) -> int:
        """Its size."""

    @property
    def modified_seconds(self) -> float:
        """When it was modified, in seconds since the epoch."""


class SyncScopedFs(Protocol):
    """Files below the permitted directories, for plain functions; see `ScopedFs`."""

    def read(self, path: str) -> str:
        """The content of a file as UTF-8."""

    def read_bytes(self, path: str) -> bytes:
        """The content of a file."""

    def write(self, path: str, content: str | bytes) -> None:
        """Create a file or replace its content."""

    def exists(self, path: str) -> bool:
        """Whether a file or directory is there."""

    def mtime(self, path: str) -> float | None:
        """When it was modified, in seconds since the epoch; `None` if nothing is there."""

    def list(self, path: str = ".") -> Sequence[str]:
        """The names in a directory."""

    def list_entries(self, path: str = ".") -> Sequence[ScopedFileEntry]:
        """The entries of a directory."""

    def mkdir(self, path: str) -> None:
        """Create a directory and those above it."""


class ScopedFs(Protocol):
    """Files below the directories that the tool declared and the personality permits."""

    @property
    def sync(self) -> SyncScopedFs:
        """The same files for plain functions."""

    async def read(self, path: str) -> str:
        """The content of a file as UTF-8."""

    async def read_bytes(self, path: str) -> bytes:
        """The content of a file."""

    async def write(self, path: str, content: str | bytes) -> None:
        """Create a file or replace its content."""

    async def exists(self, path: str) -> bool:
        """Whether a file or directory is there."""

    async def mtime(self, path: str) -> float | None:
        """When it was modified, in seconds since the epoch; `None` if nothing is there."""

    async def list(self, path: str = ".") -> Sequence[str]:
        """The names in a directory."""

    async def list_entries(self, path: str = ".") -> Sequence[ScopedFileEntry]:
        """The entries of a directory."""

    async def mkdir(self, path: str) -> None:
        """Create a directory and those above it."""


class Storage(ScopedFs, Protocol):
    """A turn's file storage, confined to the caller's own directory; see `folder_storage`."""


class SyncKeyValueStore(Protocol):
    """The values of one scope, for plain functions; see `KeyValueStore`."""

    def get(self, key: str) -> Any:
        """The value, or `None`."""

    def set(self, key: str, value: Any, *, ttl_seconds: float | None = None) -> None:
        """Store text or a JSON value; with `ttl_seconds` it expires."""

    def delete(self, key: str) -> bool:
        """Delete a value; whether there was one."""

    def list(self, prefix: str = "") -> Sequence[str]:
        """The keys that start with `prefix`."""


class KeyValueStore(Protocol):
    """Values of one tool, session or personality."""

    @property
    def sync(self) -> SyncKeyValueStore:
        """The same values for plain functions."""

    async def get(self, key: str) -> Any:
        """The value, or `None`."""

    async def set(self, key: str, value: Any, *, ttl_seconds: float | None = None) -> None:
        """Store text or a JSON value; with `ttl_seconds` it expires."""

    async def delete(self, key: str) -> bool:
        """Delete a value; whether there was one."""

    async def list(self, prefix: str = "") -> Sequence[str]:
        """The keys that start with `prefix`."""


class ScopedSecretsResolver(Protocol):
    """Secrets that the tool declared, and no others."""

    async def get(self, reference: str) -> str:
        """The secret behind a reference."""

    def get_sync(self, reference: str) -> str:
        """`get` for plain functions."""


class ScopedResponse(Protocol):
    """The reply to a request."""

    @property
    def ok(self) -> bool:
        """Whether the status is 200 to 299."""

    @property
    def status(self) -> int:
        """The HTTP status."""

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers; names in lower case."""

    @property
    def url(self) -> str:
        """Where it came from, after redirects."""

    @property
    def content(self) -> bytes:
        """The body."""

    @property
    def text(self) -> str:
        """The body as text."""

    def json(self) -> Any:
        """The body as JSON; `ValueError` if it is not."""


class SyncScopedFetch(Protocol):
    """HTTP for plain functions; see `ScopedFetch`."""

    def fetch(
        self,
        url: str,
        *,
        method: str = "GET",
        headers: Mapping[str, str] | None = None,
        content: bytes | str | None = None,
        json: Any = None,
    ) -> ScopedResponse:
        """The reply to a request, whatever its status."""


class ScopedFetch(Protocol):
    """HTTP to the hosts that the tool declared and the personality permits."""

    @property
    def sync(self) -> SyncScopedFetch:
        """The same for plain functions."""

    async def fetch(
        self,
        url: str,
        *,
        method: str = "GET",
        headers: Mapping[str, str] | None = None,
        content: bytes | str | None = None,
        json: Any = None,
    ) -> ScopedResponse:
        """The reply to a request, whatever its status."""


class ScopedProgramResult(Protocol):
    """How a program ended."""

    @property
    def ok(self) -> bool:
        """Whether it exited with 0."""

    @property
    def exit_code(self) -> int | None:
        """`None` if it was ended by a signal or at the timeout."""

    @property
    def stdout(self) -> str:
        """What it wrote to standard output."""

    @property
    def stderr(self) -> str:
        """What it wrote to standard error."""

    @property
    def signal(self) -> str | None:
        """The signal that ended it, as `SIGKILL`."""

    @property
    def timed_out(self) -> bool:
        """Whether it was ended at the timeout."""

    @property
    def is_truncated(self) -> bool:
        """Whether output beyond the limit was dropped."""


class ScopedProgram(Protocol):
    """A program that runs."""

    stdin: IO[bytes] | None
    stdout: IO[bytes] | None
    stderr: IO[bytes] | None

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end: the exit code, or minus the number of a signal."""

    def terminate(self, grace_seconds: float = ...) -> None:
        """End it and everything that it started."""


class ScopedProcess(Protocol):
    """Programs that the tool declared, without a shell."""

    async def run(
        self,
        binary: str,
        args: Sequence[str] = (),
        *,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        stdin: str | bytes | None = None,
        timeout_seconds: float = ...,
        output_limit_bytes: int = ...,
    ) -> ScopedProgramResult:
        """Run a program to its end."""

    def run_sync(
        self,
        binary: str,
        args: Sequence[str] = (),
        *,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        stdin: str | bytes | None = None,
        timeout_seconds: float = ...,
        output_limit_bytes: int = ...,
    ) -> ScopedProgramResult:
        """`run` for plain functions."""

    def spawn(
        self,
        binary: str,
        args: Sequence[str] = (),
        *,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
    ) -> ScopedProgram:
        """Start a program and return at once."""


class ScopedAttachments(Protocol):
    """The turn's attachments of the kinds that the tool declared."""

    def list(self) -> Sequence[Attachment]:
        """The attachments that this tool may open."""

    async def open(self, ref: str | Attachment) -> bytes:
        """The bytes of one of them, by its reference or as it is listed."""

    async def open_by_ref(self, ref: str) -> bytes:
        """The bytes of the one with this reference."""

    def open_sync(self, ref: str | Attachment) -> bytes:
        """`open` for plain functions."""


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
