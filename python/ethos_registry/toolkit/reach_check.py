"""The files that a ready tool may use: those of its call's working directory and personality."""

from __future__ import annotations

import errno
import os
from typing import Any, Literal

from ethos_registry import _core
from ethos_registry.capabilities.protected import DEFAULT_PROTECTION, Protection
from ethos_registry.capabilities.reach import narrowed_reach
from ethos_registry.contract.context import ToolContext
from ethos_registry.contract.policy import Personality
from ethos_registry.toolkit.arguments import RefusalError, shown
from ethos_registry.toolkit.folder import PathFiles
from ethos_registry.toolkit.paths import (
    check_expanded,
    is_below,
    os_refusal,
    outside,
    working_directory,
)

__all__ = ["WorkingFiles"]

_NAMED_ROOTS = 4


class WorkingFiles:
    """Files below the working directory of a call, as far as its personality permits.

    The methods are those of `_core.ScopedFiles`. A path that starts with the working directory as
    the context spells it, links included, is one below its real path.
    """

    __slots__ = ("_native", "_reach", "_spelled", "root")

    root: str
    """The real path of the working directory."""

    def __init__(self, context: ToolContext) -> None:
        self.root = working_directory(context.working_dir)
        self._spelled = os.path.join(os.path.abspath(context.working_dir), "")
        personality: Personality | None = getattr(context, "personality", None)
        allowed = None if personality is None else personality.fs_reach
        declared = {"read": [self.root], "write": [self.root]}
        self._reach = narrowed_reach(declared, allowed, context.working_dir)
        protection: Protection = getattr(context, "protection", DEFAULT_PROTECTION)
        read, write = list(self._reach.read), list(self._reach.write)
        self._native: Any
        if hasattr(_core, "ScopedFiles"):
            self._native = protection.scoped_files(read, write, self.root)
        else:
            self._native = PathFiles(
                read,
                write,
                self.root,
                closed_names=protection.closed_names,
                closed_names_to_writing=protection.read_only_names,
            )

    def open(self, path: str) -> tuple[int, str]:
        """A descriptor of a regular file, and its real path."""
        opened: tuple[int, str] = self._native.open(self._absolute(path))
        return opened

    def read(self, path: str, limit_bytes: int) -> bytes:
        """The bytes of a regular file; `OSError` with `EFBIG` if it has more."""
        content: bytes = self._native.read(self._absolute(path), limit_bytes)
        return content

    def names(self, path: str) -> tuple[str, list[tuple[str, str]]]:
        """The real path of a folder, and `(name, kind)` of each entry, by name."""
        found: tuple[str, list[tuple[str, str]]] = self._native.entries(self._absolute(path))
        return found

    def target(self, path: str, *, make_folders: bool = False) -> Any:
        """Where a file is or will be written; see `_core.ScopedTarget`."""
        return self._native.target(self._absolute(path), make_folders=make_folders)

    def real_path(self, path: str) -> str:
        """Where a path leads, for records and messages; nothing is permitted by it."""
        try:
            return os.path.realpath(self._absolute(path))
        except (OSError, ValueError, RefusalError):
            return ""

    def _absolute(self, path: str) -> str:
        check_expanded(path)
        path = path.removeprefix(self._spelled)
        try:
            os.fsencode(path)
        except UnicodeError:  # a lone surrogate
            raise outside(path) from None
        return os.path.join(self.root, path)

    def refusal(
        self, path: str, error: OSError, access: Literal["read", "write"] = "read"
    ) -> RefusalError:
        """The error for the model if a path is not opened."""
        text = str(error)
        if "must have" in text and "\0" not in path:
            error = OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))
        elif not is_below(self.real_path(path), self.root):
            return outside(path)
        if not isinstance(error, PermissionError) or error.errno is not None:
            return os_refusal(path, error, self._names_beside(path))
        if "too many symbolic links" in text:
            return RefusalError(f"{shown(path)} is a symbolic link that leads to itself")
        if "not a regular file" in text:
            return RefusalError(f"{shown(path)} is a pipe, socket or device, not a file")
        if "always denied" in text:
            return RefusalError(
                f"PATH_NOT_REACHABLE: {access} of {shown(path)} is always denied: it is a "
                "protected file",
                "not_available",
            )
        roots = self._reach.read if access == "read" else self._reach.write
        named = ", ".join(shown(root) for root in roots[:_NAMED_ROOTS])
        way_out = f"permitted: {named}" if roots else "this personality may not touch such files"
        return RefusalError(
            f"PATH_NOT_REACHABLE: {access} not permitted for {shown(path)}; {way_out}",
            "not_available",
        )

    def _names_beside(self, path: str) -> list[str] | None:
        """The names in the folder of a path; `None` if there is no such folder."""
        try:
            return [name for name, _ in self.names(os.path.dirname(path) or os.curdir)[1]]
        except OSError:
            return None
