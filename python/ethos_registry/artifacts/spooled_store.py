"""Stores the artifacts of one turn, large ones in files."""

from __future__ import annotations

import contextlib
import os
import tempfile
import time

from ethos_registry.artifacts.content import Content, FileContent, MemoryContent
from ethos_registry.artifacts.errors import ArtifactStoreError
from ethos_registry.artifacts.store import DEFAULT_TIME_TO_LIVE_SECONDS, MemoryArtifactStore
from ethos_registry.contract import checks

__all__ = ["SpooledArtifactStore"]

DEFAULT_MEMORY_BYTES = 1 << 20
DEFAULT_MAX_BYTES = 1 << 30
_PREFIX, _SUFFIX = "ethos-artifact-", ".txt"


class SpooledArtifactStore(MemoryArtifactStore):
    """A `MemoryArtifactStore` that writes content of more than `memory_bytes` to a file.

    Files in `directory` have mode 0600; the directory is created with mode 0700 when the first file
    is written. Files are removed with their artifacts, and at the exit of the interpreter. Files of
    a process that was killed are removed by the next store in the same directory once they are
    older than `time_to_live_seconds`, so use one time to live per directory.

    With a `memory_bytes` of less than 1 MiB, short files are written on the event loop's
    thread; files of over 256 Ki characters never are.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     with SpooledArtifactStore(directory, memory_bytes=1_000) as store:
    ...         store.artifacts()
    []
    """

    def __init__(
        self,
        directory: str | os.PathLike[str],
        *,
        memory_bytes: int = DEFAULT_MEMORY_BYTES,
        max_bytes: int = DEFAULT_MAX_BYTES,
        time_to_live_seconds: float = DEFAULT_TIME_TO_LIVE_SECONDS,
    ) -> None:
        super().__init__(max_bytes=max_bytes, time_to_live_seconds=time_to_live_seconds)
        self._directory = os.path.abspath(checks.path(directory, "directory"))
        self._memory_bytes = checks.finite_number(memory_bytes, "memory_bytes", whole=True)
        _remove_older(self._directory, time_to_live_seconds)

    def _content(self, artifact_id: str, data: bytes) -> Content:
        if len(data) <= self._memory_bytes:
            return MemoryContent(artifact_id, data)
        try:
            path = self._written(data)
        except OSError as error:
            raise ArtifactStoreError(
                f"artifact `{artifact_id}` cannot be written below {self._directory!r}: "
                f"{error.strerror or error}"
            ) from error
        return FileContent(artifact_id, path, len(data))

    def _written(self, data: bytes) -> str:
        """The path of a new file with `data`; no file is left if writing fails."""
        os.makedirs(self._directory, mode=0o700, exist_ok=True)
        descriptor, path = tempfile.mkstemp(_SUFFIX, _PREFIX, self._directory)  # mode 0600
        try:
            with open(descriptor, "wb", buffering=0) as file:
                rest = memoryview(data)
                while rest:
                    rest = rest[file.write(rest) :]
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(path)
            raise
        return path


def _remove_older(directory: str, seconds: float) -> None:
    """Remove the files of stores whose process did not remove them."""
    oldest = time.time() - seconds
    with contextlib.suppress(OSError), os.scandir(directory) as entries:
        for entry in entries:
            if entry.name.startswith(_PREFIX) and entry.name.endswith(_SUFFIX):
                with contextlib.suppress(OSError):
                    status = entry.stat(follow_symlinks=False)
                    if entry.is_file(follow_symlinks=False) and status.st_mtime < oldest:
                        os.unlink(entry.path)
