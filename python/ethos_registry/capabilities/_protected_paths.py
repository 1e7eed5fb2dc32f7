"""Protected files below what a command may write: found before it runs, compared afterwards.

The kernel keeps what exists from being changed where it can. What a command creates, and whatever
Landlock cannot forbid, is put back when the command has ended.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import stat
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from ethos_registry.capabilities._files import Protection

MAX_FOLDERS = 2_000
"""Folders of the writable directories that are searched for protected names, the nearest first."""
_MAX_BYTES = 8 * 1024 * 1024
_MAX_FILES = 2_000
_CLOSED_IN_GIT = ("config", "config.worktree", "commondir", "hooks", "info/attributes")
_CLOSED_IN_WORKTREES = ("commondir", "config.worktree", "gitdir")
_GIT = ".git"

_HARMLESS_CONFIG = re.compile(
    r"\s*(?:[#;].*|"
    r'\[(?:core|init|user|(?:remote|branch|submodule) "[^"\\]*")\]|'
    r"(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode"
    r"|symlinks|worktree|url|fetch|remote|merge|name|email|active) *= *[^\\]*|)\s*"
)
"""A line of the configuration that `git init`, `clone` and `submodule` write; it runs nothing."""

State: TypeAlias = tuple[int, bytes] | dict[str, "State"] | str | None
"""A file as mode and content, a folder by name, the target of a link; `None` if it is absent."""


@dataclass
class ProtectedPaths:
    """The protected paths below writable directories, as they were before a command."""

    roots: Sequence[str]
    """The real paths of the directories."""
    closed: list[str] = field(default_factory=list)
    """Neither read nor written."""
    read_only: list[str] = field(default_factory=list)
    git_folders: list[str] = field(default_factory=list)
    """Their content is written, except for what is `read_only`; they are not renamed."""
    _states: dict[str, State] = field(default_factory=dict)
    _mount_points: list[str] = field(default_factory=list)
    _identities: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Device and inode of the mount points, and of the folders above them."""
    _budget: list[int] = field(default_factory=lambda: [_MAX_BYTES, _MAX_FILES])

    @classmethod
    def find(cls, roots: Sequence[str], protection: Protection) -> ProtectedPaths:
        """Those below `roots` that exist, and the files of a Git folder that may appear."""
        found = cls(list(dict.fromkeys(os.path.realpath(root) for root in roots)))
        for root in found.roots:
            found._add_enclosing(root, protection)
        found._search(protection)
        found.closed += [path for path in protection.closed_paths if found._root_of(path)]
        found.read_only += [path for path in protection.read_only_paths if found._root_of(path)]
        return found

    def _add_enclosing(self, root: str, protection: Protection) -> None:
        """A root that is, or is below, a protected name."""
        parts = root.split("/")
        for end, part in enumerate(parts, 1):
            path = "/".join(parts[:end])
            if part.lower() == _GIT and _GIT in protection.read_only_names:
                self._add_git(path, root)

    def _search(self, protection: Protection) -> None:
        rows = [(name.split("/"), self.closed) for name in protection.closed_names]
        rows += [(name.split("/"), self.read_only) for name in protection.read_only_names]
        waiting, left = deque(self.roots), MAX_FOLDERS
        while waiting and left:
            left -= 1
            folder = waiting.popleft()
            entries = _entries(folder)
            names = {entry.name.lower(): entry.path for entry in entries}
            for row, into in rows:
                path = names.get(row[0].lower())
                if path is not None and row == [_GIT]:
                    self._add_git(path)
                elif path is not None and os.path.lexists(path := os.path.join(path, *row[1:])):
                    into.append(path)
                elif folder in self.roots and into is self.read_only and row != [_GIT]:
                    into.append(os.path.join(folder, *row))
            waiting += [
                entry.path
                for entry in entries
                if entry.name.lower() != _GIT and entry.is_dir(follow_symlinks=False)
            ]

    def _add_git(self, path: str, root: str = "") -> None:
        if os.path.islink(path) or not os.path.isdir(path):
            self.read_only.append(path)
            return
        if not root:
            self.git_folders.append(path)
        for closed in _closed_in_git(path):
            if not root or is_below(closed, (root,)):
                self.read_only.append(closed)
            elif is_below(root, (closed,)):
                self.read_only.append(root)

    def _root_of(self, path: str) -> str:
        return next((root for root in self.roots if is_below(path, (root,)) and path != root), "")

    def remember(self, mount_points: Sequence[str] = ()) -> ProtectedPaths:
        """Read what may have to be put back; large folders are left out.

        The kernel keeps the command from `mount_points`: what another program changes in one of
        them, or removes, is not put back.
        """
        self._mount_points = [path for path in mount_points if self._root_of(path)]
        for path in self._mount_points:
            while self._root_of(path):
                self._identities[path] = _identity(path)
                path = os.path.dirname(path)
        for path in (*self.read_only, *self.closed):
            if self._root_of(path):
                with contextlib.suppress(OSError, _TooLargeError):
                    self._states[path] = self._read(path)
        return self

    def _read(self, path: str) -> State:
        try:
            found = os.lstat(path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        self._budget[1] -= 1
        if stat.S_ISLNK(found.st_mode):
            return os.readlink(path)
        if stat.S_ISDIR(found.st_mode):
            if self._budget[1] < 0:
                raise _TooLargeError
            return {name: self._read(os.path.join(path, name)) for name in os.listdir(path)}
        self._budget[0] -= found.st_size
        if not stat.S_ISREG(found.st_mode) or min(self._budget) < 0:
            raise _TooLargeError
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
        with open(path, "rb", opener=lambda name, _: os.open(name, flags)) as file:
            return stat.S_IMODE(found.st_mode), file.read()

    def restore(self, protection: Protection) -> list[str]:
        """Put back what the command changed; the paths, in the order of their names.

        In a repository that the command made, configuration that could run a program, hooks and
        pointers are removed.
        """
        self._remove_empty_mount_points()
        changed = [
            folder
            for folder in self.git_folders
            if (os.path.islink(folder) or os.path.isfile(folder)) and self._put(folder, {})
        ]
        for path, state in self._states.items():
            if not os.path.lexists(os.path.dirname(path)):
                continue  # deleted with the folder that it was in
            if self._is_change_of_others(path, state):
                continue
            self._budget = [_MAX_BYTES, _MAX_FILES]
            try:
                is_same = self._read(path) == state
            except (OSError, _TooLargeError):
                is_same = False
            if not is_same and self._put(path, state):
                changed.append(path)
        now = ProtectedPaths.find(self.roots, protection)
        repositories = (*now.git_folders, *(path for path in now.read_only if _is_git(path)))
        for path in repositories:
            changed += self._check_new(path)
        return sorted(dict.fromkeys(changed))

    def _is_change_of_others(self, path: str, state: State) -> bool:
        """Whether no command can have made a path what it is.

        It is the same file, or it was removed from the same folder: a command can do neither to a
        mount point. What replaced a file could have been changed by the command afterwards, but
        lines of a configuration that run nothing may stay.
        """
        before, now = self._identities.get(path), _identity(path)
        if before in (None, _ABSENT) or now == before:
            return before not in (None, _ABSENT)
        folder = os.path.dirname(path)
        if _identity(folder) != self._identities.get(folder, _identity(folder)):
            return False
        if now == _ABSENT or not isinstance(state, tuple):
            return now == _ABSENT
        return os.path.basename(path) == "config" and _is_harmless(path, state[1])

    def _remove_empty_mount_points(self) -> None:
        """Remove those that bubblewrap made because they were gone before it started."""
        for path in self._mount_points:
            while path not in self.read_only and _identity(path) != self._identities.get(path):
                try:
                    found = os.lstat(path)
                    if stat.S_ISREG(found.st_mode) and not found.st_size:
                        os.unlink(path)
                    else:
                        os.rmdir(path)
                except OSError:
                    break
                path = os.path.dirname(path)

    def _check_new(self, path: str) -> Iterator[str]:
        """Remove from a Git folder what would run later, if it was not there before."""
        if path in self._states:
            return
        if not os.path.isdir(path) or os.path.islink(path):
            if not self._is_pointer(path) and self._put(path, None):
                yield path
            return
        for closed in _closed_in_git(path):
            if closed in self._states or not os.path.lexists(closed) or _is_harmless(closed):
                continue
            if self._put(closed, None):
                yield closed

    def _is_pointer(self, path: str) -> bool:
        """Whether a `.git` file names a folder of a Git folder that was checked."""
        try:
            if os.path.islink(path):
                return False
            with open(path, encoding="utf-8") as file:
                kind, _, target = file.read(4_096).strip().partition(": ")
        except (OSError, ValueError):
            return False
        real = os.path.realpath(os.path.join(os.path.dirname(path), target))
        return kind == "gitdir" and is_below(real, self.git_folders)

    def _put(self, path: str, state: State) -> bool:
        """Make a path what it was; no link that a command left on the way is followed."""
        root = self._root_of(path)
        with contextlib.suppress(OSError):
            parent = _folder(root, os.path.relpath(os.path.dirname(path), root))
            try:
                _replace(parent, os.path.basename(path), state)
            finally:
                os.close(parent)
            return True
        return False


class _TooLargeError(Exception):
    """More than is remembered."""


def _entries(folder: str) -> list[os.DirEntry[str]]:
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        return sorted(entries, key=lambda entry: entry.name)
    return []


def _closed_in_git(folder: str) -> Iterator[str]:
    """What a Git folder runs or trusts, those of its submodules and worktrees included."""
    for name in _CLOSED_IN_GIT:
        yield os.path.join(folder, name)
    for entry in _entries(os.path.join(folder, "worktrees")):
        for name in _CLOSED_IN_WORKTREES:
            yield os.path.join(entry.path, name)
    waiting = deque([os.path.join(folder, "modules")])
    while waiting:
        for entry in _entries(waiting.popleft()):
            if not entry.is_dir(follow_symlinks=False):
                continue
            if os.path.lexists(os.path.join(entry.path, "HEAD")):
                yield from _closed_in_git(entry.path)
            else:
                waiting.append(entry.path)


_ABSENT = (0, 0)


def _identity(path: str) -> tuple[int, int]:
    try:
        found = os.lstat(path)
    except OSError:
        return _ABSENT
    return found.st_dev, found.st_ino


def _is_git(path: str) -> bool:
    return os.path.basename(path).lower() == _GIT


def is_below(path: str, folders: Sequence[str]) -> bool:
    """Whether a path is one of the folders or below one."""
    return any(
        path == folder or path.startswith(folder.rstrip(os.sep) + os.sep) for folder in folders
    )


def _is_harmless(path: str, known: bytes = b"") -> bool:
    """Whether a new file of a Git folder is one that Git makes itself and that runs nothing.

    The lines of `known` may be in it.
    """
    name = os.path.basename(path)
    try:
        if os.path.islink(path):
            return False
        if name == "hooks":
            return all(entry.name.endswith(".sample") for entry in _entries(path))
        with open(path, encoding="utf-8") as file:
            text = file.read(65_537)
    except (OSError, ValueError):
        return False
    if name == "config":
        lines = set(text.split("\n")).difference(known.decode(errors="replace").split("\n"))
        return len(text) <= 65_536 and all(map(_HARMLESS_CONFIG.fullmatch, lines))
    return name == "gitdir" or (name == "commondir" and text.strip() == "../..")


_OPEN_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)


