"""All entries below a folder, in a fixed order, without following links."""

from __future__ import annotations

import os
import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field

from ethos_registry.contract.abort import AbortSignal
from ethos_registry.toolkit.arguments import RefusalError
from ethos_registry.toolkit.folder import is_temporary
from ethos_registry.toolkit.reach_check import WorkingFiles

__all__ = ["MAX_DEPTH", "NOT_ENTERED", "Found", "Walk", "printable"]

MAX_DEPTH = 64
NOT_ENTERED = frozenset(
    {
        ".git",
        ".hg",
        ".svn",
        "node_modules",
        "__pycache__",
        ".venv",
        ".tox",
        ".mypy_cache",
        ".pytest_cache",
        ".ruff_cache",
    }
)
"""Folders that programs fill; not entered unless a walk starts in one."""


@dataclass(frozen=True, slots=True)
class Found:
    """One entry of a folder."""

    real: str
    """Its absolute path; no folder above it was a link."""
    name: str
    path: str
    """Relative to the folder where the walk began, with `/` between the names."""
    kind: str
    """`file`, `directory`, `symlink` or `other`."""
    is_entered: bool = False
    """Whether the entries of this folder come next."""


@dataclass(slots=True)
class Walk:
    """Lists what is below a folder, depth first, each folder in code point order.

    Links are listed and never followed; temporary files of `change_file` are not listed. Stops
    with `RefusalError` if the turn is aborted, and with `is_cut` if the time is up.
    """

    files: WorkingFiles
    signal: AbortSignal
    max_depth: int = MAX_DEPTH
    max_seconds: float = 30.0
    is_cut: bool = False
    unreadable: int = 0
    """Folders that could not be opened."""
    _deadline: float = field(default=0.0, init=False)

    def below(self, folder: str, names: Sequence[tuple[str, str]]) -> Generator[Found, None, None]:
        """Every entry below a real path with these entries; the depth of those in it is 1."""
        self._deadline = time.monotonic() + self.max_seconds
        return self._entries(folder, names, "", 1)

    def _entries(
        self, folder: str, names: Sequence[tuple[str, str]], prefix: str, depth: int
    ) -> Generator[Found, None, None]:
        for name, kind in names:
            if kind == "file" and is_temporary(name):
                continue
            if self.signal.aborted:
                raise RefusalError("stopped: the turn was aborted", "execution_failed")
            if time.monotonic() > self._deadline:
                self.is_cut = True
            if self.is_cut:
                return
            real, path = os.path.join(folder, name), prefix + name
            if kind != "directory" or depth == self.max_depth or name in NOT_ENTERED:
                yield Found(real, name, path, kind)
                continue
            yield Found(real, name, path, kind, is_entered=True)
            try:
                below = self.files.names(real)[1]
            except OSError:
                self.unreadable += 1
                continue
            yield from self._entries(real, below, f"{path}/", depth + 1)


def printable(path: str) -> str:
    """A path on one line; control characters and bytes that are not UTF-8 are escaped."""
    return path if path.isprintable() else ascii(path)[1:-1]
