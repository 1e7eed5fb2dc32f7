"""The plain-Python twin of the native search for lines: `re`, one line at a time."""

from __future__ import annotations

import re


def lines_of(text: str) -> list[str]:
    """POSIX lines: what ends a line belongs to none, and nothing stands behind the last."""
    parts = text.split("\n")
    ended = [part.removesuffix("\r") for part in parts[:-1]]
    return ended + parts[-1:] if parts[-1] else ended


def grep(
    text: str,
    pattern: str,
    flags: str = "",
    *,
    literal: bool = False,
    context_lines: int = 0,
    max_matches: int = 1000,
) -> tuple[str, int, int]:
    """What is shown, how many lines match, and how many of these are shown."""
    compiled = re.compile(
        re.escape(pattern) if literal else pattern, re.IGNORECASE if "i" in flags else 0
    )
    lines = lines_of(text)
    found = [number for number, line in enumerate(lines) if compiled.search(line)]
    shown = found[:max_matches]
    end = found[max_matches] if len(found) > max_matches else len(lines)
    near = {
        place
        for number in shown
        for place in range(number - context_lines, number + context_lines + 1)
        if 0 <= place < end
    }
    output: list[str] = []
    last = None
    for place in sorted(near):
        if context_lines and last is not None and place > last + 1:
            output.append("--")
        output.append(f"{place + 1}{':' if place in shown else '-'}{lines[place]}")
        last = place
    return "\n".join(output), len(found), len(shown)
