"""Parts of an artifact's text within a budget, with a note about what is left out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ethos_registry import _core
from ethos_registry.artifacts.artifact import SpooledArtifact

__all__ = ["byte_length", "cat", "estimate_tokens", "grep", "head", "line_count", "tail"]

DEFAULT_LINES = 10
DEFAULT_MATCHES = 100
BYTES_PER_TOKEN = 4
_NOTE_CHARS = 120
"""No note is longer."""
_MAX_CHARACTER_BYTES = 4
_MAX_LINE_BYTES = 400
_MIN_LINE_BYTES = 40


def head(artifact: SpooledArtifact, args: Mapping[str, Any], budget_chars: int) -> str:
    """The first `n` lines."""
    return _from_start(artifact, 0, _lines(args), budget_chars)


def cat(artifact: SpooledArtifact, args: Mapping[str, Any], budget_chars: int) -> str:
    """The lines from `start` up to `end`."""
    end = args.get("end")
    start = int(args.get("start", 0))
    return _from_start(artifact, start, None if end is None else int(end), budget_chars)


def tail(artifact: SpooledArtifact, args: Mapping[str, Any], budget_chars: int) -> str:
    """The last `n` lines; if they exceed the budget, the last of them."""
    wanted = min(_lines(args), artifact.line_count())
    if wanted == 0:
        return _no_lines(artifact)
    start, end = artifact.span(artifact.line_count() - wanted, None)
    near = max(start, end - _MAX_CHARACTER_BYTES * (budget_chars + 1))
    text = _decoded(artifact.read_bytes(near, end)).removesuffix("\n")
    if near == start and len(text) <= budget_chars:
        return text
    shown_text = text[-max(budget_chars - _NOTE_CHARS, 1) :]
    line_end = shown_text.find("\n")
    if line_end < 0:
        note = f"[the end of line {artifact.line_count() - 1}; the line is longer than the budget]"
    else:
        shown_text = shown_text[line_end + 1 :]
        shown = shown_text.count("\n") + 1
        note = f"[the last {shown:,} of these {wanted:,} lines; artifact_cat shows the others]"
    return f"{note}\n{shown_text}" if budget_chars > _NOTE_CHARS else shown_text


def grep(artifact: SpooledArtifact, args: Mapping[str, Any], budget_chars: int) -> str:
    """The lines that match `pattern`; raises `ValueError` for an invalid pattern."""
    found = artifact.grep(
        args["pattern"],
        args.get("flags", ""),
        context_lines=int(args.get("context_lines", 0)),
        max_matches=int(args.get("max_matches", DEFAULT_MATCHES)),
        max_chars=max(budget_chars - _NOTE_CHARS, 0),
        max_line_bytes=min(_MAX_LINE_BYTES, max(_MIN_LINE_BYTES, budget_chars // 2)),
    )
    if not found.matches:
        return "(empty list)"
    if found.shown == found.matches:
        return found.text
    counts = f"{found.shown:,} of {found.matches:,} matching lines are shown"
    note = f"[{counts}; use a narrower pattern]"
    return f"{found.text}\n{note}" if found.text else note


def byte_length(artifact: SpooledArtifact, args: Mapping[str, Any], budget_chars: int) -> str:
    """The size in bytes."""
    return str(artifact.byte_length())


def line_count(artifact: SpooledArtifact, args: Mapping[str, Any], budget_chars: int) -> str:
    """The number of lines."""
    return str(artifact.line_count())


def estimate_tokens(artifact: SpooledArtifact, args: Mapping[str, Any], budget_chars: int) -> str:
    """About how many tokens the whole text would cost."""
    return str(-(-artifact.byte_length() // BYTES_PER_TOKEN))


def _lines(args: Mapping[str, Any]) -> int:
    return int(args.get("n", DEFAULT_LINES))


def _from_start(artifact: SpooledArtifact, first: int, end: int | None, budget_chars: int) -> str:
    """Lines from `first` on within the budget, then where to continue, and the marker."""
    last = artifact.line_count() if end is None else min(end, artifact.line_count())
    if first >= last:
        return _no_lines(artifact)
    start, stop = artifact.span(first, last)
    near = min(stop, start + _MAX_CHARACTER_BYTES * (budget_chars + 1))
    text = _decoded(artifact.read_bytes(start, near))
    if near == stop:
        text = text.removesuffix("\n")
        if len(text) <= budget_chars:
            return text
    shown_text = _cut(text, max(budget_chars - _NOTE_CHARS, 0))
    line_end = shown_text.rfind("\n")
    note = f"\n[a part of line {first}; artifact_grep shows other parts of it]"
    if line_end >= 0:
        shown_text = shown_text[:line_end]
        last_line = first + shown_text.count("\n")
        following = f"continue with artifact_cat, start {last_line + 1}"
        note = f"\n[lines {first} to {last_line}; {following}]"
    if budget_chars <= _NOTE_CHARS:
        shown_text, note = _cut(text, budget_chars), ""
    # The marker of every trim, so that programs read `truncated_from` here too.
    return f"{shown_text}{note}\n[truncated — {artifact.characters(start, stop)} chars total]"


def _cut(text: str, limit_chars: int) -> str:
    """The first characters, without splitting a grapheme cluster."""
    if len(text) <= limit_chars:
        return text
    return _core.trim(text, limit_chars)[0].rpartition("\n")[0]


def _no_lines(artifact: SpooledArtifact) -> str:
    return f"(no lines: the artifact has {artifact.line_count():,}, counted from 0)"


def _decoded(data: bytes) -> str:
    """The text of bytes that may begin or end within a character."""
    return data.decode(errors="ignore").replace("\r\n", "\n")
