"""Files of a shared folder: written by a worker, read by the store of the caller."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile

from ethos_registry import _core
from ethos_registry.contract.finish_elsewhere import SharedFolder

__all__ = ["SUFFIX", "read_shared", "write_file", "write_shared"]

SUFFIX = ".txt"


def write_file(directory: str, prefix: str, data: bytes) -> str:
    """The path of a new file of mode 0600 with `data`; no file is left if writing fails."""
    descriptor, path = tempfile.mkstemp(SUFFIX, prefix, directory)
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


def write_shared(folder: SharedFolder, text: str) -> str | None:
    """Store text in the folder of a caller; the name of the file.

    `None` if this process does not see that folder, or cannot write to it.
    """
    if not os.path.exists(os.path.join(folder.directory, folder.token_file)):
        return None
    data = _core.replace_surrogates(text).encode()
    try:
        return os.path.basename(write_file(folder.directory, folder.file_prefix, data))
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
