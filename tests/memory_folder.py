"""A folder in memory, for tests with thousands of writes."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

_MEMORY = Path("/dev/shm")


@contextlib.contextmanager
def memory_folder() -> Iterator[Path]:
    """A new folder, in memory where the system has some: a flush to a disk costs milliseconds."""
    parent = _MEMORY if os.access(_MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=parent) as folder:
        yield Path(folder)
