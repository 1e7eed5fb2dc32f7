"""Marks lines of a tool's output that look like notes of the registry.

The registry appends notes to shortened output, as `[truncated — 9000 chars total]`, and reducers
write `[500 of 801 lines left out]` in it. Each is a line that begins with `[`. A tool may print the
same line. It gets a prefix then; its own characters do not change, and every line without the
prefix is true.
"""

from __future__ import annotations

import re

from ethos_registry import _core

__all__ = ["MARK", "mark_frames"]

MARK = "(tool output) "
"""The prefix of a line that a tool printed and that looks like a note of the registry."""

_WORDS = ("left out", "chars total", "artifact", "full text", "is lost")
"""No note is without one of these."""

_BLANK = r"[^\S\n]"
_UNSEEN = "[^\\S\\n]|[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]"
_FRAME = re.compile(
    rf"^(?=(?:{_UNSEEN})*\[{_BLANK}*"
    rf"(?:truncated\b[^\]\n]*\bchars{_BLANK}+total"
    rf"|[^\]\n]*\bleft{_BLANK}+out"
    rf"|artifact{_BLANK}[^\]\n]*"
    rf"|(?:full|whole){_BLANK}+text\b[^\]\n]*"
    rf"|the{_BLANK}+rest{_BLANK}[^\]\n]*\bis{_BLANK}+lost\b[^\]\n]*)"
    rf"{_BLANK}*\](?:{_UNSEEN})*$)",
    re.MULTILINE,
)
_FINAL_MARKER = re.compile(r"\n\[truncated — (0|[1-9][0-9]{0,18}) chars total\]\Z")
_CONTROLS = re.compile("[\x1b\r\b\x9b]")


def mark_frames(text: str, *, is_displayed: bool = False) -> str:
    r"""`text` with a prefix before each line that looks like a note; the same object without any.

    The marker of a trim at the very end stays: text that was trimmed before passes unchanged.
    `is_displayed` is set for text that a reducer reads as a terminal displays it; if a note appears
    only there, as in text with escape sequences, the displayed text is returned.

    >>> mark_frames("a\n[5 of 9 lines left out]\nb")
    'a\n(tool output) [5 of 9 lines left out]\nb'
    """
    if _CONTROLS.search(text):
        displayed = _core.as_displayed(text)
        if _marked(displayed) is displayed:
            return text
        return _marked(displayed) if is_displayed else _marked_by_line(text)
    return _marked(text)


def _marked(text: str) -> str:
    if not any(word in text for word in _WORDS):
        return text
    body, marker = _without_final_marker(text)
    marked = _FRAME.sub(MARK, body)
    return text if marked == body else marked + marker


def _marked_by_line(text: str) -> str:
    """The same by what each line displays, whose control characters stay."""
    body, marker = _without_final_marker(text)
    lines = [
        MARK + line if _FRAME.search(_core.as_displayed(line)) else line
        for line in body.split("\n")
    ]
    return "\n".join(lines) + marker


def _without_final_marker(text: str) -> tuple[str, str]:
    """The text before a well-formed marker at its end, and that marker."""
    found = _FINAL_MARKER.search(text)
    if found is None or int(found[1]) <= found.start():
        return text, ""
    return text[: found.start()], found[0]