def _folder(root: str, below: str) -> int:
    """A descriptor of a folder below `root`; what is in its way is removed."""
    folder = os.open(root, _OPEN_FOLDER)
    for name in below.split("/"):
        if name == ".":
            continue
        try:
            try:
                deeper = os.open(name, _OPEN_FOLDER, dir_fd=folder)
            except OSError:
                _remove(folder, name)
                os.mkdir(name, dir_fd=folder)
                deeper = os.open(name, _OPEN_FOLDER, dir_fd=folder)
        finally:
            os.close(folder)
        folder = deeper
    return folder


def _remove(folder: int, name: str) -> None:
    try:
        os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        return
    except (IsADirectoryError, PermissionError):
        shutil.rmtree(name, dir_fd=folder)


def _replace(folder: int, name: str, state: State) -> None:
    _remove(folder, name)
    if isinstance(state, str):
        os.symlink(state, name, dir_fd=folder)
    elif isinstance(state, dict):
        os.mkdir(name, dir_fd=folder)
        inside = os.open(name, _OPEN_FOLDER, dir_fd=folder)
        try:
            for entry, content in state.items():
                _replace(inside, entry, content)
        finally:
            os.close(inside)
    elif state is not None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        with os.fdopen(os.open(name, flags, 0o600, dir_fd=folder), "wb") as file:
            file.write(state[1])
            os.fchmod(file.fileno(), state[0])
