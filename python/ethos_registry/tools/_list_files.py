"""The tool `list_files`: the entries of a folder, several levels deep."""

from __future__ import annotations

import fnmatch
import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ethos_registry.tools._arguments import (
    RefusalError,
    optional_whole_number,
    quoted,
    required_text,
    string,
    whole_number,
)
from ethos_registry.tools._folder import WorkingFiles, file_tool, is_temporary
from ethos_registry.types import _checks
from ethos_registry.types._abort import AbortSignal
from ethos_registry.types._context import ToolContext
from ethos_registry.types._result import ToolResult, ok
from ethos_registry.types._tool import Tool

# Globs for paths, such as `src/**/*.{ts,tsx}`.

_MAX_ALTERNATIVES = 100
_MAX_CHARS = 500


class Glob:
    """A pattern for names or paths; case matters.

    `*` and `?` match within one name, `**` matches any number of folders, `[a-z]` one character,
    `{a,b}` alternatives. A glob without `/` is compared with the name, any other with the whole
    path. The time grows at most with the product of both lengths.
    """

    __slots__ = ("_alternatives", "_is_for_names")

    def __init__(self, text: str) -> None:
        if len(text) > _MAX_CHARS:
            raise RefusalError(f"the glob {quoted(text)} is longer than {_MAX_CHARS} characters")
        text = text.removeprefix("./")
        self._is_for_names = "/" not in text.rstrip("/")
        self._alternatives = [
            [_segment(name) for name in alternative.split("/") if name]
            for alternative in _expanded(text)
        ]

    def matches(self, path: str) -> bool:
        """Whether the path, with `/` between its names, matches."""
        names = path.split("/")
        if self._is_for_names:
            names = names[-1:]
        return any(_matches(pattern, names) for pattern in self._alternatives)


def _expanded(text: str) -> list[str]:
    """Expand the alternatives in braces; a lone brace matches itself."""
    waiting, done = [text], list[str]()
    while waiting:
        if len(waiting) + len(done) > _MAX_ALTERNATIVES:
            raise RefusalError(
                f"the glob {quoted(text)} expands to more than {_MAX_ALTERNATIVES} patterns; "
                "use fewer braces"
            )
        pattern = waiting.pop()
        end = pattern.find("}")
        start = pattern.rfind("{", 0, end)
        if end < 0 or start < 0:
            done.append(pattern)
            continue
        choices = pattern[start + 1 : end].split(",")
        waiting += [pattern[:start] + choice + pattern[end + 1 :] for choice in choices]
    return done


def _segment(name: str) -> re.Pattern[str] | None:
    """`None` for `**`. The patterns of `fnmatch` do not backtrack far."""
    return None if name == "**" else re.compile(fnmatch.translate(name))


def _matches(pattern: Sequence[re.Pattern[str] | None], names: Sequence[str]) -> bool:
    """Keeps for each start of the pattern whether it matches the names so far."""
    fits = [True]
    for segment in pattern:
        fits.append(fits[-1] and segment is None)
    for name in names:
        before, fits = fits, [False]
        for at, segment in enumerate(pattern):
            if segment is None:  # one name more, or none
                fits.append(before[at + 1] or fits[at])
            else:
                fits.append(before[at] and segment.match(name) is not None)
    return fits[-1]


# All entries below a folder, in a fixed order, without following links.

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
class FolderEntry:
    real: str
    """Its absolute path; no folder above it was a link."""
    name: str
    path: str
    """Relative to the folder where the walk began, with `/` between the names."""
    kind: str
    """`file`, `directory`, `symlink` or `other`."""


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

    def below(self, folder: str, names: Sequence[tuple[str, str]]) -> Iterator[FolderEntry]:
        """Every entry below a real path with these entries; the depth of those in it is 1."""
        self._deadline = time.monotonic() + self.max_seconds
        return self._entries(folder, names, "", 1)

    def _entries(
        self, folder: str, names: Sequence[tuple[str, str]], prefix: str, depth: int
    ) -> Iterator[FolderEntry]:
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
            yield FolderEntry(real, name, path, kind)
            if kind != "directory" or depth == self.max_depth or name in NOT_ENTERED:
                continue
            try:
                below = self.files.names(real)[1]
            except OSError:
                self.unreadable += 1
                continue
            yield from self._entries(real, below, f"{path}/", depth + 1)


