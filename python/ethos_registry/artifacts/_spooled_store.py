"""Stores the artifacts of one turn, large ones in files."""

from __future__ import annotations

import contextlib
import math
import os
import secrets
import stat
import time
from collections.abc import Iterable

from ethos_registry import _core
from ethos_registry._persistence.files import make_private_file, make_private_folder, new_file
from ethos_registry.artifacts._content import (
    ArtifactStoreError,
    Content,
    FileContent,
    MemoryContent,
)
from ethos_registry.artifacts._store import DEFAULT_TIME_TO_LIVE_SECONDS, MemoryArtifactStore
from ethos_registry.types import _checks
from ethos_registry.types._content import NO_CONTENT, ContentBlock, content_blocks
from ethos_registry.types._ports import ArtifactOrigin
from ethos_registry.types._remote_finish import SharedFolder

# Files of a shared folder: written by a worker, read by the store of the caller.

SUFFIX = ".txt"


def write_new_file(directory: str, prefix: str, data: bytes) -> str:
    """The path of a new file of mode 0600 with `data`; no file is left if writing fails."""
    with new_file(directory, prefix, SUFFIX) as (path, file):
        file.write(data)
    return path


def write_shared(folder: SharedFolder, text: str) -> str | None:
    """Store text in the folder of a caller; the name of the file.

    `None` if this process does not see that folder, or cannot write to it.
    """
    if not os.path.exists(os.path.join(folder.directory, folder.token_file)):
        return None
    data = _core.replace_surrogates(text).encode()
    try:
        return os.path.basename(write_new_file(folder.directory, folder.file_prefix, data))
    except OSError:
        return None


def read_shared(path: str, max_bytes: int) -> bytes | None:
    """The bytes of a file that a worker wrote; `None` if it has more than `max_bytes`.

    Raises `OSError` for what is not a plain file.
    """
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    with open(descriptor, "rb", buffering=0) as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError("not a plain file")
        if status.st_size > max_bytes:
            return None
        return file.read()


DEFAULT_MEMORY_BYTES = 1 << 20
DEFAULT_MAX_BYTES = 1 << 30
_PREFIX = "ethos-artifact-"


@_checks.checked_class
class SpooledArtifactStore(MemoryArtifactStore):
    """A `MemoryArtifactStore` that writes content of more than `memory_bytes` to a file.

    Files in `directory` have mode 0600; the directory is created with mode 0700 when the first file
    is written. Files are removed with their artifacts, and at the exit of the interpreter. Files of
    a process that was killed are removed by the next store in the same directory once they are
    older than `time_to_live_seconds`, so use one time to live per directory.

    Workers of a transport that see the same directory write the full text of a result there
    themselves, and only what the model reads travels.

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
        self._directory = os.path.abspath(_checks.path(directory, "directory"))
        self._memory_bytes = _checks.finite_number(memory_bytes, "memory_bytes", whole=True)
        self._shared: SharedFolder | None = None
        self._token: FileContent | None = None
        _remove_files(self._directory, _PREFIX, time.time() - time_to_live_seconds)

    def share(self) -> SharedFolder | None:
        """Where a worker may store text for `adopt`; `None` if the directory cannot be written.

        Raises `ArtifactStoreError` if the store is closed.
        """
        with self._lock:
            self._check_open()
            shared = self._shared
            if shared is None:
                shared = SharedFolder(self._directory, secrets.token_hex(8))
            path = os.path.join(self._directory, shared.token_file)
            if self._shared is None or not os.path.exists(path):
                try:
                    make_private_folder(self._directory)
                    make_private_file(path, is_new=True)
                except OSError:
                    return None
                self._shared, self._token = shared, FileContent("", path, 0)
            return shared

    def adopt(
        self,
        artifact_id: str,
        file: str,
        origin: ArtifactOrigin,
        content: Iterable[ContentBlock] = NO_CONTENT,
    ) -> None:
        """Store, under a reserved id, the text that a worker wrote to a file of the directory.

        Raises `ArtifactStoreError`, and removes the file, if `spool` would not store the text, or
        the file is not one that a worker of this store wrote.
        """
        _checks.text(artifact_id, "artifact_id")
        _checks.instance(origin, ArtifactOrigin, "origin", "an ArtifactOrigin")
        blocks, shared = content_blocks(content), self._shared
        name = _checks.text(file, "file")
        is_ours = (
            shared is not None
            and name.startswith(shared.file_prefix)
            and name.endswith(SUFFIX)
            and os.path.basename(name) == name
        )
        if not is_ours:
            raise ArtifactStoreError(f"artifact `{artifact_id}`: no worker wrote {name!r}")
        path = os.path.join(self._directory, name)
        owned = FileContent(artifact_id, path, 0)
        try:
            data = read_shared(path, int(self._max_bytes))
            if data is None:
                raise ArtifactStoreError(
                    f"artifact `{artifact_id}` does not fit: it has more than `max_bytes` "
                    f"{self._max_bytes:,} bytes"
                )
            data.decode()
            owned.size_bytes = len(data)
            self._store(artifact_id, data, origin, blocks, lambda: owned)
        except (OSError, UnicodeDecodeError) as error:
            owned.remove()
            raise ArtifactStoreError(
                f"artifact `{artifact_id}` cannot be read from {name!r}: {error}"
            ) from error
        except BaseException:
            owned.remove()
            raise

    def close(self) -> None:
        """Remove every artifact and accept no more, from workers neither."""
        with self._lock:
            super().close()
            shared, token, self._token = self._shared, self._token, None
        if token is None or shared is None:
            return
        token.remove()
        _remove_files(self._directory, shared.file_prefix)

    def _content(self, artifact_id: str, data: bytes) -> Content:
        if len(data) <= self._memory_bytes:
            return MemoryContent(artifact_id, data)
        try:
            make_private_folder(self._directory)
            path = write_new_file(self._directory, _PREFIX, data)
        except OSError as error:
            raise ArtifactStoreError(
                f"artifact `{artifact_id}` cannot be written below {self._directory!r}: "
                f"{error.strerror or error}"
            ) from error
        return FileContent(artifact_id, path, len(data))


def _remove_files(directory: str, prefix: str, modified_before: float = math.inf) -> None:
    """Remove what workers wrote and no result took, or what a killed process left."""
    with contextlib.suppress(OSError), os.scandir(directory) as entries:
        for entry in entries:
            if entry.name.startswith(prefix) and entry.name.endswith(SUFFIX):
                with contextlib.suppress(OSError):  # such as of a folder
                    if entry.stat(follow_symlinks=False).st_mtime < modified_before:
                        os.unlink(entry.path)
