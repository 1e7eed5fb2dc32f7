"""The longest text file near by: the one that `demo` reads."""

from __future__ import annotations

import itertools
import os
from collections import deque
from collections.abc import Iterator

__all__ = ["longest_text_file"]

MAX_BYTES = 1_000_000
MAX_ENTRIES = 5_000
"""Entries examined in all, so that a home folder takes no longer than a project."""
MAX_DEPTH = 6
MAX_CANDIDATES = 20
"""Files opened to check that they are text, the longest first."""
_SKIPPED_FOLDERS = frozenset({"__pycache__", "build", "dist", "node_modules", "target", "venv"})


def longest_text_file(root: str) -> str | None:
    """The path below `root`, with `/`, of the longest UTF-8 file of at most a megabyte.

    Nearer folders are examined first; hidden names, links, caches and builds never. The same
    tree gives the same file: equal lengths are ordered by path. `None` if there is none.
    """
    sizes = sorted((-size, path) for path, size in _files(root))
    for _, path in sizes[:MAX_CANDIDATES]:
        if _is_text(os.path.join(root, path)):
            return path.replace(os.sep, "/")
    return None


def _files(root: str) -> Iterator[tuple[str, int]]:
    """Paths below the root, and sizes, of files that may be text."""
    folders: deque[tuple[str, int]] = deque([("", 0)])
    left = MAX_ENTRIES
    while folders and left > 0:
        folder, depth = folders.popleft()
        entries = _entries(os.path.join(root, folder), left)
        left -= len(entries)
        for entry in entries:
            path = os.path.join(folder, entry.name)
            try:
                if entry.is_dir(follow_symlinks=False):
                    if depth < MAX_DEPTH and entry.name not in _SKIPPED_FOLDERS:
                        folders.append((path, depth + 1))
                elif entry.is_file(follow_symlinks=False):
                    size = entry.stat(follow_symlinks=False).st_size
                    if 0 < size <= MAX_BYTES:
                        yield path, size
            except OSError:
                continue


def _entries(folder: str, limit: int) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            found = list(itertools.islice(entries, limit))
    except OSError:
        return []
    shown = (entry for entry in found if not entry.name.startswith("."))
    return sorted(shown, key=lambda entry: entry.name)


def _is_text(path: str) -> bool:
    try:
        path.encode()
        with open(path, "rb") as file:
            data = file.read(MAX_BYTES)
        data.decode()
    except (OSError, ValueError):
        return False
    return b"\0" not in data