def path_prefix(root: str, folder: str) -> str:
    """What comes before the path of an entry of `folder` to make it relative to `root`."""
    return "" if folder == root else f"{os.path.relpath(folder, root)}/".replace(os.sep, "/")


def printable(path: str) -> str:
    """A path on one line; control characters and bytes that are not UTF-8 are escaped."""
    return path if path.isprintable() else ascii(path)[1:-1]


DEFAULT_DEPTH = 2
"""Levels that are listed when no pattern is given; with one, all are."""
DEFAULT_MAX_ENTRIES = 1_000

_PROPERTIES = {
    "path": string("Folder to list, relative to the working directory. Default: itself."),
    "pattern": string("Glob for names, such as `*.py`, or for paths, such as `src/**/*.{ts,tsx}`."),
    "depth": whole_number(f"Levels to go down. Default: {DEFAULT_DEPTH}, all with a pattern."),
}


@_checks.checked_signature
def list_files_tool(*, max_entries: int = DEFAULT_MAX_ENTRIES) -> Tool:
    """The tool `list_files(path?, pattern?, depth?)`, in the toolset `file`.

    Returns one path per line, relative to the context's `working_dir`, depth first and in code
    point order; a folder ends with `/`. Links are listed and never followed; folders that programs
    fill (`.git`, `node_modules`, ...) are listed and not entered. After
    `max_entries` lines, or 30 s, the last line reports that there is more. `structured` has `path`
    (the real absolute path), `files` (links included), `folders` and `truncated`.
    """
    limit = _checks.whole_count(max_entries, "max_entries")

    return file_tool(
        "list_files",
        "List the files and folders in a folder, or all that match a pattern.",
        _PROPERTIES,
        lambda values, context: _list(values, context, limit),
        max_result_chars=20_000,
        output_is_untrusted=True,
        idempotent=True,
    )


def _list(values: Mapping[str, Any], context: ToolContext, max_entries: int) -> ToolResult:
    path = required_text(values, "path", "src") if "path" in values else os.curdir
    glob = Glob(required_text(values, "pattern", "*.py")) if "pattern" in values else None
    depth = optional_whole_number(values, "depth", minimum=1)
    files = WorkingFiles(context)
    if depth is None:
        depth = MAX_DEPTH if glob else DEFAULT_DEPTH
    walk = Walk(files, context.abort_signal, max_depth=depth)
    shown_entries: list[str] = []
    folders = 0
    is_full = False
    try:
        resolved, names = files.names(path)
        prefix = path_prefix(files.root, resolved)
        for found in walk.below(resolved, names):
            if glob and not (glob.matches(found.path) or glob.matches(prefix + found.path)):
                continue
            is_full = len(shown_entries) == max_entries
            if is_full:
                break
            folders += found.kind == "directory"
            shown_entries.append(_line(prefix, found))
    except NotADirectoryError:
        raise RefusalError(f"{quoted(path)} is a file, not a folder; read_file reads it") from None
    except OSError as error:
        raise files.refusal(path, error) from None
    lines = [*shown_entries, *_remarks(walk, max_entries, is_full=is_full)]
    if not shown_entries:
        what = "Nothing matches in" if glob else "No entries in"
        lines.insert(0, f"{what} {quoted(path)}.")
    return ok(
        "\n".join(lines),
        structured={
            "path": resolved,
            "files": len(shown_entries) - folders,
            "folders": folders,
            "truncated": is_full or walk.is_cut,
        },
    )


def _line(prefix: str, found: FolderEntry) -> str:
    path = printable(prefix + found.path)
    if found.kind == "directory":
        return f"{path}/ (not entered)" if found.name in NOT_ENTERED else f"{path}/"
    return f"{path} (link)" if found.kind == "symlink" else path


def _remarks(walk: Walk, max_entries: int, *, is_full: bool) -> list[str]:
    remarks = []
    if is_full:
        remarks.append(
            f"[... there is more than these {max_entries:,} entries: give a deeper path or a "
            "pattern ...]"
        )
    if walk.is_cut:
        remarks.append(
            f"[... stopped after {walk.max_seconds:g} s: give a deeper path or a smaller depth ...]"
        )
    if walk.unreadable:
        remarks.append(f"[... {walk.unreadable:,} folders could not be opened ...]")
    return remarks
