"""The tool `search_files`: the lines that contain a string or match a pattern, in all files."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ethos_registry import _core
from ethos_registry.tools._arguments import (
    RefusalError,
    flag,
    optional_flag,
    optional_whole_number,
    quoted,
    required_text,
    string,
    whole_number,
)
from ethos_registry.tools._folder import WorkingFiles, file_tool
from ethos_registry.tools._list_files import FolderEntry, Glob, Walk, path_prefix, printable
from ethos_registry.tools._write_file import encoded
from ethos_registry.types import _checks
from ethos_registry.types._context import ToolContext
from ethos_registry.types._result import ToolResult, ok
from ethos_registry.types._tool import Tool

# The lines of a file that contain a string or match a regular expression.


def matching_lines(content: bytes, pattern: bytes) -> Iterator[tuple[int, str]]:
    r"""`(number, text)` of each line in which a match starts; numbers from 1, each line once.

    A line ends with `\n`; a `\r` before it is not shown. Of a long line about 400 bytes around
    its first match are shown, with a note on each side of how much is left out. Bytes that are not
    UTF-8 become U+FFFD. Takes time in proportion to the content.
    """
    number, counted_to = 1, 0
    at = content.find(pattern)
    first_line = pattern.partition(b"\n")[0].removesuffix(b"\r").decode()
    search = _core.Grep(first_line, literal=True) if at >= 0 else None
    while search is not None and at >= 0:
        number += content.count(b"\n", counted_to, at)
        start = content.rfind(b"\n", counted_to, at) + 1 or counted_to
        end = content.find(b"\n", at)
        end = len(content) if end < 0 else end
        for _, text in regex_lines(content[start : end + 1], search):
            yield number, text
        counted_to = end
        at = content.find(pattern, end + 1)


def regex_lines(content: bytes, search: _core.Grep) -> Iterator[tuple[int, str]]:
    """The same for each line that matches the pattern of `search`, which stays as it is."""
    found = search.again()
    found.feed(content)
    for line in found.text.split("\n") if found.text else ():
        number, _, text = line.partition(":")
        yield int(number), text


DEFAULT_MAX_FILE_BYTES = 10_000_000
DEFAULT_MAX_MATCHES = 100
MAX_MATCHES = 1_000
"""The most that a model can request."""

_BINARY_CHECK_BYTES = 8_192
_MAX_SHOWN_LINE_CHARS = 1_000

_PROPERTIES = {
    "pattern": string(
        "The text to look for, exactly as in the files; case-sensitive. With `regex`, a regular "
        "expression."
    ),
    "regex": flag(
        "Use `pattern` as a regular expression for each line, without look-around and back "
        "references; `(?i)` at its start ignores case. Default: false."
    ),
    "path": string(
        "Folder or file to search, relative to the working directory. Default: the working "
        "directory."
    ),
    "glob": string(
        "Search only files with such names, such as `*.py`, or paths, such as `src/**/*.{ts,tsx}`."
    ),
    "maxMatches": whole_number(
        f"Maximum number of lines to return. Default: {DEFAULT_MAX_MATCHES}.", maximum=MAX_MATCHES
    ),
}


@_checks.checked_signature
def search_files_tool(*, max_file_bytes: int = DEFAULT_MAX_FILE_BYTES) -> Tool:
    """The tool `search_files(pattern, regex?, path?, glob?, maxMatches?)`, in the toolset `file`.

    The first line has the counts; then `path:line: text` for each line that contains `pattern`,
    which is plain text and is compared byte by byte. With `regex` it is a regular expression, run
    natively and in linear time on each line. Paths are relative to the context's
    `working_dir`, files come in code point order of their paths' names, lines are counted from 1,
    and of a long line the part around the match is shown.

    Links are not followed; folders that programs fill (`.git`, `node_modules`, ...), binary files
    and files over `max_file_bytes` are left out and, but for the folders, counted. Stops after
    `maxMatches` lines (at most 1,000) or 30 s and reports it. `structured` has `matches`, `files`
    (with matches), `searched` and `truncated`.
    """
    limit = _checks.whole_count(max_file_bytes, "max_file_bytes")

    return file_tool(
        "search_files",
        "Find the lines that contain a string, or match a regular expression, in all files below a "
        "folder.",
        _PROPERTIES,
        lambda values, context: _search(values, context, limit),
        required=["pattern"],
        max_result_chars=20_000,
        output_is_untrusted=True,
        idempotent=True,
    )


@dataclass(slots=True)
class _Search:
    """A search and its results so far."""

    pattern: bytes | _core.Grep
    max_matches: int
    max_file_bytes: int
    lines: list[str] = field(default_factory=list)
    files: int = 0
    searched: int = 0
    binary: int = 0
    too_large: int = 0
    unreadable: int = 0
    is_full: bool = False

    def add_file(self, files: WorkingFiles, real: str, path: str) -> None:
        """Search one file; one that cannot be read is counted."""
        try:
            content = files.read(real, self.max_file_bytes)
        except OSError as error:
            if error.errno == errno.EFBIG:
                self.too_large += 1
            else:
                self.unreadable += 1
            return
        if b"\0" in content[:_BINARY_CHECK_BYTES]:
            self.binary += 1
            return
        self.searched += 1
        before = len(self.lines)
        for number, text in self._lines(content):
            if len(self.lines) == self.max_matches:
                self.is_full = True
                break
            self.lines.append(f"{path}:{number}: {text}")
        self.files += len(self.lines) > before

    def _lines(self, content: bytes) -> Iterator[tuple[int, str]]:
        if isinstance(self.pattern, bytes):
            return matching_lines(content, self.pattern)
        return regex_lines(content, self.pattern)


def _search(values: Mapping[str, Any], context: ToolContext, max_file_bytes: int) -> ToolResult:
    pattern = required_text(values, "pattern", "def main")
    path = required_text(values, "path", "src") if "path" in values else os.curdir
    glob = Glob(required_text(values, "glob", "*.py")) if "glob" in values else None
    wanted = optional_whole_number(values, "maxMatches", minimum=1)
    is_regex = optional_flag(values, "regex")
    search = _Search(
        _compiled(pattern) if is_regex else encoded(values, "pattern"),
        DEFAULT_MAX_MATCHES if wanted is None else min(wanted, MAX_MATCHES),
        max_file_bytes,
    )
    files = WorkingFiles(context)
    walk = Walk(files, context.abort_signal)
    try:
        for prefix, found in _files(files, path, walk):
            from_root = prefix + found.path
            if glob and not (glob.matches(found.path) or glob.matches(from_root)):
                continue
            search.add_file(files, found.real, printable(from_root))
            if search.is_full:
                break
    except OSError as error:
        raise files.refusal(path, error) from None
    is_cut = search.is_full or walk.is_cut
    return ok(
        "\n".join([_summary(search, walk, pattern, path), *search.lines]),
        structured={
            "matches": len(search.lines),
            "files": search.files,
            "searched": search.searched,
            "truncated": is_cut,
        },
    )


def _compiled(pattern: str) -> _core.Grep:
    try:
        return _core.Grep(
            pattern, max_matches=MAX_MATCHES + 1, max_chars=MAX_MATCHES * _MAX_SHOWN_LINE_CHARS
        )
    except ValueError as error:
        raise RefusalError(f"`pattern` is not a valid regular expression: {error}") from None


def _files(files: WorkingFiles, path: str, walk: Walk) -> Iterator[tuple[str, FolderEntry]]:
    """Every file, with the path from the root to the folder that its path starts from."""
    try:
        resolved, names = files.names(path)
    except NotADirectoryError:
        descriptor, resolved = files.open(path)
        os.close(descriptor)
        name = path_prefix(files.root, resolved).removesuffix("/")
        yield "", FolderEntry(resolved, path, name, "file")
        return
    prefix = path_prefix(files.root, resolved)
    for found in walk.below(resolved, names):
        if found.kind == "file":
            yield prefix, found


def _summary(search: _Search, walk: Walk, pattern: str, path: str) -> str:
    """The first line, with the counts."""
    matches, files = len(search.lines), search.files
    if search.is_full:
        start = (
            f"The first {_counted(matches, 'match', 'matches')}, in "
            f"{_counted(files, 'file', 'files')}; there are more: narrow the path, the glob or "
            "the pattern."
        )
    elif matches:
        start = (
            f"{_counted(matches, 'match', 'matches')} in {_counted(files, 'file', 'files')}; "
            f"{_counted(search.searched, 'file', 'files')} searched."
        )
    else:
        missed = (
            f"contains {quoted(pattern)} (plain text, case-sensitive)"
            if isinstance(search.pattern, bytes)
            else f"matches {quoted(pattern)} (a regular expression)"
        )
        start = (
            f"No line {missed} in {quoted(path)}; "
            f"{_counted(search.searched, 'file', 'files')} searched."
        )
    if walk.is_cut:
        start += f" Stopped after {walk.max_seconds:g} s: narrow the path or the glob."
    left_out = {
        "binary": search.binary,
        f"over {search.max_file_bytes:,} bytes": search.too_large,
        "not readable": search.unreadable + walk.unreadable,
    }
    reasons = ", ".join(f"{count:,} {reason}" for reason, count in left_out.items() if count)
    return f"{start} Left out: {reasons}." if reasons else start


def _counted(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"
