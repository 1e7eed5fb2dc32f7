"""Paths given by a model, confined to the working directory."""

from __future__ import annotations

import difflib
import errno
import os
import re
from collections.abc import Sequence

from ethos_registry.toolkit.arguments import RefusalError, shown

__all__ = [
    "check_expanded",
    "is_below",
    "os_refusal",
    "outside",
    "resolve_below",
    "working_directory",
]

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
    check_expanded(path)
    try:
        resolved = os.path.realpath(os.path.join(root, path))
    except (ValueError, OSError):
        raise outside(path) from None
    if not is_below(resolved, root):
        raise outside(path)
    return resolved


def is_below(path: str, root: str) -> bool:
    """Whether a real path is `root` or below it."""
    try:
        return os.path.commonpath([root, path]) == root
    except ValueError:
        return False


def check_expanded(path: str) -> None:
    """Refuse what a shell would replace: it would silently name a new folder."""
    if _NOT_EXPANDED.match(path):
        raise outside(path)


def outside(path: str) -> RefusalError:
    """The refusal of a path that is not below the working directory."""
    text = f"{shown(path)} is not below the working directory"
    if start := _NOT_EXPANDED.match(path):
        return RefusalError(
            f"{text}: {shown(start[0])} is not expanded; "
            f"give a path inside it, such as `src/main.py`, or {shown(f'./{path}')} for that name"
        )
    return RefusalError(f"{text}; give a path inside it, such as `src/main.py`")


def os_refusal(path: str, error: OSError, names: Sequence[str] | None) -> RefusalError:
    """The error for the model if the system does not open `path`; `names` are in its folder."""
    if isinstance(error, FileNotFoundError):
        return RefusalError(f"no such file: {shown(path)}{_near(path, names)}")
    if isinstance(error, NotADirectoryError):
        return RefusalError(f"no such file: {shown(path)}; a part of that path is a file")
    if isinstance(error, PermissionError):
        return RefusalError(f"no permission to read {shown(path)}", "execution_failed")
    if error.errno == errno.ELOOP:
        return RefusalError(f"{shown(path)} is a symbolic link that leads to itself")
    reason = error.strerror or type(error).__name__
    return RefusalError(f"{shown(path)} could not be read: {reason}", "execution_failed")


def _near(path: str, names: Sequence[str] | None) -> str:
    """`; similar: ...` for names in the same folder, or the folder that is missing."""
    folder, name = os.path.split(path)
    if names is None:
        return f"; there is no folder {shown(os.path.basename(folder))}"
    by_lower = {known.lower(): known for known in names[:_MAX_NAMES]}
    close = difflib.get_close_matches(name.lower(), by_lower, n=_NEAR_NAMES)
    return f"; similar: {', '.join(shown(by_lower[match]) for match in close)}" if close else ""
