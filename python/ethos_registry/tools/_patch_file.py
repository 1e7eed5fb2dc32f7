"""The tool `patch_file`: replaces one passage of a UTF-8 file."""

from __future__ import annotations

import codecs
import difflib
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from ethos_registry.tools._arguments import (
    RefusalError,
    flag,
    optional_flag,
    quoted,
    required_text,
    string,
)
from ethos_registry.tools._folder import FILE_PATH, file_tool
from ethos_registry.tools._write_file import change_file, encoded
from ethos_registry.types import _checks
from ethos_registry.types._context import ToolContext
from ethos_registry.types._result import ToolResult, ok
from ethos_registry.types._tool import Tool

# The line of a file that is most similar to one that was not found.

_MAX_LINES = 20_000
_MAX_COMPARED_LINES = 2_000
_MAX_COMPARED_CHARS = 200
_MIN_SIMILARITY = 0.6


def nearest_line(text: str, wanted: str) -> tuple[int, str, str] | None:
    """`(number, line, wanted line)`: a line of `text` that differs from one of `wanted`, or `None`.

    Lines are counted from 1. If the first line of `wanted` occurs in the text, this is the
    first later line that differs; else it is the line most similar to the first one of `wanted`
    that is not blank. Compares a bounded number of lines.
    """
    lines = text.split("\n", _MAX_LINES)[:_MAX_LINES]
    wanted_lines = wanted.split("\n")
    offset = next((at for at, line in enumerate(wanted_lines) if line.strip()), None)
    if offset is None:
        return None
    first = wanted_lines[offset]
    if len(wanted_lines) > offset + 1:
        starts = [at for at, line in enumerate(lines) if line.endswith(first)]
        if starts:
            return _first_difference(lines, starts, wanted_lines[offset:])
    at = _most_like(lines, first)
    return None if at is None else (at + 1, lines[at], first)


def _first_difference(
    lines: Sequence[str], starts: Sequence[int], wanted: Sequence[str]
) -> tuple[int, str, str] | None:
    """The end of the longest run of equal lines; the lines at `starts` are equal."""
    longest, start = max(
        ((_equal_lines(lines, start, wanted), -start) for start in starts[:_MAX_COMPARED_LINES]),
    )
    at = longest - start
    if at >= len(lines) or longest >= len(wanted):
        return None
    return at + 1, lines[at], wanted[longest]


def _equal_lines(lines: Sequence[str], start: int, wanted: Sequence[str]) -> int:
    later = zip(lines[start + 1 : start + len(wanted)], wanted[1:], strict=False)
    return 1 + sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], later))


def _most_like(lines: Sequence[str], wanted: str) -> int | None:
    squeezed = "".join(wanted.split())
    for at, line in enumerate(lines):
        if squeezed in "".join(line.split()):
            return at
    matcher = difflib.SequenceMatcher(autojunk=False, b=wanted.strip()[:_MAX_COMPARED_CHARS])
    best, similarity = None, _MIN_SIMILARITY
    compared = 0
    for at, line in enumerate(lines):
        matcher.set_seq1(line.strip()[:_MAX_COMPARED_CHARS])
        if matcher.real_quick_ratio() <= similarity or matcher.quick_ratio() <= similarity:
            continue
        compared += 1
        if compared > _MAX_COMPARED_LINES:
            break
        if (found := matcher.ratio()) > similarity:
            best, similarity = at, found
    return best


DEFAULT_MAX_BYTES = 10_000_000
"""The largest file that is changed."""
_PLACES_SHOWN = 10

_PROPERTIES = {
    "path": FILE_PATH,
    "old": string(
        "The text to replace, exactly as it is in the file, with enough around it to be unique."
    ),
    "new": string("The text to put there."),
    "replaceAll": flag("Replace every place instead of a single one. Default: false."),
}


@_checks.checked_signature
def patch_file_tool(*, max_bytes: int = DEFAULT_MAX_BYTES) -> Tool:
    r"""The tool `patch_file(path, old, new, replaceAll?)`, in the toolset `file`.

    Replaces the only occurrence of `old`, or with `replaceAll` every one, in a file
    below the context's `working_dir`. All other bytes stay, even those that are not UTF-8; a byte
    order mark stays; in a file with `\r\n` line ends, `\n` in `old` and `new` means these, and
    characters are found composed or decomposed (NFC, NFD), whichever the file has.
    `structured` holds `path` (the real absolute path), `bytes` (of the new file), `replacements`
    and `lines` (the lines where they start, the first ten).

    Refused: binary files, files over `max_bytes`, an `old` that is not there (the answer shows
    the nearest line) or occurs several times (with their lines), and `STALE_WRITE` as in
    `write_file`.
    """
    limit = _checks.whole_count(max_bytes, "max_bytes")

    return file_tool(
        "patch_file",
        "Change part of a file: replace the text `old`, which must occur exactly "
        "once, by `new`. Read the file first.",
        _PROPERTIES,
        lambda values, context: _patch(values, context, limit),
        required=["path", "old", "new"],
        output_is_untrusted=True,
    )


