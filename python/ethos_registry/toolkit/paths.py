"""Paths given by a model, confined to the working directory."""

from __future__ import annotations

import difflib
import errno
import itertools
import os
import re

from ethos_registry.toolkit.arguments import RefusalError, shown

__all__ = ["os_refusal", "resolve_below", "working_directory"]

_NOT_EXPANDED = re.compile(
    r"(?:~(?:[a-z_][a-z0-9_-]*(?=[/\\]))?|\$(?:[A-Za-z_]\w*|\{[^/}]*\})|%[A-Za-z_]\w*%)(?=[/\\]|$)"
)
"""What a shell would replace: a home directory or a variable."""
_NEAR_NAMES = 3
_MAX_NAMES = 5_000
"""Entries of a folder that are compared with a missing name."""


def working_directory(path: str) -> str:
    """The real path of the context's working directory; `RefusalError` if it does not exist."""
    real = os.path.realpath(path)
    if not os.path.isdir(real):
        raise RefusalError(
            f"the working directory does not exist: {shown(path)}", "execution_failed"
        )
    return real


def resolve_below(root: str, path: str) -> str:
    """The real path that `path` leads to, every link followed as the kernel does.

    `root` is a real path. `..`, absolute paths, links that leave `root` and invalid paths (NUL
    bytes) get the same `RefusalError`, whether or not something is there. So does a path that
    starts with what a shell would replace (`~`, `$HOME`): it would silently name a new folder.
    """
    outside = RefusalError(
        f"{shown(path)} is not below the working directory; give a path inside it, such as "
        "`src/main.py`"
    )
    if start := _NOT_EXPANDED.match(path):
        raise RefusalError(
            f"{shown(path)} is not below the working directory: {shown(start[0])} is not expanded; "
            f"give a path inside it, such as `src/main.py`, or {shown(f'./{path}')} for that name"
        )
    try:
        resolved = os.path.realpath(os.path.join(root, path))
        inside = os.path.commonpath([root, resolved]) == root
    except (ValueError, OSError):
        raise outside from None
    if not inside:
        raise outside
    return resolved


def os_refusal(path: str, resolved: str, error: OSError) -> RefusalError:
    """The error for the model if the system does not open `path`."""
    if isinstance(error, FileNotFoundError):
        return RefusalError(f"no such file: {shown(path)}{_near(resolved)}")
    if isinstance(error, NotADirectoryError):
        return RefusalError(f"no such file: {shown(path)}; a part of that path is a file")
    if isinstance(error, PermissionError):
        return RefusalError(f"no permission to read {shown(path)}", "execution_failed")
    if error.errno == errno.ELOOP:
        return RefusalError(f"{shown(path)} is a symbolic link that leads to itself")
    reason = error.strerror or type(error).__name__
    return RefusalError(f"{shown(path)} could not be read: {reason}", "execution_failed")


def _near(resolved: str) -> str:
    """`; similar: ...` for names in the same folder, or the folder that is missing."""
    folder, name = os.path.split(resolved)
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in itertools.islice(entries, _MAX_NAMES)]
    except OSError:
        return f"; there is no folder {shown(os.path.basename(folder))}"
    by_lower = {known.lower(): known for known in sorted(names)}
    close = difflib.get_close_matches(name.lower(), by_lower, n=_NEAR_NAMES)
    return f"; similar: {', '.join(shown(by_lower[match]) for match in close)}" if close else ""
