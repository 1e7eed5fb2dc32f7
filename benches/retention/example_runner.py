"""Keeps the lines with a word of failure, and the last ten: `--runner` runs this file."""

import re

MARK = r"\[\d+ lines left out\]"


def reduce(command: str, exit_code: int, text: str, target: int) -> str:
    lines = text.split("\n")
    rows, gap = [], 0
    for at, line in enumerate(lines):
        if re.search("error|fail|warning", line, re.IGNORECASE) or at >= len(lines) - 10:
            rows += [f"[{gap} lines left out]"] * bool(gap) + [line]
            gap = 0
        else:
            gap += 1
    return "\n".join(rows)[:target]