@dataclass(slots=True)
class _Patch:
    """What is asked for, and what was done."""

    path: str
    old: bytes
    new: bytes
    replaces_all: bool
    replacements: int = 0
    lines: tuple[int, ...] = ()

    def apply(self, content: bytes) -> bytes:
        """The new content; `RefusalError` when the patch does not fit this one."""
        if b"\0" in content:
            raise RefusalError(
                f"{quoted(self.path)} is a binary file; patch_file changes text only"
            )
        mark = codecs.BOM_UTF8 if content.startswith(codecs.BOM_UTF8) else b""
        body = content[len(mark) :]
        for old, new in self._spellings(mark, body):
            if old in body:
                return mark + self._replaced(body, old, new)
        raise RefusalError(self._not_found(body))

    def _spellings(self, mark: bytes, body: bytes) -> Iterator[tuple[bytes, bytes]]:
        r"""`old` and `new` as they are written in a file with these line ends."""
        old, new = self.old.removeprefix(mark), self.new.removeprefix(mark)
        if not old:
            return
        windows_ends = body.count(b"\r\n")
        converts = windows_ends and b"\r" not in old and b"\r" not in new
        for one, other in self._forms(old, new):
            if not converts or windows_ends < body.count(b"\n"):
                yield one, other
            if converts:
                yield one.replace(b"\n", b"\r\n"), other.replace(b"\n", b"\r\n")

    def _forms(self, old: bytes, new: bytes) -> Iterator[tuple[bytes, bytes]]:
        """As they are, then composed, then decomposed: models write composed characters."""
        yield old, new
        if not old.isascii():
            for form in ("NFC", "NFD"):
                yield tuple(  # type: ignore[misc]
                    unicodedata.normalize(form, text.decode()).encode() for text in (old, new)
                )

    def _replaced(self, body: bytes, old: bytes, new: bytes) -> bytes:
        places = list(_places(body, old, overlapping=not self.replaces_all))
        lines = _lines_of(body, places[:_PLACES_SHOWN])
        if len(places) > 1 and not self.replaces_all:
            more = ", ..." if len(places) > _PLACES_SHOWN else ""
            raise RefusalError(
                f"`old` occurs {len(places):,} times in {quoted(self.path)}, at lines "
                f"{', '.join(map(str, lines))}{more}; nothing was written. Include more of the "
                "text around it in `old`, or set replaceAll to true to change them all"
            )
        self.replacements, self.lines = len(places), lines
        return body.replace(old, new)

    def _not_found(self, body: bytes) -> str:
        start = f"`old` does not occur in {quoted(self.path)}; nothing was written. "
        text = body.decode(errors="replace").replace("\r\n", "\n")
        wanted = self.old.decode().replace("\r\n", "\n")
        if not text:
            return f"{start}The file is empty: write its text with write_file"
        if (near := nearest_line(text, wanted)) is None:
            return f"{start}No single line is near it: read the file and copy the text from there"
        number, line, wanted_line = near
        if unicodedata.normalize("NFC", line) == unicodedata.normalize("NFC", wanted_line):
            line, wanted_line = ascii(line)[1:-1], ascii(wanted_line)[1:-1]
        return (
            f"{start}The nearest is line {number}, {quoted(line)}, where `old` has "
            f"{quoted(wanted_line)}. Read the lines around it and copy them exactly"
        )


def _places(body: bytes, old: bytes, *, overlapping: bool) -> Iterator[int]:
    at = body.find(old)
    while at >= 0:
        yield at
        at = body.find(old, at + (1 if overlapping else len(old)))


def _lines_of(body: bytes, places: list[int]) -> tuple[int, ...]:
    lines = []
    number, seen = 1, 0
    for place in places:
        number += body.count(b"\n", seen, place)
        seen = place
        lines.append(number)
    return tuple(lines)


def _patch(values: Mapping[str, Any], context: ToolContext, max_bytes: int) -> ToolResult:
    path = required_text(values, "path", "src/main.py")
    patch = _Patch(
        path,
        encoded(values, "old"),
        encoded(values, "new"),
        optional_flag(values, "replaceAll"),
    )
    if not patch.old:
        raise RefusalError("`old` is empty; give the text to replace, or use write_file")
    if patch.old == patch.new:
        raise RefusalError("`old` and `new` are the same, so there is nothing to change")
    changed = change_file(
        path,
        context,
        lambda old_content: patch.apply(old_content()),
        create=False,
        max_bytes=max_bytes,
    )
    places = f"{patch.replacements:,} places" if patch.replacements > 1 else "1 place"
    lines = ", ".join(map(str, patch.lines))
    more = ", ..." if patch.replacements > len(patch.lines) else ""
    where = "lines" if patch.replacements > 1 else "line"
    return ok(
        f"Changed {places} in {quoted(path)}, at {where} {lines}{more}.",
        structured={
            "path": changed.resolved,
            "bytes": len(changed.content),
            "replacements": patch.replacements,
            "lines": list(patch.lines),
        },
    )
